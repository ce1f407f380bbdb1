/* SPDX-License-Identifier: BSD-2-Clause */
/* See prepare.h.  Answers are kept by the readers until the recorder asks the same. */
#include "daemon/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "daemon/layouts.h"
#include "daemon/readers.h"

/* Asks for what the file PATH tells; -1 when it cannot be run. */
static int prepare_file(const char *path)
{
	_fd_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct image_layout layout;
	struct unwind_table table;

	if (fd < 0 || access(path, X_OK) < 0)
		return -1;
	if (layouts_probe(fd, &layout, NULL) != -EAGAIN)
		return 0;
	if (readers_load_table(fd, &table, NULL) >= 0)
		unwind_table_release(&table);
	return 0;
}

static void prepare_program(const char *command)
{
	const char *dirs = getenv("PATH");
	char path[4096];

	if (strchr(command, '/')) {
		prepare_file(command);
		return;
	}
	for (size_t n; dirs && *dirs; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		snprintf(path, sizeof(path), "%.*s/%s", n ? (int)n : 1, n ? dirs : ".", command);
		if (prepare_file(path) == 0)
			return;
	}
}

static int prepare_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *name = str_basename(info->dlpi_name);

	if (str_starts(name, "libc.so.") || str_starts(name, "ld-"))
		prepare_file(info->dlpi_name);
	return 0;
}

void prepare_command(const char *command)
{
	if (!readers_live())
		return;
	prepare_program(command);
	dl_iterate_phdr(prepare_library, NULL);
}

void prepare_wait(uint64_t end_ns)
{
	while (readers_n_waiting() && readers_wait(end_ns))
		;
}
