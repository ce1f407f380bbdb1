/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon's socket: who may ask for what, and the answers. */
#ifndef DAEMON_SERVER_H
#define DAEMON_SERVER_H

#include "daemon/service.h"

struct server;

/* Listens in database DB, whose hold is had (so that a socket that is there is a dead one's). */
int server_open(const char *db, struct server **ret, struct err *err);

/* Polls readable when server_serve has something to do. */
int server_fd(const struct server *s);

/* Accepts, reads and answers what there is, without waiting for anybody.  Whoever connects may ask
 * for the status, a flush and a label of itself; epochs and the end are for root and the daemon's
 * own user.  Returns true when it was asked to quit: server_quit answers that one. */
bool server_serve(struct server *s, struct service *v);

/* Tells who asked that the daemon has quit, or why not. */
void server_quit(struct server *s, int rc, const struct err *err);

/* Stops listening and removes the socket. */
void server_close(struct server *s);

#endif
