/* SPDX-License-Identifier: BSD-2-Clause */
#include "formats/hpc/meta.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/dump.h"
#include "formats/hpc/le.h"
#include "gen_hpc.h"

static const enum hpc_layout layouts[] = {HPC_RELEASED, HPC_PAGE};

/* The text of the model that the N bytes at B hold, "" after a failure, which *ERR tells. */
static char *text_of(const void *b, size_t n, enum hpc_layout *ret_layout, struct err *err)
{
	struct hpc_meta_model model;
	struct hpc_meta m;
	char *text;

	if (hpc_meta_open(&m, b, n, "meta.db", err) < 0)
		return xstrdup("");
	if (ret_layout)
		*ret_layout = m.layout;
	if (hpc_meta_load(&model, &m, err) < 0) {
		hpc_meta_release(&m);
		return xstrdup("");
	}
	text = gen_hpc_meta_text(&model);
	hpc_meta_model_release(&model);
	hpc_meta_release(&m);
	return text;
}

static void add_problem(void *user, const struct hpc_problem *p)
{
	str_addf(user, "%s+%#jx: %s %s: %s\n", p->file, (uintmax_t)p->offset, p->structure,
		 p->field, p->text);
}

/* What hpc_check_meta says of the N bytes at B, a line for each problem. */
static char *problems_of(const void *b, size_t n)
{
	struct str s = {0};
	struct hpc_check c = {.report = add_problem, .user = &s};

	hpc_check_meta(&c, b, n, "meta.db");
	return s.v ? s.v : xstrdup("");
}

/* A small model with one of everything, whose bytes the tests below change. */
static struct wr sample(enum hpc_layout layout)
{
	struct hpc_scope scopes[] = {{"point", HPC_SCOPE_POINT, UINT8_MAX},
				     {"execution", HPC_SCOPE_EXECUTION, UINT8_MAX}};
	struct hpc_scope_inst insts[] = {{0, 0}, {1, 1}};
	struct hpc_summary summaries[] = {{0, 1, HPC_SUM, "$$"}, {1, 2, HPC_MAX, "$$"}};
	struct hpc_metric metric = {"CPUTIME (sec)", insts, summaries, 2, 2};
	struct hpc_module modules[] = {{"/bin/x", 0}};
	struct hpc_file files[] = {{"src/x.c", HPC_FILE_COPIED}};
	struct hpc_function functions[] = {{"main", 0x1000, 0, 0, 7, 0},
					   {"", 0x2000, 0, HPC_NONE, 0, 0}};
	struct hpc_entry entries[] = {{"main thread", HPC_ENTRY_MAIN_THREAD}};
	struct hpc_node nodes[] = {
		{.parent = HPC_NONE,
		 .ctxId = 1,
		 .function = HPC_NONE,
		 .file = HPC_NONE,
		 .module = HPC_NONE,
		 .relation = HPC_CALL},
		{.parent = 0,
		 .ctxId = 2,
		 .flags = HPC_HAS_FUNCTION,
		 .relation = HPC_CALL,
		 .file = HPC_NONE,
		 .module = HPC_NONE},
		{.parent = 1,
		 .ctxId = 3,
		 .flags = HPC_HAS_SRC_LOC,
		 .line = 70000,
		 .lexicalType = HPC_LINE,
		 .propagation = 1,
		 .function = HPC_NONE,
		 .module = HPC_NONE},
		{.parent = 2,
		 .ctxId = 4,
		 .flags = HPC_HAS_POINT,
		 .offset = 0x1010,
		 .lexicalType = HPC_INSTRUCTION,
		 .propagation = 1,
		 .function = HPC_NONE,
		 .file = HPC_NONE},
		{.parent = 1,
		 .ctxId = 5,
		 .flags = 7,
		 .function = 1,
		 .line = 9,
		 .offset = 0x1020,
		 .lexicalType = HPC_LOOP,
		 .propagation = 1},
	};
	static const char *kinds[] = {"SUMMARY", "NODE"};
	struct hpc_meta_model m = {
		.title = "x",
		.description = "what",
		.id_names = kinds,
		.n_id_names = 2,
		.metrics = {scopes, &metric, 2, 1},
		.modules = modules,
		.n_modules = 1,
		.files = files,
		.n_files = 1,
		.functions = functions,
		.n_functions = 2,
		.nodes = nodes,
		.n_nodes = 5,
		.entries = entries,
		.n_entries = 1,
	};
	struct err err = {0};
	struct wr w = gen_hpc_meta_bytes(&m, layout, &err);

	EXPECT_STR(err.msg, "");
	return w;
}

/* Random models hold values of later versions and pointers to nothing; else they are sound. */
static void only_oddities(char *problems)
{
	static const char *const odd[] = {"{Ctx} relation: 3 is unknown",
					  "{Ctx} flags: a loop or line",
					  "{Ctx} lexicalType: 4 is unknown",
					  "{Ctx} flags: an instruction", "0x0 is no element"};

	for (char *line = strtok(problems, "\n"); line; line = strtok(NULL, "\n")) {
		bool known = false;

		for (size_t i = 0; i < n_elems(odd); i++)
			known |= strstr(line, odd[i]) != NULL;
		if (!known)
			t_fail_("%s", line);
	}
}

TEST(reading_gives_back_what_was_written)
{
	unsigned n = t_cases(300);

	for (unsigned i = 0; i < n; i++) {
		enum hpc_layout layout = layouts[i % 2], found = HPC_PAGE;
		struct t_rng r = {i + 1};
		struct hpc_meta_model m;
		struct err err = {0};
		struct wr w;

		gen_hpc_meta(&r, &m, (uint32_t)t_below(&r, i % 20 ? 40 : 3000), layout);
		w = gen_hpc_meta_bytes(&m, layout, &err);
		EXPECT_STR(err.msg, "");
		_mem_ char *want = gen_hpc_meta_text(&m);
		_mem_ char *got = text_of(w.v, w.n, &found, &err);
		EXPECT_STR(err.msg, "");
		EXPECT_STR(got, want);
		_mem_ char *problems = problems_of(w.v, w.n);
		only_oddities(problems);
		EXPECT_EQ(found, m.metrics.n_metrics || layout == HPC_PAGE ? layout : HPC_RELEASED);
		wr_release(&w);
		hpc_meta_model_release(&m);
	}
}

/* The tree and the tables are the same whichever layout a model goes through. */
TEST(the_other_layout_keeps_contexts_and_names)
{
	struct err err = {0};
	struct hpc_meta_model page;
	struct hpc_meta m;
	struct wr released = sample(HPC_RELEASED), w = sample(HPC_PAGE), again;

	REQUIRE(hpc_meta_open(&m, w.v, w.n, "meta.db", &err) == 0);
	EXPECT_EQ(m.layout, HPC_PAGE);
	REQUIRE(hpc_meta_load(&page, &m, &err) == 0);
	EXPECT_EQ(page.n_nodes, 5);
	EXPECT_STR(page.entries[0].prettyName, "main thread");
	EXPECT_EQ(page.entries[0].entryPoint, HPC_ENTRY_MAIN_THREAD);
	REQUIRE(page.n_functions == 3);
	EXPECT_STR(page.functions[2].name, "main thread");
	EXPECT_EQ(page.nodes[0].function, 2);
	/* back again: the function that stood for the entry stays, the rest is as it was */
	again = gen_hpc_meta_bytes(&page, HPC_RELEASED, &err);
	_mem_ char *a = text_of(again.v, again.n, NULL, &err);
	_mem_ char *b = text_of(released.v, released.n, NULL, &err);
	char *extra = strstr(a, "function main thread -1+0 -1:0 0\n");
	REQUIRE(extra);
	memmove(extra, strchr(extra, '\n') + 1, strlen(strchr(extra, '\n') + 1) + 1);
	EXPECT_STR(a, b);
	hpc_meta_model_release(&page);
	hpc_meta_release(&m);
	wr_release(&released);
	wr_release(&w);
	wr_release(&again);
}

/* Calls F for each meta.db of real databases. */
static unsigned fixtures(const char *kind, void (*f)(const char *path, const struct file_map *map))
{
	const char *top = getenv("DWELL_FIXTURES");
	_mem_ char *dir = xasprintf("%s/hpctoolkit/%s", top ? top : "/nonexistent", kind);
	DIR *d = opendir(dir);
	unsigned n = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		_mem_ char *path = xasprintf("%s/%s/meta.db", dir, e->d_name);
		struct file_map map;

		if (*e->d_name == '.' || file_map_open(&map, AT_FDCWD, path, false, NULL) < 0)
			continue;
		f(path, &map);
		file_map_close(&map);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

/* Loads, writes, loads: the same model. */
static void rewrite(const char *path, const struct file_map *map)
{
	struct hpc_meta_model model;
	struct err err = {0};
	struct hpc_meta m;
	struct wr w;

	if (hpc_meta_open(&m, map->bytes, map->n_bytes, path, &err) ||
	    hpc_meta_load(&model, &m, &err)) {
		t_fail_("%s", err.msg);
		return;
	}
	EXPECT_EQ(m.layout, strstr(path, "/draft/") ? HPC_PAGE : HPC_RELEASED);
	EXPECT(model.n_nodes > 5 && model.n_functions && model.metrics.n_metrics);
	_mem_ char *problems = problems_of(map->bytes, map->n_bytes);
	EXPECT_STR(problems, "");
	w = gen_hpc_meta_bytes(&model, m.layout, &err);
	_mem_ char *ours = problems_of(w.v, w.n);
	EXPECT_STR(ours, "");
	_mem_ char *want = gen_hpc_meta_text(&model);
	_mem_ char *got = text_of(w.v, w.n, NULL, &err);
	EXPECT_STR(err.msg, "");
	EXPECT_STR(got, want);
	wr_release(&w);
	hpc_meta_model_release(&model);
	hpc_meta_release(&m);
}

TEST(real_files_are_sound_and_survive_rewriting)
{
	unsigned n = fixtures("released", rewrite) + fixtures("draft", rewrite);

	if (!n)
		SKIP("no databases in $DWELL_FIXTURES/hpctoolkit");
	EXPECT(n > 2);
}

TEST(every_truncation_is_refused)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		struct wr w = sample(layouts[l]);

		for (size_t n = 0; n < w.n; n++) {
			uint8_t *cut = xmemdup(w.v, n); /* exactly so much, for sanitizers */
			struct err err = {0};
			struct hpc_meta m;
			int rc = hpc_meta_open(&m, cut, n, "meta.db", &err);

			EXPECT(rc == -ENODATA || rc == -EBADMSG);
			EXPECT(str_starts(err.msg, n < 16 ? "meta.db: " : "meta.db+0x"));
			free(cut);
		}
		wr_release(&w);
	}
}

/* Opens and loads sample bytes with N bytes at AT replaced by those of V. */
static void with_change(enum hpc_layout layout, size_t at, uint64_t v, size_t n, int want_rc,
			const char *want)
{
	struct wr w = sample(layout);
	struct hpc_meta_model model;
	struct err err = {0};
	struct hpc_meta m;
	int rc;

	for (size_t i = 0; i < n; i++)
		w.v[at + i] = (uint8_t)(v >> 8 * i);
	rc = hpc_meta_open(&m, w.v, w.n, "meta.db", &err);
	if (!rc) {
		rc = hpc_meta_load(&model, &m, &err);
		if (!rc)
			hpc_meta_model_release(&model);
		hpc_meta_release(&m);
	}
	EXPECT_EQ(rc, want_rc);
	if (!strstr(err.msg, want))
		EXPECT_STR(err.msg, want);
	wr_release(&w);
}

/* Where the pointer P of the sample's section I points. */
static uint64_t section(enum hpc_layout layout, enum hpc_meta_section i)
{
	struct wr w = sample(layout);
	uint64_t p = hpc_le64(w.v + 0x18 + 16 * i);

	wr_release(&w);
	return p;
}

TEST(damage_is_named)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		enum hpc_layout layout = layouts[l];
		uint64_t ctx = section(layout, HPC_META_CONTEXT);
		uint64_t fun = section(layout, HPC_META_FUNCTIONS);
		uint64_t met = section(layout, HPC_META_METRICS);

		with_change(layout, 0, 'h', 1, -EBADMSG, "meta.db+0: header magic");
		with_change(layout, 0xe, 5, 1, -EPROTONOSUPPORT,
			    "meta.db+0xe: header majorVersion: 5 is newer than 4");
		with_change(layout, 0x18, 1ull << 60, 8, -EBADMSG,
			    "meta.db+0x18: header pGeneral: ");
		with_change(layout, 0x10, 1ull << 60, 8, -EBADMSG,
			    "meta.db+0x18: header pGeneral: ");
		with_change(layout, 0x48, UINT64_MAX, 8, -EBADMSG,
			    "meta.db+0x48: header pContext: ");
		with_change(layout, met + 8, UINT32_MAX, 4, -EBADMSG,
			    "Performance Metrics pMetrics");
		with_change(layout, fun + 8, UINT32_MAX, 4, -EBADMSG, "Functions pFunctions");
		with_change(layout, fun + 16, 1ull << 60, 8, -EBADMSG, "[FS] pName");
		with_change(layout, fun + 24, 1ull << 60, 8, -EBADMSG,
			    "[FS] pModule: 0x1000000000000000 is no element");
		with_change(layout, ctx + (layout == HPC_PAGE ? 0 : 8), 0xffff, 2, -EBADMSG,
			    "Context Tree p");
	}
}

/* An unknown minor version and unknown values of enumerations are read. */
TEST(later_versions_are_read)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		uint64_t ctx = section(layouts[l], HPC_META_CONTEXT) + 16;

		with_change(layouts[l], 0xf, 200, 1, 0, "");
		/* the first array holds context 4: flags, relation, lexicalType */
		with_change(layouts[l], ctx + 0x15, 99, 1, 0, "");
		with_change(layouts[l], ctx + 0x16, 99, 1, 0, "");
		with_change(layouts[l], ctx + 0x14, 0xf8 | HPC_HAS_POINT, 1, 0, "");
	}
}

/* Section I of a file, whose arrays are made of longer elements. */
struct grown {
	struct wr w;
	enum hpc_meta_section i;
};

/* Moves the N elements of STRIDE bytes that the pointer at AT names behind everything, eight bytes
 * further apart, and makes all pointers to them follow.  The section is made to reach there. */
static void grow_array(struct grown *g, uint64_t at, uint32_t n, uint32_t stride)
{
	uint64_t old = hpc_le64(g->w.v + at), new, sec = 0x10 + 16 * (uint64_t)g->i;

	g->w.n -= 8; /* the footer */
	while (g->w.n % 8)
		wr_u8(&g->w, 0xee);
	new = g->w.n;
	vec_reserve(&g->w, n * (stride + 8) + 8);
	for (uint32_t k = 0; k < n; k++) {
		wr_bytes(&g->w, g->w.v + old + k * stride, stride);
		wr_le64(&g->w, 0xeeeeeeeeeeeeeeee);
	}
	for (uint64_t p = 0x90; p + 8 <= g->w.n; p += 8)
		for (uint32_t k = 0; k < n; k++)
			if (hpc_le64(g->w.v + p) == old + k * stride) {
				hpc_put64(g->w.v + p, new + k *(stride + 8));
				break;
			}
	hpc_put64(g->w.v + sec, g->w.n - hpc_le64(g->w.v + sec + 8));
	wr_bytes(&g->w, "_meta.db", 8);
}

static void grow_table(struct grown *g, enum hpc_meta_section i)
{
	uint64_t p = hpc_le64(g->w.v + 0x18 + 16 * (uint64_t)i);
	uint16_t stride = hpc_le16(g->w.v + p + 12);

	g->i = i;
	grow_array(g, p, hpc_le32(g->w.v + p + 8), stride);
	hpc_put16(g->w.v + p + 12, (uint16_t)(stride + 8));
}

static void grow_metrics(struct grown *g, bool page)
{
	uint64_t p = hpc_le64(g->w.v + 0x38), metric = hpc_le64(g->w.v + p);

	g->i = HPC_META_METRICS;
	if (page) {
		uint64_t scopes = hpc_le64(g->w.v + metric + 0x10);

		grow_array(g, scopes + 0x10, 1, 16);
		grow_array(g, scopes + 0x28, 1, 16);
		grow_array(g, metric + 0x10, 2, 24);
	} else {
		grow_array(g, metric + 0x10, 2, 24);
		grow_array(g, metric + 0x08, 2, 16);
		grow_array(g, p + 0x10, 2, 16);
		g->w.v[p + 0x1a] += 8;
	}
	grow_array(g, p, 1, page ? 24 : 32);
	for (int i = 0; i < 3; i++)
		g->w.v[p + 0x0c + i] += 8;
}

/* Longer structures, as of a later minor version: the known part of each is read. */
TEST(longer_structures_are_read)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		enum hpc_layout layout = layouts[l], found = HPC_RELEASED;
		struct grown g = {.w = sample(layout)};
		struct err err = {0};
		_mem_ char *want = text_of(g.w.v, g.w.n, NULL, &err);

		grow_table(&g, HPC_META_MODULES);
		grow_table(&g, HPC_META_FILES);
		grow_table(&g, HPC_META_FUNCTIONS);
		grow_metrics(&g, layout == HPC_PAGE);
		if (layout == HPC_RELEASED) {
			uint64_t p = hpc_le64(g.w.v + 0x48);

			g.i = HPC_META_CONTEXT;
			grow_array(&g, p, 1, 32);
			g.w.v[p + 10] += 8;
		}
		g.w.v[0x0f] = 1;
		_mem_ char *got = text_of(g.w.v, g.w.n, &found, &err);
		EXPECT_STR(err.msg, "");
		EXPECT_STR(got, want);
		EXPECT_EQ(found, layout);
		wr_release(&g.w);
	}
}

/* The children of some context are made those of its own ancestor, or of another. */
TEST(loops_of_pointers_end)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		struct wr w = sample(layouts[l]);
		struct hpc_meta_model model;
		struct err err = {0};
		struct hpc_meta m;
		struct hpc_walk walk;
		struct hpc_ctx c, main_ctx = {0};
		size_t depth;

		REQUIRE(hpc_meta_open(&m, w.v, w.n, "meta.db", &err) == 0);
		hpc_walk_begin(&walk, &m);
		while (hpc_walk_next(&walk, &c, &depth, &err) > 0) {
			if (c.ctxId == 2)
				main_ctx = c;
			if (c.ctxId == 5) { /* its children are now its own siblings */
				memcpy(w.v + c.at, w.v + main_ctx.at, 16);
				break;
			}
		}
		hpc_walk_release(&walk);
		EXPECT_EQ(hpc_meta_load(&model, &m, &err), -EBADMSG);
		EXPECT(strstr(err.msg, "{Ctx} pChildren: contexts overlap"));
		EXPECT(str_starts(err.msg, "meta.db+0x"));
		hpc_meta_release(&m);
		wr_release(&w);
	}
}

TEST(children_can_be_left_out_of_a_walk)
{
	struct wr w = sample(HPC_RELEASED);
	struct err err = {0};
	struct hpc_meta m;
	struct hpc_walk walk;
	struct hpc_ctx c;
	struct str seen = {0};
	size_t depth;

	REQUIRE(hpc_meta_open(&m, w.v, w.n, "meta.db", &err) == 0);
	hpc_walk_begin(&walk, &m);
	while (hpc_walk_next(&walk, &c, &depth, &err) > 0) {
		str_addf(&seen, " %zu:%u", depth, c.ctxId);
		if (c.ctxId == 3)
			walk.descend = false;
	}
	EXPECT_STR(str_get(&seen), " 0:1 1:2 2:3 2:5");
	str_release(&seen);
	hpc_walk_release(&walk);
	hpc_meta_release(&m);
	wr_release(&w);
}

TEST(what_readers_cannot_take_is_not_written)
{
	struct hpc_node nodes[2] = {
		{.parent = HPC_NONE, .function = HPC_NONE, .file = HPC_NONE, .module = HPC_NONE},
		{.parent = 0, .function = 3, .file = HPC_NONE, .module = HPC_NONE}};
	struct hpc_entry entry = {"main thread", 1};
	struct hpc_scope scope = {"point", HPC_SCOPE_POINT, UINT8_MAX};
	struct hpc_scope_inst inst = {0, 40000};
	struct hpc_metric metric = {"m", &inst, NULL, 1, 0};
	struct hpc_meta_model m = {.title = "",
				   .description = "",
				   .nodes = nodes,
				   .n_nodes = 2,
				   .entries = &entry,
				   .n_entries = 1};
	struct err err = {0};

	EXPECT_EQ(hpc_meta_write(-1, "meta.db", &m, HPC_RELEASED, &err), -EINVAL);
	EXPECT_STR(err.msg, "meta.db: node 1: no such function, file, module or flag");
	nodes[1].function = HPC_NONE;
	m.n_entries = 0;
	EXPECT_EQ(hpc_meta_write(-1, "meta.db", &m, HPC_RELEASED, &err), -EINVAL);
	EXPECT_STR(err.msg, "meta.db: 1 roots and 0 entries");
	m.n_entries = 1;
	m.metrics = (struct hpc_metrics){&scope, &metric, 1, 1};
	EXPECT_EQ(hpc_meta_write(-1, "meta.db", &m, HPC_RELEASED, &err), -E2BIG);
	EXPECT_STR(err.msg, "meta.db: metric m: id 40000, readers take at most 32767");
	inst.propMetricId = 0;
	EXPECT_EQ(hpc_meta_write(-1, "meta.db", &m, HPC_RELEASED, &err), -EBADF);
	EXPECT_STR(err.msg, "meta.db: write: Bad file descriptor");
}

/* Changes N bytes of the sample at AT to V: the checker says WANT, somewhere, at that place. */
static void check_finds(enum hpc_layout layout, uint64_t at, uint64_t v, size_t n, const char *want)
{
	struct wr w = sample(layout);
	char place[64];

	for (size_t i = 0; i < n; i++)
		w.v[at + i] = (uint8_t)(v >> 8 * i);
	_mem_ char *problems = problems_of(w.v, w.n);
	snprintf(place, sizeof(place), "meta.db+%#jx: ", (uintmax_t)at);
	if (!strstr(problems, want) || !strstr(problems, place))
		t_fail_("%s %s%s, found: %s", hpc_layout_name(layout), place, want, problems);
	wr_release(&w);
}

/* The offset of context ID of the sample. */
static uint64_t ctx_at(enum hpc_layout layout, uint32_t id)
{
	struct wr w = sample(layout);
	struct hpc_walk walk;
	struct hpc_meta m;
	struct hpc_ctx c;
	uint64_t at = 0;
	size_t depth;

	hpc_meta_open(&m, w.v, w.n, "meta.db", NULL);
	hpc_walk_begin(&walk, &m);
	while (hpc_walk_next(&walk, &c, &depth, NULL) > 0)
		if (c.ctxId == id)
			at = c.at;
	hpc_walk_release(&walk);
	hpc_meta_release(&m);
	wr_release(&w);
	return at;
}

TEST(the_checker_finds_each_break_of_the_rules)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		enum hpc_layout layout = layouts[l];
		uint64_t gen = section(layout, HPC_META_GENERAL);
		uint64_t ids = section(layout, HPC_META_ID_NAMES);
		uint64_t met = section(layout, HPC_META_METRICS);
		uint64_t str = section(layout, HPC_META_STRINGS);
		uint64_t mod = section(layout, HPC_META_MODULES);
		uint64_t fun = section(layout, HPC_META_FUNCTIONS);
		uint64_t ctx = section(layout, HPC_META_CONTEXT);
		uint64_t c2 = ctx_at(layout, 2), c3 = ctx_at(layout, 3), c4 = ctx_at(layout, 4);
		uint64_t flex = layout == HPC_PAGE ? 0x18 : 0x20;
		struct wr w = sample(layout);
		uint64_t metric = hpc_le64(w.v + met);

		check_finds(layout, 0, 'h', 1, "header magic: does not read HPCTOOLKITmeta");
		check_finds(layout, 0xe, 5, 1, "header majorVersion: 5, must be 4");
		check_finds(layout, w.n - 8, 0, 1, "footer : does not read _meta.db");
		check_finds(layout, 0x18, gen + 1, 8,
			    "header pGeneral: 0x91 is not a multiple of 8");
		check_finds(layout, 0x48, 1ull << 60, 8, "header pContext: ");
		check_finds(layout, 0x58, str - 8, 8, "header : the section at ");
		check_finds(layout, gen + 8, str, 8, "General Properties pDescription: 0x");
		check_finds(layout, ids + 8 - 8, ids + 1, 8, "ppNames: ");
		check_finds(layout, met, met + 1, 8, "Performance Metrics pMetrics: ");
		check_finds(layout, metric, 1, 8,
			    "{MD} pName: 0x1 is not in the Performance Metrics");
		check_finds(layout, mod + 16 + 8, gen, 8, "[LMS] pPath: ");
		check_finds(layout, fun + 16 + 8, mod + 8, 8, "[FS] pModule: ");
		check_finds(layout, fun + 16 + 24, mod + 16, 8, "[FS] pFile: ");
		check_finds(layout, c2 + 8, ctx + 17, 8, "{Ctx} pChildren: ");
		check_finds(layout, c2 + 0x10, 0, 4, "{Ctx} ctxId: 0 is the root of all");
		check_finds(layout, c4 + 0x15, 3, 1,
			    "{Ctx} relation: 3 is unknown, the largest is 2");
		check_finds(layout, c4 + 0x16, 4, 1, "{Ctx} lexicalType: 4 is unknown");
		check_finds(layout, c4 + 0x14, 0, 1,
			    "{Ctx} flags: an instruction without hasPoint");
		check_finds(layout, c3 + 0x14, 0, 1,
			    "{Ctx} flags: a loop or line without hasSrcLoc");
		check_finds(layout, c4 + 0x17, 1, 1,
			    "{Ctx} nFlexWords: 1 words, the flags demand 2");
		check_finds(layout, c4 + 0x17, 200, 1, "{Ctx} nFlexWords: 200 words reach behind");
		check_finds(layout, c4 + flex, mod, 8, "{Ctx} pModule: ");
		check_finds(layout, c2 + flex, 0, 8, "{Ctx} pFunction: 0x0 is no element");
		wr_release(&w);
	}
}

TEST(the_checker_finds_what_comes_twice)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		enum hpc_layout layout = layouts[l];
		struct wr w = sample(layout);
		uint64_t c2 = ctx_at(layout, 2), c3 = ctx_at(layout, 3), c5 = ctx_at(layout, 5);
		uint64_t at = layout == HPC_PAGE ? 10 : 8; /* propMetricId in its structure */
		uint64_t met = hpc_le64(w.v + section(layout, HPC_META_METRICS));
		uint64_t inst = hpc_le64(w.v + met + (layout == HPC_PAGE ? 0x10 : 8));

		/* the second context of an array takes the first one's id */
		check_finds(layout, c5 + 0x10, 3, 4, "{Ctx} ctxId: 3 is also at 0x");
		/* the second instance of a scope takes the first one's id, which is 0 */
		check_finds(layout, inst + (layout == HPC_PAGE ? 0x18 : 0x10) + at, 0, 2,
			    "propMetricId: 0 is also at 0x");
		/* a context says its children have more bytes than there are */
		w.v[c2 + 4] = 1;
		_mem_ char *large = problems_of(w.v, w.n);
		EXPECT(strstr(large, "{Ctx} pChildren: 4294967"));
		w.v[c2 + 4] = 0;
		/* a context has its parent's children: itself */
		memcpy(w.v + c3, w.v + c2, 16);
		_mem_ char *problems = problems_of(w.v, w.n);
		EXPECT(strstr(problems, "{Ctx} pChildren: contexts overlap") ||
		       strstr(problems, "{Ctx} pChildren: the array at"));
		wr_release(&w);
	}
}

static int add_line(void *user, const char *text)
{
	str_addf(user, "%s\n", text);
	return 0;
}

/* tests/golden/hpctoolkit/meta-LAYOUT.db must be written to the byte and read as its .txt tells;
 * with T_BLESS=1 the files are made. */
TEST(golden_files_are_written_and_read)
{
	for (size_t l = 0; l < n_elems(layouts); l++) {
		struct wr w = sample(layouts[l]);
		struct str text = {0};
		struct hpc_dump d = {.line = add_line, .user = &text};
		struct err err = {0};
		_mem_ char *base =
			xasprintf("%s/hpctoolkit/meta-%s", T_GOLDEN, hpc_layout_name(layouts[l]));
		_mem_ char *db = xasprintf("%s.db", base), *txt = xasprintf("%s.txt", base);
		_mem_ char *want_db = NULL, *want_txt = NULL;
		size_t n_db, n_txt;

		EXPECT_EQ(hpc_meta_dump(&d, w.v, w.n, "meta.db", &err), 0);
		if (getenv("T_BLESS")) {
			_file_ FILE *f = fopen(db, "wb"), *g = fopen(txt, "w");

			REQUIRE(f && g);
			fwrite(w.v, 1, w.n, f);
			fputs(str_get(&text), g);
		} else {
			REQUIRE(file_load(db, 1 << 20, &want_db, &n_db, &err) == 0);
			REQUIRE(file_load(txt, 1 << 20, &want_txt, &n_txt, &err) == 0);
			EXPECT(w.n == n_db && memcmp(w.v, want_db, n_db) == 0);
			EXPECT_STR(str_get(&text), want_txt);
		}
		hpc_dump_release(&d);
		str_release(&text);
		wr_release(&w);
	}
}
