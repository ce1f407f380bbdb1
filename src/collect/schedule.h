/* SPDX-License-Identifier: BSD-2-Clause */
/* The start of sampling; the rest of schedule.c is in collector.h. */
#ifndef COLLECT_SCHEDULE_H
#define COLLECT_SCHEDULE_H

struct collector;

/* Has the events count, with slots those of the first. */
void schedule_start(struct collector *c);

#endif
