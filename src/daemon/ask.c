/* SPDX-License-Identifier: BSD-2-Clause */
/* See ask.h. */
#include "daemon/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "daemon/hold.h"

/* How often a daemon that is at work is waited for again. */
#define MOST_WAITS 5

static int connect_to(const char *db, int timeout_s, struct err *err)
{
	_fd_ int db_fd = open(db, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct timeval patience = {.tv_sec = timeout_s};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	_mem_ char *path = NULL;

	if (db_fd < 0)
		return err_errno(err, -errno, "%s", db);
	path = hold_socket_path(db_fd);
	if (strlen(path) >= sizeof(a.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s: no socket can be there", db);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, -errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			return err_set(err, -ECONNREFUSED,
				       "%s: no daemon of this host records there", db);
		return err_errno(err, -errno, "%s: cannot reach its daemon", db);
	}
	return take_fd(&fd);
}

static int send_all(int fd, const struct str *s, struct err *err)
{
	for (size_t off = 0; off < s->n;) {
		ssize_t n = send(fd, s->v + off, s->n - off, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* It may have answered and hung up without having heard us out. */
		if (n < 0 && errno != EPIPE && errno != ECONNRESET)
			return err_errno(err, -errno, "cannot ask the daemon");
		if (n < 0)
			return 0;
		off += (size_t)n;
	}
	return 0;
}

/* Returns the CPU time of the daemon behind FD in nanoseconds, 0 where it is not known.  A daemon
 * that is busy, or that a busy machine lets wait, gets some; one that was stopped or hangs gets
 * none. */
static uint64_t cpu_time_of_peer(int fd)
{
	struct ucred peer = {0};
	socklen_t n = sizeof(peer);
	char path[48];
	_mem_ char *text = NULL;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.pid <= 0)
		return 0;
	/* Its first number: Documentation/scheduler/sched-stats.rst. */
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)peer.pid);
	return file_load(path, 4096, &text, NULL, NULL) < 0 ? 0 : strtoull(text, NULL, 10);
}

static int ask_receive(int fd, struct str *answer, struct err *err)
{
	uint64_t cpu_ns = cpu_time_of_peer(fd);
	unsigned n_waits = 1;

	_str_ struct str all = {0};
	const char *text = NULL;
	char buf[8192];
	size_t n_text = 0;
	int rc = 0;

	while (rc == 0) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && n_waits < MOST_WAITS) {
			const uint64_t before_ns = cpu_ns;

			n_waits++;
			cpu_ns = cpu_time_of_peer(fd);
			if (cpu_ns > before_ns)
				continue;
		}
		if (n < 0 && errno == EAGAIN)
			rc = err_set(err, -ETIMEDOUT, "the daemon does not answer");
		else if (n <= 0)
			rc = err_set(err, -ECONNRESET, "the daemon hung up");
		else
			str_addn(&all, buf, (size_t)n);
		if (rc == 0)
			rc = control_parse_answer(all.v, all.n, &text, &n_text, err);
	}
	if (rc > 0)
		str_addn(answer, text, n_text);
	return rc < 0 ? rc : 0;
}

int ask_daemon(const char *db, const struct control_request *r, int timeout_s, struct str *answer,
	       struct err *err)
{
	_fd_ int fd = connect_to(db, timeout_s, err);
	_str_ struct str line = {0};
	int rc;

	if (fd < 0)
		return fd;
	control_format_request(r, &line);
	rc = send_all(fd, &line, err);
	return rc < 0 ? rc : ask_receive(fd, answer, err);
}
