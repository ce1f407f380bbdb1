/* SPDX-License-Identifier: BSD-2-Clause */
/* See record_child.h. */
#include "cmd/record_child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

int record_child_prepare(struct record_child *ch, const opt_list *argv, struct err *err)
{
	int go[2], fail[2], e;
	char **args;
	char byte;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(fail, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "pipe");
	ch->pid = fork();
	if (ch->pid < 0)
		return err_errno(err, -errno, "fork");
	if (ch->pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(126);
		args = xcalloc(argv->n + 1, sizeof(*args));
		for (size_t i = 0; i < argv->n; i++)
			args[i] = (char *)argv->v[i];
		execvp(args[0], args);
		e = errno;
		_exit(write(fail[1], &e, sizeof(e)) == sizeof(e) ? 127 : 126);
	}
	close(go[0]);
	close(fail[1]);
	ch->go_fd = go[1];
	ch->fail_fd = fail[0];
	return 0;
}

int record_child_start(struct record_child *ch, const char *name, struct err *err)
{
	int e;
	ssize_t n;

	if (write(ch->go_fd, "", 1) != 1)
		return err_errno(err, -errno, "cannot start %s", name);
	do
		n = read(ch->fail_fd, &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(e))
		return 0;
	ch->failed_exec = true;
	return err_errno(err, -e, "cannot run %s", name);
}

bool record_child_ended(struct record_child *ch)
{
	if (ch->pid > 0 && !ch->ended && waitpid(ch->pid, &ch->wait_status, WNOHANG) == ch->pid)
		ch->ended = true;
	return ch->ended;
}

int record_child_finish(struct record_child *ch)
{
	if (ch->pid <= 0)
		return 0;
	close(ch->go_fd);
	close(ch->fail_fd);
	while (!ch->ended && waitpid(ch->pid, &ch->wait_status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(ch->wait_status) ? 128 + WTERMSIG(ch->wait_status)
					    : WEXITSTATUS(ch->wait_status);
}
