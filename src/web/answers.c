/* SPDX-License-Identifier: BSD-2-Clause */
/* See answers.h. */
#include "web/answers.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"

#define MOST_CHILDREN 16
#define MOST_WAITING  64 /* questions that no child has room for yet */
#define MOST_NAMES    24 /* of questions, whose memory is remembered */
#define LONG_NS	      5000000000ull
#define HEAD_BYTES    8 /* of a question, before its words */

struct answering {
	pid_t pid; /* 0: free */
	int pidfd;
	uint32_t number;
	uint64_t start_ns;
	uint64_t name;	 /* its question's, hashed */
	size_t expected; /* bytes that it will take */
};

/* What questions of one name took. */
struct appetite {
	uint64_t name; /* hashed */
	size_t bytes;
};

struct question {
	uint32_t number, who;
	uint64_t turn; /* one more than that of the question that WHO asked before */
	bool taken_back;
	int out, err;
	unsigned n_words;
	char *words[ANSWERS_MAX_WORDS + 1];
	char bytes[ANSWERS_MAX_BYTES + HEAD_BYTES];
};

struct answers {
	struct answering children[MOST_CHILDREN];
	struct question *waiting[MOST_WAITING]; /* the first came first */
	unsigned n_waiting;
	uint64_t turn; /* of the last one that began */
	struct appetite appetites[MOST_NAMES];
	unsigned n_appetites;
};

/* --- how much memory they take --- */

/* What is expected of a question called NAME; the first one has all of O to itself. */
static size_t expected_bytes(const struct answers *a, const struct answers_opts *o, uint64_t name)
{
	size_t most = 0;

	for (unsigned i = 0; i < a->n_appetites; i++) {
		const struct appetite *x = &a->appetites[i];

		if (x->name == name)
			return x->bytes;
		most = x->bytes > most ? x->bytes : most;
	}
	return most ? most : o->together;
}

/* Notes that a child of a question called NAME took BYTES.  What is remembered falls slowly: the
 * next one may be for all recordings again. */
static void note_bytes(struct answers *a, uint64_t name, size_t bytes)
{
	for (unsigned i = 0; i < a->n_appetites; i++) {
		struct appetite *x = &a->appetites[i];
		const size_t faded = x->bytes - x->bytes / 4;

		if (x->name == name) {
			x->bytes = bytes > faded ? bytes : faded;
			return;
		}
	}
	if (a->n_appetites < MOST_NAMES)
		a->appetites[a->n_appetites++] = (struct appetite){name, bytes};
}

static uint64_t question_name(const struct question *q)
{
	return hash_str(q->n_words ? q->words[0] : "");
}

/* Whether question Q has room beside the children that run.  One that takes long holds up
 * nobody. */
static bool has_room(const struct answers *a, const struct answers_opts *o,
		     const struct question *q)
{
	const size_t wanted = expected_bytes(a, o, question_name(q));
	const uint64_t now_ns = clock_mono_ns();
	size_t taken = 0;

	for (unsigned i = 0; i < MOST_CHILDREN; i++)
		if (a->children[i].pid && now_ns - a->children[i].start_ns < LONG_NS)
			taken += a->children[i].expected;
	return !taken || (wanted <= o->together && taken <= o->together - wanted);
}

/* --- questions --- */

/* Takes a question, or which one is taken back: 1; 0 when the other side is gone; -EAGAIN for
 * neither. */
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
	q->taken_back = !c && n == (ssize_t)sizeof(q->number);
	if (n >= (ssize_t)sizeof(q->number))
		memcpy(&q->number, q->bytes, sizeof(q->number));
	if (q->taken_back)
		return 1;
	memcpy(&q->who, q->bytes + 4, sizeof(q->who));
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(fds)))
		return n < 0 && errno != EINTR && errno != EAGAIN ? -errno : -EAGAIN;
	memcpy(fds, CMSG_DATA(c), sizeof(fds));
	q->out = fds[0];
	q->err = fds[1];
	q->n_words = 0;
	if (n <= HEAD_BYTES || m.msg_flags & MSG_TRUNC || q->bytes[n - 1]) {
		close(q->out);
		close(q->err);
		return -EAGAIN;
	}
	for (char *s = q->bytes + HEAD_BYTES; s < q->bytes + n && q->n_words < ANSWERS_MAX_WORDS;
	     s += strlen(s) + 1)
		q->words[q->n_words++] = s;
	q->words[q->n_words] = NULL;
	return 1;
}

static void tell_end(int fd, uint32_t number, uint32_t status)
{
	uint32_t reply[2] = {number, status};

	(void)!send(fd, reply, sizeof(reply), MSG_NOSIGNAL);
}

static void limit_child(const struct answers_opts *o)
{
	setrlimit(RLIMIT_CPU, &(struct rlimit){o->cpu_s, o->cpu_s});
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their shadows are larger */
	setrlimit(RLIMIT_AS, &(struct rlimit){o->memory, o->memory});
#endif
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

#define HEAP_BYTES	 ((size_t)96 << 20)
#define HEAP_PIECE	 ((size_t)32 << 20) /* the most that glibc allows */
#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)

/* Makes the heap of large pages, before anything is taken from it.  The tree of 300,000 contexts is
 * memory in many small pieces; a fifth of the CPU time of its answer went into pages of 4 KiB for
 * them, one by one (docs/design/web.md).  Only pages that are used take memory. */
static void use_large_pages(void)
{
	const uintptr_t start =
		((uintptr_t)sbrk(0) + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
	uintptr_t end;

	mallopt(M_MMAP_THRESHOLD, (int)HEAP_PIECE);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, (int)HEAP_BYTES);
	free(xmalloc(LARGE_PAGE_BYTES)); /* makes the heap grow, by HEAP_BYTES more */
	mallopt(M_TOP_PAD, (int)LARGE_PAGE_BYTES);
	end = (uintptr_t)sbrk(0);
	if (start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

static void drop_question(struct question *q)
{
	close(q->out);
	close(q->err);
	free(q);
}

/* --- whose turn it is --- */

static void add_waiting(struct answers *a, struct question *q)
{
	q->turn = a->turn;
	for (unsigned i = 0; i < a->n_waiting; i++)
		if (a->waiting[i]->who == q->who)
			q->turn = a->waiting[i]->turn;
	q->turn++;
	a->waiting[a->n_waiting++] = q;
}

/* The number of the question whose turn it is; some are waiting. */
static unsigned next_waiting(const struct answers *a)
{
	unsigned next = 0;

	for (unsigned i = 1; i < a->n_waiting; i++)
		if (a->waiting[i]->turn < a->waiting[next]->turn)
			next = i;
	return next;
}

static struct question *take_waiting(struct answers *a, unsigned i)
{
	struct question *q = a->waiting[i];

	memmove(a->waiting + i, a->waiting + i + 1, (--a->n_waiting - i) * sizeof(*a->waiting));
	return q;
}

/* Starts a child for question number I of those that wait, at the free place X. */
static void start_child(struct answers *a, unsigned i, struct answering *x, int fd,
			const struct answers_opts *o, answers_fn *answer, void *ctx)
{
	struct question *q = take_waiting(a, i);
	pid_t pid = fork();

	if (pid == 0) {
		close(fd);
		for (i = 0; i < a->n_waiting; i++) { /* else they end with this child */
			close(a->waiting[i]->out);
			close(a->waiting[i]->err);
		}
		limit_child(o);
		use_large_pages();
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		if (dup2(q->out, STDOUT_FILENO) < 0 || dup2(q->err, STDERR_FILENO) < 0)
			_exit(2);
		exit(answer(ctx, q->n_words, (char **)(uintptr_t)q->words));
	}
	*x = (struct answering){
		.pid = pid < 0 ? 0 : pid,
		.number = q->number,
		.name = question_name(q),
		.expected = expected_bytes(a, o, question_name(q)),
		.start_ns = clock_mono_ns(),
		.pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
	};
	a->turn = q->turn;
	drop_question(q);
	if (pid < 0)
		tell_end(fd, x->number, 2);
}

/* Tells of X if it has ended. */
static void end_child(struct answers *a, struct answering *x, int fd)
{
	struct rusage used;
	int status;

	if (wait4(x->pid, &status, WNOHANG, &used) != x->pid)
		return;
	note_bytes(a, x->name, (size_t)used.ru_maxrss * 1024); /* kilobytes: getrusage(2) */
	tell_end(fd, x->number,
		 WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status)
				   : 128 + (uint32_t)WTERMSIG(status));
	if (x->pidfd >= 0)
		close(x->pidfd);
	x->pid = 0;
}

/* Waits for a child's end or for a message. */
static bool wait_for_work(const struct answers *a, int fd)
{
	struct pollfd p[MOST_CHILDREN + 1] = {{.fd = fd, .events = POLLIN}};
	nfds_t n = 1;

	for (unsigned i = 0; i < MOST_CHILDREN; i++)
		if (a->children[i].pid)
			p[n++] = (struct pollfd){.fd = a->children[i].pidfd, .events = POLLIN};
	return poll(p, n, 500) > 0 && p[0].revents;
}

static void take_back(struct answers *a, uint32_t number)
{
	for (unsigned i = 0; i < MOST_CHILDREN; i++)
		if (a->children[i].pid && a->children[i].number == number)
			kill(a->children[i].pid, SIGKILL);
	for (unsigned i = 0; i < a->n_waiting; i++) {
		if (a->waiting[i]->number != number)
			continue;
		drop_question(take_waiting(a, i));
		return;
	}
}

/* Takes a message: 1; 0 when the other side is gone; else -errno. */
static int take_message(struct answers *a, int fd)
{
	struct question *q = malloc(sizeof(*q));
	int rc = q ? take_question(fd, q) : -ENOMEM;

	if (rc > 0 && !q->taken_back && a->n_waiting < MOST_WAITING) {
		add_waiting(a, q);
		return 1;
	}
	if (rc > 0 && q->taken_back) {
		take_back(a, q->number);
	} else if (rc > 0) {
		tell_end(fd, q->number, 2);
		drop_question(q);
		return 1;
	}
	free(q);
	return rc == -EAGAIN ? 1 : rc;
}

/* Ends what is late, tells of what has ended, starts what there is room for. */
static void step_children(struct answers *a, int fd, const struct answers_opts *opts,
			  answers_fn *answer, void *ctx)
{
	for (unsigned i = 0; i < opts->most && i < MOST_CHILDREN; i++) {
		struct answering *x = &a->children[i];

		if (x->pid && clock_mono_ns() - x->start_ns > opts->wall_s * UINT64_C(1000000000))
			kill(x->pid, SIGKILL);
		if (x->pid)
			end_child(a, x, fd);
		if (!x->pid && a->n_waiting) {
			const unsigned next = next_waiting(a);

			if (has_room(a, opts, a->waiting[next]))
				start_child(a, next, x, fd, opts, answer, ctx);
		}
	}
}

int answers_serve(int fd, const struct answers_opts *opts, answers_fn *answer, void *ctx,
		  const volatile int *stop, struct err *err)
{
	struct answers a = {.n_waiting = 0};
	int rc = 1;

	while (rc > 0 && !*stop) {
		step_children(&a, fd, opts, answer, ctx);
		if (wait_for_work(&a, fd))
			rc = take_message(&a, fd);
	}
	for (unsigned i = 0; i < MOST_CHILDREN; i++)
		if (a.children[i].pid)
			kill(a.children[i].pid, SIGKILL);
	while (a.n_waiting)
		drop_question(a.waiting[--a.n_waiting]);
	return rc < 0 ? err_errno(err, rc, "cannot take questions") : 0;
}
