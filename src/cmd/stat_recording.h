/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording counted, as `dwell stat` shows counts: of all, and by process. */
#ifndef CMD_STAT_RECORDING_H
#define CMD_STAT_RECORDING_H

#include "cmd/cmd.h"

/* Shows what PATH, a recording, says of how often its events happened. */
int stat_recording(struct cmd *c, const char *path);

#endif
