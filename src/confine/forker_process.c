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

#include "base/vec.h"
#include "confine/forker_impl.h"
#include "confine/rights.h"

/* That of recorders (dwell record). */
#define PROMPT_NICENESS (-10)

/* To open files: other users', mapped ones, those in other processes' roots.  To make children:
 * another identity. */
#define RIGHTS                                                                                     \
	(RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_CHECKPOINT_RESTORE) |      \
	 RIGHT(CAP_SETUID) | RIGHT(CAP_SETGID))

struct running {
	pid_t pid;
	uint32_t id;
};

struct process {
	const struct confine_job *jobs;
	unsigned n_jobs;
	int sock;
	size_t base_bytes;
	VEC(struct running) running;
};

/* Address space in use, proc(5) /proc/PID/statm. */
static size_t own_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!f || fscanf(f, "%lu", &pages) != 1)
		pages = 16384;
	if (f)
		fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void tell_end(const struct process *p, uint32_t id, int status)
{
	struct confine_reply r = {.id = id, .what = REPLY_END, .status = status};

	confine_send(p->sock, &r, sizeof(r), NULL, 0, 0);
}

static void forker_process_serve(struct process *p, const struct confine_request *q, const int *fds,
				 unsigned n_fds)
{
	pid_t pid = -1;

	if (q->kind < p->n_jobs && n_fds == q->n_files + 1)
		pid = fork();
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		confine_child(&p->jobs[q->kind], q, p->sock, fds[0], fds + 1, p->base_bytes);
	}
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
	if (pid < 0)
		tell_end(p, q->id, 1 << 8); /* as if it had ended with status 1 */
	else
		vec_push(&p->running, (struct running){pid, q->id});
}

static void reap(struct process *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		vec_each (r, &p->running) {
			if (r->pid != pid)
				continue;
			tell_end(p, r->id, status);
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
	/* Before somebody waits at a screen, as the recorder; else children would inherit its urgency. */
	setpriority(PRIO_PROCESS, 0, jobs[0].prompt ? PROMPT_NICENESS : 0);
	rights_keep(RIGHTS, NULL);
	p.base_bytes = own_bytes();
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
