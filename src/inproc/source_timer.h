/* SPDX-License-Identifier: BSD-2-Clause */
/* Ticks from a POSIX timer on a thread's CPU clock, where perf_event_open(2) is not to be had: see
 * source.h for what each does.  Ticks come as a real-time signal to the thread; its handler only
 * writes to a ring.  Deliveries come with the kernel's tick; each stands for its share of the CPU
 * time between the last ones.  The signal comes when the thread leaves the kernel, at the system
 * call's place. */
#ifndef INPROC_SOURCE_TIMER_H
#define INPROC_SOURCE_TIMER_H

#include "inproc/source.h"

int source_timer_open(struct tick_source *s, pid_t tid, const struct tick_spec *spec);
void source_timer_drain(struct tick_source *s, tick_fn *tick, void *ctx);
void source_timer_drain_last(struct tick_source *s, tick_fn *tick, void *ctx);
int source_timer_read(const struct tick_source *s, uint64_t *ret_count);
bool source_timer_has_ended(const struct tick_source *s);
void source_timer_close(struct tick_source *s);
void source_timer_forget(struct tick_source *s);

#endif
