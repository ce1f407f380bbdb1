/* SPDX-License-Identifier: BSD-2-Clause */
/* The event "wall" of recordings that have running, runnable and blocked time: all of a thread's
 * time by call path, in one column. */
#ifndef QUERY_SAMPLES_WALL_H
#define QUERY_SAMPLES_WALL_H

#include "model/profile.h"

#define WALL_EVENT "wall"

/* Adds the event to P; nothing when P has no event "running".  Runnable and blocked time is where
 * it was recorded.  Running time is where the owner's samples of a clock are, in proportion; an
 * owner that ran without being sampled keeps it under its mark.  For each owner the sum is exactly
 * running + runnable + blocked.  SPLIT: the event "running" is moved to the same places, so that
 * the sum is exact at each place too. */
void wall_add(struct profile *p, bool split);

#endif
