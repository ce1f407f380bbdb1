/* SPDX-License-Identifier: BSD-2-Clause */
/* Every event this machine knows by name. */
#ifndef EVENTS_LIST_H
#define EVENTS_LIST_H

#include "events/spec.h"

struct event_info {
	const char *name; /* as -e takes it */
	enum event_kind kind;
	const char *group;	 /* PMU, tracepoint group, or "" */
	const char *description; /* "" when nothing is known */
	bool is_part; /* not an event yet: a term "pmu/term=/", or a name that needs a unit mask */
};

/* Calls EACH for every event, grouped by kind; strings live until it returns.  With KINDS (bits
 * 1 << enum event_kind) only those.  Opens nothing: event_support_of says what works. */
typedef void event_list_fn(const struct event_info *info, void *arg);
void event_list(const struct event_env *env, unsigned kinds, event_list_fn *each, void *arg);

#endif
