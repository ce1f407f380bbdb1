/* SPDX-License-Identifier: BSD-2-Clause */
/* The event names every Linux kernel knows: software, hardware and cache events. */
#ifndef EVENTS_NAMES_H
#define EVENTS_NAMES_H

#include "events/spec.h"

struct event_name {
	const char *name;
	const char *synonym; /* NULL: none */
	enum event_kind kind;
	uint64_t config;
	const char *description;
};

/* Finds NAME, canonical or a synonym, exactly as written.  Fills kind, is_clock, unit and attr's
 * type and config of SPEC, and sets *RET_NAME to the canonical name, which the caller frees.
 * Returns -ENOENT when there is no such name. */
int event_names_find(const char *name, struct event_spec *spec, char **ret_name);

/* Calls EACH for every canonical name. */
void event_names_each(void (*each)(const struct event_name *name, void *arg), void *arg);

#endif
