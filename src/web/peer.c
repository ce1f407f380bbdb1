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
	char wanted[48], wanted_remote[48], local[48], remote[48];
	unsigned state;

	print_address(peer, wanted);
	print_address(own, wanted_remote);
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		/* sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid */
		if (sscanf(line, " %*u: %47s %47s %x %*s %*s %*s %" SCNu32, local, remote, &state,
			   ret_uid) == 4 &&
		    state == TCP_ESTABLISHED && strcmp(local, wanted) == 0 &&
		    strcmp(remote, wanted_remote) == 0)
			return true;
	}
	return false;
}

bool peer_uid(int fd, uint32_t *ret_uid)
{
	struct sockaddr_storage peer, own;
	socklen_t n_peer = sizeof(peer), n_own = sizeof(own);
	char *text;
	bool found;

	if (getpeername(fd, (struct sockaddr *)&peer, &n_peer) < 0 ||
	    getsockname(fd, (struct sockaddr *)&own, &n_own) < 0 ||
	    (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) ||
	    file_load(peer.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", 1 << 26,
		      &text, NULL, NULL) < 0)
		return false;
	found = peer_find(text, (struct sockaddr *)&peer, (struct sockaddr *)&own, ret_uid);
	free(text);
	return found;
}
