/* SPDX-License-Identifier: BSD-2-Clause */
/* Time lines of threads: when each was where.
 *
 * A line is found or added by profile_intern_trace and grows by trace_add_point.  Lines are kept
 * apart by thread even where owners are groups.  All lines of a profile together occupy at most its
 * trace_bytes_max (0: no bound): beyond that points are dropped and counted, in their line or, when
 * there is no room for the line either, in trace 0, which never has points.  Nothing of this
 * touches the values. */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include "model/profile.h"

/* The line of (owner, pid, tid, start_ns) of KEY, added when it is not there; a line that was there
 * takes the later of the two ends and the sum of n_dropped.  KEY's points are not looked at.
 * Returns 0 when there is no room for another line.  The id is good until trace_reset. */
trace_id profile_intern_trace(struct profile *p, const struct trace *key);

/* Appends a point to line T, or counts it as dropped; points may come in any order. */
void trace_add_point(struct profile *p, trace_id t, const struct trace_point *point);

/* Sorts the points of all lines by time, then event, then context. */
void trace_sort(struct profile *p);

/* Points in all lines, and those dropped. */
uint64_t trace_n_points(const struct profile *p);
uint64_t trace_n_dropped(const struct profile *p);

/* Whether T, one of P's lines, says anything: all but an empty trace 0. */
bool trace_says(const struct profile *p, const struct trace *t);

/* Adds SRC's lines to DST under the ids of M; all that is left of DST's bound is theirs. */
void trace_merge(struct profile *dst, const struct profile *src, const struct profile_map *m);

/* Forgets all lines but trace 0, which becomes empty. */
void trace_reset(struct profile *p);
void trace_release(struct profile *p);

/* Asserts the rules of lines; part of profile_check. */
void trace_check(const struct profile *p);

#endif
