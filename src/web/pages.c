/* SPDX-License-Identifier: BSD-2-Clause */
/* See pages.h.  libmicrohttpd speaks HTTP in this thread, by epoll.  A question's connection is
 * suspended until its answer is here as a whole: then its length and status are known.  A flame
 * graph's answer is passed on as it comes, so that its outline is drawn while the whole is made;
 * one that fails in the middle ends without the last chunk, which every browser tells.  Both are
 * taken from the child as soon as they come: no client that reads slowly holds it up. */
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
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "web/answers.h"
#include "web/mhd.h"
#include "web/peer.h"
#include "web/seats.h"

#define FDS_OF_ALL     3
#define FDS_OF_ONE     3  /* of a question */
#define MOST_QUESTIONS 48 /* that wait for answers; further ones are told to come again */
#define MOST_OF_ONE    32 /* of one user, or one address */
#define MEMORY	       ((size_t)24576)
#define PATIENCE_S     30u
#define MOST_MESSAGE   ((size_t)4096)
#define PASSED_AT_ONCE ((size_t)16384)
#define MOST_ARRIVALS  64 /* connections taken at a time, by one look at the kernel's lists */

struct page_question {
	struct pages *pages;
	struct MHD_Connection *connection; /* NULL: free */
	uint32_t number, who;
	int fd;	      /* the connection's */
	int client;   /* the same while the library does not look at it, else -1 */
	int out, err; /* what the child writes; -1 at its end */
	struct str answer, message;
	size_t n_counted;    /* bytes of the answer that n_bytes has */
	size_t n_given;	     /* bytes of the answer that were passed on */
	bool is_suspended;   /* its connection */
	bool was_told;	     /* its child has ended */
	bool is_whole;	     /* and all it wrote is here */
	bool is_passed_on;   /* before it is whole */
	bool comes_in_parts; /* of which the first is worth showing alone */
	bool too_long, is_json;
	uint32_t status;
};

struct pages {
	const struct pages_opts *opts;
	struct mhd lib;
	struct MHD_Daemon *mhd;
	int ask, listener;
	uint32_t n_asked;
	struct seats seats;
	struct seat *arriving; /* of the connection that the library is given just now */
	size_t n_bytes;	       /* of all answers that wait */
	struct page_question questions[SEATS_ALL]; /* a connection has one at a time */
};

/* --- answers --- */

static const char plain[] = "text/plain; charset=utf-8", json_type[] = "application/json";

/* Answers with R, which is released; NULL: there was no memory. */
static enum MHD_Result pages_respond(struct pages *p, struct MHD_Connection *c, unsigned status,
				     const char *type, struct MHD_Response *r)
{
	static const char *const headers[][2] = {
		{"Content-Security-Policy",
		 "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
		 "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};
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

static enum MHD_Result pages_say(struct pages *p, struct MHD_Connection *c, unsigned status,
				 const char *type, const char *v, size_t n)
{
	return pages_respond(
		p, c, status, type,
		p->lib.create_response_from_buffer(n, (void *)(uintptr_t)v, MHD_RESPMEM_MUST_COPY));
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

/* Lets go of Q.  A child that is at it, or would be, is not to go on. */
static void free_question(struct pages *p, struct page_question *q)
{
	if (!q->was_told)
		(void)!send(p->ask, &q->number, sizeof(q->number), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (q->out >= 0)
		close(q->out);
	if (q->err >= 0)
		close(q->err);
	p->n_bytes -= q->n_counted;
	str_release(&q->answer);
	str_release(&q->message);
	*q = (struct page_question){.pages = p, .client = -1, .out = -1, .err = -1};
}

/* The library's way to more of Q's answer, from byte AT on; 0: there is none yet. */
static ssize_t pass_on(void *ctx, uint64_t at, char *to, size_t room)
{
	struct page_question *q = ctx;
	const size_t left = at < q->answer.n ? q->answer.n - (size_t)at : 0;
	const size_t n = left < room ? left : room;

	if (q->too_long || (!left && q->is_whole && q->status))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (!left && q->is_whole)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!left) {
		q->pages->lib.suspend_connection(q->connection);
		q->client = q->fd;
		q->is_suspended = true;
		return 0;
	}
	memcpy(to, q->answer.v + at, n);
	q->n_given = (size_t)at + n;
	return (ssize_t)n;
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

/* Writes the address at this machine's end of connection C, as it stands in URLs; false: it has
 * none. */
static bool own_address(const struct pages *p, struct MHD_Connection *c, char text[64])
{
	const union MHD_ConnectionInfo *info =
		p->lib.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
	socklen_t n = sizeof(a);
	char address[INET6_ADDRSTRLEN];

	if (!info || getsockname(info->connect_fd, &a.any, &n) < 0)
		return false;
	if (a.any.sa_family == AF_INET)
		snprintf(text, 64, "%s",
			 inet_ntop(AF_INET, &a.v4.sin_addr, address, sizeof(address)));
	else if (a.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a.v6.sin6_addr))
		snprintf(text, 64, "%s",
			 inet_ntop(AF_INET, &a.v6.sin6_addr.s6_addr[12], address, sizeof(address)));
	else if (a.any.sa_family == AF_INET6)
		snprintf(text, 64, "[%s]",
			 inet_ntop(AF_INET6, &a.v6.sin6_addr, address, sizeof(address)));
	else
		return false;
	return true;
}

/* Whether HOST, "NAME[:PORT]", is this server: the address that C came to is, when it listens at
 * all of them.  A site that turns its own name into that address still has another name. */
static bool is_own_host(const struct pages *p, struct MHD_Connection *c, const char *host)
{
	char address[64], own[96];
	const char *names[] = {p->opts->host, "localhost", "127.0.0.1", "[::1]", address};

	if (!p->opts->host) /* a unix socket's client may say anything that no site is called */
		return host && (strcmp(host, "localhost") == 0 || str_starts(host, "localhost:"));
	if (!own_address(p, c, address))
		names[4] = "localhost";
	for (size_t i = 0; host && i < n_elems(names); i++) {
		snprintf(own, sizeof(own), "%s:%u", names[i], p->opts->port);
		if (strcasecmp(host, own) == 0 ||
		    (p->opts->port == 80 && strcasecmp(host, names[i]) == 0))
			return true;
	}
	return false;
}

static bool is_own_origin(const struct pages *p, struct MHD_Connection *c, const char *origin)
{
	return !origin || (str_starts(origin, "http://") && is_own_host(p, c, origin + 7));
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

/* A number of the address of A, whatever its port. */
static uint32_t address_hash(const struct sockaddr *a)
{
	const struct sockaddr_in6 *v6 = (const void *)a;
	uint32_t words[4];

	if (a->sa_family != AF_INET6)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr;
	memcpy(words, &v6->sin6_addr, sizeof(words)); /* a network's 64 bits are one guest's */
	return words[0] * 0x9e3779b1u ^ words[1];
}

/* Whether whoever has the connection FD from PEER may ask without the token; *RET_WHO tells guests
 * apart. */
static bool is_owner(const struct pages *p, struct peer_lists *lists, int fd,
		     const struct sockaddr *peer, uint64_t *ret_who)
{
	uint32_t uid = UINT32_MAX;

	*ret_who = 0;
	if (!p->opts->host) /* who can open the socket's path */
		return true;
	if (!is_loopback(peer) || !peer_uid(lists, fd, &uid)) {
		*ret_who = UINT64_C(1) << 63 | address_hash(peer);
		return false;
	}
	*ret_who = uid;
	for (unsigned i = 0; i < p->opts->n_uids; i++)
		if (p->opts->uids[i] == uid)
			return true;
	return false;
}

/* The seat of C; NULL: it has none any more. */
static const struct seat *seat_of(const struct pages *p, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		p->lib.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static bool may_ask(struct pages *p, struct MHD_Connection *c)
{
	const char *token = p->lib.lookup_connection_value(c, MHD_HEADER_KIND, "X-Dwell-Token");
	const struct seat *seat = seat_of(p, c);

	return token ? same_text(token, p->opts->token) : seat && seat->is_owner;
}

/* --- arrivals --- */

/* Called when the library has taken a connection, and when it has closed it. */
static void note_connection(void *ctx, struct MHD_Connection *c, void **of_socket,
			    enum MHD_ConnectionNotificationCode what)
{
	struct pages *p = ctx;

	(void)c;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*of_socket = p->arriving;
		p->arriving = NULL;
	} else if (*of_socket) {
		((struct seat *)*of_socket)->taken = false;
		*of_socket = NULL;
	}
}

/* Tells the owner, all of whose seats are taken, and lets go of FD.  What the other end has sent is
 * read first: the kernel throws the answer away where something unread is left. */
static void turn_away(int fd, bool says)
{
	static const char text[] = "HTTP/1.1 503 Service Unavailable\r\n"
				   "Content-Type: text/plain; charset=utf-8\r\n"
				   "Connection: close\r\nContent-Length: 46\r\n\r\n"
				   "too many connections; close some and try again";
	char sent[4096];

	if (says) {
		(void)!recv(fd, sent, sizeof(sent), MSG_DONTWAIT);
		(void)!send(fd, text, sizeof(text) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	close(fd);
}

/* Takes connections that wait at the listener: the library gets those that have a seat. */
static void take_arrivals(struct pages *p)
{
	struct peer_lists lists = {0};

	for (unsigned i = 0; i < MOST_ARRIVALS; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t n = sizeof(peer);
		int fd = accept4(p->listener, (struct sockaddr *)&peer, &n,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct seat *seat;
		uint64_t who;
		bool owner;

		if (fd < 0)
			break;
		owner = is_owner(p, &lists, fd, (struct sockaddr *)&peer, &who);
		p->arriving = seat = seats_take(&p->seats, who, owner);
		if (!seat) {
			turn_away(fd, owner);
			continue;
		}
		p->lib.add_connection(p->mhd, fd, (struct sockaddr *)&peer, n);
		if (p->arriving) /* the library has closed it */
			seat->taken = false;
	}
	p->arriving = NULL;
	peer_lists_release(&lists);
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
	struct iovec io[3] = {{&q->number, 4}, {&q->who, 4}, {(void *)(uintptr_t)w->bytes, w->n}};
	struct msghdr m = {.msg_iov = io,
			   .msg_iovlen = n_elems(io),
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
	const union MHD_ConnectionInfo *fd;
	const struct seat *seat = seat_of(p, c);
	const uint32_t who = seat ? (uint32_t)hash_u64(seat->who) : 0;
	struct page_question *q = NULL;
	struct words w = {.n = 0};
	unsigned n_waiting = 0, n_own = 0;

	for (unsigned i = 0; i < SEATS_ALL; i++) {
		if (!p->questions[i].connection) {
			q = &p->questions[i];
		} else if (!p->questions[i].is_whole) {
			n_waiting++;
			n_own += p->questions[i].who == who;
		}
	}
	if (!q || n_waiting >= MOST_QUESTIONS || n_own >= MOST_OF_ONE)
		return say_error(p, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "too many questions at once; ask again");
	add_word(&w, name, "", "");
	p->lib.get_connection_values(c, MHD_GET_ARGUMENT_KIND, take_argument, &w);
	if (w.too_many)
		return say_error(p, c, MHD_HTTP_URI_TOO_LONG, "the question is too long");
	q->number = ++p->n_asked;
	q->who = who;
	q->comes_in_parts = str_starts(name, "flame");
	q->is_json = !q->comes_in_parts && strcmp(name, "trace") != 0;
	if (send_question(p, q, &w) < 0)
		return say_error(p, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "too many questions at once; ask again");
	fd = p->lib.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	q->client = q->fd = fd ? fd->connect_fd : -1;
	q->connection = c;
	q->is_suspended = true;
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

		if (q->is_passed_on)
			return pages_respond(
				p, c, MHD_HTTP_OK, "application/octet-stream",
				p->lib.create_response_from_callback(
					MHD_SIZE_UNKNOWN, PASSED_AT_ONCE, pass_on, q, NULL));
		*request = NULL;
		return give_answer(p, q, c);
	}
	value = p->lib.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	if (!is_own_host(p, c, value))
		return pages_refuse(p, c, MHD_HTTP_FORBIDDEN,
				    "this server has another name; use the address it printed\n");
	value = p->lib.lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
	if (!is_own_origin(p, c, value))
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

/* Reads what *FD has into TO, of which MOST bytes are kept.  Returns how many; closes *FD at its
 * end. *RET_TOO_LONG: there were more. */
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
	const size_t n =
		read_pipe(&q->out, &q->answer,
			  most < p->opts->most_bytes ? most : p->opts->most_bytes, &q->too_long);

	p->n_bytes += n;
	q->n_counted += n;
}

/* Takes the exit status of a child.  False: the other process is gone. */
static bool take_status(struct pages *p)
{
	uint32_t reply[2];
	ssize_t n = recv(p->ask, reply, sizeof(reply), MSG_DONTWAIT);

	if (n == 0)
		return false;
	for (unsigned i = 0; n == sizeof(reply) && i < SEATS_ALL; i++)
		if (p->questions[i].connection && p->questions[i].number == reply[0]) {
			p->questions[i].was_told = true;
			p->questions[i].status = reply[1];
		}
	return true;
}

/* Its client is gone: nobody answers Q any more.  Resumed, the library closes the connection. */
static void abandon_question(struct pages *p, struct page_question *q)
{
	const struct page_question was = *q;

	free_question(p, q);
	q->connection = was.connection;
	q->is_passed_on = was.is_passed_on;
	q->was_told = q->is_whole = true;
	q->too_long = true;
	p->lib.resume_connection(q->connection);
}

/* Lets the library go on with Q. */
static void resume_question(struct pages *p, struct page_question *q)
{
	q->is_suspended = false;
	q->client = -1;
	p->lib.resume_connection(q->connection);
}

/* Does what F, descriptors of Q as poll has filled them, say. */
static void question_step(struct pages *p, struct page_question *q, const struct pollfd *f)
{
	bool cut; /* a message that is cut is one all the same */

	if (f[0].revents && q->connection) {
		abandon_question(p, q);
		return;
	}
	if (f[1].revents)
		read_answer(p, q);
	if (f[2].revents)
		read_pipe(&q->err, &q->message, MOST_MESSAGE, &cut);
	if (q->connection && q->was_told && q->out < 0 && q->err < 0 && !q->is_whole) {
		q->is_whole = true;
		p->n_bytes -= q->n_counted; /* it waits for its client now */
		q->n_counted = 0;
	}
	if (!q->is_suspended)
		return;
	if (q->comes_in_parts && !q->is_whole && q->answer.n)
		q->is_passed_on = true;
	if (q->is_whole || (q->is_passed_on && q->answer.n > q->n_given))
		resume_question(p, q);
}

static bool pages_step(struct pages *p, int epoll_fd)
{
	struct pollfd f[FDS_OF_ALL + FDS_OF_ONE * SEATS_ALL] = {
		{.fd = epoll_fd, .events = POLLIN},
		{.fd = p->ask, .events = POLLIN},
		{.fd = p->listener, .events = POLLIN}};
	unsigned long long wait_ms;
	int timeout = 1000;
	bool lives = true;

	for (unsigned i = 0; i < SEATS_ALL; i++) {
		const struct page_question *q = &p->questions[i];
		struct pollfd *own = f + FDS_OF_ALL + FDS_OF_ONE * i;

		own[0] = (struct pollfd){.fd = q->client, .events = POLLRDHUP};
		own[1] = (struct pollfd){.fd = q->out, .events = POLLIN};
		own[2] = (struct pollfd){.fd = q->err, .events = POLLIN};
	}
	if (p->lib.get_timeout(p->mhd, &wait_ms) == MHD_YES && wait_ms < 1000)
		timeout = (int)wait_ms;
	if (poll(f, n_elems(f), timeout) > 0) {
		if (f[1].revents)
			lives = take_status(p);
		if (f[2].revents)
			take_arrivals(p);
		for (unsigned i = 0; i < SEATS_ALL; i++)
			question_step(p, &p->questions[i], f + FDS_OF_ALL + FDS_OF_ONE * i);
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
	p->listener = listener;
	for (unsigned i = 0; i < SEATS_ALL; i++)
		p->questions[i] =
			(struct page_question){.pages = p, .client = -1, .out = -1, .err = -1};
	if (rc >= 0) {
		p->mhd = p->lib.start_daemon(
			MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0,
			NULL, NULL, pages_answer, p, MHD_OPTION_CONNECTION_LIMIT, SEATS_ALL,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
			PATIENCE_S, MHD_OPTION_NOTIFY_COMPLETED, pages_done, p,
			MHD_OPTION_NOTIFY_CONNECTION, note_connection, p, MHD_OPTION_END);
		if (!p->mhd)
			rc = err_set(err, -EIO, MHD_LIBRARY " cannot serve HTTP");
	}
	info = p->mhd ? p->lib.get_daemon_info(p->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	while (info && !*stop && pages_step(p, info->epoll_fd))
		;
	for (unsigned i = 0; i < SEATS_ALL; i++)
		if (p->questions[i].is_suspended)
			abandon_question(p, &p->questions[i]);
	if (p->mhd)
		p->lib.stop_daemon(p->mhd);
	close(listener);
	free(p);
	return rc < 0 ? rc : 0;
}
