/* SPDX-License-Identifier: BSD-2-Clause */
/* See procedure_loops.h.
 *
 * A loop's function.  The instructions that control it (loops.h: clues) may come from functions
 * that were inlined there, as in `while (next(&it))`.  The loop is in the function that all of them
 * have in common, the outermost such only as far as needed.  When all controlling instructions come
 * from an inlined function but a good part of the loop's does not, the loop is not that function's:
 * it goes one function out until at most 1 / FOREIGN of it is from elsewhere.  (A little is:
 * compilers move single instructions into loops.)
 *
 * A loop's line is the lowest among those that the clues have in its function; what came from a
 * function inlined into it counts with the line of the call.  Compilers give the test of `for` and
 * `while` the line of that word, wherever in the loop they put it (before the body without
 * optimisation, behind it with), and everything else in the loop stands further down.
 *
 * What gcc moves to the start of a loop, such as a value it reads back from the stack, it gives the
 * line of the procedure's opening brace.  So a header's first instruction of the procedure's lowest
 * line counts only when there is no other clue, and so does any line above the loop around. */
#include "resolve/procedure_loops.h"

#include <string.h>

#include "base/str.h"
#include "resolve/noreturn.h"

#define FOREIGN	  4
#define MAX_CHAIN INLINES_MAX

static bool same_call(const struct frame *a, const struct frame *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column;
}

size_t frame_chain_common(struct frame_chain a, struct frame_chain b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	while (i < n && a.v[i].name == b.v[i].name &&
	       (i == 0 || same_call(&a.v[i - 1], &b.v[i - 1])))
		i++;
	return i;
}

static bool never_returns(void *ctx, uint64_t svma)
{
	const struct loop_source *s = ctx;
	uint32_t i = symtab_find(s->symtab, svma);
	struct procedure p;

	if (i == PROC_NONE)
		return false;
	p = symtab_get(s->symtab, i);
	return p.start == svma && noreturn_is(p.name);
}

static bool read_constant(void *ctx, uint64_t svma, uint8_t *ret, size_t n)
{
	const struct loop_source *s = ctx;

	return code_file_read(s->code, svma, ret, n);
}

static bool has_constant(void *ctx, uint64_t svma)
{
	const struct loop_source *s = ctx;

	return code_file_has(s->code, svma);
}

/* Tells whether COLD is the name of a part of the procedure NAME: gcc writes foo.cold (since 8,
 * foo.cold.N before), clang foo.cold.N. */
static bool is_cold_part(const char *cold, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(cold, name, n) && str_starts(cold + n, ".cold");
}

static bool has_part(const struct flow_code *code, const struct procedure *p)
{
	for (uint32_t i = 0; i < code->n_parts; i++)
		if (code->parts[i].start == p->start)
			return true;
	return false;
}

static bool add_part(const struct loop_source *s, struct flow_code *code, const struct procedure *p)
{
	uint8_t *bytes;

	if (code->n_parts == FLOW_MAX_PARTS || has_part(code, p) ||
	    p->end - p->start > FLOW_MAX_BYTES)
		return false;
	bytes = code_file_load(s->code, p->start, p->end);
	if (!bytes)
		return false;
	code->parts[code->n_parts++] =
		(struct flow_part){.start = p->start, .end = p->end, .bytes = bytes};
	return true;
}

static void release_parts(struct flow_code *code)
{
	while (code->n_parts)
		free((void *)code->parts[--code->n_parts].bytes);
}

/* Looks where the jumps out of the procedure P lead, for its other parts.  *RET_WHOLE: what P is
 * the cold part of.  Returns whether parts were added to CODE. */
static bool find_parts(const struct loop_source *s, const struct flow *f, const struct procedure *p,
		       struct flow_code *code, struct procedure *ret_whole)
{
	bool is_cold = strstr(p->name, ".cold"), added = false;

	for (size_t i = 0; i < f->exits.n; i++) {
		uint32_t k = symtab_find(s->symtab, f->exits.v[i]);
		struct procedure to;

		if (k == PROC_NONE)
			continue;
		to = symtab_get(s->symtab, k);
		if (is_cold && is_cold_part(p->name, to.name)) {
			*ret_whole = to;
			return false;
		}
		if (is_cold_part(to.name, p->name))
			added |= add_part(s, code, &to);
	}
	return added;
}

int procedure_flow_init(struct flow *f, const struct loop_source *s, struct procedure p,
			struct procedure *ret_whole)
{
	struct flow_code code = {
		.machine = s->code->elf.machine,
		.no_return = never_returns,
		.read = read_constant,
		.has = has_constant,
		.ctx = (void *)s,
	};
	int rc = -1;

	if (add_part(s, &code, &p))
		rc = flow_init(f, &code);
	if (rc == 0 && find_parts(s, f, &p, &code, ret_whole)) {
		flow_release(f);
		rc = flow_init(f, &code);
	}
	release_parts(&code);
	return rc;
}

static struct frame_chain look_up(const struct loop_source *s, uint64_t svma)
{
	struct frame_chain c;

	c.n = frames_find(s->frames, s->image, svma, &c.v);
	if (!c.n)
		c.n = frames_add(s->frames, s->image, svma, s->lines, &c.v);
	return c;
}

/* A chain that stays. */
struct home {
	struct frame v[MAX_CHAIN];
	size_t n;
};

static struct frame_chain chain_of(const struct home *h, size_t n)
{
	return (struct frame_chain){.v = h->v, .n = n};
}

/* What is known of a procedure before its loops. */
struct opening {
	uint32_t file, line; /* the lowest line it begins with; FRAME_NO_TEXT: not known */
};

#define OPENING_ROWS 32

static struct opening find_opening(const struct loop_source *s, const struct procedure *p)
{
	struct opening ret = {.file = FRAME_NO_TEXT};
	struct line_row *rows = NULL;
	uint64_t end = p->end - p->start < 4096 ? p->end : p->start + 4096;
	size_t n = s->lines ? lines_range(s->lines, p->start, end, &rows) : 0;

	for (size_t i = 0; i < n && i < OPENING_ROWS; i++) {
		struct frame_chain c = look_up(s, rows[i].svma);

		if (c.n != 1 || !c.v[0].line || c.v[0].file == FRAME_NO_TEXT)
			continue;
		if (ret.file == FRAME_NO_TEXT)
			ret = (struct opening){.file = c.v[0].file, .line = c.v[0].line};
		else if (c.v[0].file == ret.file && c.v[0].line < ret.line)
			ret.line = c.v[0].line;
	}
	free(rows);
	return ret;
}

/* Tells whether C, where a header begins, may be something that was put there: see above. */
static bool is_foreign(const struct opening *o, struct frame_chain c)
{
	return c.n == 1 && c.v[0].file == o->file && c.v[0].line <= o->line;
}

/* The functions that all clues of loop L have in common, into RET; with no line yet. */
static void find_common(const struct loop_source *s, const struct loops *all, const struct loop *l,
			const struct opening *o, struct home *ret)
{
	bool any = false;

	ret->n = 0;
	/* The header's first instruction, which is the least certain, comes last. */
	for (uint32_t i = 1; i <= l->n_clues; i++) {
		struct frame_chain c = look_up(s, all->clues.v[l->clues + i % l->n_clues]);
		size_t n;

		if (ret->n &&
		    (c.v[0].name == FRAME_NO_TEXT || (i == l->n_clues && is_foreign(o, c))))
			continue;
		if (any) {
			n = frame_chain_common(chain_of(ret, ret->n), c);
			ret->n = n ? n : 1;
			continue;
		}
		ret->n = c.n < MAX_CHAIN ? c.n : MAX_CHAIN;
		memcpy(ret->v, c.v, ret->n * sizeof(*c.v));
		any = c.v[0].name != FRAME_NO_TEXT;
	}
}

/* Goes out of functions that much of the loop does not come from. */
static void leave_foreign(const struct loop_source *s, const struct loops *all,
			  const struct loop *l, struct home *h)
{
	uint32_t n_in[MAX_CHAIN + 1] = {0}, n = 0; /* that have so many functions in common */

	if (h->n == 1)
		return;
	for (uint32_t i = 0; i < l->n_body; i++) {
		struct frame_chain c = look_up(s, all->clues.v[l->body + i]);

		if (c.v[0].name == FRAME_NO_TEXT || (c.n == 1 && !c.v[0].line))
			continue;
		n_in[frame_chain_common(chain_of(h, h->n), c)]++;
		n++;
	}
	for (uint32_t n_inside = n_in[h->n]; h->n > 1 && (n - n_inside) * FOREIGN > n;) {
		h->n--;
		n_inside += n_in[h->n];
	}
}

/* Gives the innermost function of H the loop's line.  OUTER: the loop around it, if that is in the
 * same function. */
static void find_line(const struct loop_source *s, const struct loops *all, const struct loop *l,
		      const struct opening *o, const struct frame *outer, struct home *h)
{
	struct frame *at = &h->v[h->n - 1], found = {.file = FRAME_NO_TEXT};
	bool found_good = false;

	for (uint32_t i = 0; i < l->n_clues; i++) {
		struct frame_chain c = look_up(s, all->clues.v[l->clues + i]);
		const struct frame *f;
		bool good;

		if (c.n < h->n || frame_chain_common(chain_of(h, h->n), c) < h->n)
			continue;
		f = &c.v[h->n - 1];
		if (!f->line || f->file == FRAME_NO_TEXT)
			continue;
		good = !(i == 0 && is_foreign(o, c)) &&
		       !(outer && outer->file == f->file && f->line < outer->line);
		if (found.line &&
		    (good < found_good ||
		     (good == found_good && (f->file != found.file || f->line >= found.line))))
			continue;
		found = *f;
		found_good = good;
	}
	at->file = found.file;
	at->line = found.line;
	at->column = found.column;
}

/* Gives loop I of P its home. */
static void find_home(const struct loop_source *s, struct procedure_loops *p, uint32_t i,
		      const struct opening *o, struct home *h)
{
	const struct loop *l = &p->loops.v.v[i];
	const struct frame *outer = NULL;
	struct frame_chain around;

	find_common(s, &p->loops, l, o, h);
	leave_foreign(s, &p->loops, l, h);
	if (l->parent != LOOP_NONE) {
		around = procedure_loops_home(p, l->parent);
		if (around.n == h->n && frame_chain_common(around, chain_of(h, h->n)) == h->n)
			outer = &around.v[around.n - 1];
	}
	find_line(s, &p->loops, l, o, outer, h);
}

void procedure_loops_init(struct procedure_loops *p, const struct loop_source *s, uint32_t proc,
			  uint32_t *ret_proc)
{
	struct procedure first = symtab_get(s->symtab, proc), whole = first;
	struct opening opening = {.file = FRAME_NO_TEXT};
	struct flow f = {0};
	struct home h;
	int rc;

	*p = (struct procedure_loops){0};
	rc = s->code ? procedure_flow_init(&f, s, first, &whole) : -1;
	if (rc == 0 && whole.index != first.index) {
		flow_release(&f);
		rc = procedure_flow_init(&f, s, whole, &whole);
	}
	if (rc == 0)
		loops_init(&p->loops, &f);
	flow_release(&f);
	*ret_proc = whole.index;
	p->homes = xcalloc(p->loops.v.n + 1, sizeof(*p->homes));
	if (p->loops.v.n)
		opening = find_opening(s, &whole);
	for (uint32_t i = 0; i < p->loops.v.n; i++) {
		find_home(s, p, i, &opening, &h);
		vec_reserve(&p->frames, h.n);
		memcpy(p->frames.v + p->frames.n, h.v, h.n * sizeof(*h.v));
		p->frames.n += h.n;
		p->homes[i + 1] = (uint32_t)p->frames.n;
	}
	vec_release(&p->loops.clues);
	p->n_bytes = sizeof(*p) + p->loops.v.cap * sizeof(*p->loops.v.v) +
		     p->loops.ranges.cap * sizeof(*p->loops.ranges.v) +
		     p->frames.cap * sizeof(*p->frames.v) + (p->loops.v.n + 1) * sizeof(*p->homes);
}

void procedure_loops_release(struct procedure_loops *p)
{
	loops_release(&p->loops);
	vec_release(&p->frames);
	free(p->homes);
	*p = (struct procedure_loops){0};
}
