/* SPDX-License-Identifier: BSD-2-Clause */
/* See web.h.  libmicrohttpd speaks HTTP, in our thread and only when it is called (its "external"
 * mode, by epoll), so that whoever has something better to do is never kept from it.  There are at
 * most MOST_CLIENTS, each with MEMORY bytes and PATIENCE_NS for one request and its answer: the
 * library's own time-out begins anew with each byte, so it is not enough. */
#include "web/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "web/listen.h"
#include "web/mhd.h"

#define MOST_CLIENTS 16
#define MEMORY	     ((size_t)16384)
#define PATIENCE_S   10u
#define PATIENCE_NS  (PATIENCE_S * 1000000000ull)
#define MOST_ROUNDS  16		   /* of the library's at a time */
#define FRESH_NS     1000000000ull /* as long as this a page is shown again, whoever asks */

struct client {
	struct MHD_Connection *connection; /* NULL: free */
	int fd;
	uint64_t since_ns;
};

struct web {
	web_page_fn *page;
	void *ctx;
	struct MHD_Daemon *mhd;
	int fd;		  /* the library's epoll */
	uint64_t now_ns;  /* as told */
	struct str text;  /* the page, */
	uint64_t text_ns; /* as it was then */
	struct client clients[MOST_CLIENTS];
	struct mhd lib;
};

/* --- answers --- */

static enum MHD_Result say(struct web *w, struct MHD_Connection *c, unsigned status,
			   const char *type, const char *text)
{
	struct MHD_Response *r = w->lib.create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	w->lib.add_response_header(r, "Content-Type", type);
	w->lib.add_response_header(r, "Connection", "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		w->lib.add_response_header(r, "Allow", "GET, HEAD");
	rc = w->lib.queue_response(c, status, r);
	w->lib.destroy_response(r);
	return rc;
}

static const struct str *fresh_page(struct web *w)
{
	if (!w->text.n || w->now_ns - w->text_ns > FRESH_NS) {
		str_reset(&w->text);
		w->page(w->ctx, &w->text);
		w->text_ns = w->now_ns;
	}
	return &w->text;
}

/* Called for a request's head, before what it uploads. */
static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_n, void **request)
{
	bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	static const char plain[] = "text/plain; charset=utf-8";
	struct web *w = ctx;

	if (strcmp(url, "/metrics") != 0)
		return say(w, c, MHD_HTTP_NOT_FOUND, plain, "only /metrics is here\n");
	if (!reads)
		return say(w, c, MHD_HTTP_METHOD_NOT_ALLOWED, plain, "only GET and HEAD\n");
	return say(w, c, MHD_HTTP_OK, "application/openmetrics-text; version=1.0.0; charset=utf-8",
		   str_get(fresh_page(w)));
}

/* --- clients --- */

static void note_client(void *ctx, struct MHD_Connection *c, void **of_socket,
			enum MHD_ConnectionNotificationCode what)
{
	bool begins = what == MHD_CONNECTION_NOTIFY_STARTED;
	struct web *w = ctx;

	for (int i = 0; i < MOST_CLIENTS; i++) {
		struct client *x = &w->clients[i];
		const union MHD_ConnectionInfo *info;

		if (x->connection != (begins ? NULL : c))
			continue;
		*x = (struct client){.fd = -1};
		info = begins ? w->lib.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
			      : NULL;
		if (info)
			*x = (struct client){c, info->connect_fd, w->now_ns};
		return;
	}
}

/* --- the library --- */

static int start(struct web *w, int *listener, struct err *err)
{
	const union MHD_DaemonInfo *info;

	w->mhd = w->lib.start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer, w, MHD_OPTION_LISTEN_SOCKET, *listener,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CLIENTS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
		PATIENCE_S, MHD_OPTION_NOTIFY_CONNECTION, note_client, w, MHD_OPTION_END);
	if (!w->mhd)
		return err_set(err, -EIO, MHD_LIBRARY " cannot serve HTTP");
	*listener = -1; /* it is the library's now */
	info = w->lib.get_daemon_info(w->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	w->fd = info ? info->epoll_fd : -1;
	return w->fd < 0 ? err_set(err, -EIO, MHD_LIBRARY " cannot serve HTTP by epoll") : 0;
}

int web_open(const char *where, web_page_fn *page, void *ctx, struct web **ret, struct err *err)
{
	_fd_ int listener = listen_at(where, MOST_CLIENTS, err);
	struct web *w;
	int rc;

	if (listener < 0)
		return listener;
	w = xcalloc(1, sizeof(*w));
	w->page = page;
	w->ctx = ctx;
	rc = mhd_load(&w->lib, err);
	if (rc >= 0)
		rc = start(w, &listener, err);
	if (rc < 0) {
		web_close(w);
		return rc;
	}
	*ret = w;
	return 0;
}

int web_fd(const struct web *w)
{
	return w->fd;
}

void web_serve(struct web *w, uint64_t now_ns)
{
	unsigned long long wait_ms;

	w->now_ns = now_ns;
	/* Shut, a connection looks like one whose client has gone: the library drops it. */
	for (int i = 0; i < MOST_CLIENTS; i++)
		if (w->clients[i].connection && now_ns - w->clients[i].since_ns > PATIENCE_NS)
			shutdown(w->clients[i].fd, SHUT_RDWR);
	for (int i = 0; i < MOST_ROUNDS; i++) {
		w->lib.run(w->mhd);
		if (w->lib.get_timeout(w->mhd, &wait_ms) != MHD_YES || wait_ms)
			return;
	}
}

void web_close(struct web *w)
{
	if (!w)
		return;
	if (w->mhd)
		w->lib.stop_daemon(w->mhd);
	str_release(&w->text);
	free(w);
}
