/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of code that no section speaks of: whoever can read code is asked for the gaps. */
#include <stdlib.h>

#include "base/alloc.h"
#include "unwind/rows.h"

/* Between functions lies padding of up to 15 bytes. */
#define MIN_GAP 16

struct gap {
	struct frame_rows *rows;
	uint64_t svma, off, n_bytes;
	uint64_t at; /* where the last rule was put */
};

/* Rows ascend and stay in their gap, whoever reads the code. */
static void put_rule(void *owner, uint64_t svma, const struct unwind_rule *rule)
{
	struct gap *g = owner;
	const uint64_t at = svma - g->svma;

	if (at < g->at || at > g->n_bytes)
		return;
	g->at = at;
	rows_add(g->rows, g->off + at, rule_set_intern(g->rows->rules, rule));
}

/* Asks for the code at file offsets [OFF, END), as far as it is in segment S. */
static void read_gap(struct frame_rows *rows, const struct unwind_segment *s, uint64_t off,
		     uint64_t end)
{
	struct gap g = {.rows = rows};

	off = off > s->off ? off : s->off;
	end = end < s->off + s->n_bytes ? end : s->off + s->n_bytes;
	if (off >= end || end - off < MIN_GAP)
		return;
	g.off = off;
	g.n_bytes = end - off;
	g.svma = s->svma + (off - s->off);
	rows->in->read_code(rows->in->code, g.svma, off, end - off, put_rule, &g);
	rows_add(rows, end, UNWIND_NO_RULE);
}

static void read_gaps(struct frame_rows *rows, const struct frame_rows *known)
{
	const struct unwind_input *in = rows->in;
	uint64_t done = 0;

	for (uint32_t k = 0; k < in->n_segments; k++) {
		const struct unwind_segment *s = &in->segments[k];
		uint64_t from = s->off;

		if (s->off < done) /* rows ascend */
			continue;
		done = s->off + s->n_bytes;
		for (size_t i = 0; i < known->v.n; i++) {
			const uint64_t off = known->base + known->v.v[i].off;

			if (from != UINT64_MAX)
				read_gap(rows, s, from, off);
			from = known->v.v[i].rule == UNWIND_NO_RULE ? off : UINT64_MAX;
		}
		if (from != UINT64_MAX)
			read_gap(rows, s, from, UINT64_MAX);
	}
}

/* Where both have a row at one offset. */
static size_t count_shared(const struct frame_rows *a, const struct frame_rows *b)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; i < a->v.n && k < b->v.n;) {
		n += a->v.v[i].off == b->v.v[k].off;
		if (a->v.v[i].off <= b->v.v[k].off)
			i++;
		else
			k++;
	}
	return n;
}

/* Moves the rows of FILL, which lie in gaps of ROWS, to where they belong, from the last to the
 * first: half a million rows are not copied for a few. */
static void fill_gaps(struct frame_rows *rows, struct frame_rows *fill)
{
	size_t i = rows->v.n, k = fill->v.n, to = i + k - count_shared(rows, fill);
	struct frame_row *v = xrealloc(rows->v.v, to, sizeof(*v));

	rows->v.v = v;
	rows->v.n = rows->v.cap = to;
	while (k) {
		const struct frame_row new = fill->v.v[k - 1];

		if (i && v[i - 1].off > new.off) {
			v[--to] = v[--i];
			continue;
		}
		k--;
		if (i && v[i - 1].off == new.off &&v[--i].rule != UNWIND_NO_RULE)
			v[--to] = v[i];
		else
			v[--to] = new;
	}
}

void rows_read_code(struct frame_rows *rows)
{
	struct frame_rows fill = {.in = rows->in,
				  .rules = rows->rules,
				  .base = rows->base,
				  .left = rows->left,
				  .ran_out = rows->ran_out};

	read_gaps(&fill, rows);
	if (fill.v.n)
		fill_gaps(rows, &fill);
	vec_release(&fill.v);
}
