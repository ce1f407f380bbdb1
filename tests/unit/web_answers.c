/* SPDX-License-Identifier: BSD-2-Clause */
/* How many children answer at a time: small questions together, large ones alone; and whose. */
#include "web/answers.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

#define MB	 ((size_t)1 << 20)
#define TOGETHER (256 * MB)
#define LARGE	 (200 * MB)
#define MOST	 4u

/* Says that it has begun, by its question's first letter, and ends when the gate CTX, a pipe, gives
 * it a byte. */
static int wait_at_gate(void *ctx, unsigned n, char **words)
{
	char *bytes = n && strcmp(words[0], "large") == 0 ? malloc(LARGE) : NULL;
	char c;

	if (bytes)
		for (size_t i = 0; i < LARGE; i += 4096)
			((volatile char *)bytes)[i] = 1;
	if (write(STDOUT_FILENO, words[0], 1) != 1)
		return 2;
	free(bytes);
	return read(*(int *)ctx, &c, 1) == 1 ? 0 : 2;
}

struct served {
	pid_t pid;
	int ask;
	int gate;   /* a byte ends a child */
	int out[2]; /* of all children */
	uint32_t asked;
};

static struct served begin_serving(void)
{
	static const struct answers_opts o = {.most = MOST,
					      .cpu_s = 60,
					      .wall_s = 120,
					      .memory = (size_t)1 << 40,
					      .together = TOGETHER};
	static const volatile int stop;
	struct served s = {.asked = 0};
	int pair[2], gate[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0 || pipe(gate) < 0 || pipe(s.out) < 0)
		abort();
	s.pid = fork();
	if (s.pid == 0) {
		close(pair[0]);
		close(gate[1]);
		_exit(answers_serve(pair[1], &o, wait_at_gate, &gate[0], &stop, NULL) < 0);
	}
	close(pair[1]);
	close(gate[0]);
	s.ask = pair[0];
	s.gate = gate[1];
	return s;
}

static void ask_as(struct served *s, uint32_t who, const char *name)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {.room = {0}};
	struct iovec io[3] = {
		{&s->asked, 4}, {&who, 4}, {(void *)(uintptr_t)name, strlen(name) + 1}};
	struct msghdr m = {.msg_iov = io,
			   .msg_iovlen = 3,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};

	s->asked++;
	control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					.cmsg_type = SCM_RIGHTS,
					.cmsg_len = CMSG_LEN(2 * sizeof(int))};
	memcpy(CMSG_DATA(&control.head), (int[]){s->out[1], s->out[1]}, 2 * sizeof(int));
	EXPECT(sendmsg(s->ask, &m, MSG_NOSIGNAL) > 0);
}

static void ask(struct served *s, const char *name)
{
	ask_as(s, 1, name);
}

/* How many children begin: waits for N, then for a while for one more. */
static unsigned n_begun(struct served *s, unsigned n)
{
	struct pollfd p = {.fd = s->out[0], .events = POLLIN};
	unsigned got = 0;
	char c;

	while (got <= n && poll(&p, 1, got < n ? 60000 : 700) > 0 && read(s->out[0], &c, 1) == 1)
		got++;
	return got;
}

/* Lets N children end, and takes their answers. */
static void let_end(struct served *s, unsigned n)
{
	uint32_t reply[2];

	for (unsigned i = 0; i < n; i++)
		EXPECT_EQ(write(s->gate, "e", 1), 1);
	for (unsigned i = 0; i < n; i++) {
		EXPECT_EQ(recv(s->ask, reply, sizeof(reply), 0), sizeof(reply));
		EXPECT_EQ(reply[1], 0);
	}
}

static void end_serving(struct served *s)
{
	close(s->ask);
	close(s->gate);
	close(s->out[0]);
	close(s->out[1]);
	EXPECT_EQ(waitpid(s->pid, NULL, 0), s->pid);
}

TEST(the_first_question_runs_alone_and_small_ones_together)
{
	struct served s = begin_serving();

	for (unsigned i = 0; i < MOST + 2; i++)
		ask(&s, "small");
	EXPECT_EQ(n_begun(&s, 1), 1);
	let_end(&s, 1);
	EXPECT_EQ(n_begun(&s, MOST), MOST);
	let_end(&s, 1);
	EXPECT_EQ(n_begun(&s, 1), 1);
	let_end(&s, MOST);
	end_serving(&s);
}

TEST(large_ones_run_one_after_the_other)
{
	struct served s = begin_serving();

	ask(&s, "large");
	EXPECT_EQ(n_begun(&s, 1), 1);
	let_end(&s, 1);
	ask(&s, "large");
	ask(&s, "large");
	ask(&s, "another"); /* may be as large */
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EQ(n_begun(&s, 1), 1);
		let_end(&s, 1);
	}
	end_serving(&s);
}

TEST(those_who_ask_take_turns)
{
	struct served s = begin_serving();
	unsigned n_own = 0, n_others = 0;
	char c;

	ask(&s, "small");
	EXPECT_EQ(n_begun(&s, 1), 1);
	let_end(&s, 1);
	for (unsigned i = 0; i < 4 * MOST; i++)
		ask(&s, "small");
	EXPECT_EQ(n_begun(&s, MOST), MOST);
	for (unsigned i = 0; i < MOST; i++)
		ask_as(&s, 2, "others");
	for (unsigned i = 0; i < 2 * MOST; i++) { /* a question of each in turn */
		let_end(&s, 1);
		EXPECT_EQ(read(s.out[0], &c, 1), 1);
		n_own += c == 's';
		n_others += c == 'o';
		EXPECT(n_own <= n_others + 1 && n_others <= n_own + 1);
	}
	EXPECT_EQ(n_others, MOST);
	let_end(&s, 3 * MOST);
	end_serving(&s);
}
