/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library that the tests themselves run with: a large file that is always there. */
#ifndef TESTS_UNIT_LIBC_T_H
#define TESTS_UNIT_LIBC_T_H

#include <stdio.h>
#include <string.h>

/* Its path; lives as long as the program. */
static inline const char *libc_path(void)
{
	static char path[256];
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%*s r-xp %*s %*s %*s %255s", path) == 1 &&
		    strstr(path, "/libc.so"))
			break;
	if (maps)
		fclose(maps);
	return path;
}

#endif
