/* SPDX-License-Identifier: BSD-2-Clause */
/* Time lines of threads: when each was where.
 *
 * profile_intern_trace finds or adds a line; trace_add_point extends it.  Each thread has its own
 * line, even where owners are groups.  All lines of a profile together occupy at most its
 * trace_bytes_max (0: no bound).  Points beyond that are dropped and counted in their line; when
 * the line has no room either, they are counted in trace 0, which never has points.  Traces never
 * change the values. */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include "model/profile.h"

/* Finds the line of KEY's (owner, pid, tid, start_ns), or adds it.  A line that was there takes the
 * later of the two ends and the sum of n_dropped.  KEY's points are not looked at.  Returns 0 when
 * there is no room for another line.  The id is good until trace_reset. */
trace_id profile_intern_trace(struct profile *p, const struct trace *key);

/* Appends a point to line T, or counts it as dropped; points may come in any order. */
void trace_add_point(struct profile *p, trace_id t, const struct trace_point *point);

/* Sorts the points of all lines by time, then event, then context. */
void trace_sort(struct profile *p);

/* Adds BY_NS to every time of all lines; unknown times stay unknown. */
void trace_move(struct profile *p, int64_t by_ns);

/* Points in all lines, and those dropped. */
uint64_t trace_n_points(const struct profile *p);
uint64_t trace_n_dropped(const struct profile *p);

/* Whether T, one of P's lines, says anything: all but an empty trace 0. */
bool trace_says(const struct profile *p, const struct trace *t);

/* Adds SRC's lines to DST under the ids of M.  They may use all that is left of DST's bound. */
void trace_merge(struct profile *dst, const struct profile *src, const struct profile_map *m);

/* Forgets all lines but trace 0, which becomes empty. */
void trace_reset(struct profile *p);
void trace_release(struct profile *p);

/* Asserts the rules of lines; part of profile_check. */
void trace_check(const struct profile *p);

#endif
