/* SPDX-License-Identifier: BSD-2-Clause */
/* See forker_process.h.  It does nothing but fork and tell who has ended, so that there is nothing
 * in it for a child to find, and no file in it that could stop it. */
#include "confine/forker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "confine/forker_impl.h"
#include "confine/rights.h"

/* To open files: other users', mapped ones, those in other processes' roots.  To make children:
 * another identity. */
#define RIGHTS                                                                                     \
	(RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_CHECKPOINT_RESTORE) |      \
	 RIGHT(CAP_SETUID) | RIGHT(CAP_SETGID))

struct running {
	pid_t pid;
	uint32_t id;
	unsigned lent_ms; /* 0: it has had niceness 19 all the time */
};

struct process {
	const struct confine_job *jobs;
	unsigned n_jobs;
	int sock;
	struct confine_base base;
	VEC(struct running) running;
	uint64_t lent_us; /* CPU time of ended children with niceness 0, less what came back */
	uint64_t back_ns; /* when some of it came back last, CLOCK_MONOTONIC */
};

/* Address space in use, and data of it: the first and the sixth number of proc(5)
 * /proc/PID/statm. */
static struct confine_base own_base(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long all, data;

	if (!f || fscanf(f, "%lu %*u %*u %*u %*u %lu", &all, &data) != 2)
		all = data = 16384;
	if (f)
		fclose(f);
	return (struct confine_base){.all_bytes = all * page, .data_bytes = data * page};
}

static void forker_reply(const struct process *p, uint32_t id, int what, int status)
{
	struct confine_reply r = {.id = id, .what = what, .status = status};

	confine_send(p->sock, &r, sizeof(r), NULL, 0, 0);
}

/* Takes what has come back since the last call off what is lent. */
static void lent_comes_back(struct process *p)
{
	const uint64_t now = clock_mono_ns(), us = (now - p->back_ns) / 1000 / CONFINE_LENT_BACK;

	if (!us)
		return;
	p->back_ns = now;
	p->lent_us -= us < p->lent_us ? us : p->lent_us;
}

/* Less than this is not lent, in ms: a child is charged by the kernel's ticks. */
#define LENT_LEAST_MS 10

/* CPU time that a new child of JOB may have with niceness 0, in ms: as much as its job is lent, or
 * what is left.  Whoever runs, the time that is lent to all of them is bounded: files that come
 * again and again get niceness 19. */
static unsigned lend(struct process *p, const struct confine_job *job)
{
	const uint64_t most_us = job->lent_in_all_ms * 1000ull;
	uint64_t lent_us, left_ms;

	lent_comes_back(p);
	lent_us = p->lent_us;
	vec_each (r, &p->running)
		lent_us += r->lent_ms * 1000ull;
	left_ms = lent_us < most_us ? (most_us - lent_us) / 1000 : 0;
	if (left_ms >= job->lent_ms)
		return job->lent_ms;
	return left_ms >= LENT_LEAST_MS ? (unsigned)left_ms : 0;
}

static void forker_process_serve(struct process *p, const struct confine_request *q, const int *fds,
				 unsigned n_fds)
{
	bool is_known = q->kind < p->n_jobs;
	bool is_whole = n_fds == q->n_files + 1; /* else there was no room for descriptors */
	unsigned lent_ms = is_known ? lend(p, &p->jobs[q->kind]) : 0;
	pid_t pid = is_known && is_whole ? fork() : -1;
	const int why = is_whole ? errno : EMFILE;

	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		confine_child(&p->jobs[q->kind], q, p->sock, fds[0], fds + 1, &p->base, lent_ms);
	}
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
	if (!is_known)
		forker_reply(p, q->id, REPLY_END, 1 << 8); /* as if it had ended with status 1 */
	else if (pid < 0)
		forker_reply(p, q->id, REPLY_AGAIN, why); /* no file's fault */
	else
		vec_push(&p->running, (struct running){pid, q->id, lent_ms});
}

static uint64_t cpu_us(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static void reap(struct process *p)
{
	struct rusage u;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0)
		vec_each (r, &p->running) {
			uint64_t lent_us = r->lent_ms * 1000ull;

			if (r->pid != pid)
				continue;
			p->lent_us += cpu_us(&u) < lent_us ? cpu_us(&u) : lent_us;
			forker_reply(p, r->id, REPLY_END, status);
			*r = p->running.v[--p->running.n];
			break;
		}
}

/* Nothing of the process that forked it is to be kept open by it, or printed to. */
static void let_go(int sock)
{
	int nowhere = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		if (nowhere >= 0 && i != sock)
			dup2(nowhere, i);
	if (sock > 3)
		close_range(3, (unsigned)sock - 1, 0);
	close_range((unsigned)sock + 1, ~0u, 0);
}

/* Its end is that of the socket; what a terminal or a service manager sends is for its parent. */
static int catch_signals(void)
{
	static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	sigset_t child;

	for (size_t i = 0; i < n_elems(ours); i++)
		signal(ours[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

_Noreturn void forker_process(const struct confine_job *jobs, unsigned n, int sock)
{
	struct process p = {.jobs = jobs, .n_jobs = n, .sock = sock};
	struct pollfd fds[2] = {{.fd = sock, .events = POLLIN}, {.events = POLLIN}};

	prctl(PR_SET_NAME, "dwell-forker");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	let_go(sock);
	fds[1].fd = catch_signals();
	/* A user's file must never have more of the CPU than its user: no urgency is inherited. */
	if (getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0);
	rights_keep(RIGHTS, NULL);
	p.base = own_base();
	for (;;) {
		struct signalfd_siginfo info;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			_exit(1);
		while (read(fds[1].fd, &info, sizeof(info)) > 0)
			;
		reap(&p);
		if (fds[0].revents) {
			struct confine_request q = {0};
			int files[CONFINE_MAX_FILES + 1];
			unsigned n_files = CONFINE_MAX_FILES + 1;
			ssize_t k =
				confine_receive(sock, &q, sizeof(q), files, &n_files, MSG_DONTWAIT);

			if (k == 0 || (k < 0 && k != -EAGAIN))
				_exit(0);
			if (k >= (ssize_t)offsetof(struct confine_request, arg))
				forker_process_serve(&p, &q, files, n_files);
		}
	}
}
