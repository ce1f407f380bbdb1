/* SPDX-License-Identifier: BSD-2-Clause */
/* What the unwind table of each file costs.
 *
 *     bench_unwind FILE...
 *
 * One line a file: time to read the file and build (the least of several), bytes of table per byte
 * of code that has frame information, rows, rules. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "resolve/elf_unwind.h"

#define ROUNDS 5

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int measure(const char *path)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table t;
	struct err err = {0};
	double least_ms = 1e9;

	if (fd < 0) {
		perror(path);
		return 2;
	}
	for (int i = 0; i < ROUNDS; i++) {
		double t0 = now_ms(), ms;

		if (elf_unwind_load(fd, &t, &err) < 0) {
			fprintf(stderr, "bench_unwind: %s: %s\n", path, err.msg);
			return 2;
		}
		ms = now_ms() - t0;
		least_ms = ms < least_ms ? ms : least_ms;
		if (i + 1 < ROUNDS)
			unwind_table_release(&t);
	}
	printf("%s: built in %.1f ms, %.4f bytes a byte of code, code %.2f MB, table %.1f KB, "
	       "%u rows, %u rules, %u FDEs, %u too complex, %u damaged\n",
	       path, least_ms, (double)unwind_table_bytes(&t) / (double)t.n_text_bytes,
	       (double)t.n_text_bytes / 1e6, (double)unwind_table_bytes(&t) / 1e3, t.n_rows,
	       t.n_rules, t.n_fdes, t.n_too_complex, t.n_damaged);
	unwind_table_release(&t);
	return 0;
}

int main(int argc, char **argv)
{
	int rc = 0;

	for (int i = 1; i < argc; i++)
		rc |= measure(argv[i]);
	return rc;
}
