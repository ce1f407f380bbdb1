/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile boiled down to what a reader asked for: samples per event at each (image, address),
 * whoever's they were.  Rows of any table are sums over these spots. */
#ifndef QUERY_SAMPLES_QUERY_H
#define QUERY_SAMPLES_QUERY_H

#include "base/arena.h"
#include "model/profile.h"
#include "query/sets/estimates.h"
#include "resolve/resolver.h"

/* A column: samples of one event, or a sum over them for sample sets.  All counts are samples as
 * stored; query_scaled turns them into what tables show.  In a sum's column only `event`, its
 * period and duty, and n_samples (the whole sum) mean anything. */
struct query_col {
	enum query_sum sum;
	event_id event;
	bool hidden;	  /* not shown: a sum, or an event that only sample sets need */
	const char *name; /* the event's; with ":PERIOD" where two columns would share a name */
	uint64_t period, freq_hz;
	const char *title; /* of a column of its counts as query_scaled gives them: NAME, NAME(s) */
	const char *measures; /* unit of its counts: "ns"; "": they are samples (event_measures) */
	uint32_t weight;      /* the column with the weight of its samples: its own, or another */
	uint64_t n_intervals; /* how many, where it measures something */
	double duty;	      /* 1 when it was always counting */
	uint64_t n_samples;   /* in spots, so without idle */
	uint64_t n_kernel;    /* of these in the kernel, its modules and BPF programs */
	uint64_t
		n_guest; /* of these in virtual machines or below the kernel: not the host's user code */
	uint64_t n_unknown;	/* of these in no known image, without n_guest */
	uint64_t n_pruned;	/* of these with rare callers pruned */
	uint64_t n_idle;	/* taken by idle CPUs */
	uint64_t n_lost;	/* named losses */
	uint64_t n_reached;	/* reached the recorder; 0 unknown */
	uint64_t not_delivered; /* samples the event's count promises, nobody got; 0 unknown */
};

struct spot {
	uint64_t svma;
	image_id image;
	place_id place;
};

/* What a value adds to a column. */
enum share_of { SHARE_COUNT, SHARE_SUM, SHARE_SQUARES, SHARE_WEIGHT };

struct share {
	uint32_t col;
	enum share_of of;
	uint64_t period; /* SHARE_WEIGHT: of values without a weight of their own */
};

struct share_span {
	uint32_t first, n;
};

struct query {
	const struct profile *profile;
	struct resolver *resolver;
	struct query_col *cols;
	unsigned n_cols;
	unsigned n_events;   /* the first of them are events */
	estimates shown;     /* what people see, made of columns; in order */
	unsigned sort;	     /* the column rows are sorted by */
	unsigned sort_shown; /* the estimate it is of; a ratio's rows are sorted by the ratio */
	bool has_sets;	     /* not all that is shown is events */
	bool is_by_set;	     /* it was said which of the sample sets it is sorted by */
	bool errors;	     /* standard errors are wanted */
	bool is_one_event;   /* there are others, and nobody named one */
	pm_columns columns;  /* as asked for */
	/* What a value adds to which columns follows from its event and vector alone. */
	VEC(struct share) shares;
	struct share_span *spans; /* one per vector in each row */
	uint32_t *row_of;	  /* by event; NO_COL: in no column */
	uint64_t *counts;	  /* n_cols for each place */
	struct spot *spots;	  /* with samples, by image, then address */
	size_t n_spots;
	bool *wanted;		  /* by owner; NULL: all */
	unsigned *col_of;	  /* by event: the column of its samples, or n_cols */
	bool *idling;		  /* by place: idle tasks idle there; NULL: nowhere */
	size_t *first;		  /* image I's spots are [first[I], first[I + 1]) */
	const char **image_names; /* by image, NULL until asked for */
	struct arena arena;	  /* names and rows */
};

/* Fills Q from P, which must outlive it, as far as S wants it.  R names the kernel's procedures, to
 * tell idle time: samples of an idle task in a procedure the kernel idles in, or anywhere in the
 * kernel when its names are not to be had.  -ENOENT: S names something that is not there. */
int query_init(struct query *q, const struct profile *p, struct resolver *r, const struct select *s,
	       struct err *err);
void query_release(struct query *q);

/* Orders spots by image, address, place; for qsort(3). */
int spot_compare(const void *a, const void *b);

/* Samples at a spot, one number per column. */
static inline const uint64_t *query_counts(const struct query *q, const struct spot *s)
{
	return q->counts + (size_t)s->place * q->n_cols;
}

/* Whether V's samples are in Q's counts (its event is chosen, its owner wanted, it is not idle).
 * *RET_COL is the event's column. */
bool query_counts_value(const struct query *q, const struct value *v, unsigned *ret_col);

/* Returns what V adds to which columns, *RET_N shares.  For passes over the values by owner or
 * calling context. */
const struct share *query_shares(const struct query *q, const struct value *v, unsigned *ret_n);

static inline uint64_t share_amount(const struct share *s, const struct value *v)
{
	if (s->of == SHARE_COUNT)
		return v->count;
	if (s->of == SHARE_WEIGHT)
		return v->sum ? v->sum : v->count * s->period;
	if (s->of == SHARE_SUM || !v->count)
		return v->sum;
	return (uint64_t)((double)v->sum * (double)v->sum / (double)v->count);
}

/* Adds V's shares to SUMS, one number per column of Q. */
static inline void query_add_value(const struct query *q, const struct value *v, uint64_t *sums)
{
	unsigned n;
	const struct share *s = query_shares(q, v, &n);

	for (const struct share *end = s + n; s < end; s++)
		sums[s->col] += share_amount(s, v);
}

/* The number that a table shows for N samples: N / duty, the samples there would have been had the
 * event counted all the time.  For an event that measures time: microseconds. */
uint64_t query_scaled(const struct query_col *c, uint64_t n);

/* Losses of the query's events, those of one name added up. */
struct named_loss {
	const char *name;
	uint64_t n;
};
typedef VEC(struct named_loss) named_losses;

/* Adds to RET, which is empty, the losses of Q's events in order of name. */
void query_losses(const struct query *q, named_losses *ret);

/* Number of samples for which it is unknown whether they count for P. */
uint64_t query_open(const struct query *q, const struct estimate_part *p);

/* Whether some column is scaled. */
bool query_is_scaled(const struct query *q);

/* The name of IM in tables: its path.  The start of its build-id follows when several images with
 * samples share the path.  "[unknown]" or what else is known, as "[guest kernel]", for samples in
 * no image. */
const char *query_image_name(struct query *q, image_id image);

#endif
