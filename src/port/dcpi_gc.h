/* SPDX-License-Identifier: BSD-2-Clause */
/* Retention in a DCPI tree, as store/gc.h does it in a database: old EPOCH/HOST directories go. */
#ifndef PORT_DCPI_GC_H
#define PORT_DCPI_GC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct dcpi_gc_opts {
	uint64_t max_age_ns; /* recordings that ended longer ago are removed; 0: any age */
	uint64_t max_bytes;  /* the oldest are removed until all take no more; 0: any size */
	unsigned keep;	     /* so many of each host's newest are never removed; at least 1 */
	const char *host;    /* only this host's; NULL: all */
	uint64_t now_ns;     /* since 1970 */
	bool dry_run;	     /* say what would be removed */
};

struct dcpi_gc_item {
	const char *epoch, *host;
	uint64_t n_bytes;
	bool is_old;	   /* else there is too much */
	const char *error; /* why it could not be removed; NULL: it was */
};

struct dcpi_gc_totals {
	uint64_t n_removed, n_bytes_removed, n_left, n_bytes_left, n_failed;
};

/* Removes what O says from the tree in DIR, oldest first, telling ITEM of each.  A recording ends
 * when its files say (dwell-time), else when the last of them was written.  Only files of a
 * recording's own directory are removed, and directories that are empty then. */
int dcpi_gc(const char *dir, const struct dcpi_gc_opts *o,
	    void (*item)(void *ctx, const struct dcpi_gc_item *i), void *ctx,
	    struct dcpi_gc_totals *ret, struct err *err);

#endif
