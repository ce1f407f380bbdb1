/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines and inlined calls of Go programs without DWARF: from the table that Go's linker writes for
 * tracebacks (unwind/gopclntab.h).  Each function is a unit of its own.
 *
 * Which call an instruction was inlined from is a number, into the function's inline tree.  For
 * example, outer calls inner in line 7, which was inlined:
 *
 *     instructions 0x00  -1            outer itself
 *                  0x10   0            inner
 *                  0x30  -1
 *     tree of outer 0: "inner", its call stands for instruction 0x0f
 *
 * The line of 0x0f is 7; so is its number, which is -1, what inner was inlined into.
 *
 * The tree lies among the program's constants.  Before Go 1.18 its address is in the function's
 * entry; since then its distance from a place that only the program's own description of itself
 * tells, `moduledata`, which begins with the address of the table.
 *
 * Sources: Go's src/runtime/symtab.go (moduledata), symtabinl.go (inlinedCall), of 1.15 to 1.24. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "resolve/elf_file.h"
#include "resolve/lines_impl.h"
#include "resolve/symtab_elf.h"

#define MOST_BYTES (256u << 20) /* of the table, and of the program's constants */
#define MOST_CALLS 65536u	/* inlined into one function */

/* moduledata: the table's address, that of the code, of what trees count from since 1.18 and
 * 1.20. */
#define MODULE_TEXT	  176
#define MODULE_TREES_1_18 304
#define MODULE_TREES_1_20 320
#define MODULE_MOST_WORDS 64

struct lines_go {
	struct go_table t;
	uint8_t *bytes, *constants;
	size_t n_constants;
	uint64_t constants_svma;
	uint64_t trees; /* svma that they count from; 0: absolute, or not known */
};

/* Finds where trees count from, in the data of F at S. */
static uint64_t find_trees(const struct elf_file *f, const struct elf_section *s,
			   const struct go_table *t, uint64_t table_svma)
{
	const size_t at = t->layout == GO_1_18 ? MODULE_TREES_1_18 : MODULE_TREES_1_20;
	_mem_ uint8_t *bytes = s->size <= MOST_BYTES ? elf_file_load_section(f, s) : NULL;
	struct rd r = rd_init(bytes, bytes ? (size_t)s->size : 0);

	while (rd_left(&r) >= at + 8) {
		struct rd module = r, trees = r;

		rd_bytes(&module, MODULE_TEXT);
		rd_bytes(&trees, at);
		if (rd_le64(&r) == table_svma && rd_le64(&module) == t->text)
			return rd_le64(&trees);
	}
	return 0;
}

struct lines_go *lines_go_open(int fd)
{
	static const char *const data[] = {".noptrdata", ".data", ".go.module", ".data.rel.ro"};
	const struct elf_section *s, *table;
	struct lines_go *g;
	struct elf_file f;
	uint64_t text;
	size_t n;

	if (elf_file_open(&f, fd, NULL) < 0)
		return NULL;
	g = xcalloc(1, sizeof(*g));
	if (elf_file_read_sections(&f, NULL) >= 0)
		g->bytes = elf_load_go(&f, &n, &text);
	if (!g->bytes || go_table_open(&g->t, g->bytes, n, text, NULL) < 0) {
		elf_file_close(&f);
		lines_go_close(g);
		return NULL;
	}
	table = elf_file_find_section(&f, ".gopclntab");
	s = elf_file_find_section(&f, ".rodata");
	if (s && s->size <= MOST_BYTES) {
		g->constants = elf_file_load_section(&f, s);
		g->n_constants = g->constants ? (size_t)s->size : 0;
		g->constants_svma = s->svma;
	}
	for (size_t i = 0; table && g->t.layout >= GO_1_18 && !g->trees && i < n_elems(data); i++) {
		s = elf_file_find_section(&f, data[i]);
		if (s)
			g->trees = find_trees(&f, s, &g->t, table->svma);
	}
	elf_file_close(&f);
	return g;
}

void lines_go_close(struct lines_go *g)
{
	if (!g)
		return;
	free(g->bytes);
	free(g->constants);
	free(g);
}

void lines_go_index(struct lines *l)
{
	struct go_func f;

	for (uint32_t i = 0; i < l->go->t.n_funcs && l->units.n < LINES_MAX_UNITS; i++) {
		uint64_t end = 0;

		if (go_table_func(&l->go->t, i, &f))
			end = f.end;
		vec_push(&l->units, (struct lines_unit){.die = i});
		if (end)
			vec_push(&l->spans, (struct lines_span){.start = f.start,
								.end = end,
								.unit = (uint32_t)l->units.n - 1});
	}
}

static void push_row(struct lines *l, struct lines_unit *u, const struct go_func *f, uint64_t svma,
		     int32_t file, int32_t line)
{
	size_t n;
	const char *name = go_table_file(&l->go->t, f, file, &n);

	vec_push(&u->rows, (struct lines_row){.svma = svma,
					      .file = lines_intern(l, name ? name : "?"),
					      .line = line > 0 ? (uint32_t)line : 0});
}

void lines_go_read_unit(struct lines *l, uint32_t i)
{
	struct lines_unit *u = &l->units.v[i];
	struct go_values files, lines;
	struct go_value file = {0}, line = {0};
	struct go_func f;
	uint64_t at;

	if (u->is_read)
		return;
	u->is_read = true;
	if (!go_table_func(&l->go->t, (uint32_t)u->die, &f))
		return;
	files = go_values_begin(&l->go->t, &f, f.files);
	lines = go_values_begin(&l->go->t, &f, f.lines);
	for (at = f.start; at < f.end;) {
		if (at >= file.end && !go_values_next(&files, &file))
			break;
		if (at >= line.end && !go_values_next(&lines, &line))
			break;
		push_row(l, u, &f, at, file.value, line.value);
		at = file.end < line.end ? file.end : line.end;
	}
	vec_push(&u->rows, (struct lines_row){.svma = at, .end = true});
	l->n_rows += u->rows.n;
}

void lines_go_read_decls(struct lines *l, uint32_t i)
{
	struct lines_unit *u = &l->units.v[i];
	struct go_func f;

	if (u->has_decls)
		return;
	u->has_decls = true;
	lines_go_read_unit(l, i);
	if (u->rows.n && !u->rows.v[0].end && go_table_func(&l->go->t, (uint32_t)u->die, &f) &&
	    f.first_line)
		vec_push(&u->decls, (struct lines_decl){.svma = f.start,
							.file = u->rows.v[0].file,
							.line = f.first_line});
}

/* Call K of the inline tree of F. */
struct go_call {
	uint32_t name, at; /* of the function; the instruction that its call stands for */
	uint32_t first_line;
};

static bool read_call(const struct lines_go *g, const struct go_func *f, uint32_t k,
		      struct go_call *ret)
{
	const bool is_new = g->t.layout >= GO_1_20;
	const uint32_t n_bytes = is_new ? 16 : 20;
	uint64_t svma = f->inline_tree;
	struct go_call call = {0};
	struct rd r;

	if (!svma || (g->t.layout >= GO_1_18 && !g->trees))
		return false;
	if (g->t.layout >= GO_1_18)
		svma += g->trees - 1;
	svma += (uint64_t)k * n_bytes - g->constants_svma;
	if (svma > g->n_constants)
		return false;
	r = rd_init(g->constants + svma, g->n_constants - (size_t)svma);
	rd_le32(&r); /* what kind of function; before 1.20 with its parent */
	if (!is_new) {
		rd_le32(&r); /* file and line of its call, which lines have as well */
		rd_le32(&r);
	}
	call.name = rd_le32(&r);
	call.at = rd_le32(&r);
	call.first_line = is_new ? rd_le32(&r) : 0;
	*ret = call;
	return !r.bad;
}

/* The scope of U at SVMA: 0 is the function itself. */
static uint32_t scope_at(const struct lines_unit *u, uint64_t svma)
{
	size_t above = lines_search(u->scope_starts.v, u->scope_starts.n,
				    sizeof(u->scope_starts.v[0]), svma);

	return above ? u->scope_starts.v[above - 1].scope : LINES_NO_SCOPE;
}

static void add_scope(struct lines *l, struct lines_unit *u, const struct go_func *f, uint32_t k)
{
	struct lines_scope s = {.is_named = true, .has_call = true, .file = LINES_NO_TEXT};
	const struct lines_row *row;
	const char *name = NULL;
	struct go_call call;
	size_t n, above;

	s.name = LINES_NO_TEXT;
	s.parent = 0;
	if (read_call(l->go, f, k, &call)) {
		const uint64_t svma = f->start + call.at;
		const uint32_t parent = svma < f->end ? scope_at(u, svma) : LINES_NO_SCOPE;

		/* Parents come first, so that no chain of them goes round. */
		if (parent != LINES_NO_SCOPE && parent < u->scopes.n)
			s.parent = parent;
		above = lines_search(u->rows.v, u->rows.n, sizeof(u->rows.v[0]), svma);
		row = above ? &u->rows.v[above - 1] : NULL;
		if (row && !row->end) {
			s.file = row->file;
			s.line = row->line;
		}
		s.decl_line = call.first_line;
		name = go_table_name(&l->go->t, call.name, &n);
	}
	if (name && l->n_name_bytes + n <= LINES_MAX_NAMES) {
		s.name = lines_intern(l, name);
		l->n_name_bytes += n;
	}
	vec_push(&u->scopes, s);
}

void lines_go_read_scopes(struct lines *l, uint32_t i)
{
	struct lines_unit *u = &l->units.v[i];
	struct lines_scope whole = {.parent = LINES_NO_SCOPE,
				    .is_named = true,
				    .has_call = true,
				    .file = LINES_NO_TEXT};
	struct go_values values;
	struct go_value v = {0};
	struct go_func f;
	uint32_t n_calls = 0;
	uint64_t end;

	if (u->has_scopes)
		return;
	u->has_scopes = true;
	if (!go_table_func(&l->go->t, (uint32_t)u->die, &f))
		return;
	lines_go_read_unit(l, i);
	whole.name = lines_intern(l, f.name);
	whole.decl_line = f.first_line;
	vec_push(&u->scopes, whole);
	end = f.start;
	values = go_values_begin(&l->go->t, &f, f.inlined);
	while (go_values_next(&values, &v)) {
		const bool is_call = v.value >= 0 && (uint32_t)v.value < MOST_CALLS;

		if (is_call && (uint32_t)v.value >= n_calls)
			n_calls = (uint32_t)v.value + 1;
		vec_push(&u->scope_starts,
			 (struct lines_scope_start){v.start, is_call ? (uint32_t)v.value + 1 : 0});
		end = v.end;
	}
	if (end < f.end)
		vec_push(&u->scope_starts, (struct lines_scope_start){end, 0});
	vec_push(&u->scope_starts, (struct lines_scope_start){f.end, LINES_NO_SCOPE});
	for (uint32_t k = 0; k < n_calls; k++)
		add_scope(l, u, &f, k);
}
