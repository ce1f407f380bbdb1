/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a perf.data file:  make_perfdata flat|chains MBYTES > FILE
 *                            make_perfdata accesses|branches SAMPLES > FILE
 *
 * As of a machine of four CPUs: 200 processes of 40 images each, samples at places of which few are
 * hot, in rounds of what a CPU's buffer holds.  Chains have 4 to 35 addresses, of 3000 paths.
 * Accesses are loads and stores of 32 MB of memory by four processes of 16 threads.  Branches
 * are stacks of 16 jumps between 3000 runs of code, by four processes. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata_t.h"

#define N_PROCS	   200
#define N_IMAGES   40
#define N_CPUS	   4
#define N_PATHS	   3000
#define BUFFER	   2000 /* samples of a CPU between two rounds */
#define N_SHARERS  4	/* processes that accesses are of */
#define STACK	   16	/* jumps */
#define DATA	   0x7e0000000000
#define DATA_BYTES (32u << 20)
#define BASE(i)	   (0x7f0000000000 + (uint64_t)(i)*0x1000000)

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

static uint64_t *make_paths(void)
{
	uint64_t *paths = xcalloc(N_PATHS, 40 * sizeof(*paths));

	for (uint64_t i = 0; i < N_PATHS; i++) {
		uint64_t *path = &paths[i * 40];

		path[0] = 4 + below(32);
		path[1] = PERFDATA_CONTEXT_USER;
		for (uint64_t k = 2; k <= path[0]; k++)
			path[k] = address(5000);
	}
	return paths;
}

/* perf c2c wants to know of NUMA nodes, which it asks of a file, not of a pipe (Linux,
 * tools/perf/util/header.c, process_numa_topology). */
static void add_numa(struct pd_file *f)
{
	struct wr *w = &f->sections[PERFDATA_F_NUMA_TOPOLOGY];

	pd_32(f, &f->sections[PERFDATA_F_NRCPUS], N_CPUS);
	pd_32(f, &f->sections[PERFDATA_F_NRCPUS], N_CPUS);
	pd_32(f, w, 1);
	pd_32(f, w, 0);
	pd_64(f, w, 1 << 20);
	pd_64(f, w, 1 << 20);
	pd_string(f, w, "0-3");
}

static void put_processes(struct pd_file *f, bool data)
{
	for (uint32_t p = 1; p <= N_PROCS; p++) {
		char path[64];

		snprintf(path, sizeof(path), "proc-%u", p % 10);
		pd_comm(f, p, p, path, true, 1000);
		for (uint32_t i = 0; i < N_IMAGES; i++) {
			snprintf(path, sizeof(path), "/usr/lib/made/lib%u.so", i);
			pd_mmap2(f, p, BASE(i), 0x800000, 0, path, NULL, 1000);
		}
		if (data)
			pd_mmap2(f, p, DATA, DATA_BYTES, 0, "/dev/shm/made", NULL, 1000);
	}
}

/* The fields of a sample before what its kind adds. */
static struct wr *begin_sample(struct pd_file *f, uint64_t ip, uint32_t pid, uint32_t tid,
			       uint64_t time)
{
	struct wr *w = pd_begin(f, PERFDATA_SAMPLE, PERFDATA_MODE_USER);

	pd_64(f, w, ip);
	pd_32(f, w, pid);
	pd_32(f, w, tid);
	pd_64(f, w, time);
	return w;
}

/* union perf_mem_data_src: a load or store, that hit L1, L3, memory, or a line that another core
 * changed. */
static uint64_t data_source(void)
{
	static const uint64_t loads[] = {0x28100142, 0x28100142, 0x28100142, 0x28100442,
					 0x28100842, 0x28101042, 0x28800842};

	return below(4) ? loads[below(n_elems(loads))] : 0x28100144;
}

static void put_access(struct pd_file *f, uint32_t p, uint64_t time)
{
	const uint32_t pid = 1 + p % N_SHARERS, tid = 1000 + pid * 16 + (uint32_t)below(16);
	struct wr *w = begin_sample(f, address(500), pid, tid, time);

	pd_64(f, w, DATA + skewed(skewed(DATA_BYTES / 8) + 1) * 8);
	pd_32(f, w, (uint32_t)below(N_CPUS));
	pd_32(f, w, 0);
	pd_64(f, w, 1000);
	pd_64(f, w, 4 + skewed(400));
	pd_64(f, w, data_source());
	pd_end(f);
}

/* Where code runs straight for 40 bytes. */
static uint64_t run_start(uint64_t run)
{
	return BASE(run % N_IMAGES) + 0x1000 + run * 48;
}

static void put_branches(struct pd_file *f, uint32_t p, uint64_t time)
{
	uint64_t run = skewed(N_PATHS);
	struct wr *w =
		begin_sample(f, run_start(run) + 8, 1 + p % N_SHARERS, 1 + p % N_SHARERS, time);

	pd_32(f, w, (uint32_t)below(N_CPUS));
	pd_32(f, w, 0);
	pd_64(f, w, 1000);
	pd_64(f, w, STACK);
	for (unsigned i = 0; i < STACK; i++) {
		/* Mostly a loop of four runs, else one of three others. */
		const uint64_t before = below(8) ? (run & ~3ull) | ((run + 1) & 3)
						 : (run * 17 + below(3)) % N_PATHS;

		pd_64(f, w, run_start(before) + 40);
		pd_64(f, w, run_start(run));
		pd_64(f, w, 2 | (1 + below(30)) << 4); /* predicted, cycles */
		run = before;
	}
	pd_end(f);
}

/* One CPU's buffer. */
static void put_buffer(struct pd_file *f, char what, uint64_t *paths, uint64_t time)
{
	uint32_t p = 0;

	for (uint64_t i = 0; i < BUFFER; i++) {
		const uint64_t at = time + i * 250;
		uint64_t *path = &paths[skewed(N_PATHS) * 40];

		if (i % 50 == 0)
			p = (uint32_t)(1 + skewed(N_PROCS));
		if (what == 'a') {
			put_access(f, p, at);
		} else if (what == 'b') {
			put_branches(f, p, at);
		} else {
			path[2] = address(2000);
			pd_sample(f, 0, PERFDATA_MODE_USER, p, p, at, path[2], path + 1, path[0]);
		}
	}
}

static uint64_t sample_type(char what)
{
	const uint64_t all = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_CPU |
			     PERFDATA_S_PERIOD;

	switch (what) {
	case 'a':
		return all | PERFDATA_S_ADDR | PERFDATA_S_WEIGHT | PERFDATA_S_DATA_SRC;
	case 'b':
		return all | PERFDATA_S_BRANCH_STACK;
	case 'c':
		return all | PERFDATA_S_CALLCHAIN;
	default:
		return all;
	}
}

/* Writes what F holds, and empties it. */
static int write_out(struct pd_file *f)
{
	int rc = file_write_all(STDOUT_FILENO, f->out.v, f->out.n);

	if (rc >= 0 && f->pipe)
		rc = file_write_all(STDOUT_FILENO, f->data.v, f->data.n);
	f->out.n = f->data.n = 0;
	return rc;
}

int main(int argc, char **argv)
{
	const char what = argc == 3 ? argv[1][0] : 0;
	const struct perfdata_attr a = {
		.type = 1,
		.period = 4000,
		.sample_type = sample_type(what),
		.branch_sample_type = what == 'b' ? 1 | 8 : 0, /* user, any: linux/perf_event.h */
		.flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL | 1ull << PERFDATA_A_FREQ |
			 1ull << 17 /* mmap_data */};
	const bool by_samples = what == 'a' || what == 'b';
	uint64_t want, n = 0, time = 1000, *paths;
	struct pd_file f = {.pipe = what != 'a'};

	if (!what || !strchr("abcf", what)) {
		fprintf(stderr, "usage: make_perfdata flat|chains MBYTES > FILE\n"
				"       make_perfdata accesses|branches SAMPLES > FILE\n");
		return 2;
	}
	want = strtoull(argv[2], NULL, 10) << (by_samples ? 0 : 20);
	pd_event(&f, &a, 0);
	if (what == 'a')
		add_numa(&f);
	put_processes(&f, what == 'a');
	paths = make_paths();
	if (f.pipe) {
		pd_finish(&f);
		f.data.n = 0;
	}
	for (n = by_samples ? 0 : f.out.n; n < want;) {
		if (f.pipe && write_out(&f) < 0)
			return 1;
		for (uint64_t cpu = 0; cpu < N_CPUS; cpu++)
			put_buffer(&f, what, paths, time + cpu);
		time += (uint64_t)BUFFER * 250;
		pd_round(&f);
		n += by_samples ? (uint64_t)N_CPUS * BUFFER : f.data.n;
	}
	if (!f.pipe)
		pd_finish(&f);
	return write_out(&f) < 0;
}
