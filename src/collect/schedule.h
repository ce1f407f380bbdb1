/* SPDX-License-Identifier: BSD-2-Clause */
/* The start of sampling; the rest of schedule.c is in collector.h. */
#ifndef COLLECT_SCHEDULE_H
#define COLLECT_SCHEDULE_H

struct collector;

/* Starts counting; with slots, the events of the first one. */
void schedule_start(struct collector *c);

/* Draws new periods when they are due; called with each cycle. */
void schedule_vary(struct collector *c);

#endif
