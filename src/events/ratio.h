/* SPDX-License-Identifier: BSD-2-Clause */
/* What a count means beside others of the same time: instructions per cycle, misses of all
 * branches, how often a second.  And what several runs say of it. */
#ifndef EVENTS_RATIO_H
#define EVENTS_RATIO_H

#include <stdbool.h>
#include <stddef.h>

/* A count of an event.  Those of clocks are nanoseconds. */
struct counted {
	const char *name; /* as event_spec has it, modifiers kept */
	bool is_clock;
	bool known; /* it was counted */
	double value;
};

struct ratio {
	double value;
	char unit[64]; /* "per cycle", "% of branches", "a second" */
};

/* Sets RET to what number I of the N counts ALL, taken in ELAPSED_NS, means beside those that have
 * the same modifiers.  "A second" is one of task-clock or cpu-clock where that was counted, else
 * one of ELAPSED_NS.  False: nothing, since something is not known or zero. */
bool ratio_of(const struct counted *all, size_t n, size_t i, double elapsed_ns, struct ratio *ret);

/* Values of several runs, added one by one.  A zeroed struct is empty. */
struct runs {
	size_t n;
	double mean, m2; /* sum of squared distances from the mean (Welford) */
};
void runs_add(struct runs *r, double value);

/* The standard error of the mean, in percent of the mean; 0 for fewer than two runs. */
double runs_error_pct(const struct runs *r);

#endif
