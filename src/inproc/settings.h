/* SPDX-License-Identifier: BSD-2-Clause */
/* What the next sprofil() goes by: the program's settings, else the environment's. */
#ifndef INPROC_SETTINGS_H
#define INPROC_SETTINGS_H

#include <stdbool.h>

#include "inproc/source.h"

enum { SETTINGS_EVENT_BYTES = 128 };

struct settings {
	struct tick_spec spec;
	bool strict;
	char event[SETTINGS_EVENT_BYTES]; /* its name, cut where it is longer */
};

/* Under the drainer's lock.  0; -EINVAL or -ENOENT when the environment makes no sense. */
int settings_get(struct settings *ret);

/* The environment's, for DEFAULT_HZ ticks a second when it does not say.  Errors as above. */
int settings_from_environment(unsigned default_hz, struct settings *ret);

/* A number in the environment, 0 without; -EINVAL for what is none. */
int settings_number(const char *variable, uint64_t *ret);

#endif
