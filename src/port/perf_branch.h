/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches of samples' branch stacks, in the model. */
#ifndef PORT_PERF_BRANCH_H
#define PORT_PERF_BRANCH_H

#include "base/str.h"
#include "port/perf_world.h"

/* Adds the branches of sample R, whose event is EVENT, to W's profile: those newer than the first
 * that cannot be.  A stack of calls (PERFDATA_B_CALL_STACK) has none: it becomes the sample's
 * callers. */
void perf_branches_add(struct perf_world *w, const struct perfdata_record *r, event_id event);

/* Adds to NOTES lines about what is wrong with W's branch stacks, when something is. */
void perf_branches_note(const struct perf_world *w, struct str *notes);

#endif
