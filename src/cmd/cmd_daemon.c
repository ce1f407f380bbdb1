/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell daemon, and dwell called dcpid: runs dwelld, the daemon's own program, with the same
 * options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"

int cmd_daemon(struct cmd *c)
{
	static char called[] = "dwell daemon", as_dcpid[] = "dcpid";
	char self[4096], *slash;
	_mem_ char *beside = NULL;
	char **argv = xcalloc((size_t)c->argc + 1, sizeof(*argv));
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	beside = xasprintf("%.*s/dwelld", slash ? (int)(slash - self) : 0, self);
	argv[0] = c->dcpi ? as_dcpid : called;
	for (int i = 1; i < c->argc; i++)
		argv[i] = c->argv[i];
	execv(beside, argv);
	if (errno == ENOENT)
		execvp("dwelld", argv);
	n = -errno;
	free(argv);
	return err_errno(&c->err, (int)n, "cannot run %s", beside);
}
