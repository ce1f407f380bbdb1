/* SPDX-License-Identifier: BSD-2-Clause */
/* One event on CPUs of several kinds. */
#ifndef COLLECT_EVENT_SPLIT_H
#define COLLECT_EVENT_SPLIT_H

#include "collect/event_spec.h"

/* Appends WHOLE to SPECS, taking over its name.  Where the CPUs are of several kinds, each with a
 * PMU of its own, a portable hardware or cache event becomes one event per PMU that supports it,
 * named "PMU/EVENT/". */
void event_split(const struct event_env *env, struct event_spec *whole, struct event_specs *specs);

#endif
