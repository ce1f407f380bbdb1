/* SPDX-License-Identifier: BSD-2-Clause */
/* See hpcgen.h.  Point values are given; all others follow from them by the rules of the format
 * (docs/formats/hpctoolkit.md), worked out here in the plainest way. */
#include "hpcgen.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "hpc/write/cct.h"
#include "formats/hpc/meta.h"
#include "hpc/write/profile.h"
#include "hpc/write/trace.h"

enum { POINT, FUNCTION, LEX_AWARE, EXECUTION, N_SCOPES };
enum { N_METRICS = 2, N_PROFILES = 3, N_SUMS = 3 };
enum { PROG, LIBC };
enum { PROG_C, PROG_H };
enum { MAIN, SOLVE, INNER, MEMCPY, NAMELESS };

/* A context: where it is and its point values in each thread, in hundredths of a second. */
struct ctx {
	uint32_t id;
	int parent; /* its number in the table, -1 for an entry */
	enum hpc_relation relation;
	enum hpc_lexical_type type;
	uint32_t function, file, line, module;
	uint64_t offset;
	unsigned points[N_PROFILES];
	bool elided; /* not in meta.db */
};

#define NO HPC_NONE

static const struct ctx contexts[] = {
	{1, -1, HPC_CALL, HPC_FUNCTION, NO, NO, 0, NO, 0, {0}},
	{2, 0, HPC_CALL, HPC_FUNCTION, MAIN, NO, 0, NO, 0, {0}},
	{30, 1, HPC_LEXICAL, HPC_LINE, NO, PROG_C, 2, NO, 0, {0}},
	{4, 2, HPC_CALL, HPC_FUNCTION, SOLVE, NO, 0, NO, 0, {0}},
	{5, 3, HPC_LEXICAL, HPC_LOOP, NO, PROG_C, 11, NO, 0, {2, 0, 1}},
	{6, 4, HPC_LEXICAL, HPC_LINE, NO, PROG_C, 12, NO, 0, {100, 50, 25}},
	{7, 5, HPC_LEXICAL, HPC_INSTRUCTION, NO, NO, 0, PROG, 0x1040, {30, 20, 10}},
	{8, 5, HPC_INLINED_CALL, HPC_FUNCTION, INNER, NO, 0, NO, 0, {0}},
	{9, 7, HPC_LEXICAL, HPC_LINE, NO, PROG_H, 4, NO, 0, {40, 0, 20}},
	{10, 4, HPC_LEXICAL, HPC_LINE, NO, PROG_C, 13, NO, 0, {0}},
	{11, 9, HPC_CALL, HPC_FUNCTION, SOLVE, NO, 0, NO, 0, {0}},
	{12, 10, HPC_LEXICAL, HPC_LINE, NO, PROG_C, 14, NO, 0, {15, 5, 0}},
	{20, 11, HPC_LEXICAL, HPC_INSTRUCTION, NO, NO, 0, PROG, 0x1060, {3, 0, 0}, true},
	{13, 1, HPC_LEXICAL, HPC_LINE, NO, PROG_C, 3, NO, 0, {1, 0, 0}},
	{14, 13, HPC_CALL, HPC_FUNCTION, SOLVE, NO, 0, NO, 0, {0}},
	{15, 14, HPC_LEXICAL, HPC_LINE, NO, PROG_C, 14, NO, 0, {25, 0, 45}},
	{16, 13, HPC_CALL, HPC_FUNCTION, MEMCPY, NO, 0, NO, 0, {8, 0, 2}},
	{17, -1, HPC_CALL, HPC_FUNCTION, NO, NO, 0, NO, 0, {0}},
	{18, 17, HPC_CALL, HPC_FUNCTION, NAMELESS, NO, 0, NO, 0, {0, 6, 0}},
	{19, 18, HPC_CALL, HPC_INSTRUCTION, NO, NO, 0, LIBC, 0x99, {0, 4, 0}},
};

#define N_CTXS (sizeof(contexts) / sizeof(*contexts))

static const char source[] =
	"int main(void)\n{\tsolve();\n\treturn memcpy(a, b, solve());\n}\n\n/* Six */\n\n\n\n"
	"int solve(void)\n{\tfor (;;) {\n\t\tx += inner(x);\n\t\tsolve();\n\t} return x;\n}\n";

/* --- meta.db --- */

static struct hpc_scope scopes[N_SCOPES] = {
	{"point", HPC_SCOPE_POINT, UINT8_MAX},
	{"function", HPC_SCOPE_TRANSITIVE, 0},
	{"lex_aware", HPC_SCOPE_CUSTOM, UINT8_MAX},
	{"execution", HPC_SCOPE_EXECUTION, UINT8_MAX},
};

static const char *const formulas[N_SUMS] = {"1", "$$", "($$^2)"};

static uint16_t prop_id(unsigned metric, unsigned scope)
{
	return (uint16_t)(N_SCOPES * metric + scope);
}

static uint16_t stat_id(unsigned metric, unsigned sum, unsigned scope)
{
	return (uint16_t)(N_SCOPES * (N_SUMS * metric + sum) + scope);
}

struct metrics {
	struct hpc_metric metrics[N_METRICS];
	struct hpc_scope_inst insts[N_METRICS][N_SCOPES];
	struct hpc_summary sums[N_METRICS][N_SUMS * N_SCOPES];
};

static struct hpc_metrics make_metrics(struct metrics *m)
{
	static const char *const names[N_METRICS] = {"CPUTIME (sec)", "cycles"};

	for (unsigned i = 0; i < N_METRICS; i++) {
		for (unsigned s = 0; s < N_SCOPES; s++) {
			m->insts[i][s] = (struct hpc_scope_inst){(uint16_t)s, prop_id(i, s)};
			for (unsigned k = 0; k < N_SUMS; k++)
				m->sums[i][N_SUMS * s + k] = (struct hpc_summary){
					(uint16_t)s, stat_id(i, k, s), HPC_SUM, formulas[k]};
		}
		m->metrics[i] = (struct hpc_metric){names[i], m->insts[i], m->sums[i], N_SCOPES,
						    N_SUMS * N_SCOPES};
	}
	return (struct hpc_metrics){scopes, m->metrics, N_SCOPES, N_METRICS};
}

static const char *id_names[] = {"SUMMARY",   "NODE",	    "RANK",	 "THREAD",
				 "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};

static struct hpc_entry entries[] = {{"main thread", HPC_ENTRY_MAIN_THREAD},
				     {"application thread", HPC_ENTRY_THREAD}};

static int write_meta(const char *dir, const struct hpc_node *nodes, uint32_t n, uint32_t n_entries,
		      struct hpc_function *functions, uint32_t n_functions, enum hpc_layout layout,
		      struct err *err)
{
	struct hpc_module modules[] = {{"/usr/bin/prog", 0}, {"/lib/libc.so.6", 0}};
	struct hpc_file files[] = {{"src/prog.c", HPC_FILE_COPIED}, {"/usr/include/prog.h", 0}};
	struct metrics m;
	struct hpc_meta_model model = {
		.title = "generated",
		.description = "made by a test",
		.id_names = id_names,
		.n_id_names = n_elems(id_names),
		.metrics = make_metrics(&m),
		.modules = modules,
		.files = files,
		.functions = functions,
		.n_modules = n_elems(modules),
		.n_files = n_elems(files),
		.n_functions = n_functions,
		.nodes = (struct hpc_node *)nodes,
		.entries = entries,
		.n_nodes = n,
		.n_entries = n_entries,
	};
	char path[4096];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/meta.db", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	rc = hpc_meta_write(fd, path, &model, layout, err);
	close(fd);
	return rc;
}

static struct hpc_node node_of(const struct ctx *c, uint32_t parent)
{
	struct hpc_node n = {
		.offset = c->offset,
		.parent = parent,
		.ctxId = c->id,
		.function = c->function,
		.file = c->file,
		.line = c->line,
		.module = c->module,
		.relation = (uint8_t)c->relation,
		.lexicalType = (uint8_t)c->type,
	};

	n.flags = (uint8_t)((c->function != NO ? HPC_HAS_FUNCTION : 0) |
			    (c->file != NO ? HPC_HAS_SRC_LOC : 0) |
			    (c->module != NO ? HPC_HAS_POINT : 0));
	if (c->relation == HPC_LEXICAL)
		n.propagation = HPC_PROPAGATE_FUNCTION;
	return n;
}

/* --- values --- */

/* One thread's values of the first metric, by context and scope; the root is behind the others. */
typedef double thread_values[N_CTXS + 1][N_SCOPES];

/* Whether what is in context K is in I by SCOPE. */
static bool is_within(size_t k, size_t i, unsigned scope)
{
	for (; k != i; k = (size_t)contexts[k].parent) {
		const struct ctx *c = &contexts[k];

		if (c->parent < 0 || scope == POINT)
			return false;
		if (scope != EXECUTION && c->relation != HPC_LEXICAL)
			return false;
		if (scope == LEX_AWARE && c->type == HPC_LOOP && contexts[i].type == HPC_LOOP)
			return false;
	}
	return true;
}

static void make_values(unsigned profile, thread_values v)
{
	memset(v, 0, sizeof(thread_values));
	for (size_t i = 0; i < N_CTXS; i++)
		for (unsigned s = 0; s < N_SCOPES; s++)
			for (size_t k = i; k < N_CTXS; k++)
				if (is_within(k, i, s))
					v[i][s] += contexts[k].points[profile] / 100.0;
	for (size_t k = 0; k < N_CTXS; k++)
		v[N_CTXS][EXECUTION] += contexts[k].points[profile] / 100.0;
}

/* The contexts by growing id; the root is number N_CTXS. */
static const size_t *sorted_by_id(void)
{
	static size_t order[N_CTXS + 1];
	size_t n = 0;

	order[n++] = N_CTXS;
	for (uint32_t id = 1; n <= N_CTXS; id++)
		for (size_t i = 0; i < N_CTXS; i++)
			if (contexts[i].id == id)
				order[n++] = i;
	return order;
}

/* Cycles are a thousand times the milliseconds. */
static double value_of(const thread_values v, size_t i, unsigned metric, unsigned scope)
{
	return metric == 0 ? v[i][scope] : round(v[i][scope] * 1e6);
}

static int put_threads(struct hpc_profile_writer *w, thread_values all[N_PROFILES], struct err *err)
{
	const size_t *order = sorted_by_id();
	int rc = 0;

	for (unsigned p = 0; p < N_PROFILES && !rc; p++) {
		const struct hpc_id ids[] = {
			{HPC_ID_NODE, HPC_ID_IS_PHYSICAL, 0, 0x7f0100},
			{HPC_ID_RANK, 0, p / 2, p / 2},
			{HPC_ID_THREAD, 0, p % 2, p % 2},
		};
		struct hpc_profile_block b = {0};

		for (size_t k = 0; k <= N_CTXS; k++)
			for (unsigned m = 0; m < N_METRICS; m++)
				for (unsigned s = 0; s < N_SCOPES; s++)
					hpc_profile_block_add(
						&b, order[k] < N_CTXS ? contexts[order[k]].id : 0,
						prop_id(m, s),
						value_of((const double(*)[N_SCOPES])all[p],
							 order[k], m, s));
		rc = hpc_profile_put(w, p + 1, ids, n_elems(ids), &b, err);
		hpc_profile_block_release(&b);
	}
	return rc;
}

static int put_summary(struct hpc_profile_writer *w, thread_values all[N_PROFILES], struct err *err)
{
	const size_t *order = sorted_by_id();
	struct hpc_profile_block b = {0};
	int rc;

	for (size_t k = 0; k <= N_CTXS; k++) {
		for (unsigned id = 0; id < N_METRICS * N_SUMS * N_SCOPES; id++) {
			unsigned scope = id % N_SCOPES, sum = id / N_SCOPES % N_SUMS,
				 metric = id / N_SCOPES / N_SUMS;
			double total = 0;

			for (unsigned p = 0; p < N_PROFILES; p++) {
				const double(*of)[N_SCOPES] = (const double(*)[N_SCOPES])all[p];
				double v = value_of(of, order[k], metric, scope);
				bool there = value_of(of, order[k], metric, EXECUTION) != 0;

				total += sum == 0 ? there : sum == 1 ? v : v * v;
			}
			hpc_profile_block_add(&b, order[k] < N_CTXS ? contexts[order[k]].id : 0,
					      (uint16_t)id, total);
		}
	}
	rc = hpc_profile_put(w, HPC_SUMMARY_PROFILE, NULL, 0, &b, err);
	hpc_profile_block_release(&b);
	return rc;
}

static int write_values(int fd, enum hpc_layout layout, struct err *err)
{
	const struct hpc_cct_options o = {.n_threads = 1};
	thread_values all[N_PROFILES];
	struct hpc_profile_writer *w;
	struct hpc_profile_db db;
	struct file_map m;
	int rc = hpc_profile_create(&w, fd, "profile.db", layout, N_PROFILES + 1, 3 * N_PROFILES,
				    err);

	if (rc)
		return rc;
	for (unsigned p = 0; p < N_PROFILES; p++)
		make_values(p, all[p]);
	rc = put_threads(w, all, err);
	if (!rc)
		rc = put_summary(w, all, err);
	if (rc) {
		hpc_profile_abandon(w);
		return rc;
	}
	rc = hpc_profile_finish(w, err);
	if (!rc)
		rc = file_map_open(&m, fd, "profile.db", true, err);
	if (rc)
		return rc;
	rc = hpc_profile_db_open(&db, m.bytes, m.n_bytes, "profile.db", err);
	if (!rc)
		rc = hpc_cct_build(fd, "cct.db", &db, 0, &o, err);
	file_map_close(&m);
	return rc;
}

/* --- trace.db --- */

static int write_traces(int fd, enum hpc_layout layout, struct err *err)
{
	static const uint32_t at[N_PROFILES][6] = {
		{30, 6, 9, 15, 16, 0}, {6, 0, 19, 0, 6, 0}, {15, 12, 9, 15, 7, 0}};
	struct hpc_trace_writer *w;
	int rc = hpc_trace_create(&w, fd, "trace.db", layout, N_PROFILES, err);

	for (uint32_t p = 0; p < N_PROFILES && !rc; p++) {
		struct hpc_trace_elem line[6];

		for (unsigned i = 0; i < 6; i++)
			line[i] = (struct hpc_trace_elem){
				1700000000000000000 + 1000000 * (100 * i + 10 * p), at[p][i]};
		rc = hpc_trace_put(w, p + 1, line, 6, err);
		if (rc)
			hpc_trace_abandon(w);
	}
	return rc ? rc : hpc_trace_finish(w, err);
}

/* --- all --- */

static int open_dir(const char *dir, struct err *err)
{
	int fd;

	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return err_errno(err, -errno, "%s", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_errno(err, -errno, "%s", dir) : fd;
}

static int write_source(int fd, struct err *err)
{
	int src, rc;

	if (mkdirat(fd, "src", 0755) != 0 && errno != EEXIST)
		return err_errno(err, -errno, "src");
	src = openat(fd, "src", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = src < 0 ? -errno : file_replace_lazily(src, "prog.c", source, sizeof(source) - 1, err);
	if (src >= 0)
		close(src);
	return rc;
}

int hpcgen_write(const char *dir, enum hpc_layout layout, struct err *err)
{
	struct hpc_function functions[] = {
		[MAIN] = {"main", 0x1000, PROG, PROG_C, 1, 0},
		[SOLVE] = {"solve", 0x1030, PROG, PROG_C, 10, 0},
		[INNER] = {"inner", 0, PROG, PROG_H, 3, 0},
		[MEMCPY] = {"memcpy [libc.so.6]", 0x200, LIBC, NO, 0, 0},
		[NAMELESS] = {"", 0x500, PROG, NO, 0, 0},
	};
	struct hpc_node nodes[N_CTXS];
	uint32_t number[N_CTXS], n = 0;
	int fd = open_dir(dir, err), rc;

	if (fd < 0)
		return fd;
	for (size_t i = 0; i < N_CTXS; i++) {
		const struct ctx *c = &contexts[i];

		number[i] = n;
		if (!c->elided)
			nodes[n++] = node_of(c, c->parent < 0 ? NO : number[c->parent]);
	}
	rc = write_meta(dir, nodes, n, n_elems(entries), functions, n_elems(functions), layout,
			err);
	if (!rc)
		rc = write_values(fd, layout, err);
	if (!rc)
		rc = write_traces(fd, layout, err);
	if (!rc)
		rc = write_source(fd, err);
	close(fd);
	return rc;
}

/* --- a tree of functions --- */

struct tree {
	VEC(struct hpc_node) nodes;
	VEC(double) inclusive;
	unsigned fanout, depth;
};

static double add_tree(struct tree *t, uint32_t parent, unsigned depth, unsigned number)
{
	uint32_t mine = (uint32_t)t->nodes.n;
	double sum = 0;

	vec_push(&t->nodes, (struct hpc_node){
				    .parent = parent,
				    .ctxId = mine + 1,
				    .function = parent == NO ? NO : number,
				    .file = NO,
				    .module = NO,
				    .relation = HPC_CALL,
				    .lexicalType = HPC_FUNCTION,
				    .flags = parent == NO ? 0 : HPC_HAS_FUNCTION,
			    });
	vec_push(&t->inclusive, 0);
	for (unsigned i = 0; i < t->fanout && depth < t->depth; i++)
		sum += add_tree(t, mine, depth + 1, i);
	/* The first one has nearly all, so that one path is hot. */
	sum = depth < t->depth ? sum : number == 0 ? 1000 : 1;
	t->inclusive.v[mine] = sum;
	return sum;
}

static int write_tree_values(const char *dir, const struct tree *t, struct err *err)
{
	struct hpc_profile_block b[2] = {0};
	struct hpc_profile_writer *w;
	int fd = open_dir(dir, err), rc;

	if (fd < 0)
		return fd;
	for (size_t i = 0; i <= t->nodes.n; i++) {
		double v = t->inclusive.v[i ? i - 1 : 0];
		bool leaf = i && (i == t->nodes.n || t->nodes.v[i].parent != i - 1);

		for (unsigned k = 0; k < 2; k++) {
			hpc_profile_block_add(&b[k], (uint32_t)i,
					      k ? stat_id(0, 1, FUNCTION) : prop_id(0, FUNCTION),
					      leaf ? v : 0);
			hpc_profile_block_add(&b[k], (uint32_t)i,
					      k ? stat_id(0, 1, EXECUTION) : prop_id(0, EXECUTION),
					      v);
		}
	}
	rc = hpc_profile_create(&w, fd, "profile.db", HPC_RELEASED, 2, 1, err);
	if (!rc) {
		rc = hpc_profile_put(w, 1, NULL, 0, &b[0], err);
		if (!rc)
			rc = hpc_profile_put(w, 0, NULL, 0, &b[1], err);
		if (!rc)
			rc = hpc_profile_finish(w, err);
		else
			hpc_profile_abandon(w);
	}
	hpc_profile_block_release(&b[0]);
	hpc_profile_block_release(&b[1]);
	close(fd);
	return rc;
}

int hpcgen_write_tree(const char *dir, unsigned fanout, unsigned depth, uint32_t *ret_n_ctxs,
		      struct err *err)
{
	struct tree t = {.fanout = fanout, .depth = depth};
	struct hpc_function *functions = xcalloc(fanout + 1, sizeof(*functions));
	char(*names)[16] = xcalloc(fanout + 1, sizeof(*names));
	int rc = open_dir(dir, err);

	if (rc >= 0)
		close(rc);
	for (unsigned i = 0; i < fanout; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		functions[i] = (struct hpc_function){names[i], 16 * i, PROG, NO, 0, 0};
	}
	add_tree(&t, NO, 0, 0);
	if (rc >= 0)
		rc = write_meta(dir, t.nodes.v, (uint32_t)t.nodes.n, 1, functions, fanout,
				HPC_RELEASED, err);
	if (rc >= 0)
		rc = write_tree_values(dir, &t, err);
	*ret_n_ctxs = (uint32_t)t.nodes.n;
	vec_release(&t.nodes);
	vec_release(&t.inclusive);
	free(functions);
	free(names);
	return rc < 0 ? rc : 0;
}
