/* SPDX-License-Identifier: BSD-2-Clause */
/* See notify.h. */
#include "daemon/notify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"

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

void notify_reloading(void)
{
	char text[64];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 clock_mono_ns() / 1000);
	notify_manager(text);
}

/* sd_watchdog_enabled(3): $WATCHDOG_USEC is how long silence may be, for the process
 * $WATCHDOG_PID. */
void notify_alive(void)
{
	static uint64_t last_ns;
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t now = clock_mono_ns(), most_us, whose;

	if (!usec || str_parse_u64(usec, 10, &most_us) < 0 ||
	    (pid && (str_parse_u64(pid, 10, &whose) < 0 || whose != (uint64_t)getpid())))
		return;
	if (last_ns && now - last_ns < most_us / 4 * 1000)
		return;
	last_ns = now;
	notify_manager("WATCHDOG=1");
}
