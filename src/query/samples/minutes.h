/* SPDX-License-Identifier: BSD-2-Clause */
/* When samples came: how many of each owner and event in each minute. */
#ifndef QUERY_SAMPLES_MINUTES_H
#define QUERY_SAMPLES_MINUTES_H

#include "query/samples/input.h"

/* Samples whose minute is not known: of old programs, of time when the daemon was dead.  Their
 * segment tells from when to when they came. */
#define MINUTE_UNKNOWN UINT32_MAX

struct minute_count {
	uint32_t minute; /* since 1970, or MINUTE_UNKNOWN */
	event_id event;
	owner_id owner; /* 0: of several owners, or of nobody known */
	uint64_t n;
	uint64_t start_ns, end_ns; /* of MINUTE_UNKNOWN: came between, since 1970; 0: not known */
};

struct minutes {
	struct input in;		 /* its profile has the dictionaries, and no values */
	VEC(struct minute_count) counts; /* by minute, then event, the largest first */
	uint32_t step;			 /* minutes that stand together, under the first of them */
};

/* Reads what S selects; S's times cut at minutes, its owners and events are wanted alone.  The
 * counts of an event add up to its samples when S selects neither time nor owner.  Errors as
 * input_open; minutes_close it after success.  At most MOST_STEPS (0: any number) different times:
 * as many minutes stand together as that needs. */
int minutes_open(struct minutes *m, const struct select *s, uint32_t most_steps, struct err *err);
void minutes_close(struct minutes *m);

#endif
