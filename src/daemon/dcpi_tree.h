/* SPDX-License-Identifier: BSD-2-Clause */
/* A DCPI profile tree beside the database, for those who read that. */
#ifndef DAEMON_DCPI_TREE_H
#define DAEMON_DCPI_TREE_H

#include "base/err.h"

/* Makes DIR and notes in it that DB's daemon writes there: fails when that cannot be written. */
int dcpi_tree_open(const char *db, const char *dir, struct err *err);

/* Writes all of EPOCH of HOST (NULL: all hosts) of database DB into the tree in DIR, in place of
 * what was written of it before.  Reads the epoch back: costs its memory for a moment. */
int dcpi_tree_update(const char *db, const char *epoch, const char *host, const char *dir,
		     struct err *err);

#endif
