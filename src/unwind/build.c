/* SPDX-License-Identifier: BSD-2-Clause */
/* See build.h: rows of each kind of frame information, laid over each other and packed.
 *
 * Work and memory are linear in the bytes of the sections, with one exception: the index of blocks
 * is linear in the span of file offsets that code lies in, which MAX_SPAN bounds. */
#include "unwind/build.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "unwind/rows.h"

#define MAX_SPAN (1ull << 30) /* of file offsets; some browsers' code comes to 200 MB */
#define MAX_ROWS (1u << 25)

/* Fills OVER's gaps, and what it cannot tell, from UNDER; *OVER takes the result. */
static void lay_over(struct rows *over, const struct rows *under)
{
	const struct unwind_rule *rules = over->rules->rules.v;
	struct rows out = {.in = over->in, .rules = over->rules, .base = over->base};
	size_t i = 0, k = 0;

	while (i < over->v.n || k < under->v.n) {
		uint32_t a, b, at = UINT32_MAX;

		if (i < over->v.n)
			at = over->v.v[i].off;
		if (k < under->v.n && under->v.v[k].off < at)
			at = under->v.v[k].off;
		i += i < over->v.n && over->v.v[i].off == at;
		k += k < under->v.n && under->v.v[k].off == at;
		a = i ? over->v.v[i - 1].rule : UNWIND_NO_RULE;
		b = k ? under->v.v[k - 1].rule : UNWIND_NO_RULE;
		if (rules[a].cfa == UNWIND_CFA_NONE &&
		    (rules[b].cfa != UNWIND_CFA_NONE || a == UNWIND_NO_RULE))
			a = b;
		rows_add(&out, out.base + at, a);
	}
	vec_release(&over->v);
	over->v = out.v;
	over->n_fdes += under->n_fdes;
	over->n_too_complex += under->n_too_complex;
	over->n_damaged += under->n_damaged;
}

/* The trampoline, and the instruction before it, where a walk looks that steps one byte back. */
static void add_sigreturn(struct rows *rows, uint64_t svma)
{
	static const struct unwind_rule signal = {.cfa = UNWIND_CFA_SIGNAL};
	uint64_t n_bytes = 12, off;

	if (!svma || !rows_find_off(rows, svma - 4, &n_bytes, &off))
		return;
	rows_add(rows, off, rule_set_intern(rows->rules, &signal));
	rows_add(rows, off + n_bytes, UNWIND_NO_RULE);
}

/* The layout of table.h.  ROWS begins with a row that is not a gap and ends with one that is. */
static void pack(const struct rows *rows, struct unwind_table *t)
{
	const struct row *v = rows->v.v;
	uint64_t first = rows->base + v[0].off, end = rows->base + v[rows->v.n - 1].off;
	uint32_t n = 0, n_indexed = 0; /* blocks whose first row is known */

	t->first_off = first & ~(uint64_t)(UNWIND_BLOCK - 1);
	t->n_blocks = (uint32_t)((end - t->first_off + UNWIND_BLOCK - 1) >> UNWIND_BLOCK_SHIFT);
	t->blocks = xcalloc(t->n_blocks + 1, sizeof(*t->blocks));
	t->rows = xcalloc(rows->v.n + 1, sizeof(*t->rows));
	if (first > t->first_off) {
		t->rows[n++] = (struct unwind_row){(uint16_t)t->first_off, UNWIND_NO_RULE};
		n_indexed = 1; /* blocks[0] is 0 */
	}
	for (size_t i = 0; i < rows->v.n; i++) {
		uint64_t off = rows->base + v[i].off;
		uint32_t block = (uint32_t)((off - t->first_off) >> UNWIND_BLOCK_SHIFT);

		while (n_indexed <= block)
			t->blocks[n_indexed++] = n;
		if (block < t->n_blocks) /* the last gap may begin where the table ends */
			t->rows[n++] = (struct unwind_row){(uint16_t)off, (uint16_t)v[i].rule};
		if (i + 1 < rows->v.n && v[i].rule != UNWIND_NO_RULE)
			t->n_text_bytes += v[i + 1].off - v[i].off;
	}
	while (n_indexed <= t->n_blocks)
		t->blocks[n_indexed++] = n;
	t->n_rows = n;
}

/* The file offsets that segments lie at: *RET_BASE is the lowest. */
static int find_span(const struct unwind_input *in, uint64_t *ret_base, struct err *err)
{
	uint64_t base = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < in->n_segments; i++) {
		const struct unwind_segment *s = &in->segments[i];

		if (s->n_bytes == 0)
			continue;
		if (s->off + s->n_bytes < s->off || s->svma + s->n_bytes < s->svma)
			return err_set(err, -EBADMSG, "a segment of code wraps around");
		base = s->off < base ? s->off : base;
		end = s->off + s->n_bytes > end ? s->off + s->n_bytes : end;
	}
	if (end == 0)
		return err_set(err, -ENOENT, "no segment of code");
	*ret_base = base & ~(uint64_t)(UNWIND_BLOCK - 1);
	if (end - *ret_base > MAX_SPAN)
		return err_set(err, -E2BIG, "code is spread over more than %llu bytes of the file",
			       MAX_SPAN);
	return 0;
}

static int check(const struct rows *rows, struct err *err)
{
	if (rows->v.n == 0)
		return err_set(err, -ENOENT, "no frame information");
	if (rows->rules->rules.n > 65535)
		return err_set(err, -E2BIG, "frame information with %zu rules",
			       rows->rules->rules.n);
	if (rows->v.n > MAX_ROWS)
		return err_set(err, -E2BIG, "frame information with %zu rows", rows->v.n);
	return 0;
}

int unwind_build(const struct unwind_input *in, struct unwind_table *ret, struct err *err)
{
	static const struct unwind_rule none = {0};
	struct rule_set rules = {0};
	struct rows eh = {.in = in, .rules = &rules};
	uint64_t base = 0;
	int rc;

	if (in->machine != EM_X86_64 && in->machine != EM_AARCH64)
		return err_set(err, -ENOTSUP, "unwind tables for ELF machine %u", in->machine);
	rc = find_span(in, &base, err);
	if (rc)
		return rc;
	eh.base = base;
	rule_set_intern(&rules, &none);
	if (in->eh_frame.bytes)
		rows_read_cfi(&eh, &in->eh_frame, true);
	for (int i = 0; i < 3; i++) {
		struct rows more = {.in = in, .rules = &rules, .base = base};

		if (i == 0 && in->debug_frame.bytes)
			rows_read_cfi(&more, &in->debug_frame, false);
		else if (i == 1 && in->sframe.bytes)
			rows_read_sframe(&more, &in->sframe);
		else if (i == 2)
			add_sigreturn(&more, in->sigreturn_svma);
		if (more.v.n || more.n_damaged)
			lay_over(&eh, &more);
		vec_release(&more.v);
	}
	rc = check(&eh, err);
	if (rc == 0) {
		*ret = (struct unwind_table){.n_fdes = eh.n_fdes,
					     .n_too_complex = eh.n_too_complex,
					     .n_damaged = eh.n_damaged,
					     .n_rules = (uint32_t)rules.rules.n};
		pack(&eh, ret);
		ret->rules = take_ptr(&rules.rules.v);
	}
	vec_release(&eh.v);
	vec_release(&rules.rules);
	index_release(&rules.index);
	return rc;
}

void unwind_table_release(struct unwind_table *t)
{
	free(t->blocks);
	free(t->rows);
	free(t->rules);
	*t = (struct unwind_table){0};
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return ((size_t)t->n_blocks + 1) * sizeof(*t->blocks) + t->n_rows * sizeof(*t->rows);
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *t, uint64_t off)
{
	uint64_t block = (off - t->first_off) >> UNWIND_BLOCK_SHIFT;
	uint32_t lo, hi;

	if (off < t->first_off || block >= t->n_blocks)
		return &t->rules[UNWIND_NO_RULE];
	lo = t->blocks[block];
	hi = t->blocks[block + 1];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->rows[mid].start <= (uint16_t)off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &t->rules[t->rows[lo - 1].rule];
}
