/* SPDX-License-Identifier: BSD-2-Clause */
/* See record_target.h. */
#include "cmd/record_target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

int record_parse_pids(const opt_list *lists, struct target *t, struct err *err)
{
	vec_each (list, lists) {
		_mem_ char *copy = xstrdup(*list);
		char *save = NULL;

		for (char *s = strtok_r(copy, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
			uint64_t pid;

			if (str_parse_u64(s, 10, &pid) < 0 || !pid || pid > INT32_MAX)
				return err_set(err, -EINVAL, "-p: '%s' is not a process id", s);
			vec_push(&t->pids, (uint32_t)pid);
		}
	}
	return 0;
}

int record_open_cgroup(const char *name, struct err *err)
{
	static const char *const below[] = {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/",
					    "/sys/fs/cgroup/perf_event/"};

	for (size_t i = name[0] == '/' ? 0 : 1; i < n_elems(below); i++) {
		_mem_ char *path = xasprintf("%s%s", below[i], name);
		_mem_ char *procs = xasprintf("%s/cgroup.procs", path);
		int fd = access(procs, F_OK) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
						  : -1;

		if (fd >= 0)
			return fd;
	}
	return err_set(err, -ENOENT, "no cgroup %s: name a directory of a cgroup file system",
		       name);
}

int record_choose_target(const struct record_words *w, const char *what, struct target *t,
			 struct record_child *ch, struct err *err)
{
	unsigned n = w->all + (w->pids.n > 0) + (w->cgroup != NULL);
	int rc;

	if (n > 1)
		return err_set(err, -EINVAL, "-a, -p and -G exclude each other");
	if (!n && !w->command.n)
		return err_set(err, -EINVAL, "nothing to %s: -a, -p PID, -G CGROUP or a command",
			       what);
	if (w->command.n) {
		rc = record_child_prepare(ch, &w->command, err);
		if (rc < 0)
			return rc;
	}
	t->cgroup_fd = -1;
	if (w->pids.n) {
		t->kind = TARGET_PIDS;
		return record_parse_pids(&w->pids, t, err);
	}
	if (w->cgroup) {
		t->kind = TARGET_CGROUP;
		t->cgroup_fd = record_open_cgroup(w->cgroup, err);
		return t->cgroup_fd < 0 ? t->cgroup_fd : 0;
	}
	t->kind = w->all ? TARGET_ALL : TARGET_COMMAND;
	if (!w->all)
		vec_push(&t->pids, (uint32_t)ch->pid);
	return 0;
}

void record_target_release(struct target *t)
{
	if (t->cgroup_fd > 0)
		close(t->cgroup_fd);
	vec_release(&t->pids);
}

bool record_all_gone(const struct target *t)
{
	if (t->kind != TARGET_PIDS)
		return false;
	vec_each (pid, &t->pids)
		if (kill((pid_t)*pid, 0) >= 0 || errno != ESRCH)
			return false;
	return true;
}
