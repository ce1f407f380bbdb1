/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose the other end of a connection is: lines of /proc/net/tcp, as a machine of x86-64 wrote
 * them. */
#include "web/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "t.h"

static const char v4[] = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
			 "retrnsmt   uid  timeout inode\n"
			 "   0: 0100007F:217B 00000000:0000 0A 00000000:00000000 00:00000000 "
			 "00000000     7        0 11 1 0\n"
			 "   1: 0100007F:D431 0100007F:217B 01 00000000:00000000 02:00000000 "
			 "00000000  1000        0 12 1 0\n";
static const char v6[] =
	"  sl  local_address                         remote_address                        st "
	"tx_queue\n"
	"   0: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:0016 01 "
	"00000000:00000000 00:00000000 00000000  1001        0 13 1 0\n";

static struct sockaddr_in at_port(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

TEST(finds_the_user_of_a_connection)
{
	const struct sockaddr_in a = at_port(0xd431), own = at_port(0x217b), other = at_port(1);
	struct sockaddr_in6 b = {.sin6_family = AF_INET6,
				 .sin6_port = htons(8080),
				 .sin6_addr = IN6ADDR_LOOPBACK_INIT},
			    b_own = b;
	uint32_t uid = 0;

	b_own.sin6_port = htons(0x16);
	EXPECT(peer_find(v4, (struct sockaddr *)&a, (struct sockaddr *)&own, &uid));
	EXPECT_EQ(uid, 1000); /* not that of the socket that is connected elsewhere from there */
	EXPECT(peer_find(v6, (struct sockaddr *)&b, (struct sockaddr *)&b_own, &uid));
	EXPECT_EQ(uid, 1001);
	EXPECT(!peer_find(v4, (struct sockaddr *)&other, (struct sockaddr *)&own, &uid));
	EXPECT(!peer_find("", (struct sockaddr *)&a, (struct sockaddr *)&own, &uid));
	EXPECT(!peer_find("  1: 0100007F:D431", (struct sockaddr *)&a, (struct sockaddr *)&own,
			  &uid));
}

/* The kernel tells uid 0 of it. */
TEST(a_socket_that_nobody_holds_is_nobodys)
{
	const struct sockaddr_in a = at_port(0xd432), own = at_port(0x217b);
	uint32_t uid;

	EXPECT(!peer_find(v4, (struct sockaddr *)&a, (struct sockaddr *)&own, &uid));
}

TEST(knows_its_own_connections)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), s;
	socklen_t n = sizeof(a);
	uint32_t uid = UINT32_MAX;
	struct peer_lists lists = {0};

	EXPECT(bind(l, (struct sockaddr *)&a, n) == 0 && listen(l, 1) == 0);
	EXPECT(getsockname(l, (struct sockaddr *)&a, &n) == 0);
	EXPECT(connect(c, (struct sockaddr *)&a, n) == 0);
	s = accept(l, NULL, NULL);
	EXPECT(s >= 0);
	EXPECT(peer_uid(&lists, s, &uid));
	EXPECT_EQ(uid, geteuid());
	peer_lists_release(&lists);
	close(s);
	close(c);
	close(l);
}
