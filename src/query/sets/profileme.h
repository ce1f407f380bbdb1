/* SPDX-License-Identifier: BSD-2-Clause */
/* The language of dcpiprofileme(1): which samples, by what is known of each; and the columns that
 * `-pm` lists.
 *
 *     columns = column { "+" column }
 *     column  = "default" | item [ "::" item ]            A::B is a ratio: A per B
 *     item    = set [ ":" counter ]                       the counter's total over the set
 *     set     = all { "|" all }                           in one of them
 *     all     = one { "^" one }                           in each of them
 *     one     = ( "!" | "/" ) one | "(" set ")" | bit | "trap" | "any"
 *
 * `trap` is `!notrap`, `any` is every sample; the names of bits and counters are those of
 * model/fact.h and of the recording.  Brackets and "|" are ours, the rest is the page's.
 *
 * A bit may be unknown of a sample.  The sample is in a set when that follows from what is known,
 * out of it when that follows, else it is unknown whether it is. */
#ifndef QUERY_SETS_PROFILEME_H
#define QUERY_SETS_PROFILEME_H

#include "base/err.h"
#include "base/vec.h"
#include "model/profile.h"

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

struct set_step; /* of a stack machine */

struct pm_set {
	VEC(struct set_step) steps; /* none: any */
	uint64_t bits;		    /* those it asks for */
	bool is_empty;		    /* no sample can be in it: it contradicts itself */
};

struct pm_item {
	struct pm_set set;
	unsigned counter; /* enum fact_counter; 0: samples are counted */
	char *text;	  /* as written, without blanks */
};

struct pm_column {
	bool is_default;	 /* what the command shows without being asked */
	struct pm_item item;	 /* or a set; of a ratio what is above */
	bool is_ratio;		 /* per */
	struct pm_item per_item; /* this */
	char *text;		 /* all of it */
};

typedef VEC(struct pm_column) pm_columns;

/* Parses TEXT and appends its columns to RET; names are those that P's samples have (NULL: those of
 * the registry).  WHAT is the option's name, which messages begin with.  -EINVAL with the place
 * marked (err_mark): bad grammar, a name that is not there (with the nearest that is).  -E2BIG for
 * brackets nested too deep.  Release RET even then. */
int pm_columns_parse(pm_columns *ret, const char *what, const char *text, const struct profile *p,
		     struct err *err);
void pm_columns_release(pm_columns *c);

/* Whether A and B are written alike. */
bool pm_set_same(const struct pm_set *a, const struct pm_set *b);

/* Whether a sample is in S of which VALUE is known as far as the bits of KNOWN go. */
enum truth pm_set_truth(const struct pm_set *s, uint64_t known, uint64_t value);

#endif
