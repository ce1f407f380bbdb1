/* SPDX-License-Identifier: BSD-2-Clause */
/* See record_target.h. */
#include "cmd/record_target.h"

#include <errno.h>
#include <fcntl.h>
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
