/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf records through their reader into the table of processes.  They come from the kernel, but
 * any process chooses the names and mappings in them. */
#include <errno.h>

#include "../unit/collect_records.h"
#include "collect/procs.h"
#include "collect/record.h"
#include "fuzz.h"

#define PID 4194000u /* no such process */

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const uint8_t id[20] = {1, 2, 3};
	struct wr w = {0};

	if (i > 0)
		return NULL;
	put_task(&w, PERF_RECORD_FORK, PID, 1, PID, 1);
	put_comm(&w, PID, PID, "prog", true, 2);
	put_mmap(&w, PID, 0x400000, 0x3000, 0, id, "/nonexistent/prog", 3);
	put_mmap(&w, PID, 0x401000, 0x1000, 0x1000, NULL, "//anon", 4);
	put_task(&w, PERF_RECORD_FORK, PID, PID, PID + 1, 5);
	put_task(&w, PERF_RECORD_FORK, PID + 2, PID, PID + 2, 6);
	put_mmap(&w, PID + 2, 0x3ff000, 0x9000, 0, NULL, "/nonexistent/lib (deleted)", 7);
	put_sample(&w, 1, 0x400010, PID, PID, 8);
	put_lost(&w, 3);
	put_ksymbol(&w, 0xffffffffc0000000ull, 64, 0, "bpf_prog_x");
	put_comm(&w, PID + 2, PID + 2, "renamed", false, 9);
	put_task(&w, PERF_RECORD_EXIT, PID, 1, PID + 1, 10);
	put_task(&w, PERF_RECORD_EXIT, PID, 1, PID, 11);
	*ret_n = w.n;
	return w.v;
}

static void check(struct procs *ps, const struct record *r)
{
	for (uint32_t i = 0; i < ps->v.n; i++) {
		const struct maps *m = ps->v.v[i].maps;

		for (size_t k = 0; m && k < m->v.n; k++) {
			FUZZ_REQUIRE(m->v.v[k].start < m->v.v[k].end);
			FUZZ_REQUIRE(!k || m->v.v[k - 1].end <= m->v.v[k].start);
		}
	}
	if (r->kind == RECORD_SAMPLE && procs_current(ps, r->pid) != PROC_NONE) {
		uint32_t proc = procs_current(ps, r->pid);

		procs_find_mapping(ps, proc, r->ip);
		procs_owner(ps, proc, r->tid);
		procs_anon_image(ps, proc);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rd rd = rd_init(data, n);
	struct profile p;
	struct images images;
	struct procs procs;
	struct record r;

	profile_init(&p);
	images_init(&images, &p, no_file, NULL);
	procs_init(&procs, &p, &images, 1);
	for (unsigned i = 1; rd_left(&rd) && record_read(&rd, &r) == 0; i++) {
		procs_apply(&procs, &r);
		check(&procs, &r);
		if (i % 8 == 0)
			procs_end_cycle(&procs);
	}
	profile_check(&p);
	procs_release(&procs);
	images_release(&images);
	profile_release(&p);
	return 0;
}
