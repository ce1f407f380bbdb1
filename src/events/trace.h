/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracepoints, by the kernel's tracefs. */
#ifndef EVENTS_TRACE_H
#define EVENTS_TRACE_H

#include "events/pmu.h"

/* The folder of tracefs, freed by the caller.  NULL when it is not mounted or closed to this user:
 * then *RET_WHY says which and *RET_REMEDY is the command for root, both freed by the caller.
 * Nothing is mounted. */
char *event_trace_find(const struct event_env *env, char **ret_why, char **ret_remedy);

/* Finds tracefs; after a failure ERR has why and remedy as one message. */
char *event_trace_root(const struct event_env *env, struct err *err);

/* Whether tracefs can be read and has events of group GROUP. */
bool event_trace_has_group(const struct event_env *env, const char *group);

/* Encodes tracepoint GROUP:NAME into SPEC (kind, attr's type and config).  -ENOENT: no such
 * tracepoint, or tracefs cannot be read. */
int event_trace_encode(const struct event_env *env, const char *group, const char *name,
		       struct event_spec *spec, struct err *err);

/* Calls EACH with "group:name" of every tracepoint, or of GROUP's only (NULL: all). */
void event_trace_each(const struct event_env *env, const char *group, event_pmu_each_fn *each,
		      void *arg);

#endif
