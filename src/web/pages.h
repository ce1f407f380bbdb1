/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages and their questions over HTTP, in a process without rights.
 *
 * GET of a page's path gives the page.  GET of /api/NAME?KEY=VALUE&... asks the process that may
 * read (answers.h): its words are NAME, then each KEY=VALUE.  An exit status of 0 is 200, 1
 * (nothing found) 404, others 400; those have {"error": MESSAGE} as their body.  A flame graph is
 * passed on as 200 once its first bytes are there; when it fails behind them the body is cut off.
 *
 * Who may ask: whoever has the token (header X-Dwell-Token); without one, over loopback, a process
 * of a user in `uids`, and over a unix socket who can open it.  Host must be one of this server's
 * names and Origin, where there is one, this server, so that no other site's page can ask by this
 * user's browser.  Nothing but GET and HEAD is answered. */
#ifndef WEB_PAGES_H
#define WEB_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct page_file {
	const char *path, *type, *text;
};

struct pages_opts {
	const struct page_file *files; /* ended by path == NULL */
	const char
		*host; /* the numeric address, in brackets if it has colons; NULL: a unix socket */
	uint16_t port;
	const char *token;    /* hexadecimal */
	const uint32_t *uids; /* who may ask over loopback without the token */
	unsigned n_uids;
	size_t most_bytes; /* of one answer */
};

/* Serves clients of LISTENER, which is closed at the end, and asks through the socket ASK; returns
 * when ASK is closed or *STOP.  No other threads may run. */
int pages_serve(int listener, int ask, const struct pages_opts *opts, const volatile int *stop,
		struct err *err);

#endif
