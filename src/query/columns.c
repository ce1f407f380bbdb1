/* SPDX-License-Identifier: BSD-2-Clause */
/* See columns.h. */
#include "query/columns.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void cols_of_query(struct columns *c, const struct query *q)
{
	*c = (struct columns){.sort = q->sort, .hide = q->sort};
	for (unsigned i = 0; i < q->n_cols; i++) {
		const struct query_col *col = &q->cols[i];
		double duty = col->duty > 0 && col->duty < 1 ? col->duty : 1;
		double period = col->period ? (double)col->period : 1;

		vec_push(&c->cols,
			 (struct column){.name = col->name,
					 .title = col->title,
					 .kind = col->is_time ? COLUMN_TIME : COLUMN_COUNT,
					 .adds_up = true,
					 .duty = duty,
					 .unit = col->is_time ? 1e-9 : period / duty,
					 .total = (double)col->n_samples});
	}
}

void cols_release(struct columns *c)
{
	vec_each (col, &c->cols)
		expr_free(col->expr);
	vec_release(&c->cols);
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
	if (rc)
		return err_prefix(err, rc, "--derive");
	col.name = col.title = arena_strndup(&c->arena, text, (size_t)(end - text));
	vec_push(&c->cols, col);
	return 0;
}

/* Columns whose numbers fit on the stack. */
#define USUAL_COLUMNS 32

void cols_evaluate(const struct columns *c, double *values)
{
	double usual[USUAL_COLUMNS], *in_units = usual;
	bool any = false;

	vec_each (col, &c->cols)
		any |= col->expr != NULL;
	if (!any)
		return;
	if (c->cols.n > USUAL_COLUMNS)
		in_units = xcalloc(c->cols.n, sizeof(*in_units));
	for (size_t i = 0; i < c->cols.n; i++) {
		const struct column *col = &c->cols.v[i];

		if (col->expr)
			values[i] = expr_eval(col->expr, in_units);
		in_units[i] = values[i] * col->unit;
	}
	if (in_units != usual)
		free(in_units);
}

double column_shown(const struct column *c, double n)
{
	if (c->kind == COLUMN_TIME)
		return floor(n / 1000);
	if (c->kind == COLUMN_REAL || c->duty >= 1)
		return n;
	return round(n / c->duty);
}

unsigned cols_order(const struct columns *c, unsigned *ret_order)
{
	unsigned n = 0;

	if (c->cols.n)
		ret_order[n++] = c->sort;
	for (unsigned i = 0; i < c->cols.n; i++)
		if (i != c->sort && !c->cols.v[i].hidden)
			ret_order[n++] = i;
	return n;
}
