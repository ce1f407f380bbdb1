/* SPDX-License-Identifier: BSD-2-Clause */
/* See answers.h. */
#include "web/answers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define MOST_CHILDREN 16

struct answering {
	pid_t pid; /* 0: free */
	int pidfd;
	uint32_t number;
	uint64_t end_ns;
};

struct question {
	uint32_t number;
	int out, err;
	unsigned n_words;
	char *words[ANSWERS_MAX_WORDS + 1];
	char bytes[ANSWERS_MAX_BYTES + 4];
};

/* Takes a question: 1; 0 when the other side is gone; -EAGAIN for one that is none. */
static int take_question(int fd, struct question *q)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec io = {q->bytes, sizeof(q->bytes)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	int fds[2];

	if (n == 0)
		return 0;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(fds)))
		return n < 0 && errno != EINTR && errno != EAGAIN ? -errno : -EAGAIN;
	memcpy(fds, CMSG_DATA(c), sizeof(fds));
	q->out = fds[0];
	q->err = fds[1];
	q->n_words = 0;
	if (n < 5 || m.msg_flags & MSG_TRUNC || q->bytes[n - 1]) {
		close(q->out);
		close(q->err);
		return -EAGAIN;
	}
	memcpy(&q->number, q->bytes, 4);
	for (char *s = q->bytes + 4; s < q->bytes + n && q->n_words < ANSWERS_MAX_WORDS;
	     s += strlen(s) + 1)
		q->words[q->n_words++] = s;
	q->words[q->n_words] = NULL;
	return 1;
}

static void limit_child(const struct answers_opts *o)
{
	const struct rlimit cpu = {o->cpu_s, o->cpu_s}, memory = {o->memory, o->memory},
			    none = {0, 0};

	setrlimit(RLIMIT_CPU, &cpu);
#ifndef __SANITIZE_ADDRESS__ /* its shadow alone is larger */
	setrlimit(RLIMIT_AS, &memory);
#endif
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void start_child(struct answering *a, const struct question *q, int fd,
			const struct answers_opts *o, answers_fn *answer, void *ctx)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(fd);
		limit_child(o);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		if (dup2(q->out, STDOUT_FILENO) < 0 || dup2(q->err, STDERR_FILENO) < 0)
			_exit(2);
		exit(answer(ctx, q->n_words, (char **)(uintptr_t)q->words));
	}
	close(q->out);
	close(q->err);
	*a = (struct answering){
		.pid = pid < 0 ? 0 : pid,
		.number = q->number,
		.end_ns = clock_mono_ns() + o->wall_s * UINT64_C(1000000000),
		.pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
	};
	if (pid < 0) {
		uint32_t reply[2] = {q->number, 2};

		(void)!send(fd, reply, sizeof(reply), MSG_NOSIGNAL);
	}
}

/* Tells of A if it has ended. */
static void end_child(struct answering *a, int fd)
{
	uint32_t reply[2] = {a->number, 0};
	int status;

	if (waitpid(a->pid, &status, WNOHANG) != a->pid)
		return;
	reply[1] = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status)
				     : 128 + (uint32_t)WTERMSIG(status);
	(void)!send(fd, reply, sizeof(reply), MSG_NOSIGNAL);
	if (a->pidfd >= 0)
		close(a->pidfd);
	a->pid = 0;
}

/* Waits for a child's end or, where there is room for one, for a question. */
static bool wait_for_work(const struct answering *children, unsigned n_free, int fd)
{
	struct pollfd p[MOST_CHILDREN + 1] = {{.fd = n_free ? fd : -1, .events = POLLIN}};
	nfds_t n = 1;

	for (unsigned i = 0; i < MOST_CHILDREN; i++)
		if (children[i].pid)
			p[n++] = (struct pollfd){.fd = children[i].pidfd, .events = POLLIN};
	return poll(p, n, 500) > 0 && p[0].revents;
}

int answers_serve(int fd, const struct answers_opts *opts, answers_fn *answer, void *ctx,
		  const volatile int *stop, struct err *err)
{
	struct answering children[MOST_CHILDREN] = {{0}};
	struct question *q = malloc(sizeof(*q));
	int rc = q ? 1 : -ENOMEM;

	while (rc > 0 && !*stop) {
		unsigned n_free = opts->most < MOST_CHILDREN ? opts->most : MOST_CHILDREN;
		struct answering *place = NULL;
		bool asked;

		for (unsigned i = 0; i < MOST_CHILDREN; i++) {
			if (children[i].pid && clock_mono_ns() > children[i].end_ns)
				kill(children[i].pid, SIGKILL);
			if (children[i].pid)
				end_child(&children[i], fd);
			if (children[i].pid)
				n_free -= n_free > 0;
			else
				place = &children[i];
		}
		asked = wait_for_work(children, n_free, fd);
		if (!asked)
			continue;
		rc = take_question(fd, q);
		if (rc > 0)
			start_child(place, q, fd, opts, answer, ctx);
		else if (rc == -EAGAIN)
			rc = 1;
	}
	for (unsigned i = 0; i < MOST_CHILDREN; i++)
		if (children[i].pid)
			kill(children[i].pid, SIGKILL);
	free(q);
	return rc < 0 ? err_errno(err, rc, "cannot take questions") : 0;
}
