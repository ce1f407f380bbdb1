/* SPDX-License-Identifier: BSD-2-Clause */
/* Two sets of a fleet's samples, with each host as one observation. */
#ifndef QUERY_COMPARE_HOSTS_H
#define QUERY_COMPARE_HOSTS_H

#include "query/compare/set_rows.h"

enum host_test {
	HOSTS_NO_TEST, /* no fleet, or too few hosts */
	HOSTS_PAIRED,  /* most hosts are in both sets: their differences are tested */
	HOSTS_WELCH,   /* the sets' hosts are two groups */
};

struct set_hosts {
	enum host_test test;
	unsigned n_pairs;      /* hosts with samples in both sets */
	unsigned n_in[2];      /* with samples in each */
	unsigned n_hosts;      /* in all */
	uint32_t *of_owner[2]; /* by set, by owner */
	double *totals[2];     /* by set, by host: samples */
};

/* Fills H for the two sets of R; release it in any case.  There is a test only of events' samples,
 * and of two fleets' databases that were asked for hosts. */
void set_hosts_init(struct set_hosts *h, const struct set_rows *r);
void set_hosts_release(struct set_hosts *h);

/* Sets P[I] for each row I of R that WANTED marks: the probability that hosts whose shares in the
 * row are the same on average differ so much.  ABSOLUTE: not shares but amounts, for a unit
 * of the WORK that each set did. */
void set_hosts_test(const struct set_hosts *h, const struct set_rows *r, const bool *wanted,
		    bool absolute, const double work[2], double *p);

#endif
