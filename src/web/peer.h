/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose process the other end of a connection is, on this machine. */
#ifndef WEB_PEER_H
#define WEB_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* The kernel's lists of sockets, read once for several connections.  {0} at first. */
struct peer_lists {
	char *v4, *v6; /* NULL: not read yet */
};

/* Whether the other end of the connection FD is a socket of this machine, and whose. */
bool peer_uid(struct peer_lists *lists, int fd, uint32_t *ret_uid);
void peer_lists_release(struct peer_lists *lists);

/* Finds the socket at PEER that is connected to OWN in TEXT, which has the form of /proc/net/tcp or
 * tcp6 (proc(5); kernel: net/ipv4/tcp_ipv4.c, get_tcp4_sock).  Both ends are compared: another user
 * may have a socket at PEER that is connected elsewhere.  Only established connections count: the
 * kernel tells uid 0 of sockets that nobody holds any more. */
bool peer_find(const char *text, const struct sockaddr *peer, const struct sockaddr *own,
	       uint32_t *ret_uid);

#endif
