/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a database say of each other: a small sound one, changed in one place at a
 * time; real ones; and writers whose disk is full. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/summary_formula.h"
#include "formats/hpc/meta.h"
#include "hpc/write/trace.h"
#include "gen_hpc.h"
#include "hpc_tensor_t.h"
#include "hpc/write/cct.h"
#include "hpc/write/profile.h"

/* The tree: an entry, and two functions of a line and an instruction each, the second called from
 * the first.  Contexts are numbered from the root, 0, down. */
enum { N_CTXS = 8, N_PROFILES = 5, POINT = 0, FUNCTION = 1, EXECUTION = 2, N_SCOPES = 3 };
enum { SUM, COUNT, MIN, MAX, SQUARES, N_STATS };

static bool is_called(uint32_t c)
{
	return c == 1 || c == 2 || c == 5;
}

static void propagate(struct tensor *t, uint32_t p)
{
	for (uint32_t c = 0; c < N_CTXS; c++)
		*tensor_at(t, p, c, FUNCTION) = *tensor_at(t, p, c, EXECUTION) =
			*tensor_at(t, p, c, POINT);
	for (uint32_t c = N_CTXS - 1; c > 0; c--) {
		*tensor_at(t, p, c - 1, EXECUTION) += *tensor_at(t, p, c, EXECUTION);
		if (!is_called(c))
			*tensor_at(t, p, c - 1, FUNCTION) += *tensor_at(t, p, c, FUNCTION);
	}
}

static void summarize(struct tensor *t)
{
	for (uint32_t c = 0; c < N_CTXS; c++)
		for (uint16_t s = 0; s < N_SCOPES; s++) {
			double *to = tensor_at(t, 0, c, (uint16_t)(s * N_STATS));
			bool first = true;

			memset(to, 0, N_STATS * sizeof(*to));
			for (uint32_t p = 1; p < N_PROFILES; p++) {
				double v = *tensor_at(t, p, c, s);

				if (*tensor_at(t, p, c, EXECUTION) == 0)
					continue; /* does not have the metric here */
				to[SUM] += v;
				to[COUNT]++;
				to[MIN] = first || v < to[MIN] ? v : to[MIN];
				to[MAX] = first || v > to[MAX] ? v : to[MAX];
				to[SQUARES] += v * v;
				first = false;
			}
		}
}

struct world {
	struct tensor values;		/* profile.db */
	struct tensor transposed;	/* what cct.db is made of */
	struct hpc_trace_elem elems[3]; /* of each line */
	uint32_t n_traces;
	uint16_t n_summaries;
	uint32_t n_id_names;
};

static void world_init(struct world *w)
{
	struct tensor *t = &w->values;

	*w = (struct world){.elems = {{10, 0}, {20, 7}, {30, 4}},
			    .n_traces = N_PROFILES - 1,
			    .n_summaries = N_SCOPES * N_STATS,
			    .n_id_names = HPC_N_ID_KINDS};
	tensor_init(t, N_PROFILES, N_CTXS, N_SCOPES * N_STATS);
	for (uint32_t p = 1; p < N_PROFILES; p++) {
		*tensor_at(t, p, 4, POINT) = p == 3 ? 0 : 10.25 * p;
		*tensor_at(t, p, 7, POINT) = p % 2 ? 3 : 0;
		propagate(t, p);
	}
	summarize(t);
	tensor_init(&w->transposed, N_PROFILES, N_CTXS, N_SCOPES * N_STATS);
	memcpy(w->transposed.v, t->v, sizeof(double) * N_PROFILES * N_CTXS * N_SCOPES * N_STATS);
}

static void world_release(struct world *w)
{
	tensor_release(&w->values);
	tensor_release(&w->transposed);
}

static struct wr meta_bytes(const struct world *w, enum hpc_layout layout)
{
	static const char *id_names[] = {"SUMMARY",   "NODE",	    "RANK",	 "THREAD",
					 "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
	struct hpc_scope scopes[] = {{"point", HPC_SCOPE_POINT, UINT8_MAX},
				     {"function", HPC_SCOPE_TRANSITIVE, 0},
				     {"execution", HPC_SCOPE_EXECUTION, UINT8_MAX}};
	static const struct hpc_summary stats[N_STATS] = {
		[SUM] = {.formula = "$$", .combine = HPC_SUM},
		[COUNT] = {.formula = "1", .combine = HPC_SUM},
		[MIN] = {.formula = "$$", .combine = HPC_MIN},
		[MAX] = {.formula = "$$", .combine = HPC_MAX},
		[SQUARES] = {.formula = "($$^2)", .combine = HPC_SUM}};
	struct hpc_scope_inst insts[N_SCOPES];
	struct hpc_summary summaries[N_SCOPES * N_STATS];
	struct hpc_metric metric = {"m", insts, summaries, N_SCOPES, w->n_summaries};
	struct hpc_module module = {"/bin/x", 0};
	struct hpc_file file = {"/x.c", 0};
	struct hpc_function function = {.name = "f", .file = HPC_NONE};
	struct hpc_entry entry = {"main thread", HPC_ENTRY_MAIN_THREAD};
	struct hpc_node nodes[N_CTXS - 1];
	struct hpc_meta_model m = {.title = "t",
				   .description = "d",
				   .id_names = id_names,
				   .n_id_names = w->n_id_names,
				   .metrics = {scopes, &metric, N_SCOPES, 1},
				   .modules = &module,
				   .files = &file,
				   .functions = &function,
				   .n_modules = 1,
				   .n_files = 1,
				   .n_functions = 1,
				   .nodes = nodes,
				   .entries = &entry,
				   .n_nodes = N_CTXS - 1,
				   .n_entries = 1};
	struct err err = {0};
	struct wr bytes;

	for (uint16_t s = 0; s < N_SCOPES; s++)
		insts[s] = (struct hpc_scope_inst){s, s};
	for (uint16_t i = 0; i < N_SCOPES * N_STATS; i++) {
		summaries[i] = stats[i % N_STATS];
		summaries[i].scope = i / N_STATS;
		summaries[i].statMetricId = i;
	}
	for (uint32_t i = 0; i < N_CTXS - 1; i++) {
		static const uint8_t types[] = {HPC_FUNCTION, HPC_FUNCTION, HPC_LINE,
						HPC_INSTRUCTION};
		unsigned type = i < 4 ? types[i] : types[i - 3];

		nodes[i] = (struct hpc_node){.parent = i ? i - 1 : HPC_NONE,
					     .ctxId = i + 1,
					     .function = i && type == HPC_FUNCTION ? 0 : HPC_NONE,
					     .file = type == HPC_LINE ? 0 : HPC_NONE,
					     .line = 1 + i,
					     .module = type == HPC_INSTRUCTION ? 0 : HPC_NONE,
					     .offset = 16 * i,
					     .propagation =
						     is_called(i + 1) ? 0 : HPC_PROPAGATE_FUNCTION,
					     .flags = type == HPC_INSTRUCTION ? HPC_HAS_POINT
						      : type == HPC_LINE      ? HPC_HAS_SRC_LOC
						      : i		      ? HPC_HAS_FUNCTION
									      : 0,
					     .relation = is_called(i + 1) ? HPC_CALL : HPC_LEXICAL,
					     .lexicalType = (uint8_t)type};
	}
	bytes = gen_hpc_meta_bytes(&m, layout, &err);
	EXPECT_STR(err.msg, "");
	return bytes;
}

static void write_trace(const struct world *w, int dirfd, enum hpc_layout layout)
{
	struct hpc_trace_writer *tw;

	EXPECT_EQ(hpc_trace_create(&tw, dirfd, "trace.db", layout, w->n_traces, NULL), 0);
	for (uint32_t p = 1; p <= w->n_traces; p++)
		EXPECT_EQ(hpc_trace_put(tw, p, w->elems, p == 2 ? 0 : n_elems(w->elems), NULL), 0);
	EXPECT_EQ(hpc_trace_finish(tw, NULL), 0);
}

static void add_problem(void *user, const struct hpc_problem *p)
{
	str_addf(user, "%s %s %s: %s\n", p->file, p->structure, p->field, p->text);
}

struct loaded {
	uint8_t *bytes;
	size_t n;
};

static void transpose(const struct tensor_dir *d, const char *profiles)
{
	struct loaded f = {.bytes = tensor_load(d, profiles, &f.n)};
	struct hpc_profile_db db;

	REQUIRE(f.bytes && hpc_profile_db_open(&db, f.bytes, f.n, profiles, NULL) == 0);
	EXPECT_EQ(hpc_cct_build(d->fd, "cct.db", &db, N_CTXS, NULL, NULL), 0);
	free(f.bytes);
}

/* Writes all files, checks each by itself, then all together: the problems as text. */
static char *problems_of(const struct world *w, enum hpc_layout layout)
{
	struct str out = {0};
	struct hpc_check c = {.report = add_problem, .user = &out};
	struct wr meta = meta_bytes(w, layout);
	struct hpc_profile_db profiles;
	struct hpc_cct_db cct;
	struct hpc_trace_db trace;
	struct hpc_meta m;
	struct loaded f[3];
	struct tensor_dir d;

	if (!tensor_dir_open(&d))
		return xstrdup("no directory");
	tensor_write_profiles(&w->transposed, d.fd, "profile2.db", layout, 1, NULL);
	transpose(&d, "profile2.db");
	tensor_write_profiles(&w->values, d.fd, "profile.db", layout, 1, NULL);
	write_trace(w, d.fd, layout);
	f[0].bytes = tensor_load(&d, "profile.db", &f[0].n);
	f[1].bytes = tensor_load(&d, "cct.db", &f[1].n);
	f[2].bytes = tensor_load(&d, "trace.db", &f[2].n);
	hpc_check_meta(&c, meta.v, meta.n, "meta.db");
	hpc_check_profile(&c, f[0].bytes, f[0].n, "profile.db");
	hpc_check_cct(&c, f[1].bytes, f[1].n, "cct.db");
	hpc_check_trace(&c, f[2].bytes, f[2].n, "trace.db");
	EXPECT_STR(str_get(&out), "");
	if (hpc_meta_open(&m, meta.v, meta.n, "meta.db", NULL) == 0 &&
	    hpc_profile_db_open(&profiles, f[0].bytes, f[0].n, "profile.db", NULL) == 0 &&
	    hpc_cct_db_open(&cct, f[1].bytes, f[1].n, "cct.db", NULL) == 0 &&
	    hpc_trace_db_open(&trace, f[2].bytes, f[2].n, "trace.db", NULL) == 0)
		hpc_check_database(&c, &(struct hpc_files){&m, &profiles, &cct, &trace});
	else
		str_add(&out, "does not open");
	hpc_meta_release(&m);
	for (size_t i = 0; i < n_elems(f); i++)
		free(f[i].bytes);
	wr_release(&meta);
	tensor_dir_close(&d);
	return out.v ? out.v : xstrdup("");
}

/* The first problem of W, in both layouts, begins so. */
static void expect_problem(const struct world *w, const char *want)
{
	for (enum hpc_layout l = HPC_RELEASED; l <= HPC_PAGE; l++) {
		_mem_ char *got = problems_of(w, l);

		if (*want ? !str_starts(got, want) : *got)
			t_fail_("%s: problems \"%s\", expected \"%s\"", hpc_layout_name(l), got,
				want);
	}
}

TEST(a_sound_database_has_no_problems)
{
	struct world w;

	world_init(&w);
	expect_problem(&w, "");
	world_release(&w);
}

TEST(values_that_differ_between_profile_and_cct)
{
	struct world w;

	world_init(&w);
	*tensor_at(&w.values, 2, 4, POINT) += 1;
	expect_problem(&w, "profile.db {Val} value: 21.5, but 20.5 in cct.db (metric 0, context 4, "
			   "profile 2)");
	*tensor_at(&w.values, 2, 4, POINT) = 0;
	expect_problem(&w, "cct.db {Val} profIndex: profile.db has no such value of metric 0 in "
			   "context 4 for profile 2");
	*tensor_at(&w.values, 2, 4, POINT) = 20.5;
	*tensor_at(&w.values, 2, 6, POINT) = 1;
	expect_problem(&w, "profile.db {Val} value: cct.db has no value of metric 0 in context 6 "
			   "for profile 2");
	world_release(&w);
}

/* Both files the same. */
static void set_both(struct world *w, uint32_t p, uint32_t c, uint16_t m, double v)
{
	*tensor_at(&w->values, p, c, m) = v;
	if (p)
		*tensor_at(&w->transposed, p, c, m) = v;
}

TEST(summaries_that_are_not_what_they_should_be)
{
	static const struct {
		uint16_t id;
		double v;
		const char *text;
	} changes[] = {
		{POINT * N_STATS + SUM, 1, "0 of metric m in context 7 is 1, must be 6"},
		{POINT * N_STATS + COUNT, 0, "1 of metric m in context 7 is 0, must be 2"},
		{POINT * N_STATS + MIN, 1, "2 of metric m in context 7 is 1, must be 3"},
		{EXECUTION * N_STATS + MAX, 4, "13 of metric m in context 7 is 4, must be 3"},
		{FUNCTION * N_STATS + SQUARES, 17, "9 of metric m in context 7 is 17, must be 18"},
	};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < n_elems(changes); i++) {
		_mem_ char *want = xasprintf("profile.db {Val} value: summary %s", changes[i].text);
		double before = *tensor_at(&w.values, 0, 7, changes[i].id);

		set_both(&w, 0, 7, changes[i].id, changes[i].v);
		expect_problem(&w, want);
		set_both(&w, 0, 7, changes[i].id, before);
	}
	/* What rounding makes of it is no problem. */
	*tensor_at(&w.values, 0, 4, SUM) *= 1 + 1e-14;
	expect_problem(&w, "");
	world_release(&w);
}

TEST(scopes_that_do_not_add_up)
{
	struct world w;

	world_init(&w);
	set_both(&w, 1, 3, EXECUTION, 100);
	summarize(&w.values);
	expect_problem(&w, "profile.db {Val} value: metric m in context 2 of profile 1: execution "
			   "13.25 is not point 0 + children 100");
	set_both(&w, 1, 3, EXECUTION, 13.25);
	set_both(&w, 1, 2, FUNCTION, 13.25); /* as if the call were none */
	summarize(&w.values);
	expect_problem(&w, "profile.db {Val} value: metric m in context 2 of profile 1: function "
			   "13.25 is not point 0 + children 10.25");
	world_release(&w);
}

TEST(ids_that_other_files_do_not_list)
{
	struct world w;

	world_init(&w);
	w.n_summaries--;
	expect_problem(&w, "profile.db {Val} metricId: meta.db lists no statMetricId 14");
	w.n_summaries++;
	w.n_id_names = 2;
	expect_problem(&w, "profile.db {Id} kind: 2, but meta.db names 2 kinds");
	w.n_id_names = HPC_N_ID_KINDS;
	set_both(&w, 3, 7, 5, 1);
	expect_problem(&w, "profile.db {Val} metricId: meta.db lists no propMetricId 5");
	set_both(&w, 3, 7, 5, 0);
	w.n_traces--;
	expect_problem(&w, "trace.db Trace Headers nTraces: 3, but profile.db has 5 profiles");
	w.n_traces = N_PROFILES - 1;
	w.elems[2].ctxId = 8;
	expect_problem(&w, "trace.db {Elem} ctxId: neither meta.db nor cct.db lists 8");
	world_release(&w);
}

TEST(formulas_of_statistics)
{
	static const struct {
		const char *text;
		double want;
		bool bad;
	} cases[] = {
		{"$$", 3},
		{"1", 1},
		{"($$^2)", 9},
		{"2*$$+1", 7},
		{"-$$ ^ 2", 9},
		{"2^3^2", 512},
		{"8/4/2", 1},
		{" ( $$ - .5 ) ", 2.5},
		{"", .bad = true},
		{"$", .bad = true},
		{"($$", .bad = true},
		{"$$)", .bad = true},
		{"x", .bad = true},
		{"1 2", .bad = true},
	};
	_mem_ char *deep = xmalloc(100001);

	for (size_t i = 0; i < n_elems(cases); i++) {
		double v = 0;

		EXPECT_EQ(hpc_summary_eval(cases[i].text, 3, &v), !cases[i].bad);
		EXPECT(cases[i].bad || v == cases[i].want);
	}
	memset(deep, '(', 100000);
	deep[100000] = '\0';
	EXPECT(!hpc_summary_eval(deep, 3, &(double){0}));
}

/* Databases of HPCToolkit's own. */

static uint8_t *load_file(const char *dir, const char *name, size_t *ret_n)
{
	_mem_ char *path = xasprintf("%s/%s", dir, name);
	struct file_map map;
	uint8_t *bytes;

	*ret_n = 0;
	if (file_map_open(&map, AT_FDCWD, path, false, NULL) < 0)
		return NULL;
	bytes = xmemdup(map.bytes, map.n_bytes);
	*ret_n = map.n_bytes;
	file_map_close(&map);
	return bytes;
}

/* A copy of DB, profile by profile, by our writer. */
static void rewrite(const struct tensor_dir *d, const struct hpc_profile_db *db)
{
	struct hpc_profile_block b = {0};
	struct hpc_profile_writer *w;
	struct err err = {0};

	EXPECT_EQ(hpc_profile_create(&w, d->fd, "profile.db", db->layout, db->nProfiles,
				     64 * (uint64_t)db->nProfiles, &err),
		  0);
	for (uint32_t k = 0; k < db->nProfiles; k++) {
		struct hpc_profile p;
		struct hpc_ctx_values c;
		struct hpc_id ids[64];
		int n_ids;

		EXPECT_EQ(hpc_profile_open(&p, db, (k + 1) % db->nProfiles, &err), 0);
		n_ids = hpc_profile_ids(&p, ids, n_elems(ids), &err);
		hpc_profile_block_reset(&b);
		for (uint32_t i = 0; i < p.nCtxs; i++) {
			EXPECT_EQ(hpc_profile_ctx(&p, i, &c, &err), 0);
			for (uint64_t v = 0; v < c.n; v++)
				hpc_profile_block_add(&b, c.ctxId, hpc_ctx_value(&c, v).metricId,
						      hpc_ctx_value(&c, v).value);
		}
		EXPECT_EQ(hpc_profile_put(w, p.index, ids, (size_t)n_ids, &b, &err), 0);
	}
	EXPECT_EQ(hpc_profile_finish(w, &err), 0);
	EXPECT_STR(err.msg, "");
	hpc_profile_block_release(&b);
}

/* The database in DIR has no problems, as it is and with profile.db and cct.db written anew. */
static void check_real(const char *dir)
{
	static const char *const names[] = {"meta.db", "profile.db", "cct.db", "trace.db"};
	struct str out = {0};
	struct hpc_check c = {.report = add_problem, .user = &out};
	struct hpc_profile_db profiles, ours;
	struct hpc_cct_db cct, our_cct;
	struct hpc_trace_db trace;
	struct hpc_meta m;
	struct loaded f[6];
	struct tensor_dir d;

	for (size_t i = 0; i < n_elems(names); i++)
		f[i].bytes = load_file(dir, names[i], &f[i].n);
	REQUIRE(tensor_dir_open(&d));
	hpc_check_profile(&c, f[1].bytes, f[1].n, "profile.db");
	hpc_check_cct(&c, f[2].bytes, f[2].n, "cct.db");
	if (f[3].bytes)
		hpc_check_trace(&c, f[3].bytes, f[3].n, "trace.db");
	if (hpc_meta_open(&m, f[0].bytes, f[0].n, "meta.db", NULL) ||
	    hpc_profile_db_open(&profiles, f[1].bytes, f[1].n, "profile.db", NULL) ||
	    hpc_cct_db_open(&cct, f[2].bytes, f[2].n, "cct.db", NULL) ||
	    (f[3].bytes && hpc_trace_db_open(&trace, f[3].bytes, f[3].n, "trace.db", NULL)))
		str_add(&out, "does not open");
	EXPECT_STR(str_get(&out), "");
	EXPECT_EQ(profiles.layout, strstr(dir, "/draft/") ? HPC_PAGE : HPC_RELEASED);
	hpc_check_database(&c,
			   &(struct hpc_files){&m, &profiles, &cct, f[3].bytes ? &trace : NULL});
	rewrite(&d, &profiles);
	f[4].bytes = tensor_load(&d, "profile.db", &f[4].n);
	REQUIRE(hpc_profile_db_open(&ours, f[4].bytes, f[4].n, "ours", NULL) == 0);
	EXPECT_EQ(hpc_cct_build(d.fd, "cct.db", &profiles, cct.nCtxs, NULL, NULL), 0);
	f[5].bytes = tensor_load(&d, "cct.db", &f[5].n);
	REQUIRE(hpc_cct_db_open(&our_cct, f[5].bytes, f[5].n, "our cct", NULL) == 0);
	hpc_check_profile(&c, f[4].bytes, f[4].n, "ours");
	hpc_check_cct(&c, f[5].bytes, f[5].n, "our cct");
	hpc_check_database(&c, &(struct hpc_files){&m, &ours, &cct, NULL});
	hpc_check_database(&c, &(struct hpc_files){&m, &profiles, &our_cct, NULL});
	if (*str_get(&out))
		t_fail_("%s: %s", dir, str_get(&out));
	hpc_meta_release(&m);
	for (size_t i = 0; i < n_elems(f); i++)
		free(f[i].bytes);
	str_release(&out);
	tensor_dir_close(&d);
}

static unsigned check_all(const char *kind)
{
	const char *top = getenv("DWELL_FIXTURES");
	_mem_ char *dir = xasprintf("%s/hpctoolkit/%s", top ? top : "/nonexistent", kind);
	DIR *all = opendir(dir);
	unsigned n = 0;

	for (struct dirent *e; all && (e = readdir(all));) {
		_mem_ char *path = xasprintf("%s/%s", dir, e->d_name);
		size_t size;
		_mem_ uint8_t *has_values = load_file(path, "cct.db", &size);

		if (*e->d_name == '.' || !has_values)
			continue;
		check_real(path);
		n++;
	}
	if (all)
		closedir(all);
	return n;
}

TEST(real_databases_are_sound_and_survive_rewriting)
{
	unsigned n = check_all("released") + check_all("draft");

	if (!n)
		SKIP("no databases in $DWELL_FIXTURES/hpctoolkit");
	EXPECT(n > 2);
}

/* 65536 values are the most that a context has; so many before the end of a range are none. */
TEST(a_range_that_ends_before_it_begins)
{
	const struct hpc_cct_options o = {.n_threads = 1};
	struct hpc_profile_db db;
	struct hpc_profile p;
	struct err err = {0};
	struct tensor_dir d;
	struct loaded f;
	struct world w;
	uint8_t *idx;

	REQUIRE(tensor_dir_open(&d));
	world_init(&w);
	REQUIRE(tensor_write_profiles(&w.values, d.fd, "profile.db", HPC_RELEASED, 1, NULL) == 0);
	f.bytes = tensor_load(&d, "profile.db", &f.n);
	REQUIRE(hpc_profile_db_open(&db, f.bytes, f.n, "profile.db", NULL) == 0);
	REQUIRE(hpc_profile_open(&p, &db, 1, NULL) == 0 && p.nCtxs > 1);
	idx = f.bytes + p.pCtxIndices;
	hpc_put64(idx + 4, hpc_le64(idx + 12 + 4) - 65536);
	EXPECT_EQ(hpc_cct_build(d.fd, "cct.db", &db, N_CTXS, &o, &err), -EBADMSG);
	EXPECT(strstr(err.msg, "{Idx} startIndex") != NULL);
	free(f.bytes);
	world_release(&w);
	tensor_dir_close(&d);
}

/* The Nth write fails. */

static _Atomic(int) writes_left; /* several threads write */

static int fail_write(enum file_op op, size_t n_bytes)
{
	return op == FILE_WRITE && writes_left-- == 0 ? -ENOSPC : 0;
}

/* Writes all three; the first failure. */
static int write_all(const struct world *w, const struct tensor_dir *d,
		     const struct hpc_profile_db *db, struct err *err)
{
	struct hpc_trace_writer *tw;
	int rc = tensor_write_profiles(&w->values, d->fd, "profile.db", HPC_RELEASED, 3, err);

	if (!rc)
		rc = hpc_cct_build(d->fd, "cct.db", db, N_CTXS,
				   &(struct hpc_cct_options){.n_threads = 2, .memory_bytes = 1},
				   err);
	if (rc)
		return rc;
	rc = hpc_trace_create(&tw, d->fd, "trace.db", HPC_RELEASED, 1, err);
	if (!rc)
		rc = hpc_trace_put(tw, 1, w->elems, 3, err);
	if (!rc)
		return hpc_trace_finish(tw, err);
	hpc_trace_abandon(tw);
	return rc;
}

TEST(a_full_disk_is_reported_by_every_write)
{
	struct hpc_profile_db db;
	struct tensor_dir d;
	struct loaded f;
	struct world w;
	int n = 0, rc;

	REQUIRE(tensor_dir_open(&d));
	world_init(&w);
	REQUIRE(tensor_write_profiles(&w.values, d.fd, "profile2.db", HPC_RELEASED, 1, NULL) == 0);
	f.bytes = tensor_load(&d, "profile2.db", &f.n);
	REQUIRE(hpc_profile_db_open(&db, f.bytes, f.n, "profile2.db", NULL) == 0);
	file_fault = fail_write;
	do {
		struct err err = {0};

		writes_left = n++;
		rc = write_all(&w, &d, &db, &err);
		EXPECT(rc == 0 || rc == -ENOSPC);
		EXPECT(rc == 0 || strstr(err.msg, ".db: write: No space left on device"));
	} while (rc && n < 1000);
	file_fault = NULL;
	EXPECT(n > 10 && n < 1000);
	free(f.bytes);
	world_release(&w);
	tensor_dir_close(&d);
}

TEST(writers_notice_what_is_missing)
{
	struct hpc_profile_block b = {0};
	struct hpc_profile_writer *w;
	struct hpc_trace_writer *tw;
	struct tensor_dir d;
	struct err err = {0};
	struct hpc_id ids[3] = {0};

	REQUIRE(tensor_dir_open(&d));
	EXPECT_EQ(hpc_profile_create(&w, d.fd, "profile.db", HPC_RELEASED, 0, 0, &err), -EINVAL);
	EXPECT_EQ(hpc_profile_create(&w, d.fd, "profile.db", HPC_RELEASED, UINT32_MAX, 0, &err),
		  -E2BIG);
	REQUIRE(hpc_profile_create(&w, d.fd, "profile.db", HPC_RELEASED, 3, 2, &err) == 0);
	EXPECT_EQ(hpc_profile_put(w, 1, ids, 1, &b, &err), 0);
	EXPECT_EQ(hpc_profile_finish(w, &err), -EINVAL);
	EXPECT_STR(err.msg, "profile.db: 1 of 3 profiles were put");
	REQUIRE(hpc_profile_create(&w, d.fd, "profile.db", HPC_RELEASED, 2, 2, &err) == 0);
	EXPECT_EQ(hpc_profile_put(w, 1, ids, 3, &b, &err), -E2BIG);
	EXPECT_EQ(hpc_profile_put(w, 0, NULL, 0, &b, &err), -E2BIG); /* once failed, all fail */
	hpc_profile_abandon(w);
	REQUIRE(hpc_profile_create(&w, d.fd, "profile.db", HPC_RELEASED, 2, 2, &err) == 0);
	hpc_profile_cancel(w);
	EXPECT_EQ(hpc_profile_put(w, 0, NULL, 0, &b, &err), -ECANCELED); /* would wait */
	hpc_profile_abandon(w);
	REQUIRE(hpc_trace_create(&tw, d.fd, "trace.db", HPC_PAGE, 2, &err) == 0);
	EXPECT_EQ(hpc_trace_finish(tw, &err), -EINVAL);
	EXPECT_STR(err.msg, "trace.db: 0 of 2 lines were put");
	REQUIRE(hpc_trace_create(&tw, d.fd, "trace.db", HPC_PAGE, 2, &err) == 0);
	EXPECT_EQ(hpc_trace_put(tw, 3, NULL, 0, &err), -EINVAL);
	hpc_trace_abandon(tw);
	hpc_profile_block_release(&b);
	tensor_dir_close(&d);
}
