/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a database that has only some recordings of another one. */
#ifndef STORE_BUNDLE_H
#define STORE_BUNDLE_H

#include "store/store.h"

/* Takes file PATH (below the database) of N bytes; 0 or a negative errno, which ends the bundle. */
typedef int store_put_fn(void *ctx, const char *path, const void *bytes, size_t n, struct err *err);

/* Hands PUT all files but symbols of a database with those recordings of DB that SEL means, each as
 * it is at one moment.  Returns how many recordings; -ENOENT for none. */
int store_bundle(const char *db, const struct store_selection *sel, store_put_fn *put, void *ctx,
		 struct err *err);

#endif
