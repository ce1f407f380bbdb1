/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a perf.data file as large as asked for:  make_perfdata flat|chains MBYTES > FILE
 *
 * As of a machine of four CPUs: 200 processes of 40 images each, samples at places of which few are
 * hot, in rounds of what a CPU's buffer holds.  Chains have 4 to 35 addresses, of 3000 paths. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata_t.h"

#define N_PROCS	 200
#define N_IMAGES 40
#define N_CPUS	 4
#define N_PATHS	 3000
#define BASE(i)	 (0x7f0000000000 + (uint64_t)(i)*0x1000000)

static uint64_t rng = 88172645463325252;

static uint64_t below(uint64_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (rng >> 11) % n;
}

/* Few of N are drawn often: about as 1/rank. */
static uint64_t skewed(uint64_t n)
{
	uint64_t a = below(n) + 1;

	return below(a);
}

static uint64_t address(uint64_t hot)
{
	return BASE(skewed(N_IMAGES)) + 0x1000 + skewed(hot) * 4;
}

int main(int argc, char **argv)
{
	bool chains = argc == 3 && strcmp(argv[1], "chains") == 0;
	const struct perfdata_attr a = {
		.type = 1,
		.period = 4000,
		.sample_type = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_CPU |
			       PERFDATA_S_PERIOD | (chains ? PERFDATA_S_CALLCHAIN : 0),
		.flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL | 1ull << PERFDATA_A_FREQ};
	uint64_t want, n = 0, time = 1000, *paths = NULL;
	struct pd_file f = {.pipe = true};

	if (argc != 3) {
		fprintf(stderr, "usage: make_perfdata flat|chains MBYTES > FILE\n");
		return 2;
	}
	want = strtoull(argv[2], NULL, 10) << 20;
	pd_event(&f, &a, 0);
	for (uint32_t p = 1; p <= N_PROCS; p++) {
		char path[64];

		snprintf(path, sizeof(path), "proc-%u", p % 10);
		pd_comm(&f, p, p, path, true, time);
		for (uint32_t i = 0; i < N_IMAGES; i++) {
			snprintf(path, sizeof(path), "/usr/lib/made/lib%u.so", i);
			pd_mmap2(&f, p, BASE(i), 0x800000, 0, path, NULL, time);
		}
	}
	paths = xcalloc(N_PATHS, 40 * sizeof(*paths));
	for (uint64_t i = 0; i < N_PATHS; i++) {
		uint64_t *path = &paths[i * 40];

		path[0] = 4 + below(32);
		path[1] = PERFDATA_CONTEXT_USER;
		for (uint64_t k = 2; k <= path[0]; k++)
			path[k] = address(5000);
	}
	pd_finish(&f);
	for (;;) {
		n += f.out.n;
		if (file_write_all(STDOUT_FILENO, f.out.v, f.out.n) < 0)
			return 1;
		if (n >= want)
			return 0;
		f.out.n = f.data.n = 0;
		for (uint64_t cpu = 0; cpu < N_CPUS; cpu++) {
			uint32_t p = 0;

			for (uint64_t i = 0; i < 2000; i++) {
				uint64_t *path = &paths[skewed(N_PATHS) * 40], ip = address(2000);

				if (i % 50 == 0)
					p = (uint32_t)(1 + skewed(N_PROCS));
				path[2] = ip;
				pd_sample(&f, 0, PERFDATA_MODE_USER, p, p, time + i * 250 + cpu, ip,
					  path + 1, path[0]);
			}
		}
		time += 2000 * 250;
		pd_round(&f);
		wr_bytes(&f.out, f.data.v, f.data.n);
	}
}
