/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches of samples' branch stacks, in the model. */
#ifndef PORT_PERF_BRANCH_H
#define PORT_PERF_BRANCH_H

#include "base/str.h"
#include "port/perf_world.h"

/* Counts the branches of sample R, whose event is EVENT: those newer than the first that cannot
 * be.  They are in W's profile after perf_branches_flush.  A stack of calls
 * (PERFDATA_B_CALL_STACK) has none: it becomes the sample's callers. */
void perf_branches_add(struct perf_world *w, const struct perfdata_record *r, event_id event);

/* Adds what is counted beside the profile to it.  Call it after the last sample. */
void perf_branches_flush(struct perf_world *w);

/* Adds to NOTES lines about what is wrong with W's branch stacks, when something is. */
void perf_branches_note(const struct perf_world *w, struct str *notes);

#endif
