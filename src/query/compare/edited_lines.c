/* SPDX-License-Identifier: BSD-2-Clause */
/* See edited_lines.h.
 *
 * Sources of the older build are gone as a rule, but its code and its line table are kept.  So
 * lines are known again by their instructions: by the mnemonics alone, for registers and distances
 * differ from build to build.  For example, where a line was added before a loop and the loop's
 * body changed:
 *
 *     old                              new
 *     3  for (...)      cmp add jne    3  check(n);         mov call
 *     4          s += a[i];  add       4  for (...)      cmp add jne      <- 3
 *     5  return s;      ret            5          s += a[i] * 3;  lea add   <- 4
 *                                      6  return s;      ret               <- 5
 *
 * The two lists of lines are aligned so that as much code as possible is common, in order
 * (Needleman and Wunsch, 1970).  Two lines may be one when at least half of the longer one's
 * mnemonics are the other's.  Lines between two that were found again are one, in order, when both
 * builds have equally many of them there: the new line 5 is the old line 4, although too little of
 * it is common.  What is left is one by its distance from the procedure's declaration. */
#include "query/compare/edited_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/str.h"
#include "resolve/code_file.h"
#include "resolve/disasm.h"
#include "resolve/lines.h"

/* Larger tables are not made: nothing is known of such procedures. */
#define MOST_CELLS (4u << 20)
#define MOST_CODE  (1u << 20)

static struct edited_image *edited_image(struct edited_lines *e, struct query *q, image_id image)
{
	const struct image *im = &q->profile->images.v[image];
	struct edited_image *ret;

	vec_each (i, &e->images)
		if (i->q == q && i->image == image)
			return i;
	vec_push(&e->images, (struct edited_image){.q = q, .image = image});
	ret = &e->images.v[e->images.n - 1];
	ret->lines = resolver_open_lines(q->resolver, im, NULL);
	ret->code = xmalloc(sizeof(*ret->code));
	if (!ret->lines || resolver_open_code_file(q->resolver, im, ret->code, NULL) < 0) {
		free(ret->code);
		ret->code = NULL;
	}
	return ret;
}

/* --- the lines of one build --- */

static int compare_lines(const struct edited_line *a, const struct edited_line *b)
{
	int d = strcmp(str_basename(a->file), str_basename(b->file));

	if (d)
		return d;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* An instruction of a line. */
struct line_insn {
	struct edited_line at;
	uint32_t mnemonic;
};
typedef VEC(struct line_insn) line_insns;

static int by_line(const void *a, const void *b)
{
	const struct line_insn *x = a, *y = b;
	int d = compare_lines(&x->at, &y->at);

	return d ? d : x->mnemonic < y->mnemonic ? -1 : x->mnemonic > y->mnemonic;
}

static void add_insns(struct disasm *d, const struct line_row *row, const uint8_t *bytes,
		      line_insns *ret)
{
	struct disasm_insn insn;

	disasm_begin(d, bytes, row->end - row->svma, row->svma);
	while (disasm_next(d, &insn))
		vec_push(ret, (struct line_insn){
				      {.file = row->at.file, .line = row->at.line},
				      (uint32_t)hash_bytes(insn.text, strcspn(insn.text, " ")),
			      });
}

static void text_make(struct edited_text *t, line_insns *insns)
{
	vec_sort(insns, by_line);
	vec_each (i, insns) {
		struct edited_line *last = t->lines.n ? &t->lines.v[t->lines.n - 1] : NULL;

		if (!last || compare_lines(last, &i->at) != 0) {
			i->at.first = (uint32_t)t->mnemonics.n;
			i->at.twin = EDITED_NONE;
			vec_push(&t->lines, i->at);
			last = &t->lines.v[t->lines.n - 1];
		}
		vec_push(&t->mnemonics, i->mnemonic);
		last->n++;
	}
}

/* Reads the lines of procedure [START, END) of IM; false: there are none. */
static bool text_read(struct edited_text *t, const struct edited_image *im, uint64_t start,
		      uint64_t end)
{
	_mem_ uint8_t *bytes = NULL;
	_mem_ struct line_row *rows = NULL;
	line_insns insns = {0};
	const char *file;
	struct disasm *d;
	size_t n;

	t->lines.n = t->mnemonics.n = 0;
	t->declared = 0;
	if (!im->code || end - start > MOST_CODE)
		return false;
	bytes = code_file_load(im->code, start, end);
	d = bytes ? disasm_new(&(struct disasm_opts){.machine = im->code->elf.machine}, NULL)
		  : NULL;
	if (!d)
		return false;
	lines_declaration(im->lines, start, &file, &t->declared);
	n = lines_range(im->lines, start, end, &rows);
	for (size_t i = 0; i < n; i++)
		if (rows[i].at.line)
			add_insns(d, &rows[i], bytes + (rows[i].svma - start), &insns);
	disasm_free(d);
	text_make(t, &insns);
	vec_release(&insns);
	return t->lines.n > 0;
}

/* --- which is which --- */

static bool same_file(const struct edited_line *a, const struct edited_line *b)
{
	return strcmp(str_basename(a->file), str_basename(b->file)) == 0;
}

/* How much code A of T and B of U have in common; 0: too little to be one line. */
static uint32_t likeness(const struct edited_text *t, const struct edited_line *a,
			 const struct edited_text *u, const struct edited_line *b)
{
	const uint32_t *x = t->mnemonics.v + a->first, *y = u->mnemonics.v + b->first;
	const uint32_t most = a->n > b->n ? a->n : b->n;
	uint32_t common = 0;

	if (!same_file(a, b))
		return 0;
	for (uint32_t i = 0, j = 0; i < a->n && j < b->n;) {
		common += x[i] == y[j];
		if (x[i] == y[j])
			i++, j++;
		else if (x[i] < y[j])
			i++;
		else
			j++;
	}
	if (2 * common < most)
		return 0;
	return 16 * common * common / most + (a->line - t->declared == b->line - u->declared);
}

static void set_twins(struct edited_text *t, uint32_t i, struct edited_text *u, uint32_t j)
{
	t->lines.v[i].twin = j;
	u->lines.v[j].twin = i;
}

/* Aligns OLD and NEW.  BEST, by the numbers of lines that are left of OLD and of NEW, says how much
 * they have in common. */
static void align(struct edited_text *old, struct edited_text *new, uint32_t *best)
{
	const uint32_t n = (uint32_t)old->lines.n, m = (uint32_t) new->lines.n, wide = m + 1;

	for (uint32_t i = n; i-- > 0;)
		for (uint32_t j = m; j-- > 0;) {
			uint32_t like = likeness(old, &old->lines.v[i], new, &new->lines.v[j]);
			uint32_t *at = &best[i * wide + j];

			*at = at[1] > at[wide] ? at[1] : at[wide];
			if (like && at[wide + 1] + like > *at)
				*at = at[wide + 1] + like;
		}
	for (uint32_t i = 0, j = 0; i < n && j < m;) {
		const uint32_t *at = &best[i * wide + j];

		if (*at == at[1])
			j++;
		else if (*at == at[wide])
			i++;
		else
			set_twins(old, i++, new, j++);
	}
}

/* Number of lines of T from I on that have no twin. */
static uint32_t run_alone(const struct edited_text *t, uint32_t i)
{
	uint32_t n = 0;

	while (i + n < t->lines.n && t->lines.v[i + n].twin == EDITED_NONE)
		n++;
	return n;
}

/* Lines between two that were found again are one where they are equally many. */
static void pair_between(struct edited_text *old, struct edited_text *new)
{
	for (uint32_t i = 0, j = 0; i < old->lines.n && j < new->lines.n; i++, j++) {
		const uint32_t n = run_alone(old, i), m = run_alone(new, j);

		for (uint32_t k = 0; n == m && k < n; k++)
			if (same_file(&old->lines.v[i + k], &new->lines.v[j + k]))
				set_twins(old, i + k, new, j + k);
		i += n;
		j += m;
	}
}

/* Lines as far from the declaration as before are one, if nothing else was found: another compiler
 * makes other code of the same source. */
static void pair_by_place(struct edited_text *old, struct edited_text *new)
{
	for (uint32_t i = 0, j = 0; i < old->lines.n && j < new->lines.n;) {
		struct edited_line a = old->lines.v[i];
		int d;

		a.line += new->declared - old->declared;
		d = compare_lines(&a, &new->lines.v[j]);
		if (d == 0 && a.twin == EDITED_NONE && new->lines.v[j].twin == EDITED_NONE)
			set_twins(old, i, new, j);
		i += d <= 0;
		j += d >= 0;
	}
}

static bool match_texts(struct edited_text *old, struct edited_text *new)
{
	const size_t n_cells = (old->lines.n + 1) * (new->lines.n + 1);
	_mem_ uint32_t *best = n_cells > MOST_CELLS ? NULL : xcalloc(n_cells, sizeof(*best));

	if (!best)
		return false;
	align(old, new, best);
	pair_between(old, new);
	pair_by_place(old, new);
	return true;
}

static void find_procedure(struct edited_lines *e, struct query *old, image_id old_image,
			   struct query *q, const struct scope *sc)
{
	const struct resolved *was =
		resolver_image(old->resolver, &old->profile->images.v[old_image]);
	const struct resolved *is = resolver_image(q->resolver, &q->profile->images.v[sc->image]);
	const struct procedure p = symtab_get(is->symtab, sc->proc);
	struct procedure before;
	proc_list found = {0};

	e->q = q;
	e->image = sc->image;
	e->proc = sc->proc;
	e->is_known = false;
	symtab_find_name(was->symtab, p.name, &found);
	if (found.n == 1) {
		before = symtab_get(was->symtab, found.v[0]);
		e->old_start = before.start;
		/* Both are opened before one is looked at: the list of images may move. */
		edited_image(e, old, old_image);
		e->is_known = text_read(&e->new, edited_image(e, q, sc->image), p.start, p.end) &&
			      text_read(&e->old, edited_image(e, old, old_image), before.start,
					before.end) &&
			      match_texts(&e->old, &e->new);
	}
	vec_release(&found);
}

enum edited_kind edited_lines_find(struct edited_lines *e, struct query *old, image_id old_image,
				   struct query *q, const struct scope *sc, const char **ret_file,
				   uint32_t *ret_line, uint64_t *ret_start)
{
	const struct edited_line wanted = {.file = sc->file, .line = sc->line};

	if (e->q != q || e->image != sc->image || e->proc != sc->proc)
		find_procedure(e, old, old_image, q, sc);
	if (!e->is_known)
		return EDITED_UNKNOWN;
	vec_each (l, &e->new.lines) {
		const struct edited_line *twin;

		if (compare_lines(l, &wanted) != 0)
			continue;
		if (l->twin == EDITED_NONE)
			return EDITED_NEW;
		twin = &e->old.lines.v[l->twin];
		*ret_file = twin->file;
		*ret_line = twin->line;
		*ret_start = e->old_start;
		return EDITED_SAME;
	}
	return EDITED_UNKNOWN;
}

void edited_lines_release(struct edited_lines *e)
{
	vec_each (i, &e->images) {
		lines_close(i->lines);
		if (i->code)
			code_file_close(i->code);
		free(i->code);
	}
	vec_release(&e->images);
	vec_release(&e->old.lines);
	vec_release(&e->old.mnemonics);
	vec_release(&e->new.lines);
	vec_release(&e->new.mnemonics);
}
