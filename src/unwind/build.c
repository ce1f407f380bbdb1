/* SPDX-License-Identifier: BSD-2-Clause */
/* See build.h: rows of each kind of frame information, laid over each other and packed.
 *
 * Work and memory are linear in the bytes of the sections, with one exception: the index of blocks
 * is linear in the span of file offsets that code lies in, which MAX_SPAN bounds. */
#include "unwind/build.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "unwind/rows.h"

#define MAX_SPAN (1ull << 30) /* of file offsets; some browsers' code comes to 200 MB */
#define MAX_ROWS (1u << 25)

/* The most memory for rows and what they are made of: some more than MAX_ROWS of them. */
#define MAX_BYTES ((size_t)MAX_ROWS * 3 * sizeof(struct frame_row))

/* Fills OVER's gaps, and what it cannot tell, from UNDER; *OVER takes the result. */
static void lay_over(struct frame_rows *over, const struct frame_rows *under)
{
	const struct unwind_rule *rules = over->rules->rules.v;
	struct frame_rows out = *over;
	size_t i = 0, k = 0;

	memset(&out.v, 0, sizeof(out.v));
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
	row_list_release(over);
	over->v = out.v;
	over->n_fdes += under->n_fdes;
	over->n_too_complex += under->n_too_complex;
	over->n_damaged += under->n_damaged;
}

/* The trampoline, and the instruction before it, where a walk looks that steps one byte back. */
static void add_sigreturn(struct frame_rows *rows, uint64_t svma)
{
	static const struct unwind_rule signal = {.cfa = UNWIND_CFA_SIGNAL};
	uint64_t n_bytes = 12, off;

	if (!svma || !rows_find_off(rows, svma - 4, &n_bytes, &off))
		return;
	rows_add(rows, off, rule_set_intern(rows->rules, &signal));
	rows_add(rows, off + n_bytes, UNWIND_NO_RULE);
}

/* Row I of BYTES, N of them. */
static struct frame_row row_at(const uint8_t *bytes, size_t n, size_t i)
{
	struct frame_row row = {0};

	if (i < n)
		memcpy(&row, bytes + i * sizeof(row), sizeof(row));
	return row;
}

static void put_row(uint8_t *bytes, uint32_t i, uint64_t off, uint32_t rule)
{
	struct unwind_row row = {(uint16_t)off, (uint16_t)rule};

	memcpy(bytes + i * sizeof(row), &row, sizeof(row));
}

/* The layout of table.h.  ROWS begins with a row that is not a gap and ends with one that is; they
 * are packed where they are, into half of that memory: at most one row more than were read is
 * written, and two are read ahead. */
static void pack(struct frame_rows *rows, struct unwind_table *t)
{
	const size_t n_rows = rows->v.n;
	uint8_t *v = (uint8_t *)take_ptr(&rows->v.v);
	struct frame_row row = row_at(v, n_rows, 0), next = row_at(v, n_rows, 1);
	uint64_t first = rows->base + row.off, end = rows->base + row_at(v, n_rows, n_rows - 1).off;
	uint32_t n = 0, n_indexed = 0; /* blocks whose first row is known */

	t->first_off = first & ~(uint64_t)(UNWIND_BLOCK - 1);
	t->n_blocks = (uint32_t)((end - t->first_off + UNWIND_BLOCK - 1) >> UNWIND_BLOCK_SHIFT);
	t->blocks = xcalloc(t->n_blocks + 1, sizeof(*t->blocks));
	if (first > t->first_off) {
		put_row(v, n++, t->first_off, UNWIND_NO_RULE);
		n_indexed = 1; /* blocks[0] is 0 */
	}
	for (size_t i = 0; i < n_rows; i++) {
		uint64_t off = rows->base + row.off;
		uint32_t block = (uint32_t)((off - t->first_off) >> UNWIND_BLOCK_SHIFT);

		while (n_indexed <= block)
			t->blocks[n_indexed++] = n;
		if (block < t->n_blocks) /* the last gap may begin where the table ends */
			put_row(v, n++, off, row.rule);
		if (i + 1 < n_rows && row.rule != UNWIND_NO_RULE)
			t->n_text_bytes += next.off - row.off;
		row = next;
		next = row_at(v, n_rows, i + 2);
	}
	while (n_indexed <= t->n_blocks)
		t->blocks[n_indexed++] = n;
	t->n_rows = n;
	t->rows = xrealloc(v, n + 1, sizeof(*t->rows));
	rows->v.n = rows->v.cap = 0;
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

/* Marks the rows of the code at LOOP as an interpreter's. */
static void mark_loop(struct frame_rows *rows, const struct unwind_loop *loop)
{
	uint64_t n_bytes = loop->n_bytes, off;

	if (!rows_find_off(rows, loop->svma, &n_bytes, &off))
		return;
	vec_each (row, &rows->v) {
		struct unwind_rule rule = rows->rules->rules.v[row->rule];

		if (rows->base + row->off < off || rows->base + row->off >= off + n_bytes ||
		    rule.cfa == UNWIND_CFA_NONE)
			continue;
		rule.why = UNWIND_LOOP;
		row->rule = rule_set_intern(rows->rules, &rule);
	}
}

static int build_check(const struct frame_rows *rows, struct err *err)
{
	if (*rows->ran_out)
		return err_set(err, -E2BIG, "frame information that takes too much memory");
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
	size_t left = in->most_bytes && in->most_bytes < MAX_BYTES ? in->most_bytes : MAX_BYTES;
	bool ran_out = false;
	struct frame_rows eh = {.in = in, .rules = &rules, .left = &left, .ran_out = &ran_out};
	uint64_t base = 0;
	int rc;

	if (in->machine != EM_X86_64 && in->machine != EM_AARCH64)
		return err_set(err, -ENOTSUP, "unwind tables for ELF machine %u", in->machine);
	rc = find_span(in, &base, err);
	if (rc < 0)
		return rc;
	eh.base = base;
	rule_set_intern(&rules, &none);
	if (in->eh_frame.bytes)
		rows_read_cfi(&eh, &in->eh_frame, true);
	for (int i = 0; i < 4; i++) {
		struct frame_rows more = {.in = in,
					  .rules = &rules,
					  .base = base,
					  .left = &left,
					  .ran_out = &ran_out};

		if (i == 0 && in->go.bytes)
			rows_read_go(&more, &in->go);
		else if (i == 1 && in->debug_frame.bytes)
			rows_read_cfi(&more, &in->debug_frame, false);
		else if (i == 2 && in->sframe.bytes)
			rows_read_sframe(&more, &in->sframe);
		else if (i == 3)
			add_sigreturn(&more, in->sigreturn_svma);
		if (more.v.n || more.n_damaged)
			lay_over(&eh, &more);
		row_list_release(&more);
	}
	if (in->read_code)
		rows_read_code(&eh);
	for (uint32_t i = 0; i < in->n_loops; i++)
		mark_loop(&eh, &in->loops[i]);
	rc = build_check(&eh, err);
	if (rc >= 0) {
		*ret = (struct unwind_table){.interpreter = in->interpreter,
					     .n_fdes = eh.n_fdes,
					     .n_too_complex = eh.n_too_complex,
					     .n_damaged = eh.n_damaged,
					     .n_rules = (uint32_t)rules.rules.n};
		pack(&eh, ret);
		ret->rules = take_ptr(&rules.rules.v);
	}
	row_list_release(&eh);
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
	lo = lower_bound(k, lo, hi, t->rows[k].start <= (uint16_t)off);
	return &t->rules[t->rows[lo - 1].rule];
}
