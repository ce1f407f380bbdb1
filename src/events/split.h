/* SPDX-License-Identifier: BSD-2-Clause */
/* One event on CPUs of several kinds. */
#ifndef EVENTS_SPLIT_H
#define EVENTS_SPLIT_H

#include "events/spec.h"

/* Appends WHOLE to SPECS, taking over its name.  Where the CPUs are of several kinds, each with a
 * PMU of its own, a portable hardware or cache event becomes one event per PMU that supports it,
 * named "PMU/EVENT/". */
void event_split(const struct event_env *env, struct event_spec *whole, struct event_specs *specs);

#endif
