/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell cat` of the files of HPCToolkit databases. */
#ifndef CMD_CAT_STRUCTURES_H
#define CMD_CAT_STRUCTURES_H

#include "cmd/cmd.h"

/* Whether PATH begins as meta.db, profile.db, cct.db or trace.db do. */
bool cat_has_structures(const char *path);

/* Adds the text of such a file to C's output; a long one is printed as it comes. */
int cat_structures(struct cmd *c, const char *path);

#endif
