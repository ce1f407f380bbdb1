/* SPDX-License-Identifier: BSD-2-Clause */
/* See listen.h. */
#include "web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

union listen_address {
	struct sockaddr any;
	struct sockaddr_un path;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int address_parse(const char *where, unsigned least_port, union listen_address *ret,
			 struct err *err)
{
	const char *colon = strrchr(where, ':'), *digits = colon ? colon + 1 : where;
	char host[64] = "127.0.0.1";
	size_t n = colon ? (size_t)(colon - where) : 0;
	uint64_t port;
	bool is_v6;

	*ret = (union listen_address){.any = {0}};
	if (str_parse_u64(digits, 10, &port) < 0 || port < least_port || port > UINT16_MAX)
		return err_set(err, -EINVAL, "'%s': '%s' is no port, 1 to 65535", where, digits);
	is_v6 = n > 2 && *where == '[' && where[n - 1] == ']';
	if (colon && strncmp(where, "localhost:", n + 1) != 0) {
		n -= is_v6 ? 2 : 0;
		if (n >= sizeof(host))
			n = 0;
		memcpy(host, where + (is_v6 ? 1 : 0), n);
		host[n] = '\0';
	}
	if (is_v6 && inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		return sizeof(ret->v6);
	}
	if (!is_v6 && inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		return sizeof(ret->v4);
	}
	return err_set(err, -EINVAL,
		       "'%s': no numeric address, such as 127.0.0.1 or [::1], before the port",
		       where);
}

/* Makes room for a socket at A: one that nobody listens at any more is removed. */
static void remove_dead_socket(const union listen_address *a)
{
	_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd >= 0 && lstat(a->path.sun_path, &st) >= 0 && S_ISSOCK(st.st_mode) &&
	    connect(fd, &a->any, sizeof(a->path)) < 0 && errno == ECONNREFUSED)
		unlink(a->path.sun_path);
}

int listen_unix(const char *path, int backlog, struct err *err)
{
	union listen_address a = {.path = {.sun_family = AF_UNIX}};
	_fd_ int fd = -1;
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof(a.path.sun_path))
		return err_set(err, -ENAMETOOLONG,
			       "'%s': a socket's path has at most %zu characters", path,
			       sizeof(a.path.sun_path) - 1);
	memcpy(a.path.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(err, -errno, "cannot listen at %s", path);
	remove_dead_socket(&a);
	mask = umask(0177);
	rc = bind(fd, &a.any, sizeof(a.path)) < 0 ? -errno : 0;
	umask(mask);
	if (rc < 0 || listen(fd, backlog) < 0)
		return err_errno(err, rc < 0 ? rc : -errno, "cannot listen at %s", path);
	return take_fd(&fd);
}

int listen_at(const char *where, int backlog, struct err *err)
{
	union listen_address a;
	int n = address_parse(where, 0, &a, err), one = 1;
	_fd_ int fd = -1;

	if (n < 0)
		return n;
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A predecessor's connections that linger do not hold the port; its socket does. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, &a.any, (socklen_t)n) < 0 || listen(fd, backlog) < 0)
		return err_errno(err, -errno, "cannot listen at %s for HTTP", where);
	return take_fd(&fd);
}

int listen_check(const char *where, struct err *err)
{
	union listen_address a;
	int rc = address_parse(where, 1, &a, err);

	return rc < 0 ? rc : 0;
}
