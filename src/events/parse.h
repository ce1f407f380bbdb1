/* SPDX-License-Identifier: BSD-2-Clause */
/* What people write behind -e.
 *
 *     list      = item { ("+" | ",") item }
 *     item      = event | "{" event { ("+" | ",") event } "}" [":" modifiers]
 *     event     = name [":" modifiers] [":" period]
 *               | pmu "/" terms "/" [[":"] modifiers] [":" period]
 *     name      = a software, hardware or cache event of the kernel | "r" hex digits
 *               | "pm", "pm0", "pm2", "pm3": what tells most of sampled instructions (pm.h)
 *               | an event of a PMU in sysfs | group ":" tracepoint | anything libpfm4 knows
 *     modifiers = letters of: u k h (user, kernel, hypervisor only), p pp ppp (precise),
 *                 G H (guest, host only)
 *     period    = decimal
 *
 * Separators inside "/.../" belong to the terms.  What is in braces is a group (group.h), and the
 * modifiers behind it are of each of its events. */
#ifndef EVENTS_PARSE_H
#define EVENTS_PARSE_H

#include "events/spec.h"

/* Parses TEXT, a list, and appends its events to SPECS, which the caller releases; on failure SPECS
 * is as before.  One event may become several (see split.h).  Each must work on this machine
 * (see check.h).  Errors, one line each that names the event, its place and where possible
 * the nearest that exists: -EINVAL malformed, -ENOENT unknown, -EOPNOTSUPP known but not supported
 * here, -EACCES tracefs closed to this user. */
int event_list_parse(const struct event_env *env, const char *text, struct event_specs *specs,
		     struct err *err);

/* Parses TEXT as one event into RET (event_spec_release it), untouched on failure. */
int event_parse(const struct event_env *env, const char *text, struct event_spec *ret,
		struct err *err);

/* Makes SPEC, which counts user code and more, count user code alone.  Its name says so: "cycles"
 * becomes "cycles:u", "cycles:kup" "cycles:pu", "cpu/event=0x3c/" "cpu/event=0x3c/u". */
void event_spec_user_only(struct event_spec *spec);

#endif
