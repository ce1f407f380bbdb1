/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell cat` of the files of HPCToolkit databases. */
#ifndef CMD_CAT_HPC_H
#define CMD_CAT_HPC_H

#include "cmd/cmd.h"

/* Whether PATH begins as meta.db, profile.db, cct.db or trace.db do. */
bool cat_hpc_is(const char *path);

/* Adds the text of such a file to C's output; a long one is printed as it comes. */
int cat_hpc(struct cmd *c, const char *path);

#endif
