/* SPDX-License-Identifier: BSD-2-Clause */
/* What the numbers of rows are: samples of an event, a metric of an HPCToolkit database, or an
 * expression of such.  Rows of any origin have one double per column, so that one printer serves
 * all. */
#ifndef QUERY_ROWS_COLUMNS_H
#define QUERY_ROWS_COLUMNS_H

#include "base/arena.h"
#include "query/rows/expr.h"
#include "query/samples/query.h"

enum column_kind {
	COLUMN_COUNT, /* whole numbers; tables show them over the duty */
	COLUMN_TIME,  /* whole nanoseconds; tables show seconds */
	COLUMN_REAL,  /* what it says, in its own unit */
};

struct column {
	const char *name;  /* for JSON and CSV */
	const char *title; /* above a table's column */
	enum column_kind kind;
	const char *stat;  /* over threads, "sum"; NULL: none */
	bool hidden;	   /* others are made from it, or rows are hidden by it */
	bool adds_up;	   /* the number of rows together is the sum of theirs */
	unsigned weight;   /* shares go by column WEIGHT - 1, of weights; 0: by its own numbers */
	double duty;	   /* COLUMN_COUNT */
	double unit;	   /* what 1 stands for in expressions: period / duty, seconds */
	double total;	   /* of all there is: 100 %, when it adds up */
	struct expr *expr; /* of the columns' numbers; NULL: not derived */
	/* Made of the query's columns, which are the first ones here; NULL: none. */
	const struct estimate *estimate;
};

struct columns {
	VEC(struct column) cols;
	VEC(unsigned) order; /* of those shown; none: as they are */
	bool errors;	     /* standard errors are shown */
	bool has_open;	     /* somewhere a number may not be known */
	unsigned sort;	     /* the column rows are sorted by */
	unsigned hide;	     /* the one rows are hidden by; it adds up */
	struct arena arena;
};

/* The column whose numbers tell what shares of the whole those of column I are. */
static inline unsigned cols_weight(const struct columns *c, unsigned i)
{
	return c->cols.v[i].weight ? c->cols.v[i].weight - 1 : i;
}

/* What column I of the counts of a row stands for, in units of its event: cycles, nanoseconds. */
static inline double cols_amount(const struct columns *c, unsigned i, const double *counts)
{
	const unsigned w = cols_weight(c, i);

	return counts[w] * c->cols.v[w].unit;
}

/* The columns of Q, in their order, and behind them those that are made of them.  Lives no longer
 * than Q. */
void cols_of_query(struct columns *c, const struct query *q);
void cols_release(struct columns *c);

/* Adds the derived column TEXT, "NAME = EXPRESSION", whose names FIND knows (a column's number), or
 * with NULL are those of columns.  Errors: those of expr_parse, -EINVAL for what has no '='. */
int cols_derive(struct columns *c, const char *text, expr_find_fn *find, void *ctx,
		struct err *err);

/* The column called NAME (N bytes), or a negative errno that says which there are. */
int cols_find(const struct columns *c, const char *name, size_t n, struct err *err);

/* Whether some columns of C are made of others. */
bool cols_derive_any(const struct columns *c);

/* Sets the derived ones of VALUES, one number per column, from the others.  What is unknown is 0, a
 * ratio NaN. */
void cols_evaluate(const struct columns *c, double *values);

/* What the number of column I is worth, and its standard error. */
enum knowledge cols_knowledge(const struct columns *c, unsigned i, const double *values);
double cols_error(const struct columns *c, unsigned i, const double *values,
		  enum knowledge *ret_worth);

/* How many samples column I of a row may count besides, for all that is known. */
double cols_open(const struct columns *c, unsigned i, const double *values);

/* Whether a row has nothing in any column that is shown. */
bool cols_is_empty(const struct columns *c, const double *values);

/* What a table shows of N of C: samples over their duty, times in seconds. */
double column_shown(const struct column *c, double n);

/* The numbers of the columns that are shown, in that order, the sort column first; returns how
 * many. */
unsigned cols_order(const struct columns *c, unsigned *ret_order);

#endif
