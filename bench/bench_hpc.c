/* SPDX-License-Identifier: BSD-2-Clause */
/* Synthetic HPCToolkit databases, and what their codecs take.
 *
 *     bench_hpc write DIR [PROFILES [CONTEXTS [VALUES [THREADS [MEMORY_MB]]]]]
 *     bench_hpc read DIR
 *
 * `write` makes meta.db, profile.db and cct.db of a database in which each of PROFILES threads has
 * about VALUES non-zero values in CONTEXTS contexts, and tells what each step took and how `cp` of
 * the result compares.  The values are consistent: `dwell check` accepts the database.  Threads
 * repeat TEMPLATES kinds of thread with different weights.  `read` looks things up in it.
 *
 * Seconds are wall-clock; a core is one second of CPU time, so that values/s/core can be compared
 * on a busy machine, too.  Run it several times and take the best. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "hpc/write/cct.h"
#include "formats/hpc/meta.h"
#include "hpc/write/profile.h"

enum { TEMPLATES = 16, WEIGHTS = 7, DEPTH_MAX = 40 };
enum { POINT, FUNCTION, EXECUTION, N_SCOPES };

struct template
{
	VEC(struct entry {
		uint32_t ctxId;
		uint16_t metricId;
		double value;
	})
	values;
};

static struct {
	const char *dir;
	uint32_t n_profiles, n_ctxs, n_values; /* without the summary; a profile's values */
	unsigned n_threads, memory_mb;
	uint32_t *parent; /* by ctxId; contexts are numbered in preorder, 0 is the root of all */
	struct template templates[TEMPLATES];
	struct hpc_profile_writer *w;
	_Atomic uint32_t next;
	_Atomic uint64_t n_put;
} g;

static double clock_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

/* CPU time of all threads, in kernel and user space. */
static double cpu_s(void)
{
	return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static void die(const struct err *err)
{
	fprintf(stderr, "bench_hpc: %s\n", err->msg);
	exit(2);
}

static uint64_t rng = 88172645463325252ULL;

static uint64_t below(uint64_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (rng >> 11) % n;
}

/* A tree of calls whose depth wanders; contexts 2.. hang below the entry point, context 1. */
static void make_tree(void)
{
	uint32_t path[DEPTH_MAX + 1] = {1};
	unsigned depth = 0;

	g.parent = xcalloc(g.n_ctxs, sizeof(*g.parent));
	for (uint32_t c = 2; c < g.n_ctxs; c++) {
		if (depth < DEPTH_MAX && below(2))
			depth++;
		else if (depth > 1)
			depth -= (unsigned)below(depth < 6 ? depth : 6);
		if (depth == 0)
			depth = 1;
		g.parent[c] = path[depth - 1];
		path[depth] = c;
	}
}

/* Samples at random contexts until there are about enough values, then inclusive ones. */
static void make_template(struct template *t)
{
	double *point = xcalloc(g.n_ctxs, sizeof(double)), *all = xcalloc(g.n_ctxs, sizeof(double));
	uint32_t n = 0;

	while (n < g.n_values && n < g.n_ctxs) {
		uint32_t c = 1 + (uint32_t)below(g.n_ctxs - 1);

		if (point[c] == 0)
			n += 2; /* in scopes point and function */
		point[c] += 1 + (double)below(100);
		for (;; c = g.parent[c]) {
			if (all[c] == 1)
				break;
			all[c] = 1;
			n++;
			if (c == 0)
				break;
		}
	}
	memcpy(all, point, g.n_ctxs * sizeof(double));
	for (uint32_t c = g.n_ctxs - 1; c > 0; c--)
		all[g.parent[c]] += all[c];
	for (uint32_t c = 0; c < g.n_ctxs; c++) {
		double v[N_SCOPES] = {point[c], point[c], all[c]};

		for (uint16_t s = 0; s < N_SCOPES; s++)
			if (v[s] != 0)
				vec_push(&t->values, (struct entry){c, s, v[s]});
	}
	free(point);
	free(all);
}

static double weight(uint32_t profile)
{
	return 1 + profile / TEMPLATES % WEIGHTS;
}

static void *put_profiles(void *arg)
{
	struct hpc_profile_block b = {0};
	struct err err;

	for (;;) {
		uint32_t p = atomic_fetch_add(&g.next, 1);
		const struct template *t = &g.templates[p % TEMPLATES];
		double x = weight(p);
		const struct hpc_id ids[] = {
			{HPC_ID_NODE, HPC_ID_IS_PHYSICAL, p / 64, 0xa000000 + p / 64},
			{HPC_ID_RANK, 0, p / 4, p / 4},
			{HPC_ID_THREAD, 0, p % 4, p % 4}};

		if (p > g.n_profiles)
			break;
		hpc_profile_block_reset(&b);
		vec_each (e, &t->values)
			hpc_profile_block_add(&b, e->ctxId, e->metricId, e->value * x);
		if (hpc_profile_put(g.w, p, ids, n_elems(ids), &b, &err))
			die(&err);
		atomic_fetch_add(&g.n_put, b.n_values);
	}
	hpc_profile_block_release(&b);
	return NULL;
}

/* Statistics of each context and scope; FORMATS.md "combine".  A thread that has execution has the
 * metric, with 0 in the other scopes if need be. */
enum { SUM, COUNT, MIN, MAX, SQUARES, N_STATS };

static void put_summary(void)
{
	double(*stats)[N_SCOPES][N_STATS] = xcalloc(g.n_ctxs, sizeof(*stats));
	struct hpc_profile_block b = {0};
	struct err err;

	for (uint32_t p = 1; p <= g.n_profiles && p <= TEMPLATES * WEIGHTS; p++) {
		double times = (g.n_profiles - p) / (TEMPLATES * WEIGHTS) + 1;

		vec_each (e, &g.templates[p % TEMPLATES].values) {
			double *s = stats[e->ctxId][e->metricId], v = e->value * weight(p);

			s[SUM] += v * times;
			s[MIN] = s[COUNT] == 0 || v < s[MIN] ? v : s[MIN];
			s[MAX] = v > s[MAX] ? v : s[MAX];
			s[COUNT] += times;
			s[SQUARES] += v * v * times;
		}
	}
	for (uint32_t c = 0; c < g.n_ctxs; c++)
		for (uint16_t i = 0; i < N_SCOPES * N_STATS; i++) {
			const double *s = stats[c][i / N_STATS], *all = stats[c][EXECUTION];
			double v = s[i % N_STATS];

			if (i % N_STATS == COUNT)
				v = all[COUNT];
			else if (i % N_STATS == MIN && s[COUNT] < all[COUNT])
				v = 0;
			hpc_profile_block_add(&b, c, i, v);
		}
	if (hpc_profile_put(g.w, 0, NULL, 0, &b, &err))
		die(&err);
	hpc_profile_block_release(&b);
	free(stats);
}

static void write_meta(int dirfd)
{
	static const char *id_names[] = {"SUMMARY",   "NODE",	    "RANK",	 "THREAD",
					 "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
	struct hpc_scope scopes[] = {{"point", HPC_SCOPE_POINT, UINT8_MAX},
				     {"function", HPC_SCOPE_TRANSITIVE, 0},
				     {"execution", HPC_SCOPE_EXECUTION, UINT8_MAX}};
	static const struct {
		const char *formula;
		uint8_t combine;
	} stats[N_STATS] = {[SUM] = {"$$", HPC_SUM},
			    [COUNT] = {"1", HPC_SUM},
			    [MIN] = {"$$", HPC_MIN},
			    [MAX] = {"$$", HPC_MAX},
			    [SQUARES] = {"($$^2)", HPC_SUM}};
	struct hpc_scope_inst insts[N_SCOPES];
	struct hpc_summary summaries[N_SCOPES * N_STATS];
	struct hpc_metric metric = {"samples", insts, summaries, N_SCOPES, n_elems(summaries)};
	struct hpc_module module = {"/bin/synthetic", 0};
	struct hpc_entry entry = {"main thread", HPC_ENTRY_MAIN_THREAD};
	struct hpc_meta_model m = {.title = "synthetic",
				   .description = "Made by bench_hpc.",
				   .id_names = id_names,
				   .n_id_names = n_elems(id_names),
				   .metrics = {scopes, &metric, N_SCOPES, 1},
				   .modules = &module,
				   .n_modules = 1,
				   .entries = &entry,
				   .n_entries = 1,
				   .n_nodes = g.n_ctxs - 1};
	int fd = openat(dirfd, "meta.db", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err;

	for (uint16_t i = 0; i < N_SCOPES; i++)
		insts[i] = (struct hpc_scope_inst){i, i};
	for (uint16_t i = 0; i < n_elems(summaries); i++)
		summaries[i] = (struct hpc_summary){i / N_STATS, i, stats[i % N_STATS].combine,
						    stats[i % N_STATS].formula};
	m.n_functions = 1000;
	m.functions = xcalloc(m.n_functions, sizeof(*m.functions));
	for (uint32_t i = 0; i < m.n_functions; i++)
		m.functions[i] = (struct hpc_function){
			.name = xasprintf("function_%u", i), .offset = 16 * i, .file = HPC_NONE};
	m.nodes = xcalloc(m.n_nodes, sizeof(*m.nodes));
	for (uint32_t i = 0; i < m.n_nodes; i++)
		m.nodes[i] =
			(struct hpc_node){.parent = i ? g.parent[i + 1] - 1 : HPC_NONE,
					  .ctxId = i + 1,
					  .function = i ? hash_u64(i) % m.n_functions : HPC_NONE,
					  .file = HPC_NONE,
					  .module = HPC_NONE,
					  .flags = i ? HPC_HAS_FUNCTION : 0,
					  .relation = HPC_CALL,
					  .lexicalType = HPC_FUNCTION};
	if (fd < 0 || hpc_meta_write(fd, "meta.db", &m, HPC_RELEASED, &err))
		die(&err);
	close(fd);
	free(m.nodes);
	for (uint32_t i = 0; i < m.n_functions; i++)
		free((char *)m.functions[i].name);
	free(m.functions);
}

static void write_profiles(int dirfd)
{
	pthread_t *threads = xcalloc(g.n_threads, sizeof(*threads));
	struct err err;

	g.next = 1;
	if (hpc_profile_create(&g.w, dirfd, "profile.db", HPC_RELEASED, g.n_profiles + 1,
			       3 * (uint64_t)g.n_profiles, &err))
		die(&err);
	for (unsigned i = 1; i < g.n_threads; i++)
		pthread_create(&threads[i], NULL, put_profiles, NULL);
	put_profiles(NULL);
	for (unsigned i = 1; i < g.n_threads; i++)
		pthread_join(threads[i], NULL);
	put_summary();
	if (hpc_profile_finish(g.w, &err))
		die(&err);
	free(threads);
}

static off_t size_of(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, 0) < 0 ? 0 : st.st_size;
}

static double max_rss_mb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
}

/* Only the encoding of values, without a file. */
static void encode_only(void)
{
	struct hpc_profile_block b = {0};
	uint64_t n = 0;
	double t0 = now();

	while (n < 50 * 1000 * 1000) {
		hpc_profile_block_reset(&b);
		vec_each (e, &g.templates[n % TEMPLATES].values)
			hpc_profile_block_add(&b, e->ctxId, e->metricId, e->value);
		n += b.n_values;
	}
	printf("encode alone: %.0f M values/s on one core\n", (double)n / (now() - t0) / 1e6);
	hpc_profile_block_release(&b);
}

static void transpose(int dirfd)
{
	struct hpc_cct_options o = {.n_threads = g.n_threads,
				    .memory_bytes = (size_t)g.memory_mb << 20,
				    .fd = openat(dirfd, "profile.db", O_RDONLY | O_CLOEXEC)};
	struct hpc_profile_db db;
	struct file_map map;
	struct err err;

	if (file_map_fd(&map, o.fd, "profile.db", &err) ||
	    hpc_profile_db_open(&db, map.bytes, map.n_bytes, "profile.db", &err) ||
	    hpc_cct_build(dirfd, "cct.db", &db, g.n_ctxs, &o, &err))
		die(&err);
	file_map_close(&map);
	close(o.fd);
}

static int write_database(void)
{
	double t0, t1, t2, t3, c1, c2, c3, n;
	char *command = xasprintf("rm -rf %s.cp && cp -r %s %s.cp && rm -r %s.cp", g.dir, g.dir,
				  g.dir, g.dir);
	int dirfd;

	mkdir(g.dir, 0777);
	dirfd = open(g.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0 || g.n_ctxs < 3) {
		perror(g.dir);
		return 2;
	}
	make_tree();
	for (unsigned i = 0; i < TEMPLATES; i++)
		make_template(&g.templates[i]);
	encode_only();
	printf("memory before: %.0f MB\n", max_rss_mb());
	t0 = now();
	write_meta(dirfd);
	t1 = now();
	c1 = cpu_s();
	write_profiles(dirfd);
	t2 = now();
	c2 = cpu_s();
	transpose(dirfd);
	t3 = now();
	c3 = cpu_s();
	n = (double)g.n_put;
	printf("%u profiles, %u contexts, %.0f values (%.0f a profile), %u threads\n", g.n_profiles,
	       g.n_ctxs, n, n / g.n_profiles, g.n_threads);
	printf("meta.db    %.3f s, %.1f MB\n", t1 - t0, (double)size_of(dirfd, "meta.db") / 1e6);
	printf("profile.db %.3f s, %.1f MB, %.1f M values/s/core\n", t2 - t1,
	       (double)size_of(dirfd, "profile.db") / 1e6, n / (c2 - c1) / 1e6);
	printf("cct.db     %.3f s, %.1f MB, %.1f M values/s/core, %.2f bytes a value\n", t3 - t2,
	       (double)size_of(dirfd, "cct.db") / 1e6, n / (c3 - c2) / 1e6,
	       (double)size_of(dirfd, "cct.db") / n);
	printf("largest memory %.0f MB\n", max_rss_mb());
	t0 = now();
	if (system(command) == 0)
		printf("cp         %.3f s; all of this took %.2f times that\n", now() - t0,
		       (t3 - t1) / (now() - t0));
	free(command);
	close(dirfd);
	return 0;
}

/* One context over all profiles, in contexts that have values. */
static void read_contexts(const struct hpc_cct_db *db, unsigned n)
{
	double most = 0, all = 0, sum = 0;
	uint64_t n_values = 0;
	struct err err;

	for (unsigned i = 0; i < n; i++) {
		uint32_t ctxId = i == 0 ? 0 : (uint32_t)below(db->nCtxs);
		struct hpc_metric_values m;
		struct hpc_cct c;
		double t0 = now(), took;

		if (hpc_cct_open(&c, db, ctxId, &err) ||
		    hpc_cct_find_metric(&c, EXECUTION, &m, &err))
			die(&err);
		for (uint64_t k = 0; k < m.n; k++)
			sum += hpc_metric_value(&m, k).value;
		took = now() - t0;
		n_values += m.n;
		all += took;
		most = took > most ? took : most;
	}
	printf("one context over all profiles: %.3f ms at most, %.4f ms on average of %u (%.0f "
	       "values each; sum %g)\n",
	       most * 1e3, all * 1e3 / n, n, (double)n_values / n, sum);
}

static void read_values(const struct hpc_profile_db *db, const struct hpc_cct_db *cct, unsigned n)
{
	double t0 = now(), t1, sum = 0, v;
	struct err err;

	for (unsigned i = 0; i < n; i++) {
		struct hpc_profile p;

		if (hpc_profile_open(&p, db, 1 + (uint32_t)below(db->nProfiles - 1), &err) ||
		    hpc_profile_value(&p, (uint32_t)below(cct->nCtxs), EXECUTION, &v, &err))
			die(&err);
		sum += v;
	}
	t1 = now();
	for (unsigned i = 0; i < n; i++) {
		if (hpc_cct_value(cct, (uint32_t)below(cct->nCtxs), EXECUTION,
				  1 + (uint32_t)below(db->nProfiles - 1), &v, &err))
			die(&err);
		sum += v;
	}
	printf("random look-up: %.0f ns in profile.db, %.0f ns in cct.db (sum %g)\n",
	       (t1 - t0) / n * 1e9, (now() - t1) / n * 1e9, sum);
}

static int read_database(void)
{
	int dirfd = open(g.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file_map profiles, ccts;
	struct hpc_profile_db db;
	struct hpc_cct_db cct;
	double t0 = now();
	struct err err;

	if (file_map_open(&profiles, dirfd, "profile.db", true, &err) ||
	    hpc_profile_db_open(&db, profiles.bytes, profiles.n_bytes, "profile.db", &err) ||
	    file_map_open(&ccts, dirfd, "cct.db", true, &err) ||
	    hpc_cct_db_open(&cct, ccts.bytes, ccts.n_bytes, "cct.db", &err))
		die(&err);
	printf("opened profile.db (%u profiles) and cct.db (%u contexts) in %.3f ms\n",
	       db.nProfiles, cct.nCtxs, (now() - t0) * 1e3);
	if (db.nProfiles < 2 || cct.nCtxs == 0)
		return 0;
	read_contexts(&cct, 200);
	read_values(&db, &cct, 200000);
	return 0;
}

static unsigned number(int argc, char **argv, int i, unsigned otherwise)
{
	return argc > i ? (unsigned)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	if (argc < 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0)) {
		fprintf(stderr, "usage: bench_hpc write DIR [PROFILES [CONTEXTS [VALUES [THREADS "
				"[MEMORY_MB]]]]]\n"
				"       bench_hpc read DIR\n");
		return 2;
	}
	g.dir = argv[2];
	if (strcmp(argv[1], "read") == 0)
		return read_database();
	g.n_profiles = number(argc, argv, 3, 1000);
	g.n_ctxs = number(argc, argv, 4, 10000);
	g.n_values = number(argc, argv, 5, 10000);
	g.n_threads = number(argc, argv, 6, 1);
	g.memory_mb = number(argc, argv, 7, 256);
	return write_database();
}
