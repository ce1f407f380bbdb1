/* SPDX-License-Identifier: BSD-2-Clause */
/* The recordings of a database, one after the other, for who sends them elsewhere. */
#ifndef FLEET_WALK_H
#define FLEET_WALK_H

#include "base/err.h"

/* Looks at the recording of HOST in EPOCH, whose directory is DIRFD.  An error ends the walk. */
typedef int walk_fn(void *ctx, int dirfd, const char *epoch, const char *host, struct err *err);

/* Calls FN for each recording of the database DB, oldest epoch first; nothing of it is changed.
 * -EBUSY: somebody else walks it for the same end. */
int walk_recordings(const char *db, walk_fn *fn, void *ctx, struct err *err);

#endif
