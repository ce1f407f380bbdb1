/* SPDX-License-Identifier: BSD-2-Clause */
/* Retention: old recordings are removed, so that a database does not grow for ever. */
#ifndef STORE_GC_H
#define STORE_GC_H

#include <stdatomic.h>

#include "store/store.h"

/* What is kept unless told otherwise. */
#define GC_MAX_AGE_NS (90ull * 86400 * 1000000000)
#define GC_MAX_BYTES  (10ull << 30)
#define GC_KEEP	      24

struct gc_opts {
	/* The recordings of one job (job.h) are kept or removed together; a recording of none is
	 * one by itself.  A job that is longer than max_age_ns is taken apart, and a shell's that
	 * is larger than max_bytes: its recordings go one by one.  Jobs whose samples end longer
	 * ago are removed; 0: any age. */
	uint64_t max_age_ns;
	uint64_t max_bytes; /* the oldest are removed until all take no more; 0: any size */
	unsigned keep;	  /* so many of each host's newest are never removed; at least 1 is kept */
	const char *host; /* only this host's recordings are removed; NULL: all */
	double prune;	  /* as store_set_prune, for segments that are merged */
	uint64_t now_wall_ns; /* 0: the clock */
	bool images;	      /* also symbols of images no recording left has samples of */
	bool dry_run;	      /* say what would be removed */
	/* Nothing is removed and no lock of the database taken: segments are merged as they age. */
	bool age_only;
	const atomic_bool *stop; /* set by another thread: nothing more is removed; or NULL */
};

enum gc_why {
	GC_AGE,
	GC_SIZE,
	GC_IN_USE, /* would be removed, but is being read or written to */
	GC_FAILED, /* could not be removed; see `error` */
	GC_UNUSED, /* an image's symbols */
};

struct gc_item {
	const char *epoch, *host; /* of a recording */
	const char *image;	  /* a build-id, instead */
	uint64_t n_bytes;
	enum gc_why why;
	const char *error; /* NULL, but with GC_FAILED */
};

struct gc_totals {
	uint64_t n_removed, n_bytes_removed; /* with dry_run: that would be */
	uint64_t n_left, n_bytes_left;	     /* recordings, and what they take */
	uint64_t n_in_use, n_failed;
	uint64_t n_aged; /* recordings whose segments were merged because they are old */
};

/* Removes what O says from database DB, oldest first, telling ITEM (NULL: nobody) of each.  Never a
 * recording that is being written, nor one that a reader has open: the next run removes it.  A
 * reader that comes later does not find it; one that is killed meanwhile leaves it whole or gone.
 * The daemon calls this once a day (daemon/retention.h).  Returns 0 also when some could not be
 * removed (n_failed), else the errors of store_create. */
int store_gc(const char *db, const struct gc_opts *o,
	     void (*item)(void *ctx, const struct gc_item *i), void *ctx, struct gc_totals *ret,
	     struct err *err);

#endif
