/* SPDX-License-Identifier: BSD-2-Clause */
/* See forker.h: the side that asks.  forker_process.c is the process that is asked.
 *
 * Questions wait here until there is room among those that run, so that the forker and its socket
 * never hold more than a few. */
#include "confine/forker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/rd.h"
#include "base/vec.h"
#include "confine/forker_impl.h"
#include "confine/forker_process.h"

/* As many children at once, whatever they are allowed. */
#define MOST_SENT 12

/* A child that has not ended so long after its alarm cannot be ended. */
#define STUCK_S 2

/* When a child cannot be made, it is tried again after so long. */
#define AGAIN_NS 100000000ull

/* A lane starts nothing more while answers of so many bytes wait to be taken. */
#define MOST_UNTAKEN ((size_t)8 << 20)

struct forker {
	const struct confine_job *jobs;
	unsigned n_jobs;
	pid_t pid;
	int sock; /* -1: it has died */
	uint32_t last_id;
	unsigned n_stuck;		/* children that were left, and have not ended */
	int refused;			/* forker_refused */
	uint64_t again_ns;		/* nothing is sent before, CLOCK_MONOTONIC */
	VEC(struct confine_ask *) asks; /* in the order asked */
};

int confine_send(int sock, const void *bytes, size_t n, const int *fds, unsigned n_fds, int flags)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int) * (CONFINE_MAX_FILES + 1))];
	} control = {0};
	struct iovec part = {(void *)bytes, n};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t k;

	if (n_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(&control.h), fds, sizeof(int) * n_fds);
	}
	do
		k = sendmsg(sock, &m, MSG_NOSIGNAL | flags);
	while (k < 0 && errno == EINTR);
	return k < 0 ? -errno : 0;
}

ssize_t confine_receive(int sock, void *bytes, size_t n, int *fds, unsigned *n_fds, int flags)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int) * (CONFINE_MAX_FILES + 1))];
	} control = {0};
	struct iovec part = {bytes, n};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	const unsigned most = *n_fds;
	ssize_t k;

	*n_fds = 0;
	do
		k = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | flags);
	while (k < 0 && errno == EINTR);
	if (k < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		size_t there = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; c->cmsg_type == SCM_RIGHTS && i < there; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (*n_fds < most)
				fds[(*n_fds)++] = fd;
			else
				close(fd);
		}
	}
	return k;
}

int forker_start(const struct confine_job *jobs, unsigned n, struct forker **ret, struct err *err)
{
	struct forker *f;
	int socks[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return err_errno(err, -errno, "socketpair");
	pid = fork();
	if (pid < 0) {
		int rc = -errno;

		close(socks[0]);
		close(socks[1]);
		return err_errno(err, rc, "fork");
	}
	if (pid == 0)
		forker_process(jobs, n, socks[1]);
	close(socks[1]);
	f = xcalloc(1, sizeof(*f));
	f->jobs = jobs;
	f->n_jobs = n;
	f->pid = pid;
	f->sock = socks[0];
	*ret = f;
	return 0;
}

static void free_ask(struct confine_ask *a)
{
	for (unsigned i = 0; i < a->n_files; i++)
		if (a->files[i] >= 0)
			close(a->files[i]);
	if (a->answer_fd >= 0)
		close(a->answer_fd);
	free(a);
}

void forker_free(struct forker *f)
{
	if (!f)
		return;
	if (f->sock >= 0)
		close(f->sock); /* which ends it */
	waitpid(f->pid, NULL, 0);
	vec_each (a, &f->asks)
		free_ask(*a);
	vec_release(&f->asks);
	free(f);
}

int forker_fd(const struct forker *f)
{
	return f->sock;
}

pid_t forker_pid(const struct forker *f)
{
	return f->pid;
}

unsigned forker_n_stuck(const struct forker *f)
{
	return f->n_stuck;
}

int forker_refused(const struct forker *f)
{
	return f->refused;
}

bool forker_lives(const struct forker *f)
{
	return f->sock >= 0;
}

static void forker_finish(struct confine_ask *a, int rc)
{
	a->state = ASK_DONE;
	a->rc = rc;
}

static void die(struct forker *f)
{
	close(f->sock);
	f->sock = -1;
	vec_each (a, &f->asks)
		if ((*a)->state != ASK_DONE)
			forker_finish(*a, -EPIPE);
}

/* What runs, and what waits to be taken. */
struct forker_load {
	unsigned n;
	size_t n_bytes[CONFINE_N_LANES], n_untaken[CONFINE_N_LANES];
};

static void load_add(struct forker_load *l, const struct confine_job *job)
{
	l->n++;
	l->n_bytes[job->lane] += job->memory;
}

static struct forker_load load_of(const struct forker *f)
{
	struct forker_load l = {0};

	vec_each (a, &f->asks) {
		const struct confine_job *job = &f->jobs[(*a)->kind];

		if ((*a)->state == ASK_SENT)
			load_add(&l, job);
		else if ((*a)->state == ASK_DONE)
			l.n_untaken[job->lane] += (*a)->n_answer;
	}
	return l;
}

static bool has_room(const struct forker_load *l, const struct confine_job *job)
{
	static const size_t room[CONFINE_N_LANES] = CONFINE_LANE_BYTES;

	return l->n < MOST_SENT && l->n_bytes[job->lane] + job->memory <= room[job->lane] &&
	       l->n_untaken[job->lane] <= MOST_UNTAKEN;
}

/* No child can be made now, for ERROR: A waits until one can. */
static void put_back(struct forker *f, struct confine_ask *a, int error)
{
	if (a->answer_fd >= 0)
		close(a->answer_fd);
	a->answer_fd = -1;
	a->state = ASK_QUEUED;
	f->refused = error;
	f->again_ns = clock_mono_ns() + AGAIN_NS;
}

/* Sends A; -EAGAIN when the socket is full. */
static int send_ask(struct forker *f, struct confine_ask *a)
{
	struct confine_request q = {
		.id = a->id, .kind = a->kind, .n_files = a->n_files, .n_arg = (uint32_t)a->n_arg};
	int fds[CONFINE_MAX_FILES + 1], rc;

	a->answer_fd = memfd_create("dwell-answer", MFD_CLOEXEC);
	if (a->answer_fd < 0)
		return -errno;
	fds[0] = a->answer_fd;
	memcpy(&fds[1], a->files, a->n_files * sizeof(int));
	memcpy(q.arg, a->arg, a->n_arg);
	rc = confine_send(f->sock, &q, offsetof(struct confine_request, arg) + a->n_arg, fds,
			  1 + a->n_files, MSG_DONTWAIT);
	if (rc < 0) {
		close(a->answer_fd);
		a->answer_fd = -1;
		return rc;
	}
	a->state = ASK_SENT;
	a->since_ns = clock_mono_ns();
	return 0;
}

static void send_queued(struct forker *f)
{
	struct forker_load l = load_of(f);

	if (f->refused && clock_mono_ns() < f->again_ns)
		return;
	for (size_t i = 0; i < f->asks.n && f->sock >= 0; i++) {
		struct confine_ask *a = f->asks.v[i];
		int rc;

		if (a->state != ASK_QUEUED || !has_room(&l, &f->jobs[a->kind]))
			continue;
		rc = send_ask(f, a);
		if (rc >= 0)
			load_add(&l, &f->jobs[a->kind]);
		if (rc == -EAGAIN)
			return;
		if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM) {
			put_back(f, a, -rc);
			return;
		}
		if (rc == -EPIPE || rc == -ECONNRESET)
			die(f);
		else if (rc < 0)
			forker_finish(a, rc);
	}
}

struct confine_ask *forker_ask(struct forker *f, unsigned kind, const int *files, unsigned n_files,
			       const void *arg, size_t n_arg)
{
	struct confine_ask *a = xcalloc(1, sizeof(*a) + n_arg);

	a->id = ++f->last_id;
	a->kind = kind;
	a->answer_fd = -1;
	a->n_arg = n_arg;
	if (n_arg)
		memcpy(a->arg, arg, n_arg);
	vec_push(&f->asks, a);
	for (unsigned i = 0; i < n_files && i < CONFINE_MAX_FILES; i++) {
		int fd = fcntl(files[i], F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			forker_finish(a, -EAGAIN); /* descriptors are short */
		else
			a->files[a->n_files++] = fd;
	}
	if (n_arg > CONFINE_MAX_ARG)
		forker_finish(a, -E2BIG);
	if (f->sock < 0)
		forker_finish(a, -EPIPE);
	send_queued(f);
	return a;
}

static void forker_drop(struct forker *f, struct confine_ask *a)
{
	vec_each (b, &f->asks) {
		if (*b != a)
			continue;
		memmove(b, b + 1, (size_t)(&f->asks.v[f->asks.n] - (b + 1)) * sizeof(*b));
		f->asks.n--;
		break;
	}
	free_ask(a);
}

void forker_forget(struct forker *f, struct confine_ask *a)
{
	if (!a)
		return;
	if (a->state == ASK_SENT)
		a->abandoned = true; /* it keeps its room until the child has ended */
	else
		forker_drop(f, a);
}

static struct confine_ask *forker_find(const struct forker *f, uint32_t id)
{
	vec_each (a, &f->asks)
		if ((*a)->id == id && (*a)->state == ASK_SENT)
			return *a;
	return NULL;
}

/* The child of A has ended as STATUS says. */
static void take_end(struct forker *f, struct confine_ask *a, int status)
{
	uint8_t head[4];
	struct stat st;
	struct rd r;
	int rc;

	if (WIFSIGNALED(status))
		a->by_signal = WTERMSIG(status);
	if (!WIFEXITED(status) || WEXITSTATUS(status) || fstat(a->answer_fd, &st) < 0 ||
	    st.st_size < 4 || (size_t)st.st_size > f->jobs[a->kind].most_answer + 4096 ||
	    pread(a->answer_fd, head, 4, 0) != 4) {
		forker_finish(a, -EPROTO);
	} else {
		r = rd_init(head, sizeof(head));
		rc = (int32_t)rd_le32(&r);
		a->n_answer = (size_t)st.st_size - 4;
		if (rc == -EAGAIN) /* a file system's word: who asked would ask for ever */
			rc = -EPROTO;
		else if (rc >= 0 || rc <= -4096 || rc == -EPROTO)
			rc = 0;
		forker_finish(a, rc);
	}
	if (a->abandoned)
		forker_drop(f, a);
}

static void forker_take(struct forker *f, const struct confine_reply *r, const int *fds,
			unsigned n_fds)
{
	struct confine_ask *a = forker_find(f, r->id);

	if (a && r->what == REPLY_FILES && !a->n_files && f->jobs[a->kind].open) {
		memcpy(a->files, fds, n_fds * sizeof(int));
		a->n_files = n_fds;
		return;
	}
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
	if (r->what == REPLY_FACTS)
		f->refused = 0;
	if (a && r->what == REPLY_FACTS) {
		a->has_facts = true;
		a->nosuid = r->nosuid;
	}
	if (!a && r->what == REPLY_END && f->n_stuck)
		f->n_stuck--;
	if (a && r->what == REPLY_END)
		take_end(f, a, r->status);
	if (a && r->what == REPLY_AGAIN && a->abandoned)
		forker_drop(f, a);
	else if (a && r->what == REPLY_AGAIN)
		put_back(f, a, r->status);
}

/* A file system can hold a process so that no signal ends it.  Who asked is told that it did not
 * answer, and others go on: such a child takes no memory. */
static bool leave_stuck(struct forker *f)
{
	const uint64_t now = clock_mono_ns();
	bool any = false;

	for (size_t i = f->asks.n; i--;) {
		struct confine_ask *a = f->asks.v[i];
		uint64_t times = a->has_facts ? CONFINE_BUSY_TIMES : 1;
		uint64_t most_s = f->jobs[a->kind].wall_s * times + STUCK_S;

		if (a->state != ASK_SENT || now - a->since_ns < most_s * 1000000000)
			continue;
		any = true;
		f->n_stuck++;
		a->by_signal = SIGALRM;
		forker_finish(a, -EPROTO);
		if (a->abandoned)
			forker_drop(f, a);
	}
	return any;
}

/* Takes the replies that are there; false when there are none. */
static bool take_replies(struct forker *f)
{
	bool any = false;

	while (f->sock >= 0) {
		struct confine_reply r = {0};
		int fds[CONFINE_MAX_FILES];
		unsigned n_fds = CONFINE_MAX_FILES;
		ssize_t n = confine_receive(f->sock, &r, sizeof(r), fds, &n_fds, MSG_DONTWAIT);

		if (n == -EAGAIN)
			break;
		any = true;
		if (n != sizeof(r))
			die(f);
		else
			forker_take(f, &r, fds, n_fds);
	}
	return any;
}

bool forker_step(struct forker *f, uint64_t end_ns)
{
	struct pollfd p = {.fd = f->sock, .events = POLLIN};
	/* Who asks may have been kept from looking for long: first what was answered meanwhile. */
	bool any = take_replies(f);

	any |= leave_stuck(f);
	send_queued(f);
	for (uint64_t now; !any && f->sock >= 0 && (now = clock_mono_ns()) < end_ns;) {
		uint64_t until = f->refused && f->again_ns > now ? f->again_ns : end_ns;
		int rc;

		until = until < end_ns ? until : end_ns;
		rc = poll(&p, 1, (int)((until - now + 999999) / 1000000));
		any = take_replies(f);
		send_queued(f);
		if (rc < 0)
			break;
	}
	return any;
}
