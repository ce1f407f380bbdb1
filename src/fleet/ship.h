/* SPDX-License-Identifier: BSD-2-Clause */
/* Shipping: what a database has and a fleet's server has not.  See ship.c for how each sample is
 * there once whatever dies. */
#ifndef FLEET_SHIP_H
#define FLEET_SHIP_H

#include "fleet/send.h"

struct ship_opts {
	const char *db;	   /* the database; nothing of it is changed */
	const char *state; /* a file that remembers what was shipped; NULL: one of the user's own */
	bool again;	   /* ask the server about all recordings, whatever the file says */
	bool no_names;	   /* places without procedures */
	struct fleet_told *told; /* what earlier passes of this process told; NULL: nothing */
	/* Told what did not go as wanted, a line each. */
	void (*notice)(void *ctx, const char *line);
	void *notice_ctx;
};

struct ship_totals {
	uint64_t n_recordings; /* looked at */
	uint64_t n_known;      /* of these, not asked for: the file says that they are shipped */
	uint64_t n_segments, n_rows, n_samples; /* shipped now */
	uint64_t n_superseded; /* segments that were merged since, and count no more */
	uint64_t n_named;      /* places that were shipped before and got their names now */
	uint64_t n_failed;     /* recordings that were refused; the others went on */
	uint64_t n_set_aside;  /* segments: refused three times, and tried no more */
	uint64_t
		n_overflowed; /* samples of recordings that were removed before they were shipped */
	uint64_t n_left_out;  /* as in struct fleet_batch */
	uint64_t n_bytes;     /* of bodies on the wire */
};

/* Ships once.  What is refused is told and left for the next time.  Errors: the server cannot be
 * reached, refuses the user, has no schema or another one; the database cannot be read; -EBUSY
 * somebody else ships this database. */
int fleet_ship(struct fleet_server *s, const struct ship_opts *o, struct ship_totals *ret,
	       struct err *err);

#endif
