/* SPDX-License-Identifier: BSD-2-Clause */
/* See page_server.h. */
#include "daemon/page_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "confine/rights.h"

/* Who reads DB. */
static int choose_reader(const char *db, uid_t *ret_uid, gid_t *ret_gid, struct err *err)
{
	struct stat st;

	if (stat(db, &st) < 0)
		return err_errno(err, -errno, "%s", db);
	rights_reader(ret_uid, ret_gid);
	if ((st.st_mode & 05) == 05)
		return 0;
	if ((st.st_mode & 050) != 050 || st.st_gid == 0)
		return err_set(err, -EACCES,
			       "--web: its process has no rights and may not read %s: "
			       "give a new database a group (--group)",
			       db);
	*ret_gid = st.st_gid;
	return 0;
}

/* What memory is short of is taken from the page first, never from what records. */
static void come_last(void)
{
	static const char most[] = "1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, most, sizeof(most) - 1);
		close(fd);
	}
	(void)!nice(10);
}

static int become(const char *db, struct err *err)
{
	uid_t uid;
	gid_t gid;
	int rc;

	if (geteuid() != 0)
		return rights_keep(0, err);
	rc = choose_reader(db, &uid, &gid, err);
	return rc < 0 ? rc : rights_give_up(uid, gid, err);
}

/* In the child, whose stdin is LIFE and whose stdout is OUT: never returns.  A signal at the
 * parent's death would not come: a daemon that has let go of its rights may send none to another
 * user. */
static void run_page(const char *db, const char *where, int life, int out)
{
	char *const argv[] = {"dwell",
			      "web",
			      "--while-stdin",
			      "--listen",
			      (char *)(uintptr_t)where,
			      (char *)(uintptr_t)db,
			      NULL};
	char *const no_environment[] = {"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", NULL};
	char self[4096], *slash;
	_mem_ char *beside = NULL;
	struct err err = {0};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	beside = xasprintf("%.*s/dwell", slash ? (int)(slash - self) : 0, self);
	come_last();
	if (become(db, &err) < 0) {
		fprintf(stderr, "dwelld: %s\n", err.msg);
		_exit(2);
	}
	signal(SIGINT, SIG_IGN); /* a terminal's goes to all; this one ends after dwelld */
	if (dup2(life, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(2);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	execve(beside, argv, no_environment);
	fprintf(stderr, "dwelld: --web: %s: %s\n", beside, strerror(errno));
	_exit(2);
}

int page_server_start(const char *db, const char *where, struct page_server *ret, struct err *err)
{
	int out[2], life[2], rc = 0;
	uid_t uid;
	gid_t gid;

	*ret = (struct page_server){.said = -1};
	if (geteuid() == 0)
		rc = choose_reader(db, &uid, &gid, err);
	if (rc < 0)
		return rc;
	if (pipe2(life, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "--web: cannot make a pipe");
	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0) {
		rc = -errno;
		close(life[0]);
		close(life[1]);
		return err_errno(err, rc, "--web: cannot make a pipe");
	}
	ret->pid = fork();
	rc = ret->pid < 0 ? -errno : 0;
	if (ret->pid == 0)
		run_page(db, where, life[0], out[1]);
	close(life[0]);
	close(out[1]);
	if (rc < 0) {
		close(life[1]);
		close(out[0]);
		return err_errno(err, rc, "--web: cannot make a process");
	}
	ret->said = out[0]; /* life[1] is closed by this process's end */
	return 0;
}

void page_server_step(struct page_server *s, void (*say)(void *ctx, const char *text), void *ctx)
{
	char text[256], line[320];
	ssize_t n = s->said < 0 ? 0 : read(s->said, text, sizeof(text) - 1);
	int status = 0;

	if (s->said < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	if (n > 0) {
		text[n] = '\0';
		text[strcspn(text, "\n")] = '\0';
		snprintf(line, sizeof(line), "the page is at %s", text);
		say(ctx, line);
		return;
	}
	close(s->said);
	s->said = -1;
	waitpid(s->pid, &status, 0);
	snprintf(line, sizeof(line), "the page's server has ended (%s %d); recording goes on",
		 WIFSIGNALED(status) ? "signal" : "status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	say(ctx, line);
}
