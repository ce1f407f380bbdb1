/* SPDX-License-Identifier: BSD-2-Clause */
/* See notify.h. */
#include "daemon/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"

void notify_manager(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t n = name ? strlen(name) : 0;
	_fd_ int fd = -1;

	if (n < 2 || n >= sizeof(a.sun_path) || (*name != '/' && *name != '@'))
		return;
	memcpy(a.sun_path, name, n);
	if (*name == '@') /* the abstract namespace, unix(7) */
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&a,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
}
