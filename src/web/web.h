/* SPDX-License-Identifier: BSD-2-Clause */
/* One page of text, /metrics, over HTTP: for those who collect figures of many machines. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct web;

/* Appends the page, OpenMetrics text, to OUT; CTX is the caller's.  Asked at most once a second. */
typedef void web_page_fn(void *ctx, struct str *out);

/* Listens at WHERE (listen.h); -EADDRINUSE and others say where.  Needs libmicrohttpd, which is
 * opened here: -ENOTSUP without it.  CTX is to live as long as the web. */
int web_open(const char *where, web_page_fn *page, void *ctx, struct web **ret, struct err *err);

/* Polls readable when web_serve has something to do. */
int web_fd(const struct web *w);

/* Accepts, reads and answers what there is, without waiting for anybody; to be called at least once
 * a second, with the monotonic clock's time.  A client has ten seconds for all it wants. */
void web_serve(struct web *w, uint64_t now_ns);

/* Stops listening and drops who is there.  NULL is allowed. */
void web_close(struct web *w);

#endif
