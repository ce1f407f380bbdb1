/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether nothing called the code at a place: where the frame information says that the return
 * address is undefined, as it is in _start and in clone, or what the kernel jumps to in a new
 * program (the first bytes at a file's entry point: that of ld.so has no frame information).
 *
 *     bench_entry < PLACES
 *
 * A place is a line "svma HEX PATH" or "off HEX PATH" (an offset in the file); the answer is a
 * line: "1", "0", or "?" for a file without frame information. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "resolve/elf_unwind.h"

struct file {
	struct file *next;
	char *path;
	int rc; /* of loading its table */
	struct unwind_table table;
	Elf64_Phdr segments[64];
	int n_segments;
	uint64_t entry; /* offset in the file */
};

#define ENTRY_BYTES 16 /* up to its first call */

static struct file *files;

static uint64_t file_offset(const struct file *f, uint64_t svma)
{
	for (int i = 0; i < f->n_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type == PT_LOAD && svma - p->p_vaddr < p->p_filesz)
			return svma - p->p_vaddr + p->p_offset;
	}
	return UINT64_MAX;
}

static int read_segments(int fd, struct file *f)
{
	Elf64_Ehdr h;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || h.e_phentsize != sizeof(Elf64_Phdr) ||
	    h.e_phnum > 64)
		return -EBADMSG;
	f->n_segments = h.e_phnum;
	if (pread(fd, f->segments, h.e_phnum * sizeof(Elf64_Phdr), (off_t)h.e_phoff) !=
	    (ssize_t)(h.e_phnum * sizeof(Elf64_Phdr)))
		return -EBADMSG;
	f->entry = file_offset(f, h.e_entry);
	return 0;
}

static struct file *find_file(const char *path)
{
	_fd_ int fd = -1;
	struct err err = {0};
	struct file *f;

	for (f = files; f; f = f->next)
		if (strcmp(f->path, path) == 0)
			return f;
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->next = files;
	files = f;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	f->rc = fd < 0 ? -errno : read_segments(fd, f);
	if (f->rc == 0)
		f->rc = elf_unwind_load(fd, &f->table, &err);
	return f;
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		char kind[8], path[4096];
		unsigned long long at;
		struct file *f;

		if (sscanf(line, "%7s %llx %4095[^\n]", kind, &at, path) != 3) {
			fprintf(stderr, "bench_entry: not a place: %s", line);
			return 2;
		}
		f = find_file(path);
		if (f->rc < 0) {
			puts("?");
			continue;
		}
		if (strcmp(kind, "svma") == 0)
			at = file_offset(f, at);
		puts(at - f->entry < ENTRY_BYTES ||
				     unwind_table_find(&f->table, at)->ra == UNWIND_RA_NONE
			     ? "1"
			     : "0");
	}
	free(line);
	return 0;
}
