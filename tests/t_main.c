/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the tests of one program and prints TAP; `PROGRAM NAME...` runs those only. */
#include "t.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int t_failed;
const char *t_skip_why;

extern const struct t_case *const __start_t_registry[], *const __stop_t_registry[];

/* Stands in for the C library's. Nobody pulls the plug during a test, and a test that saves
 * thousands of small files would spend a minute waiting for a busy disk; that the program asks
 * at all is counted and made to fail at file_fault, before it comes here. */
int fsync(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

bool t_quick(void)
{
	return getenv("T_QUICK") != NULL;
}

unsigned t_cases(unsigned otherwise)
{
	const char *s = getenv("T_CASES");

	return s ? (unsigned)atol(s) : t_quick() ? (otherwise + 3) / 4 : otherwise;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	int n = 0, n_bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (const struct t_case *const *t = __start_t_registry; t < __stop_t_registry; t++) {
		if (!wanted((*t)->name, argc, argv))
			continue;
		t_failed = 0;
		t_skip_why = NULL;
		(*t)->run();
		n++;
		n_bad += t_failed > 0;
		printf("%s %d %s%s%s\n", t_failed ? "not ok" : "ok", n, (*t)->name,
		       t_skip_why ? " # SKIP " : "", t_skip_why ? t_skip_why : "");
		if (t_failed)
			printf("# run it alone: %s %s\n", argv[0], (*t)->name);
	}
	printf("1..%d\n", n);
	return n_bad > 0;
}
