/* SPDX-License-Identifier: BSD-2-Clause */
/* See pages.h.  libmicrohttpd speaks HTTP in this thread, by epoll.  A question's connection is
 * suspended until its answer is here as a whole: then its length and status are known, and no client
 * that reads slowly holds up a child. */
#include "web/pages.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "web/answers.h"
#include "web/mhd.h"
#include "web/peer.h"

#define MOST_CLIENTS   200u
#define MOST_QUESTIONS 32 /* that wait for answers; further ones are told to come again */
#define MEMORY	       ((size_t)24576)
#define PATIENCE_S     30u
#define MOST_MESSAGE   ((size_t)4096)

struct page_question {
	struct MHD_Connection *connection; /* NULL: free */
	uint32_t number;
	int out, err; /* what the child writes; -1 at its end */
	struct str answer, message;
	bool has_status, too_long, is_json;
	uint32_t status;
};

struct pages {
	const struct pages_opts *opts;
	struct mhd lib;
	struct MHD_Daemon *mhd;
	int ask;
	uint32_t n_asked;
	size_t n_bytes; /* of all answers that wait */
	struct page_question questions[MOST_QUESTIONS];
};

/* --- answers --- */

static const char plain[] = "text/plain; charset=utf-8", json_type[] = "application/json";

static enum MHD_Result pages_say(struct pages *p, struct MHD_Connection *c, unsigned status,
				 const char *type, const char *v, size_t n)
{
	static const char *const headers[][2] = {
		{"Content-Security-Policy",
		 "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
		 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};
	struct MHD_Response *r =
		p->lib.create_response_from_buffer(n, (void *)(uintptr_t)v, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	p->lib.add_response_header(r, "Content-Type", type);
	for (size_t i = 0; i < n_elems(headers); i++)
		p->lib.add_response_header(r, headers[i][0], headers[i][1]);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		p->lib.add_response_header(r, "Allow", "GET, HEAD");
	rc = p->lib.queue_response(c, status, r);
	p->lib.destroy_response(r);
	return rc;
}

static enum MHD_Result pages_refuse(struct pages *p, struct MHD_Connection *c, unsigned status,
				    const char *text)
{
	return pages_say(p, c, status, plain, text, strlen(text));
}

static enum MHD_Result say_error(struct pages *p, struct MHD_Connection *c, unsigned status,
				 const char *message)
{
	struct str text = {0};
	struct json j = json_init(&text, 0);
	enum MHD_Result rc;

	json_begin(&j, '{');
	json_key(&j, "error");
	json_str(&j, message);
	json_end(&j, '}');
	rc = pages_say(p, c, status, json_type, text.v, text.n);
	str_release(&text);
	return rc;
}

static void free_question(struct pages *p, struct page_question *q)
{
	if (q->out >= 0)
		close(q->out);
	if (q->err >= 0)
		close(q->err);
	p->n_bytes -= q->answer.n;
	str_release(&q->answer);
	str_release(&q->message);
	*q = (struct page_question){.out = -1, .err = -1};
}

static enum MHD_Result give_answer(struct pages *p, struct page_question *q,
				   struct MHD_Connection *c)
{
	const char *type = q->is_json ? json_type : "application/octet-stream";
	enum MHD_Result rc;

	if (q->too_long)
		rc = say_error(p, c, MHD_HTTP_INTERNAL_SERVER_ERROR,
			       "the answer is too long; choose fewer samples or rows");
	else if (q->status == 0)
		rc = pages_say(p, c, MHD_HTTP_OK, type, q->answer.v ? q->answer.v : "",
			       q->answer.n);
	else if (q->status > 2)
		rc = say_error(p, c, MHD_HTTP_INTERNAL_SERVER_ERROR,
			       "the answer took more time or memory than it may have");
	else
		rc = say_error(p, c, q->status == 1 ? MHD_HTTP_NOT_FOUND : MHD_HTTP_BAD_REQUEST,
			       q->message.n ? str_get(&q->message) : "nothing found");
	free_question(p, q);
	return rc;
}

/* --- who may ask --- */

static bool same_text(const char *a, const char *b)
{
	unsigned char differ = strlen(a) != strlen(b);

	for (size_t i = 0; !differ && b[i]; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return !differ;
}

/* Whether HOST, "NAME[:PORT]", is this server. */
static bool is_own_host(const struct pages *p, const char *host)
{
	const char *names[] = {p->opts->host, "localhost", "127.0.0.1", "[::1]"};
	char own[96];

	if (!p->opts->host) /* a unix socket's client may say anything that no site is called */
		return host && (strcmp(host, "localhost") == 0 || str_starts(host, "localhost:"));
	for (size_t i = 0; host && i < n_elems(names); i++) {
		snprintf(own, sizeof(own), "%s:%u", names[i], p->opts->port);
		if (strcasecmp(host, own) == 0 ||
		    (p->opts->port == 80 && strcasecmp(host, names[i]) == 0))
			return true;
	}
	return false;
}

static bool is_own_origin(const struct pages *p, const char *origin)
{
	return !origin || (str_starts(origin, "http://") && is_own_host(p, origin + 7));
}

static bool is_loopback(const struct sockaddr *a)
{
	static const struct in6_addr one = IN6ADDR_LOOPBACK_INIT;

	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >>
			       24 ==
		       127;
	return a->sa_family == AF_INET6 &&
	       memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, &one,
		      sizeof(one)) == 0;
}

static bool may_ask(struct pages *p, struct MHD_Connection *c)
{
	const char *token = p->lib.lookup_connection_value(c, MHD_HEADER_KIND, "X-Dwell-Token");
	const union MHD_ConnectionInfo *client, *fd;
	uint32_t uid;

	if (token)
		return same_text(token, p->opts->token);
	if (!p->opts->host)
		return true;
	client = p->lib.get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	fd = p->lib.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (!client || !is_loopback(client->client_addr) || !fd || !peer_uid(fd->connect_fd, &uid))
		return false;
	for (unsigned i = 0; i < p->opts->n_uids; i++)
		if (p->opts->uids[i] == uid)
			return true;
	return false;
}

/* --- questions --- */

struct words {
	char bytes[ANSWERS_MAX_BYTES];
	size_t n;
	unsigned n_words;
	bool too_many;
};

static void add_word(struct words *w, const char *a, const char *b, const char *c)
{
	size_t na = strlen(a), nb = strlen(b), nc = strlen(c);

	if (w->n_words == ANSWERS_MAX_WORDS || na + nb + nc + 1 > sizeof(w->bytes) - w->n) {
		w->too_many = true;
		return;
	}
	memcpy(w->bytes + w->n, a, na);
	memcpy(w->bytes + w->n + na, b, nb);
	memcpy(w->bytes + w->n + na + nb, c, nc + 1);
	w->n += na + nb + nc + 1;
	w->n_words++;
}

static enum MHD_Result take_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
				     const char *value)
{
	(void)kind;
	add_word(ctx, key, "=", value ? value : "");
	return MHD_YES;
}

static int send_question(struct pages *p, struct page_question *q, const struct words *w)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {.room = {0}};
	struct iovec io[2] = {{&q->number, 4}, {(void *)(uintptr_t)w->bytes, w->n}};
	struct msghdr m = {.msg_iov = io,
			   .msg_iovlen = 2,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	int out[2] = {-1, -1}, err[2] = {-1, -1}, rc = 0;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		rc = -errno;
	control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					.cmsg_type = SCM_RIGHTS,
					.cmsg_len = CMSG_LEN(2 * sizeof(int))};
	memcpy(CMSG_DATA(&control.head), (int[]){out[1], err[1]}, 2 * sizeof(int));
	if (rc >= 0 && sendmsg(p->ask, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		rc = -errno;
	for (unsigned i = 0; i < 2; i++) {
		if (i == 1 || rc < 0) {
			if (out[i] >= 0)
				close(out[i]);
			if (err[i] >= 0)
				close(err[i]);
		}
	}
	if (rc < 0)
		return rc;
	q->out = out[0];
	q->err = err[0];
	fcntl(q->out, F_SETFL, O_NONBLOCK);
	fcntl(q->err, F_SETFL, O_NONBLOCK);
	return 0;
}

static enum MHD_Result question_ask(struct pages *p, struct MHD_Connection *c, const char *name,
				    void **request)
{
	struct page_question *q = NULL;
	struct words w = {.n = 0};

	for (unsigned i = 0; i < MOST_QUESTIONS && !q; i++)
		if (!p->questions[i].connection)
			q = &p->questions[i];
	if (!q)
		return say_error(p, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "too many questions at once; ask again");
	add_word(&w, name, "", "");
	p->lib.get_connection_values(c, MHD_GET_ARGUMENT_KIND, take_argument, &w);
	if (w.too_many)
		return say_error(p, c, MHD_HTTP_URI_TOO_LONG, "the question is too long");
	q->number = ++p->n_asked;
	q->is_json = !str_starts(name, "flame") && strcmp(name, "trace") != 0;
	if (send_question(p, q, &w) < 0)
		return say_error(p, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "too many questions at once; ask again");
	q->connection = c;
	*request = q;
	p->lib.suspend_connection(c);
	return MHD_YES;
}

/* Called for a request's head, and again when it has been resumed. */
static enum MHD_Result pages_answer(void *ctx, struct MHD_Connection *c, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_n, void **request)
{
	bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	struct pages *p = ctx;
	const char *value;

	(void)version, (void)upload, (void)upload_n;
	if (*request) {
		struct page_question *q = *request;

		*request = NULL;
		return give_answer(p, q, c);
	}
	value = p->lib.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	if (!is_own_host(p, value))
		return pages_refuse(p, c, MHD_HTTP_FORBIDDEN,
				    "this server has another name; use the address it printed\n");
	value = p->lib.lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
	if (!is_own_origin(p, value))
		return pages_refuse(p, c, MHD_HTTP_FORBIDDEN, "other sites may not ask here\n");
	if (!reads)
		return pages_refuse(p, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	for (const struct page_file *f = p->opts->files; f->path; f++)
		if (strcmp(url, f->path) == 0)
			return pages_say(p, c, MHD_HTTP_OK, f->type, f->text, strlen(f->text));
	if (!str_starts(url, "/api/"))
		return pages_refuse(p, c, MHD_HTTP_NOT_FOUND, "nothing is here\n");
	if (!may_ask(p, c))
		return say_error(p, c, MHD_HTTP_UNAUTHORIZED,
				 "open the whole address that dwell web printed, with its token");
	return question_ask(p, c, url + 5, request);
}

/* A client that left while its question was answered. */
static void pages_done(void *ctx, struct MHD_Connection *c, void **request,
		       enum MHD_RequestTerminationCode why)
{
	(void)c, (void)why;
	if (*request)
		free_question(ctx, *request);
	*request = NULL;
}

/* --- the loop --- */

/* Reads what *FD has into TO, of which MOST bytes are kept.  Returns how many; closes *FD at its end.
 * *RET_TOO_LONG: there were more. */
static size_t read_pipe(int *fd, struct str *to, size_t most, bool *ret_too_long)
{
	static char bytes[1 << 16];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && to->n + (size_t)n <= most) {
		str_addn(to, bytes, (size_t)n);
		return (size_t)n;
	}
	*ret_too_long = n > 0;
	close(*fd); /* a child that goes on writing is told so (EPIPE) */
	*fd = -1;
	return 0;
}

static void read_answer(struct pages *p, struct page_question *q)
{
	const size_t all = 2 * p->opts->most_bytes;
	const size_t left = all > p->n_bytes ? all - p->n_bytes : 0;
	const size_t most = q->answer.n + left;

	p->n_bytes +=
		read_pipe(&q->out, &q->answer,
			  most < p->opts->most_bytes ? most : p->opts->most_bytes, &q->too_long);
}

/* Takes the exit status of a child.  False: the other process is gone. */
static bool take_status(struct pages *p)
{
	uint32_t reply[2];
	ssize_t n = recv(p->ask, reply, sizeof(reply), MSG_DONTWAIT);

	if (n == 0)
		return false;
	for (unsigned i = 0; n == sizeof(reply) && i < MOST_QUESTIONS; i++)
		if (p->questions[i].connection && p->questions[i].number == reply[0]) {
			p->questions[i].has_status = true;
			p->questions[i].status = reply[1];
		}
	return true;
}

static bool pages_step(struct pages *p, int epoll_fd)
{
	struct pollfd f[2 + 2 * MOST_QUESTIONS] = {{.fd = epoll_fd, .events = POLLIN},
						   {.fd = p->ask, .events = POLLIN}};
	unsigned long long wait_ms;
	int timeout = 1000;
	bool lives = true, cut; /* a message that is cut is one all the same */

	for (unsigned i = 0; i < MOST_QUESTIONS; i++) {
		f[2 + 2 * i] = (struct pollfd){.fd = p->questions[i].out, .events = POLLIN};
		f[3 + 2 * i] = (struct pollfd){.fd = p->questions[i].err, .events = POLLIN};
	}
	if (p->lib.get_timeout(p->mhd, &wait_ms) == MHD_YES && wait_ms < 1000)
		timeout = (int)wait_ms;
	if (poll(f, n_elems(f), timeout) > 0) {
		if (f[1].revents)
			lives = take_status(p);
		for (unsigned i = 0; i < MOST_QUESTIONS; i++) {
			struct page_question *q = &p->questions[i];

			if (f[2 + 2 * i].revents)
				read_answer(p, q);
			if (f[3 + 2 * i].revents)
				read_pipe(&q->err, &q->message, MOST_MESSAGE, &cut);
			if (q->connection && q->has_status && q->out < 0 && q->err < 0) {
				q->has_status = false; /* resumed once */
				p->lib.resume_connection(q->connection);
			}
		}
	}
	p->lib.run(p->mhd);
	return lives;
}

int pages_serve(int listener, int ask_fd, const struct pages_opts *opts, const volatile int *stop,
		struct err *err)
{
	struct pages *p = xcalloc(1, sizeof(*p));
	const union MHD_DaemonInfo *info;
	int rc = mhd_load(&p->lib, err);

	p->opts = opts;
	p->ask = ask_fd;
	for (unsigned i = 0; i < MOST_QUESTIONS; i++)
		p->questions[i] = (struct page_question){.out = -1, .err = -1};
	if (rc >= 0) {
		p->mhd = p->lib.start_daemon(
			MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, pages_answer, p,
			MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
			MOST_CLIENTS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY,
			MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE_S, MHD_OPTION_NOTIFY_COMPLETED,
			pages_done, p, MHD_OPTION_END);
		if (!p->mhd)
			rc = err_set(err, -EIO, MHD_LIBRARY " cannot serve HTTP");
	}
	info = p->mhd ? p->lib.get_daemon_info(p->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	while (info && !*stop && pages_step(p, info->epoll_fd))
		;
	for (unsigned i = 0; i < MOST_QUESTIONS; i++)
		if (p->questions[i].connection)
			p->lib.resume_connection(p->questions[i].connection);
	if (p->mhd)
		p->lib.stop_daemon(p->mhd);
	free(p);
	return rc < 0 ? rc : 0;
}
