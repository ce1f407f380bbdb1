/* SPDX-License-Identifier: BSD-2-Clause */
/* See peer.h. */
#include "web/peer.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* The address as the kernel prints it: 32-bit words in the machine's order, then the port. */
static void print_address(const struct sockaddr *a, char text[48])
{
	uint32_t words[4];

	if (a->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)a;

		snprintf(text, 48, "%08" PRIX32 ":%04X", v4->sin_addr.s_addr, ntohs(v4->sin_port));
	} else {
		const struct sockaddr_in6 *v6 = (const void *)a;

		memcpy(words, &v6->sin6_addr, sizeof(words));
		snprintf(text, 48, "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 ":%04X",
			 words[0], words[1], words[2], words[3], ntohs(v6->sin6_port));
	}
}

bool peer_find(const char *text, const struct sockaddr *peer, const struct sockaddr *own,
	       uint32_t *ret_uid)
{
	char local[48], remote[48], wanted[112];
	const char *line;

	print_address(peer, local);
	print_address(own, remote);
	/* sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid */
	snprintf(wanted, sizeof(wanted), ": %s %s %02X ", local, remote, TCP_ESTABLISHED);
	line = text ? strstr(text, wanted) : NULL;
	return line && sscanf(line + strlen(wanted), "%*s %*s %*s %" SCNu32, ret_uid) == 1;
}

bool peer_uid(struct peer_lists *lists, int fd, uint32_t *ret_uid)
{
	struct sockaddr_storage peer, own;
	socklen_t n_peer = sizeof(peer), n_own = sizeof(own);
	bool is_v4;
	char **text;

	if (getpeername(fd, (struct sockaddr *)&peer, &n_peer) < 0 ||
	    getsockname(fd, (struct sockaddr *)&own, &n_own) < 0 ||
	    (peer.ss_family != AF_INET && peer.ss_family != AF_INET6))
		return false;
	is_v4 = peer.ss_family == AF_INET;
	text = is_v4 ? &lists->v4 : &lists->v6;
	if (*text && peer_find(*text, (struct sockaddr *)&peer, (struct sockaddr *)&own, ret_uid))
		return true;
	/* A list that was read for another connection may be older than this one. */
	free(*text);
	*text = NULL;
	if (file_load(is_v4 ? "/proc/net/tcp" : "/proc/net/tcp6", 1 << 26, text, NULL, NULL) < 0)
		return false;
	return peer_find(*text, (struct sockaddr *)&peer, (struct sockaddr *)&own, ret_uid);
}

void peer_lists_release(struct peer_lists *lists)
{
	free(lists->v4);
	free(lists->v6);
	*lists = (struct peer_lists){0};
}
