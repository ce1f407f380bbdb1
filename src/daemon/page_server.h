/* SPDX-License-Identifier: BSD-2-Clause */
/* The page (`dwell web`) of a database that is being recorded: a process of its own, of which this
 * one knows no more than that it runs.
 *
 * Where root records, it is the user that reads files for us (rights_reader) with the group of the
 * database's directory, without capabilities, and the first that the kernel ends when memory is
 * short.  It ends when this process does. */
#ifndef DAEMON_PAGE_SERVER_H
#define DAEMON_PAGE_SERVER_H

#include <sys/types.h>

#include "base/err.h"

struct page_server {
	pid_t pid;
	int said; /* readable when page_server_step has something to tell; -1: it has ended */
};

/* Starts the program `dwell` beside this one, which serves DB at WHERE, while this process has its
 * rights.  -EACCES: that user may not read DB. */
int page_server_start(const char *db, const char *where, struct page_server *ret, struct err *err);

/* Tells SAY the page's address when it is known, and the server's end. */
void page_server_step(struct page_server *s, void (*say)(void *ctx, const char *text), void *ctx);

#endif
