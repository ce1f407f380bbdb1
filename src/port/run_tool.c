/* SPDX-License-Identifier: BSD-2-Clause */
/* See run_tool.h.  Input, output and messages are nameless files, so that nobody waits for a
 * pipe. */
#include "port/run_tool.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"

#define NOBODY	   65534u	     /* Debian's base-passwd */
#define NOT_THERE  127		     /* exit status, as env(1) */
#define MOST_BYTES ((rlim_t)4 << 30) /* of its memory */

static void tool_limit(int what, rlim_t n)
{
	setrlimit(what, &(struct rlimit){n, n});
}

/* In the child. */
static _Noreturn void tool_become(const char *const *argv, const int fds[3],
				  const struct tool_limits *l)
{
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			_exit(NOT_THERE - 1);
	tool_limit(RLIMIT_CPU, l->seconds);
	tool_limit(RLIMIT_FSIZE, l->answer_bytes);
	tool_limit(RLIMIT_AS, MOST_BYTES);
	tool_limit(RLIMIT_CORE, 0);
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) < 0))
		_exit(NOT_THERE - 1);
	execvp(argv[0], (char *const *)argv);
	_exit(errno == ENOENT ? NOT_THERE : NOT_THERE - 1);
}

/* The first line that the program wrote to FD, and what it was. */
static int say_failed(const char *name, int status, int fd, struct err *err)
{
	char line[160];
	const ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		return err_set(err, -ETIMEDOUT, "%s: took longer than it may", name);
	if (WIFSIGNALED(status))
		return err_set(err, -EBADMSG, "%s: ended by signal %d (%s)", name, WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	return err_set(err, -EBADMSG, "%s: %s", name, line[0] ? line : "failed");
}

static int take_answer(int fd, const struct tool_limits *l, struct str *ret, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "a tool's answer: %s", strerror(errno));
	if ((size_t)st.st_size >= l->answer_bytes)
		return err_set(err, -E2BIG, "more than %zu bytes of answer", l->answer_bytes);
	vec_reserve(ret, (size_t)st.st_size + 1);
	if (file_pread_all(fd, ret->v, (size_t)st.st_size, 0) < 0)
		return err_set(err, -EIO, "a tool's answer cannot be read");
	ret->n = (size_t)st.st_size;
	ret->v[ret->n] = '\0';
	return 0;
}

int run_tool(const char *const *argv, const void *input, size_t n, const struct tool_limits *limits,
	     struct str *ret, struct err *err)
{
	_fd_ int in = memfd_create("input", MFD_CLOEXEC);
	_fd_ int out = memfd_create("output", MFD_CLOEXEC);
	_fd_ int messages = memfd_create("messages", MFD_CLOEXEC);
	const int fds[3] = {in, out, messages};
	int status, rc;
	pid_t pid;

	if (in < 0 || out < 0 || messages < 0 || file_pwrite_all(in, input, n, 0) < 0)
		return err_set(err, -ENOMEM, "%s: no room for its input", argv[0]);
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "%s: cannot be started: %s", argv[0], strerror(errno));
	if (pid == 0)
		tool_become(argv, fds, limits);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "%s: %s", argv[0], strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
		return err_set(err, -ENOENT, "%s: no such program", argv[0]);
	rc = take_answer(out, limits, ret, err);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return say_failed(argv[0], status, messages, err);
	return rc;
}
