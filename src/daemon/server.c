/* SPDX-License-Identifier: BSD-2-Clause */
/* See server.h.  A client has PATIENCE_NS to say its line and to take its answer, there are at most
 * MOST_CLIENTS of them, and none is ever waited for: nobody can hold up a drain.  Some slots are
 * kept for those who look after the daemon, so that others cannot shut them out by connecting.
 * Credentials are the kernel's (SO_PEERCRED, unix(7)): those of the process that connected. */
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/control.h"
#include "daemon/hold.h"
#include "daemon/status_text.h"

#define MOST_CLIENTS 16
#define KEPT_SLOTS   4	 /* of these, for root, the daemon's user and the database's group */
#define WAITING	     128 /* connections to be accepted; all are, at once */
#define MOST_GROUPS  256
#define PATIENCE_NS  (10ull * 1000000000)

struct client {
	int fd; /* -1: free */
	struct ucred cred;
	uint64_t since_ns;
	char line[CONTROL_LINE];
	size_t n_line;
	struct str answer;
	size_t n_sent;
	bool answered, quits;
	bool waits, tree; /* for a flush, and of the DCPI tree */
	bool ours;	  /* root's, the daemon's user's, or of the database's group */
};

struct server {
	int epoll_fd, fd, db_fd;
	struct client clients[MOST_CLIENTS];
};

static int listen_at(struct server *s, const char *db, struct err *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	_mem_ char *path = hold_socket_path(s->db_fd);
	int rc;

	if (strlen(path) >= sizeof(a.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s: the host's name is too long for a socket",
			       db);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	unlink(path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = s->fd < 0 ? -errno : 0;
	if (rc >= 0 && bind(s->fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		rc = -errno;
	/* Everybody who can reach the directory may connect; what they may ask is another thing. */
	if (rc >= 0 && (chmod(path, 0666) < 0 || listen(s->fd, WAITING) < 0))
		rc = -errno;
	return rc < 0 ? err_errno(err, rc, "%s: cannot listen for dwell ctl", db) : 0;
}

static int server_watch(struct server *s, int fd, uint32_t number)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = number};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

int server_open(const char *db, struct server **ret, struct err *err)
{
	struct server *s = xcalloc(1, sizeof(*s));
	int rc;

	s->fd = -1;
	for (int i = 0; i < MOST_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->db_fd = open(db, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->db_fd < 0 || s->epoll_fd < 0)
		rc = err_errno(err, -errno, "%s", db);
	else
		rc = listen_at(s, db, err);
	if (rc >= 0 && server_watch(s, s->fd, MOST_CLIENTS) < 0)
		rc = err_errno(err, -errno, "epoll");
	if (rc < 0) {
		server_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

int server_fd(const struct server *s)
{
	return s->epoll_fd;
}

static void server_drop(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	str_release(&c->answer);
	*c = (struct client){.fd = -1};
}

/* Whether who connected is one of those that slots are kept for: SO_PEERGROUPS, unix(7). */
static bool is_ours(const struct server *s, int fd, const struct ucred *cred)
{
	gid_t groups[MOST_GROUPS];
	socklen_t n = sizeof(groups);
	struct stat st;

	if (cred->uid == 0 || cred->uid == geteuid())
		return true;
	if (fstat(s->db_fd, &st) < 0)
		return false;
	if (cred->gid == st.st_gid)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &n) < 0)
		return false;
	for (size_t i = 0; i < n / sizeof(*groups); i++)
		if (groups[i] == st.st_gid)
			return true;
	return false;
}

/* A free slot, or NULL. */
static struct client *find_slot(struct server *s, bool ours)
{
	struct client *found = NULL;
	unsigned n_others = 0;

	for (uint32_t i = 0; i < MOST_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0)
			found = c;
		else
			n_others += !c->ours;
	}
	return ours || n_others < MOST_CLIENTS - KEPT_SLOTS ? found : NULL;
}

static void refuse(int fd)
{
	struct str answer = {0};

	control_put_error(&answer, "too many ask at once: try again in some seconds");
	if (send(fd, answer.v, answer.n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		shutdown(fd, SHUT_RDWR);
	str_release(&answer);
	close(fd);
}

static void accept_all(struct server *s)
{
	for (;;) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred cred;
		socklen_t n = sizeof(cred);
		struct client *c;
		bool ours;

		if (fd < 0)
			return;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0) {
			close(fd);
			continue;
		}
		ours = is_ours(s, fd, &cred);
		c = find_slot(s, ours);
		if (!c || server_watch(s, fd, (uint32_t)(c - s->clients)) < 0) {
			refuse(fd);
			continue;
		}
		c->fd = fd;
		c->cred = cred;
		c->ours = ours;
		c->since_ns = clock_mono_ns();
	}
}

static bool may_rule(const struct client *c)
{
	return c->cred.uid == 0 || c->cred.uid == geteuid();
}

static void put_status(struct service *v, const struct control_request *r, struct str *out)
{
	struct service_status s;

	service_status(v, &s);
	if (r->verb == CONTROL_METRICS)
		status_put_metrics(&s, out);
	else if (r->json)
		status_put_json(&s, out);
	else
		status_put_text(&s, out);
	service_status_release(&s);
}

static void obey(struct service *v, struct client *c, const struct control_request *r)
{
	_str_ struct str text = {0};
	struct err err = {0};
	int rc = 0;

	if ((r->verb == CONTROL_EPOCH || r->verb == CONTROL_QUIT) && !may_rule(c))
		rc = err_set(&err, -EPERM, "%s is for root and the daemon's user",
			     control_verb_name(r->verb));
	else if (r->verb == CONTROL_FLUSH)
		c->waits = true;
	else if (r->verb == CONTROL_EPOCH)
		rc = service_new_epoch(v, &err);
	else if (r->verb == CONTROL_LABEL_ME)
		rc = service_label(v, (uint32_t)c->cred.pid, r->label, &err);
	else if (r->verb == CONTROL_QUIT)
		c->quits = true;
	else
		put_status(v, r, &text);
	c->tree = r->tree;
	/* That of the epoch that ended is written by now; this tells whether it could be. */
	if (rc >= 0 && r->verb == CONTROL_EPOCH)
		rc = service_update_tree(v, &err);
	c->answered = !c->quits && !c->waits;
	if (rc < 0)
		control_put_error(&c->answer, err.msg);
	else if (c->answered)
		control_put_ok(&c->answer, str_get(&text), text.n);
}

/* Takes what the client says; obeys when that is a line. */
static void hear(struct service *v, struct client *c)
{
	ssize_t n = recv(c->fd, c->line + c->n_line, sizeof(c->line) - c->n_line, 0);
	struct control_request r;
	struct err err;
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		server_drop(c);
		return;
	}
	c->n_line += (size_t)n;
	end = memchr(c->line, '\n', c->n_line);
	if (!end && c->n_line < sizeof(c->line))
		return;
	if (control_parse_request(c->line, end ? (size_t)(end - c->line) : c->n_line, &r, &err) <
	    0) {
		control_put_error(&c->answer, err.msg);
		c->answered = true;
	} else {
		obey(v, c, &r);
	}
}

/* Sends what the client takes now; true when that was all, or it hung up. */
static bool server_tell(struct client *c)
{
	while (c->n_sent < c->answer.n) {
		ssize_t n = send(c->fd, c->answer.v + c->n_sent, c->answer.n - c->n_sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno != EAGAIN;
		c->n_sent += (size_t)n;
	}
	return true;
}

/* Answers; what the client does not take at once it is sent when it does. */
static bool server_answer(struct server *s, uint32_t i)
{
	struct epoll_event e = {.events = EPOLLOUT, .data.u32 = i};

	if (server_tell(&s->clients[i]))
		return true;
	epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->clients[i].fd, &e);
	return false;
}

static void answer_flush(struct client *c, int rc, const struct err *err)
{
	c->waits = false;
	c->answered = true;
	if (rc < 0)
		control_put_error(&c->answer, err->msg);
	else
		control_put_ok(&c->answer, "", 0);
}

/* Flushes once for all who asked before it began, so that the last of many readers waits for one
 * flush and not for one of each.  Only privileged clients may flush without limit: what others ask
 * for that was done a moment ago goes to the journal alone.  The DCPI tree is written after those
 * were answered who did not ask for it. */
static void flush_all(struct server *s, struct service *v)
{
	struct err err = {0}, tree_err = {0};
	bool any = false, rules = false, tree = false;
	int rc;

	for (int i = 0; i < MOST_CLIENTS; i++) {
		const struct client *c = &s->clients[i];

		any |= c->waits;
		rules |= c->waits && may_rule(c);
		tree |= c->waits && c->tree;
	}
	if (!any)
		return;
	rc = !rules && service_flushed_lately(v) ? service_make_safe(v, &err)
						 : service_flush(v, &err);
	for (uint32_t i = 0; i < MOST_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (!c->waits || (c->tree && rc >= 0))
			continue;
		answer_flush(c, rc, &err);
		if (server_answer(s, i))
			server_drop(c);
	}
	if (!tree || rc < 0)
		return;
	rc = service_update_tree(v, &tree_err);
	for (uint32_t i = 0; i < MOST_CLIENTS; i++)
		if (s->clients[i].waits)
			answer_flush(&s->clients[i], rc, &tree_err);
}

bool server_serve(struct server *s, struct service *v)
{
	struct epoll_event ready[MOST_CLIENTS + 1];
	int n = epoll_wait(s->epoll_fd, ready, MOST_CLIENTS + 1, 0);
	uint64_t now;
	bool quits = false;

	for (int i = 0; i < n; i++) {
		if (ready[i].data.u32 == MOST_CLIENTS)
			accept_all(s);
		else if (!s->clients[ready[i].data.u32].answered &&
			 !s->clients[ready[i].data.u32].waits)
			hear(v, &s->clients[ready[i].data.u32]);
	}
	flush_all(s, v);
	now = clock_mono_ns();
	for (uint32_t i = 0; i < MOST_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		quits |= c->quits;
		if (c->fd >= 0 && ((c->answered && server_answer(s, i)) ||
				   (!c->quits && now - c->since_ns > PATIENCE_NS)))
			server_drop(c);
	}
	return quits;
}

void server_quit(struct server *s, int rc, const struct err *err)
{
	for (int i = 0; i < MOST_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (!c->quits)
			continue;
		if (rc < 0)
			control_put_error(&c->answer, err->msg);
		else
			control_put_ok(&c->answer, "", 0);
		server_tell(c);
		server_drop(c);
	}
}

void server_close(struct server *s)
{
	if (!s)
		return;
	for (int i = 0; i < MOST_CLIENTS; i++)
		server_drop(&s->clients[i]);
	if (s->fd >= 0) {
		_mem_ char *path = hold_socket_path(s->db_fd);

		unlink(path);
		close(s->fd);
	}
	if (s->db_fd >= 0)
		close(s->db_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}
