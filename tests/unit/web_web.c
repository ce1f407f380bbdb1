/* SPDX-License-Identifier: BSD-2-Clause */
/* The page over HTTP: what it answers, and that nobody can keep it from its other work. */
#include "web/listen.h"
#include "web/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "t.h"

#define SECOND 1000000000ull

static unsigned n_asked;
static uint64_t now = 1000 * SECOND;

static void put_page(void *ctx, struct str *out)
{
	n_asked++;
	str_add(out, ctx);
}

/* A socket bound to a port of this machine's choice, and the port. */
static int take_port(uint16_t *ret)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		t_fail_("no port");
	*ret = ntohs(a.sin_port);
	return fd;
}

static int call_at(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons(port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		t_fail_("nobody listens");
	return fd;
}

static bool hung_up(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);

	return n == 0 || (n < 0 && errno != EAGAIN);
}

static struct web *w;
static uint16_t port;

static bool begin(void)
{
	int fd = take_port(&port);
	char where[16];
	struct err err;
	int rc;

	close(fd);
	snprintf(where, sizeof(where), "%u", port);
	rc = web_open(where, put_page, (void *)(uintptr_t) "page\n# EOF\n", &w, &err);
	if (rc < 0)
		t_fail_("%s", err.msg);
	n_asked = 0;
	return rc == 0;
}

/* Sends REQUEST, which may hold NULs, and serves until the answer is whole; to be freed. */
static char *ask(const char *request, size_t n)
{
	int fd = call_at(port);
	struct str got = {0};
	ssize_t k = 0;

	EXPECT_EQ(send(fd, request, n, MSG_NOSIGNAL), (ssize_t)n);
	for (int i = 0; i < 1000; i++) {
		char some[512];

		poll(&(struct pollfd){.fd = web_fd(w), .events = POLLIN}, 1, 10);
		now += i > 50 ? SECOND : 0; /* it waits for more */
		web_serve(w, now);
		while ((k = recv(fd, some, sizeof(some), MSG_DONTWAIT)) > 0)
			str_addn(&got, some, (size_t)k);
		if (k == 0 || errno != EAGAIN)
			break;
	}
	EXPECT(hung_up(fd)); /* one answer each */
	close(fd);
	return got.v ? got.v : xstrdup("");
}

static void check_answer(const char *request, const char *status, const char *part)
{
	char *got = ask(request, strlen(request));

	if (!str_starts(got, status) || !strstr(got, part))
		t_fail_("to '%.30s': '%s'", request, got);
	free(got);
}

TEST(it_has_one_page)
{
	REQUIRE(begin());
	check_answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n",
		     "\r\n\r\npage\n# EOF\n");
	check_answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ",
		     "\r\nContent-Type: application/openmetrics-text; version=1.0.0; "
		     "charset=utf-8\r\n");
	check_answer("GET /metrics?name=x HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", "page");
	check_answer("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ",
		     "Content-Length: 11");
	check_answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 ", "only /metrics");
	check_answer("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		     "HTTP/1.1 404 ", "");
	check_answer("GET /metrics/.. HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 ", "");
	check_answer("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		     "HTTP/1.1 405 ", "Allow: GET, HEAD\r\n");
	check_answer("DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 ", "only GET");
	web_close(w);
}

TEST(the_page_is_made_once_a_second)
{
	const char *get = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

	REQUIRE(begin());
	for (int i = 0; i < 5; i++)
		check_answer(get, "HTTP/1.1 200 ", "page");
	EXPECT_EQ(n_asked, 1);
	now += 2 * SECOND;
	check_answer(get, "HTTP/1.1 200 ", "page");
	EXPECT_EQ(n_asked, 2);
	web_close(w);
}

TEST(what_is_no_http)
{
	char *many = xcalloc(1, 100000), *got;

	REQUIRE(begin());
	memset(many, 'x', 99999);
	for (size_t n = 10; n < 100000; n *= 10) {
		memcpy(many + n - 4, "\r\n\r\n", 4);
		got = ask(many, n);
		EXPECT(!strstr(got, "200 OK"));
		free(got);
	}
	got = ask("\0\0\0\0\r\n\r\n", 8);
	EXPECT(!strstr(got, "200 OK"));
	free(got);
	free(many);
	EXPECT_EQ(n_asked, 0);
	check_answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ", "page");
	web_close(w);
}

/* Serves SECONDS of the clock that is told. */
static void pass(unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++, now += SECOND) {
		poll(&(struct pollfd){.fd = web_fd(w), .events = POLLIN}, 1, 10);
		web_serve(w, now);
	}
}

TEST(who_says_nothing_or_never_ends_is_dropped)
{
	int silent, slow;

	REQUIRE(begin());
	silent = call_at(port);
	slow = call_at(port);
	for (unsigned i = 0; i < 9; i++) {
		EXPECT_EQ(send(slow, &"GET /metri"[i], 1, MSG_NOSIGNAL), 1);
		pass(1);
	}
	EXPECT(!hung_up(silent) && !hung_up(slow));
	pass(4);
	EXPECT(hung_up(silent));
	EXPECT(hung_up(slow));
	close(silent);
	close(slow);
	web_close(w);
}

/* More than it serves at a time: it is not busy with them, and others have their turn. */
TEST(a_crowd_waits)
{
	int fds[30];
	unsigned n_ready = 0;

	REQUIRE(begin());
	for (size_t i = 0; i < n_elems(fds); i++) {
		fds[i] = call_at(port);
		web_serve(w, now);
	}
	for (int i = 0; i < 50; i++) {
		n_ready += poll(&(struct pollfd){.fd = web_fd(w), .events = POLLIN}, 1, 1) > 0;
		web_serve(w, now);
	}
	EXPECT(n_ready < 45); /* soon there is nothing to do */
	for (int i = 0; i < 3; i++)
		pass(12);
	check_answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ", "page");
	for (size_t i = 0; i < n_elems(fds); i++) {
		EXPECT(hung_up(fds[i]));
		close(fds[i]);
	}
	web_close(w);
}

TEST(a_port_that_is_taken)
{
	struct web *mine = NULL;
	uint16_t taken;
	int fd = take_port(&taken);
	char where[64];
	struct err err;

	snprintf(where, sizeof(where), "127.0.0.1:%u", taken);
	EXPECT_EQ(web_open(where, put_page, NULL, &mine, &err), -EADDRINUSE);
	EXPECT(strstr(err.msg, where) && strstr(err.msg, "Address already in use"));
	EXPECT(!mine);
	close(fd);
	EXPECT_EQ(web_open(where, put_page, NULL, &mine, &err), 0);
	web_close(mine);
}

TEST(places_to_listen_at)
{
	static const char *const good[] = {"9464",	     "65535",	   "127.0.0.1:1",
					   "0.0.0.0:9464",   "[::1]:9464", "[::]:80",
					   "localhost:9464", "[fe80::1]:9"};
	static const char *const bad[] = {
		"",
		"0",
		"65536",
		"x",
		":9464",
		"::1:9464",
		"[::1]",
		"[]:9464",
		"host:9464",
		"127.0.0.1",
		"1.2.3:9464",
		"1.2.3.4:",
		"[1.2.3.4]:9",
		"*:9464",
		"-1",
		"localhosts:9",
		"local:9",
		"11111111111111111111111111111111111111111111111111111111111111111111111111:9"};
	struct err err;

	for (size_t i = 0; i < n_elems(good); i++)
		if (listen_check(good[i], &err) < 0)
			t_fail_("%s", err.msg);
	for (size_t i = 0; i < n_elems(bad); i++)
		if (listen_check(bad[i], &err) != -EINVAL || !strstr(err.msg, bad[i]))
			t_fail_("'%s' is taken", bad[i]);
}
