/* SPDX-License-Identifier: BSD-2-Clause */
/* From histogram files to DCPI profile files: at the end of the process, or by `dwell` later, when
 * the process had no chance to. */
#ifndef INPROC_FINISH_H
#define INPROC_FINISH_H

#include "inproc/shared_read.h"

/* Writes what V holds into the tree DIR.  The files are the same however often that is done.
 * Nothing is written of a process without ticks.  0 or -errno. */
int finish_write(const struct shared_view *v, const char *dir);

#endif
