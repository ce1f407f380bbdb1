/* SPDX-License-Identifier: BSD-2-Clause */
/* One daemon a host on a database: whoever holds the lock of DB/daemon.HOST. */
#ifndef DAEMON_HOLD_H
#define DAEMON_HOLD_H

#include "base/err.h"

/* Makes the database DB when it is not there, as store_make does with GROUP, and takes the lock,
 * writing into the file who has it.  Returns the descriptor that holds it, until it is closed or
 * the process ends; -EBUSY names the holder. */
int hold_database(const char *db, const char *group, struct err *err);

/* Whether somebody holds it; -ENOENT when nobody does. */
int hold_check(const char *db, struct err *err);

/* The path of the daemon's socket in DB, to be freed; db_fd is an open descriptor of DB by which it
 * can be reached, since the path of a socket is at most 107 bytes long (unix(7)). */
char *hold_socket_path(int db_fd);

#endif
