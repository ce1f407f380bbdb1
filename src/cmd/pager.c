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

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/cmd.h"

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	_str_ struct str s = {0};
	bool found = false;

	while (path && *path && !found) {
		size_t n = strcspn(path, ":");

		str_reset(&s);
		str_addn(&s, path, n);
		str_addf(&s, "/%s", program);
		found = access(str_get(&s), X_OK) == 0;
		path += n + (path[n] == ':');
	}
	return found;
}

/* The pager's command line, NULL for none.  less shows long lines cut and scrolls sideways; where
 * lines are too wide it stays, for their ends could not be seen otherwise. */
static const char *choose_pager(bool is_wide)
{
	const char *pager = getenv("DWELL_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = is_in_path("less") ? (is_wide ? "less -RSX" : "less -FRSX") : "";
	else
		setenv("LESS", is_wide ? "RSX" : "FRSX", 0);
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* PAGER's command line that begins at LINE, in fresh memory: less(1) alone knows how. */
static char *pager_at(const char *pager, size_t line)
{
	const char *end = pager + strcspn(pager, " "), *name = end;

	while (name > pager && name[-1] != '/')
		name--;
	if (line && end - name == 4 && strncmp(name, "less", 4) == 0)
		return xasprintf("%s +%zu", pager, line);
	return xstrdup(pager);
}

/* Whether a line of TEXT takes more than WIDTH columns; escape sequences for colours take none. */
static bool has_wide_line(const char *text, size_t n, size_t width)
{
	struct str line = {0};
	bool is_wide = false;

	for (const char *p = text, *end = text + n; p < end && !is_wide; p++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		str_reset(&line);
		for (stop = stop ? stop : end; p < stop; p++) {
			if (*p == '\033')
				while (p < stop && *p != 'm')
					p++;
			else
				str_addc(&line, *p);
		}
		is_wide = text_width(str_get(&line)) > width;
	}
	str_release(&line);
	return is_wide;
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
	return rc < 0 ? err_errno(err, rc, "cannot write the output") : 0;
}

int pager_write(const char *text, size_t n, bool paged, size_t first_line, struct err *err)
{
	_mem_ char *at = NULL;
	struct winsize w = {0};
	const char *pager = NULL;
	bool is_wide;
	int fds[2];
	pid_t pid;

	if (paged && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0) {
		is_wide = w.ws_col && has_wide_line(text, n, w.ws_col);
		if (is_wide || n_lines(text, n) >= w.ws_row)
			pager = choose_pager(is_wide);
	}
	if (!pager || pipe(fds) < 0)
		return plain_write(text, n, err);
	at = pager_at(pager, first_line);
	pid = fork();
	if (pid == 0) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		execl("/bin/sh", "sh", "-c", at, (char *)NULL);
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
