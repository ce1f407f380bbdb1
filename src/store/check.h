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
 * problem.  With REPAIR recordings that nobody writes are made sound: what is whole of their
 * segments and journal is kept, sums are made anew from it, and what is not is set aside under its
 * name with
 * ".damaged" behind it.  Returns how many problems there were, or the errors of db_open. */
int store_check(const char *db, bool repair,
		void (*report)(void *ctx, const struct store_problem *p), void *ctx,
		struct err *err);

#endif
