/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rest of the library asks of sprofil(2). */
#ifndef INPROC_SPROFIL_H
#define INPROC_SPROFIL_H

#include "inproc/settings.h"

/* Under the drainer's lock: brings all ticks so far into the buffers.  Returns the settings of the
 * last profile; the period is 0 when there never was one. */
struct settings sprofil_up_to_date(void);

/* Under the drainer's lock: ticks without a place, of all profiles so far. */
uint64_t sprofil_unplaced(void);

#endif
