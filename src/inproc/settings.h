/* SPDX-License-Identifier: BSD-2-Clause */
/* What the next sprofil() goes by: the program's settings, else the environment's. */
#ifndef INPROC_SETTINGS_H
#define INPROC_SETTINGS_H

#include <stdbool.h>

#include "inproc/source.h"

struct settings {
	struct tick_spec spec;
	bool strict;
};

/* Under the drainer's lock.  0; -EINVAL or -ENOENT when the environment makes no sense. */
int settings_get(struct settings *ret);

#endif
