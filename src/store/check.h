/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether all of a database is what it should be, and making it so again. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "store/store.h"

struct store_problem {
	const char *file; /* path below the database */
	const char *text; /* what is wrong */
	const char *done; /* with REPAIR: what was done about it; NULL: nothing could be */
};

/* Reads every file of database DB but the symbols, with all checksums, and tells REPORT of each
 * problem.  With REPAIR recordings that nobody writes are made sound: each segment, each block of a
 * damaged segment and each record of a journal counts whose own checksum proves it whole, unless
 * something that counts may hold the same samples; sums are made anew from that; what is left is
 * moved to the recording's directory "lost".  Returns how many problems there were, or the errors
 * of db_open. */
int store_check(const char *db, bool repair,
		void (*report)(void *ctx, const struct store_problem *p), void *ctx,
		struct err *err);

#endif
