/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf recorded: whatever the bytes are, reading them ends, the profile keeps its rules, and
 * no sample is counted that is in no value. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "perfdata_all.h"
#include "port/perf_counts.h"
#include "port/perf_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = {0};
	struct perf_in_opts o = {.split = OWNER_TID, .no_files = true, .trace_bytes = 1 << 20};
	struct perf_in_result r;
	struct perf_counts counts;
	struct profile p;
	char path[40];
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	FUZZ_REQUIRE(fd >= 0 && file_write_all(fd, data, n) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int force = 0; force < 2; force++) {
		o.force = force;
		o.dump = force ? &text : NULL;
		profile_init(&p);
		if (perf_in_load(path, &o, &p, &r, NULL) == 0) {
			uint64_t sum = 0;

			profile_check(&p);
			for (event_id e = 0; e < p.events.n; e++)
				sum += profile_n_samples(&p, e);
			FUZZ_REQUIRE(sum == r.n_samples);
		}
		perf_in_result_release(&r);
		profile_release(&p);
	}
	perf_counts_load(path, &counts, NULL);
	perf_counts_release(&counts);
	str_release(&text);
	close(fd);
	return 0;
}

static uint8_t *take(struct pd_file *f, size_t *ret_n)
{
	uint8_t *bytes = xmemdup(f->out.v, f->out.n);

	*ret_n = f->out.n;
	pd_release(f);
	return bytes;
}

/* A small one: what perf mostly writes. */
static void plain(struct pd_file *f, bool big_endian)
{
	const struct perfdata_attr a = {
		.type = 1,
		.period = 1000,
		.sample_type = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME |
			       PERFDATA_S_PERIOD | PERFDATA_S_CALLCHAIN,
		.flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL | 1ull << PERFDATA_A_FREQ};
	const uint64_t chain[] = {PERFDATA_CONTEXT_USER, 0x401010, 0x401200};

	*f = (struct pd_file){.big_endian = big_endian};
	pd_event(f, &a, 0);
	pd_comm(f, 5, 5, "prog", true, 1);
	pd_mmap2(f, 5, 0x401000, 0x1000, 0x1000, "/bin/prog", NULL, 2);
	pd_fork(f, PERFDATA_FORK, 6, 6, 5, 5, 3);
	for (uint64_t i = 0; i < 8; i++)
		pd_sample(f, 0, PERFDATA_MODE_USER, 5 + i % 2, 5 + i % 2, 4 + i, 0x401010, chain,
			  3);
	pd_fork(f, PERFDATA_EXIT, 6, 6, 5, 5, 20);
	pd_round(f);
	pd_finish(f);
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct pd_file f;

	switch (i) {
	case 0:
	case 1:
	case 2:
	case 3:
		pd_everything(&f, i & 1, i & 2);
		break;
	case 4:
	case 5:
		plain(&f, i & 1);
		break;
	case 6: /* the records of a plain one, compressed */
		plain(&f, false);
		wr_release(&f.out);
		f.out = (struct wr){0};
		pd_compress(&f, false, 333);
		pd_finish(&f);
		break;
	default:
		return NULL;
	}
	return take(&f, ret_n);
}
