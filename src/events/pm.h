/* SPDX-License-Identifier: BSD-2-Clause */
/* `pm`: the events that tell most of sampled instructions on this machine.
 *
 *     pm [mode] [":" ("u" | "k")] [":" period]         mode: nothing, 0, 2 or 3
 *
 * As in DCPI the mode says which counters are taken: pm retdelay and inflight, pm0 inflight and
 * retires, pm2 retires and bcmisses, pm3 inflight and replays, as far as the machine has them.
 * Which events they are is found in sysfs: AMD's IBS, else Intel's precise events. */
#ifndef EVENTS_PM_H
#define EVENTS_PM_H

#include "events/spec.h"

/* Whether TEXT, one event of a list, is one of these. */
bool event_pm_is(const char *text);

/* Appends to SPECS the events that TEXT means here.  -EOPNOTSUPP when there are none, with one line
 * that says what is missing; -EINVAL what was asked for cannot be. */
int event_pm_parse(const struct event_env *env, const char *text, struct event_specs *specs,
		   struct err *err);

#endif
