/* SPDX-License-Identifier: BSD-2-Clause */
/* See fit.h. */
#include "view/fit.h"

#include "base/vec.h"

/* What texts keep before columns of SPARE and more are left out; then the next row counts. */
static const struct fit_stage {
	size_t name, other, fill, fold, title;
	uint8_t spare;
} stages[] = {{32, 18, 50, 40, 14, 2}, {24, 12, 32, 30, 10, 1}, {10, 8, 16, 16, 8, 0}};

static size_t fit_least(const struct fit_col *c, const struct fit_stage *s)
{
	size_t least = 0;

	switch (c->cut) {
	case TEXT_WHOLE:
		least = c->wider ? c->natural : c->least > s->title ? c->least : s->title;
		break;
	case TEXT_NAME:
		least = s->name;
		break;
	case TEXT_PATH:
	case TEXT_END:
		least = s->other;
		break;
	case TEXT_FILL:
		least = s->fill;
		break;
	case TEXT_FOLD:
		least = s->fold;
		break;
	}
	return least < c->natural ? least : c->natural;
}

static size_t fit_total(const struct fit_col *cols, unsigned n)
{
	size_t total = 0;
	bool first = true;

	for (const struct fit_col *c = cols; c < cols + n; c++) {
		if (c->left_out)
			continue;
		total += c->width + (first ? 0 : c->gap);
		first = false;
	}
	return total;
}

/* The characters that are lost when C is one column narrower. */
static unsigned fit_cost(const struct fit_col *c)
{
	unsigned n = c->wider ? c->wider[c->width - 1] : 0;

	return c->cut == TEXT_NAME ? 2 * n : n;
}

/* Narrows columns until they fit or nothing can give way; returns whether they fit. */
static bool fit_narrow(struct fit_col *cols, unsigned n, size_t limit,
		       const struct fit_stage *stage)
{
	size_t total;

	for (struct fit_col *c = cols; c < cols + n; c++)
		c->width = c->natural;
	total = fit_total(cols, n);
	for (; total > limit; total--) {
		struct fit_col *best = NULL;

		for (struct fit_col *c = cols; c < cols + n; c++) {
			if (c->left_out || c->width <= fit_least(c, stage))
				continue;
			if (!best || fit_cost(c) < fit_cost(best) ||
			    (fit_cost(c) == fit_cost(best) && c->width > best->width))
				best = c;
		}
		if (!best)
			return false;
		best->width--;
	}
	return true;
}

/* Leaves out the column that can be spared most, the last of several; false: none is SPARE. */
static bool fit_leave_out(struct fit_col *cols, unsigned n, unsigned spare)
{
	struct fit_col *most = NULL;

	for (struct fit_col *c = cols; c < cols + n; c++)
		if (!c->left_out && c->spare >= spare && (!most || c->spare >= most->spare))
			most = c;
	if (most)
		most->left_out = true;
	return most;
}

void fit_columns(struct fit_col *cols, unsigned n, size_t limit)
{
	const struct fit_col *first = NULL, *name = NULL;

	for (struct fit_col *c = cols; c < cols + n; c++) {
		c->natural = c->natural < limit ? c->natural : limit;
		if (c->left_out)
			continue;
		first = first ? first : c;
		if (!name || (c->wider && !name->wider) ||
		    (c->cut == TEXT_NAME && name->cut != TEXT_NAME))
			name = c;
	}
	for (size_t i = 0; i < n_elems(stages); i++)
		do {
			if (fit_narrow(cols, n, limit, &stages[i]))
				return;
		} while (stages[i].spare && fit_leave_out(cols, n, stages[i].spare));
	/* Nothing can be spared any more: the last columns go, but for what says most. */
	for (struct fit_col *c = cols + n; c-- > cols;) {
		if (c == first || c == name || c->left_out)
			continue;
		c->left_out = true;
		if (fit_narrow(cols, n, limit, &stages[n_elems(stages) - 1]))
			return;
	}
}
