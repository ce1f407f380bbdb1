/* SPDX-License-Identifier: BSD-2-Clause */
/* mkhpc DIR released|page: writes the database of hpcgen.h.
 * mkhpc DIR measured: writes the measurement of hpcrun_t.h, as hpcrun leaves it behind. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "hpcgen.h"
#include "hpcrun_t.h"

#define THREAD "prog-000003-002-11ac0300-5560-0"

static int write_measured(const char *path, struct err *err)
{
	struct wr values = {0}, times = {0};
	int rc = file_mkdirs(path, err);
	_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	hpcrun_t_make(&values);
	hpcrun_t_trace(&times);
	if (rc >= 0)
		rc = file_replace_lazily(dir, THREAD ".hpcrun", values.v, values.n, err);
	if (rc >= 0)
		rc = file_replace_lazily(dir, THREAD ".hpctrace", times.v, times.n, err);
	wr_release(&values);
	wr_release(&times);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err;
	int rc;

	if (argc != 3) {
		fputs("usage: mkhpc DIR released|page|measured\n", stderr);
		return 2;
	}
	if (strcmp(argv[2], "measured") == 0)
		rc = write_measured(argv[1], &err);
	else
		rc = hpcgen_write(argv[1], strcmp(argv[2], "page") == 0 ? HPC_PAGE : HPC_RELEASED,
				  &err);
	if (rc < 0) {
		fprintf(stderr, "mkhpc: %s\n", err.msg);
		return 2;
	}
	return 0;
}
