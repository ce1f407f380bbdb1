/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the small files at the top of a database: notes of hosts, and who holds it. */
#ifndef STORE_CHECK_NOTES_H
#define STORE_CHECK_NOTES_H

#include <stdbool.h>

/* Tells REPORT of each damaged file of the database DB_FD.  With REPAIR a damaged note is made anew
 * and a damaged daemon.HOST that nobody holds is removed; the caller holds the database's lock. */
void check_notes(int db_fd, int epochs_fd, bool repair,
		 void (*report)(void *ctx, const char *file, const char *done, const char *text),
		 void *ctx);

#endif
