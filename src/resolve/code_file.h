/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions and constants of one image, read from its ELF file by svma. */
#ifndef RESOLVE_CODE_FILE_H
#define RESOLVE_CODE_FILE_H

#include "base/vec.h"
#include "resolve/elf_file.h"

#define CODE_FILE_WINDOW 4096

struct code_reloc {
	uint64_t svma, value;
};

struct code_file {
	struct elf_file elf;
	int fd;
	VEC(struct code_reloc) relocs; /* by svma; pointers that the loader writes */
	bool has_relocs;	       /* they were read */
	uint64_t window_off;	       /* what was read last */
	size_t n_window;
	uint8_t window[CODE_FILE_WINDOW];
};

/* Opens the file at FD, which becomes C's, also when that fails. */
int code_file_open(struct code_file *c, int fd, struct err *err);
void code_file_close(struct code_file *c);

/* Reads [START, END) into fresh memory (free it); NULL when it is not all in the file. */
uint8_t *code_file_load(struct code_file *c, uint64_t start, uint64_t end);

/* Copies N bytes at SVMA to RET, pointers as the loader will have them; false when the file does
 * not have them. */
bool code_file_read(struct code_file *c, uint64_t svma, uint8_t *ret, size_t n);

#endif
