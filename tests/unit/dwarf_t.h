/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of DWARF share: a scratch directory that programs are compiled in. */
#ifndef TESTS_UNIT_DWARF_T_H
#define TESTS_UNIT_DWARF_T_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "resolve/elf_file.h"
#include "resolve/lines.h"
#include "t.h"

static char dir[] = "/tmp/dwell-test-XXXXXX";

static bool run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Runs a shell command in the scratch directory, which is made when first needed. */
static bool run(const char *fmt, ...)
{
	char cmd[1024], all[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	snprintf(all, sizeof(all), "cd %s && { %s; }", dir, cmd);
	return system(all) == 0;
}

__attribute__((destructor)) static void remove_dir(void)
{
	if (!strchr(dir, 'X') || !strstr(dir, "XXXXXX"))
		run("rm -rf %s", dir);
}

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static struct lines *open_lines(const char *name, int *ret_code)
{
	char path[256];
	struct err err = {""};
	struct lines *l;
	int fd, code;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	l = lines_open(fd, path, &code, &err);
	if (!l && !ret_code)
		printf("# %s\n", err.msg);
	if (ret_code)
		*ret_code = code;
	close(fd);
	return l;
}

/* The range of .text of the file NAME. */
static bool text_range(const char *name, uint64_t *ret_start, uint64_t *ret_end)
{
	char path[256];
	struct elf_file f;
	const struct elf_section *s;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || elf_file_open(&f, fd, NULL) < 0)
		return false;
	s = elf_file_read_sections(&f, NULL) == 0 ? elf_file_find_section(&f, ".text") : NULL;
	if (s) {
		*ret_start = s->svma;
		*ret_end = s->svma + s->size;
	}
	elf_file_close(&f);
	close(fd);
	return s;
}

/* Writes each address of [START, END) to the file "addresses", a line each. */
static inline void write_addresses(uint64_t start, uint64_t end)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/addresses", dir);
	f = fopen(path, "w");
	for (uint64_t svma = start; f && svma < end; svma++)
		fprintf(f, "%#" PRIx64 "\n", svma);
	if (f)
		fclose(f);
}

#endif
