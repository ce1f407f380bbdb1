/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child of the forker does: opens its files, gives up everything, reads them, answers, ends.
 *
 * Order matters.  The alarm comes first, for opening a file may take for ever: the signal ends a
 * process that waits for a file system, too.  Limits come before the identity is changed, because
 * some need rights; the filter of system calls comes last, because all before it needs more. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plain_file.h"
#include "confine/filter.h"
#include "confine/forker_impl.h"
#include "confine/rights.h"

/* A child takes only CPU time that nobody else wants.  It gets this niceness where it gives up its
 * rights: what it does before, forking and opening, costs the same for every file.  A child that
 * somebody waits for at a screen has the forker's, 0, for some CPU time, more than honest files
 * take: on a machine with more work than CPUs it would else be served after all of that work. */
#define NICENESS 19

static void be_nice(int sig)
{
	(void)sig;
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

static bool be_nice_after(unsigned lent_ms)
{
	const struct sigaction act = {.sa_handler = be_nice, .sa_flags = SA_RESTART};
	const struct itimerval after = {.it_value = {lent_ms / 1000, lent_ms % 1000 * 1000}};

	return sigaction(SIGPROF, &act, NULL) >= 0 && setitimer(ITIMER_PROF, &after, NULL) >= 0;
}

static void limit(__rlimit_resource_t what, size_t most)
{
	struct rlimit l = {most, most};

	setrlimit(what, &l);
}

/* Where children are taken first when memory is short. */
static void offer_for_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) != 4)
		errno = 0; /* without /proc it is as likely to go as its parent */
	if (fd >= 0)
		close(fd);
}

static void set_limits(const struct confine_job *job, const struct confine_base *base)
{
	offer_for_oom();
	/* SIGXCPU says what it was; SIGKILL comes for who ignores that. */
	setrlimit(RLIMIT_CPU, &(struct rlimit){job->cpu_s, job->cpu_s + 1});
	limit(RLIMIT_FSIZE, job->most_answer + 4096);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_MEMLOCK, 0);
	limit(RLIMIT_MSGQUEUE, 0);
	limit(RLIMIT_NOFILE, 0); /* those that are open stay so */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they map terabytes */
	limit(RLIMIT_AS, base->all_bytes + job->memory + job->mapped);
	limit(RLIMIT_DATA, base->data_bytes + job->memory); /* pages of files are none */
#endif
}

/* Opens files that were handed over with O_PATH, for reading, if they are plain files. */
static void open_given(const int *paths, unsigned n, struct confine_files *ret)
{
	ret->n = n;
	for (unsigned i = 0; i < n; i++) {
		struct stat st;

		ret->path[i] = paths[i];
		ret->fd[i] = -1;
		if (fstat(paths[i], &st) >= 0 && S_ISREG(st.st_mode))
			ret->fd[i] = plain_file_reopen(paths[i]);
	}
}

/* Reads a byte of each file, so that a file system that never answers is found out before the child
 * waits for CPU time as well. */
static void child_touch(const struct confine_files *files)
{
	char byte;

	for (unsigned i = 0; i < files->n; i++)
		if (files->fd[i] >= 0 && pread(files->fd[i], &byte, 1, 0) < 0)
			errno = 0; /* whoever reads the file sees it */
}

/* Tells what the files' file systems say, which may be asked here and nowhere else. */
static bool tell_facts(int sock, uint32_t id, const struct confine_files *files)
{
	struct confine_reply reply = {.id = id, .what = REPLY_FACTS};

	for (unsigned i = 0; i < files->n; i++) {
		struct statvfs fs;

		if (files->fd[i] < 0 || fstatvfs(files->fd[i], &fs) < 0 || fs.f_flag & ST_NOSUID)
			reply.nosuid |= 1u << i;
	}
	return confine_send(sock, &reply, sizeof(reply), NULL, 0, 0) >= 0;
}

static bool become_nobody(const struct confine_job *job, const struct confine_base *base,
			  unsigned lent_ms)
{
	uid_t uid;
	gid_t gid;

	rights_reader(&uid, &gid);
	set_limits(job, base);
	return rights_give_up(uid, gid, NULL) >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) >= 0 &&
	       prctl(PR_SET_DUMPABLE, 0) >= 0 &&
	       (lent_ms ? be_nice_after(lent_ms) : setpriority(PRIO_PROCESS, 0, NICENESS) >= 0) &&
	       filter_reader(NULL) >= 0;
}

_Noreturn void confine_child(const struct confine_job *job, const struct confine_request *q,
			     int sock, int answer_fd, const int *files,
			     const struct confine_base *base, unsigned lent_ms)
{
	struct confine_files open_files = {0};
	struct err err = {0};
	struct wr answer = {0}, head = {0};
	int rc;

	signal(SIGALRM, SIG_DFL);
	alarm(job->wall_s);
	prctl(PR_SET_NAME, "dwell-reader");
	if (job->open)
		job->open(q->arg, q->n_arg, &open_files);
	else
		open_given(files, q->n_files, &open_files);
	if (job->open_beside && open_files.n < CONFINE_MAX_FILES)
		job->open_beside(q->arg, q->n_arg, &open_files);
	if (job->open && open_files.n) {
		struct confine_reply reply = {.id = q->id, .what = REPLY_FILES};

		if (confine_send(sock, &reply, sizeof(reply), open_files.path, open_files.n, 0) < 0)
			_exit(3);
	}
	child_touch(&open_files);
	if (!tell_facts(sock, q->id, &open_files))
		_exit(3);
	close(sock);
	alarm(job->wall_s * CONFINE_BUSY_TIMES);
	if (!become_nobody(job, base, lent_ms))
		_exit(3);
	rc = job->run(&open_files, q->arg, q->n_arg, &answer, &err);
	wr_le32(&head, (uint32_t)rc);
	if (file_write_all(answer_fd, head.v, head.n) < 0 ||
	    file_write_all(answer_fd, rc < 0 ? (const void *)err.msg : answer.v,
			   rc < 0 ? strlen(err.msg) : answer.n) < 0)
		_exit(4);
	_exit(0);
}
