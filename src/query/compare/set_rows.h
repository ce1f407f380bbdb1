/* SPDX-License-Identifier: BSD-2-Clause */
/* Several sets, of samples or of a metric, on common rows: what is called the same in all of them
 * is one row.  What is made of the rows, of two sets or of many, is diff.h's and spread.h's. */
#ifndef QUERY_COMPARE_SET_ROWS_H
#define QUERY_COMPARE_SET_ROWS_H

#include "query/source.h"

/* One set as far as it is compared. */
struct set_side {
	struct source *source;
	struct query *q;		      /* of samples; NULL: values of contexts */
	VEC(const struct estimate *) columns; /* of q; several only for periods of one event */
	uint64_t n_samples;	/* of the event, or in the sample set; idle time left out */
	uint64_t n_open;	/* that may be in the sample set besides, or lack the counter */
	uint64_t n_killed;	/* left out of the sample set as they were killed early */
	double amount;		/* what they stand for: counts of the event,
			  * nanoseconds; of a ratio itself */
	bool is_unknown;	/* the amount: no sample is known to count, and some may */
	double n_effective;	/* as many samples of equal weight would tell as much */
	uint32_t *row_of_place; /* by place: the number of its row, UINT32_MAX; not of lines */
};

struct set_row {
	enum scope_kind kind;
	const char *image_kind; /* NULL not known */
	const char *image;	/* its path; that of the last set that has samples there */
	const char *procedure;	/* NULL by image */
	const char *file;	/* of a line; NULL not known */
	uint32_t line;		/* 0 not known */
	uint64_t svma;		/* of an address */
	uint64_t *n;	/* by set: samples as stored; of events that count time, nanoseconds */
	double *amount; /* by set; 0 where it is unknown or there is none */
	uint64_t *open; /* by set: samples that may count */
	enum knowledge *worth; /* by set: of the amount */
	double **sums;	       /* of a ratio, by set: one number per column of its query, or NULL */
};

struct set_rows {
	const char *event;
	const char *name; /* of what is compared: the event's, or the column's as it was written */
	enum estimate_kind kind;
	enum scope_kind level; /* of rows */
	const char *measures;  /* the unit of what the event measures: "ns"; "": samples */
	bool is_metric; /* some set has values of a metric: amounts alone are known of rows */
	bool has_open;	/* some number may be unknown, or more */
	double unit; /* what 1 in a table is: the first set's period, a microsecond, 1 of a ratio */
	unsigned n_sets;
	struct set_side *sides;
	VEC(struct set_row) rows; /* in no particular order */
	unsigned n_rebuilt;	  /* images of one name that are of several builds */
	const char *rebuilt;	  /* one of them */
	struct arena arena;
};

/* Puts what is in the N SETS, which must outlive R, on common rows of LEVEL: SCOPE_IMAGE,
 * SCOPE_PROCEDURE, SCOPE_LINE or SCOPE_ADDRESS.  Where a set is an HPCToolkit database, see
 * metric_rows.h.  Of samples, what is compared is the event that the first set
 * is sorted by, or the column of sample sets, if such were asked for, that it is sorted by; not
 * sorted by one, the only one there is.  All sets must have been asked for the same.  IMAGES are
 * names of those whose rows are wanted (NULL or none: all).  Images are one by kind and path, or by
 * the last part of the path where no set has two of it; procedures by image and name, lines by
 * procedure, file's name and number, addresses by image, its build and address.  -ENOENT when a set
 * does not have the event, or no samples of it; -EINVAL when several columns could be meant. */
int set_rows_init(struct set_rows *r, struct source *const *sets, unsigned n, enum scope_kind level,
		  const opt_list *images, struct err *err);
void set_rows_release(struct set_rows *r);

/* What rows may be of, for completions. */
#define SET_ROWS_WORDS "image procedure line address"

/* Parses what rows are: image, procedure, line or address, with perf's names for them. */
int set_rows_parse_by(const char *text, enum scope_kind *ret, struct err *err);

/* The image of R, for a table: "" where R is no code ("[truncated: CAUSE]") and has that name. */
const char *set_row_image(const struct set_row *r, bool is_table);

/* "first", "second", ... of set K, in messages. */
const char *set_ordinal(unsigned k, char ret[24]);

/* Orders rows by what they are called; for sorting those that are equal otherwise. */
int set_row_compare(const struct set_row *a, const struct set_row *b);

#endif
