/* SPDX-License-Identifier: BSD-2-Clause */
/* The last step of output: to stdout, or on a terminal through a pager when it does not fit.
 *
 * A write that fails is an error of the command (a full disk must not look like success), except
 * that a pager or pipe closed by its reader is no failure: whoever reads has seen enough. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/cmd.h"

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	struct str s = {0};
	bool found = false;

	while (path && *path && !found) {
		size_t n = strcspn(path, ":");

		str_reset(&s);
		str_addn(&s, path, n);
		str_addf(&s, "/%s", program);
		found = access(str_get(&s), X_OK) == 0;
		path += n + (path[n] == ':');
	}
	str_release(&s);
	return found;
}

/* The pager's command line, NULL for none. */
static const char *choose_pager(void)
{
	const char *pager = getenv("DWELL_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = is_in_path("less") ? "less -FRX" : "";
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

static size_t n_lines(const char *text, size_t n)
{
	size_t lines = 0;

	for (const char *p = text; (p = memchr(p, '\n', n - (size_t)(p - text))); p++)
		lines++;
	return lines;
}

static int plain_write(const char *text, size_t n, struct err *err)
{
	int rc = file_write_all(STDOUT_FILENO, text, n);

	if (rc == -EPIPE)
		return 0;
	return rc ? err_errno(err, rc, "cannot write the output") : 0;
}

int pager_write(const char *text, size_t n, bool paged, struct err *err)
{
	struct winsize w = {0};
	const char *pager = NULL;
	int fds[2];
	pid_t pid;

	if (paged && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 &&
	    n_lines(text, n) >= w.ws_row)
		pager = choose_pager();
	if (!pager || pipe(fds) < 0)
		return plain_write(text, n, err);
	pid = fork();
	if (pid == 0) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		_exit(127);
	}
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return plain_write(text, n, err);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* the pager's to handle */
	file_write_all(fds[1], text, n);
	close(fds[1]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}
