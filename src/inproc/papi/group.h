/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a set that are only counted are one group of the kernel: it starts, stops and reads
 * them with one system call each.  The first member leads.  Software events and those of the
 * hardware are not in one group: a group counts only when all its members can. */
#ifndef INPROC_PAPI_GROUP_H
#define INPROC_PAPI_GROUP_H

#include "inproc/papi/set.h"

/* What read(2) tells of a group: perf_event_open(2), PERF_FORMAT_GROUP. */
struct papi_group_counts {
	uint64_t n;
	uint64_t counts[PAPI_SET_EVENTS];
};

/* Makes a group of what can be one in S, for thread TID; keeps the one that is there if it is that
 * group.  What is in no group counts by itself. */
void papi_group_open(struct papi_set *s, const struct papi_counted *wanted);

/* Closes all members of G; they are in no group then. */
void papi_group_close(struct papi_group *g);

/* Whether G could be read.  Counter C of it is counts[c->place]. */
bool papi_group_read(const struct papi_group *g, struct papi_group_counts *ret);

/* Whether C is switched on and off by another member of its group. */
static inline bool papi_group_is_led(const struct papi_counter *c)
{
	return c->group && c->place > 0;
}

#endif
