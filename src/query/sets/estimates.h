/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reader shows: samples of events, and the columns of profileme.h over them.
 *
 * An event whose samples carry facts is a *population*: its samples are picked by one hardware
 * mechanism with one period.  A set is counted in each population that can tell it, never over two
 * of them; with --event in those of its events that carry any.  Where several can, each has a
 * column of its own, SET@EVENT.  A ratio is of estimates, samples x period / duty, so that it may
 * be between two populations, whose samples are then joined by address alone.
 *
 * In a row a number is *known* when it is so of all the population's samples there; *at least* when
 * it is of some that are known to be in the set, and others may be; *unknown* when of none it is
 * known, and some may be.  A row where the population has no samples has 0, known, unless the set
 * can be told in no population at all.
 *
 * Samples that were killed early have some bits that are not reliable (dcpiprofileme(1)).  Such a
 * sample still counts as its bits say, as in DCPI.  Where the bits do not say, it is left out, not
 * open.
 * With --no-early-kill they are left out of every set and counter that asks for what is not
 * reliable, unless the set itself asks for early_kill.
 *
 * Estimates are made of sums over values (enum query_sum), which are columns of the query that
 * nobody sees. */
#ifndef QUERY_SETS_ESTIMATES_H
#define QUERY_SETS_ESTIMATES_H

#include "query/sets/profileme.h"
#include "query/select.h"

/* What a column of a query sums over values. */
enum query_sum {
	SUM_EVENT,    /* samples of the event; nanoseconds of one that counts time */
	SUM_WEIGHT,   /* what they weigh, where periods vary */
	SUM_HITS,     /* those known to be in a set */
	SUM_OPEN,     /* those that may be in it */
	SUM_KILLED,   /* those left out because they were killed early */
	SUM_DOUBTFUL, /* hits that were killed early */
	SUM_TOTAL,    /* of a counter over those in the set */
	SUM_MEASURED, /* those in the set of which the counter is known */
	SUM_SQUARES,  /* squares of the counter's means, for its error */
	SUM_BOTH,     /* of a ratio's two parts over what is in both, for its error */
};

#define NO_COL UINT32_MAX

/* One side of a ratio, or all of what is no ratio: columns of the query, or NO_COL. */
struct estimate_part {
	uint32_t event; /* the population */
	uint32_t hits, open, killed, doubtful;
	uint32_t total, measured, squares; /* of a counter */
	double unit;			   /* period / duty */
	bool never;			   /* no sample tells the set, wherever it was taken */
};

enum estimate_kind { ESTIMATE_EVENT, ESTIMATE_COUNT, ESTIMATE_TOTAL, ESTIMATE_RATIO };

struct estimate {
	enum estimate_kind kind;
	const char *name;	   /* as written, or the event's */
	struct estimate_part part; /* of an event: its column in part.event */
	struct estimate_part per;  /* of a ratio */
	uint32_t both;
};

typedef VEC(struct estimate) estimates;

enum knowledge {
	IS_KNOWN,
	IS_AT_LEAST, /* of a ratio: about */
	IS_UNKNOWN,
	IS_NONE, /* no number at all: 0 / 0 */
};

/* The number, with SUMS being a row's, by column of the query.  *RET_STATE says what it is worth;
 * the number of unknown ones is 0. */
double estimate_get(const struct estimate *e, const double *sums, enum knowledge *ret_state);

/* Its standard error, in the same unit (docs/design/sampling.md); *RET_STATE is IS_NONE where
 * nothing can be said of it, IS_AT_LEAST where a counter's spread is only known to be as large
 * as this.  Sums for errors must have been asked for (select.errors). */
double estimate_error(const struct estimate *e, const double *sums, enum knowledge *ret_state);

/* How many samples it may count besides those it does. */
double estimate_open(const struct estimate *e, const double *sums);

/* Whether nothing in the row has to do with E: neither hits nor samples that may be some. */
bool estimate_is_empty(const struct estimate *e, const double *sums);

#endif
