/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rest of the library asks of sprofil(2). */
#ifndef INPROC_SPROFIL_H
#define INPROC_SPROFIL_H

#include "inproc/settings.h"

/* Under the drainer's lock: all ticks so far are in the buffers.  Gives what the profile goes, or
 * went, by; its period is 0 when there never was one. */
struct settings sprofil_up_to_date(void);

#endif
