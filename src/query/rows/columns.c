/* SPDX-License-Identifier: BSD-2-Clause */
/* See columns.h. */
#include "query/rows/columns.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static struct column column_of(const struct query_col *col)
{
	double duty = col->duty > 0 && col->duty < 1 ? col->duty : 1;
	double period = col->period ? (double)col->period : 1;

	return (struct column){.name = col->name,
			       .title = col->title,
			       .kind = *col->measures ? COLUMN_TIME : COLUMN_COUNT,
			       .hidden = col->hidden,
			       .adds_up = true,
			       .duty = duty,
			       .unit = *col->measures ? 1e-9 : period / duty,
			       .total = (double)col->n_samples};
}

/* The column of E; counts and totals are shown like the samples of their event. */
static struct column column_of_estimate(const struct columns *c, const struct estimate *e)
{
	struct column col = c->cols.v[e->part.event];

	if (e->kind == ESTIMATE_RATIO)
		col = (struct column){.kind = COLUMN_REAL, .unit = 1};
	else
		col.total =
			c->cols.v[e->kind == ESTIMATE_TOTAL ? e->part.total : e->part.hits].total;
	col.name = col.title = e->name;
	col.hidden = false;
	col.estimate = e;
	return col;
}

static bool may_be_open(const struct estimate_part *p)
{
	return p->open != NO_COL || p->total != NO_COL || p->never;
}

void cols_of_query(struct columns *c, const struct query *q)
{
	*c = (struct columns){.sort = q->sort, .hide = q->sort, .errors = q->errors};
	for (unsigned i = 0; i < q->n_cols; i++)
		vec_push(&c->cols, column_of(&q->cols[i]));
	for (unsigned i = 0; i < q->n_events; i++)
		if (q->cols[i].weight != i) {
			struct column *weight = &c->cols.v[q->cols[i].weight];

			c->cols.v[i].weight = q->cols[i].weight + 1;
			/* Weights are in the event's unit already; they count no periods. */
			if (weight->kind == COLUMN_COUNT)
				weight->unit = 1 / weight->duty;
		}
	vec_each (e, &q->shown) {
		if (e->kind == ESTIMATE_EVENT) {
			if (e == &q->shown.v[q->sort_shown])
				c->sort = e->part.event;
			vec_push(&c->order, e->part.event);
			continue;
		}
		if (e == &q->shown.v[q->sort_shown])
			c->sort = (unsigned)c->cols.n;
		vec_push(&c->order, (unsigned)c->cols.n);
		vec_push(&c->cols, column_of_estimate(c, e));
		c->has_open |= may_be_open(&e->part) ||
			       (e->kind == ESTIMATE_RATIO && may_be_open(&e->per));
	}
}

void cols_release(struct columns *c)
{
	vec_each (col, &c->cols)
		expr_free(col->expr);
	vec_release(&c->cols);
	vec_release(&c->order);
	arena_release(&c->arena);
}

int cols_find(const struct columns *c, const char *name, size_t n, struct err *err)
{
	struct name_list there = {{0}, 0};

	for (unsigned i = 0; i < c->cols.n; i++) {
		const char *have = c->cols.v[i].name;

		if (strlen(have) == n && memcmp(have, name, n) == 0)
			return (int)i;
		if (!c->cols.v[i].hidden)
			name_list_add(&there, have);
	}
	return err_set(err, -ENOENT, "there is no '%.*s' among the columns: %s", (int)n, name,
		       there.text);
}

struct finding {
	struct columns *c;
	expr_find_fn *find;
	void *ctx;
};

static int find_column(void *ctx, const char *name, size_t n, struct err *err)
{
	struct finding *f = ctx;

	return f->find ? f->find(f->ctx, name, n, err) : cols_find(f->c, name, n, err);
}

int cols_derive(struct columns *c, const char *text, expr_find_fn *find, void *ctx, struct err *err)
{
	const char *eq = strchr(text, '='), *end = eq;
	struct finding f = {c, find, ctx};
	struct column col = {.kind = COLUMN_REAL, .unit = 1};
	int rc;

	while (end && end > text && end[-1] == ' ')
		end--;
	if (!eq || end == text)
		return err_set(err, -EINVAL, "--derive '%s': must be NAME = EXPRESSION", text);
	rc = expr_parse(&col.expr, eq + 1, find_column, &f, err);
	if (rc < 0)
		return err_prefix(err, rc, "--derive");
	col.name = col.title = arena_strndup(&c->arena, text, (size_t)(end - text));
	if (c->order.n)
		vec_push(&c->order, (unsigned)c->cols.n);
	vec_push(&c->cols, col);
	return 0;
}

/* Columns whose numbers fit on the stack. */
#define USUAL_COLUMNS 32

static double estimate_value(const struct estimate *e, const double *values)
{
	enum knowledge worth;
	double n = estimate_get(e, values, &worth);

	return e->kind == ESTIMATE_RATIO && (worth == IS_UNKNOWN || worth == IS_NONE) ? NAN : n;
}

bool cols_derive_any(const struct columns *c)
{
	vec_each (col, &c->cols)
		if (col->expr || col->estimate)
			return true;
	return false;
}

void cols_evaluate(const struct columns *c, double *values)
{
	double usual[USUAL_COLUMNS], *in_units = usual;

	if (!cols_derive_any(c))
		return;
	if (c->cols.n > USUAL_COLUMNS)
		in_units = xcalloc(c->cols.n, sizeof(*in_units));
	for (size_t i = 0; i < c->cols.n; i++) {
		const struct column *col = &c->cols.v[i];

		if (col->expr)
			values[i] = expr_eval(col->expr, in_units);
		else if (col->estimate)
			values[i] = estimate_value(col->estimate, values);
		in_units[i] = values[i] * col->unit;
	}
	if (in_units != usual)
		free(in_units);
}

double column_shown(const struct column *c, double n)
{
	if (c->kind == COLUMN_TIME)
		return n / 1e9;
	if (c->kind == COLUMN_REAL || c->duty >= 1)
		return n;
	return round(n / c->duty);
}

enum knowledge cols_knowledge(const struct columns *c, unsigned i, const double *values)
{
	enum knowledge worth = IS_KNOWN;

	if (c->cols.v[i].estimate)
		estimate_get(c->cols.v[i].estimate, values, &worth);
	else if (!isfinite(values[i]))
		worth = IS_NONE;
	return worth;
}

double cols_error(const struct columns *c, unsigned i, const double *values,
		  enum knowledge *ret_worth)
{
	const struct column *col = &c->cols.v[i];

	if (col->estimate)
		return estimate_error(col->estimate, values, ret_worth);
	*ret_worth = col->kind == COLUMN_COUNT && values[i] > 0 ? IS_KNOWN : IS_NONE;
	return *ret_worth == IS_KNOWN ? sqrt(values[i]) : 0;
}

double cols_open(const struct columns *c, unsigned i, const double *values)
{
	return c->cols.v[i].estimate ? estimate_open(c->cols.v[i].estimate, values) : 0;
}

bool cols_is_empty(const struct columns *c, const double *values)
{
	vec_each (i, &c->order) {
		const struct column *col = &c->cols.v[*i];

		if (col->estimate ? !estimate_is_empty(col->estimate, values)
				  : isfinite(values[*i]) && values[*i] != 0)
			return false;
	}
	return true;
}

unsigned cols_order(const struct columns *c, unsigned *ret_order)
{
	unsigned n = 0;

	if (c->cols.n)
		ret_order[n++] = c->sort;
	for (unsigned i = 0; i < c->order.n; i++)
		if (c->order.v[i] != c->sort)
			ret_order[n++] = c->order.v[i];
	for (unsigned i = 0; !c->order.n && i < c->cols.n; i++)
		if (i != c->sort && !c->cols.v[i].hidden)
			ret_order[n++] = i;
	return n;
}
