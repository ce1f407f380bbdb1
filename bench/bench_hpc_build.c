/* SPDX-License-Identifier: BSD-2-Clause */
/* What building an HPCToolkit database costs, on made-up measurements.
 *
 *     bench_hpc_build DIR PROFILES CONTEXTS VALUES [JOBS [METRICS]]
 *
 * A random tree of CONTEXTS contexts (functions, loops, lines and instructions, 12 deep on the
 * mean of its leaves), PROFILES threads with VALUES point values each, in a random half of their
 * own of the instructions, goes through what `dwell hpc` does with a recording's: records, sums
 * over scopes, statistics, profile.db, cct.db, meta.db.  DIR is made anew.  Prints one line of
 * JSON: values are those in profile.db without the summary; cpu_s and wall_s are of all after the
 * tree was made, but for making up values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "hpc/build.h"

static uint64_t seed = 1;

static uint64_t below(uint64_t n)
{
	seed = hash_u64(seed + 0x9e3779b97f4a7c15);
	return (uint64_t)((unsigned __int128)seed * n >> 64);
}

static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long anon_kb;

/* Between steps looks how much memory is in use. */
static int on_progress(void *user, const char *what, uint64_t done, uint64_t all)
{
	static unsigned n;
	char line[128];
	long kb;
	FILE *f;

	if (n++ % 64 && done < all)
		return 0;
	f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1 && kb > anon_kb)
			anon_kb = kb;
	if (f)
		fclose(f);
	return 0;
}

/* Bytes of the three files. */
static uint64_t n_bytes(int dirfd)
{
	static const char *const files[] = {"meta.db", "profile.db", "cct.db"};
	uint64_t n = 0;
	struct stat st;

	for (size_t i = 0; i < n_elems(files); i++)
		if (fstatat(dirfd, files[i], &st, 0) == 0)
			n += (uint64_t)st.st_size;
	return n;
}

static void die(const struct err *err)
{
	fprintf(stderr, "bench_hpc_build: %s\n", err->msg);
	exit(2);
}

/* Call paths of a program: each function has a few loops and lines, each line a few instructions,
 * some of which call.  RET are the instructions' nodes. */
static uint32_t *make_tree(struct contexts *c, uint32_t n_ctxs, size_t *ret_n)
{
	VEC(uint32_t) calls = {0}, leaves = {0};
	uint32_t module = contexts_module(c, "/usr/bin/program"), n_functions = 0;
	uint32_t file = contexts_file(c, "/usr/src/program.c");

	vec_push(&calls, contexts_entry(c, HPC_ENTRY_MAIN_THREAD, NULL));
	while (c->nodes.n < n_ctxs) {
		uint32_t caller = calls.v[below(calls.n)], f, at;
		char name[32];

		snprintf(name, sizeof(name), "function_%u", n_functions++ % 5000);
		f = contexts_function(
			c, &(struct hpc_function){name, n_functions % 5000, module, file, 1, 0});
		at = contexts_child(c, caller,
				    &(struct lexical){.function = f,
						      .relation = HPC_CALL,
						      .lexicalType = HPC_FUNCTION,
						      .flags = HPC_HAS_FUNCTION});
		for (uint32_t l = 0; l < 1 + below(3); l++) {
			uint32_t loop = contexts_child(
				c, at,
				&(struct lexical){.file = file,
						  .line = l + 1,
						  .relation = HPC_LEXICAL,
						  .lexicalType = l ? HPC_LOOP : HPC_LINE,
						  .flags = HPC_HAS_SRC_LOC});

			for (uint32_t i = 0; i < 1 + below(4); i++) {
				uint32_t leaf = contexts_child(
					c, loop,
					&(struct lexical){.module = module,
							  .offset = n_functions * 64 + l * 8 + i,
							  .relation = HPC_LEXICAL,
							  .lexicalType = HPC_INSTRUCTION,
							  .flags = HPC_HAS_POINT});

				vec_push(&leaves, leaf);
				if (below(3) == 0)
					vec_push(&calls, leaf);
			}
		}
	}
	vec_release(&calls);
	*ret_n = leaves.n;
	return leaves.v;
}

/* What making up values has taken. */
static double made_wall, made_cpu;

static struct hpc_record *make_records(uint32_t profile, size_t n_leaves, uint64_t n_values,
				       unsigned n_metrics, struct hpc_record *ret)
{
	double wall = clock_s(CLOCK_MONOTONIC), cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t first = below(n_leaves);

	for (uint64_t v = 0; v < n_values; v++)
		ret[v] = (struct hpc_record){
			.n = 1000000 * (1 + below(1000)),
			.group = profile,
			.ctx = (uint32_t)((first + below(n_leaves / 2 + 1)) % n_leaves),
			.event = (uint16_t)below(n_metrics),
		};
	made_wall += clock_s(CLOCK_MONOTONIC) - wall;
	made_cpu += clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	return ret;
}

static void fill(struct build *b, uint32_t n_profiles, const uint32_t *leaves, size_t n_leaves,
		 uint64_t n_values, unsigned n_metrics)
{
	struct err err;
	struct build_input *in = vec_add(&b->inputs);
	struct hpc_record *records = xcalloc(n_values + 1, sizeof(*records));

	in->nodes = xmemdup(leaves, n_leaves * sizeof(*leaves));
	in->n_nodes = n_leaves;
	in->events = xcalloc(n_metrics, sizeof(*in->events));
	for (unsigned m = 0; m < n_metrics; m++)
		in->events[m] = (struct build_event){.metric = (uint16_t)m, .period = 1, .duty = 1};
	identities_host(&b->identities, "bench");
	for (uint32_t p = 0; p < n_profiles; p++) {
		const struct identity id = {.rank = p, .pid = p + 1, .tid = p + 1};
		const struct hpc_record *r =
			make_records(p, n_leaves, n_values, n_metrics, records);

		vec_push(&b->identity_of, identities_intern(&b->identities, &id));
		for (uint64_t v = 0; v < n_values; v++)
			if (records_add(&b->records, &r[v], &err))
				die(&err);
	}
	free(records);
}

int main(int argc, char **argv)
{
	struct new_dir dir;
	struct build_opts o = {
		.dir = &dir, .no_sources = true, .title = "bench", .progress = on_progress};
	struct rusage use;
	struct build b;
	struct err err;
	size_t n_leaves;
	uint32_t *leaves;
	double wall, cpu, fill_s;
	uint64_t bytes;
	unsigned n_metrics = argc > 6 ? (unsigned)atoi(argv[6]) : 1;

	if (argc < 5) {
		fprintf(stderr,
			"usage: bench_hpc_build DIR PROFILES CONTEXTS VALUES [JOBS [METRICS]]\n");
		return 2;
	}
	o.n_threads = argc > 5 ? (unsigned)atoi(argv[5]) : 1;
	if (new_dir_begin(&dir, argv[1], "meta.db", true, &err))
		die(&err);
	build_init(&b, &o);
	leaves = make_tree(&b.contexts, (uint32_t)atoi(argv[3]), &n_leaves);
	for (unsigned m = 0; m < n_metrics; m++) {
		char name[32];

		snprintf(name, sizeof(name), "event %u", m);
		build_metrics_add(&b.metrics, name, (1u << N_METRIC_SCOPES) - 1, m);
	}
	cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	wall = clock_s(CLOCK_MONOTONIC);
	fill(&b, (uint32_t)atoi(argv[2]), leaves, n_leaves, strtoull(argv[4], NULL, 10), n_metrics);
	fill_s = clock_s(CLOCK_MONOTONIC) - wall - made_wall;
	if (build_save(&b, &err))
		die(&err);
	wall = clock_s(CLOCK_MONOTONIC) - wall - made_wall;
	cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu - made_cpu;
	bytes = n_bytes(dir.fd);
	if (new_dir_commit(&dir, &err))
		die(&err);
	getrusage(RUSAGE_SELF, &use);
	printf("{\"profiles\": %s, \"contexts\": %zu, \"values\": %" PRIu64
	       ", \"records\": %" PRIu64 ", \"jobs\": %u, \"wall_s\": %.3f, \"fill_s\": %.3f, "
	       "\"cpu_s\": %.3f, \"max_rss_kb\": %ld, \"anon_kb\": %ld, \"bytes\": %" PRIu64 "}\n",
	       argv[2], b.contexts.nodes.n, b.n_values, b.records.n, o.n_threads, wall, fill_s, cpu,
	       use.ru_maxrss, anon_kb, bytes);
	build_release(&b);
	new_dir_end(&dir);
	free(leaves);
	return 0;
}
