/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions and constants of one image by svma, read from its ELF file, or from what was
 * kept of it. */
#ifndef RESOLVE_CODE_FILE_H
#define RESOLVE_CODE_FILE_H

#include "base/vec.h"
#include "resolve/elf_file.h"
#include "resolve/kept_code.h"

#define CODE_FILE_WINDOW 4096

struct code_reloc {
	uint64_t svma, value;
};

struct code_file {
	struct elf_file elf; /* of kept code: is_64, type and machine alone */
	int fd;		     /* -1: kept code */
	bool is_borrowed;    /* the descriptor is somebody else's */
	const struct kept_code *kept;
	VEC(struct code_reloc) relocs; /* by svma; pointers that the loader writes */
	bool has_relocs;	       /* they were read */
	size_t next_reloc;	       /* behind the one found last */
	uint64_t window_off;	       /* what was read last */
	size_t n_window;
	uint8_t window[CODE_FILE_WINDOW];
};

/* Opens the file at FD, which becomes C's, also when that fails. */
int code_file_open(struct code_file *c, int fd, struct err *err);

/* Opens the file at FD, which stays the caller's. */
int code_file_borrow(struct code_file *c, int fd, struct err *err);

/* Reads what was kept, which must outlive C. */
void code_file_keep(struct code_file *c, const struct kept_code *kept);
void code_file_close(struct code_file *c);

/* Reads [START, END) into fresh memory (free it); NULL when it is not all in the file. */
uint8_t *code_file_load(const struct code_file *c, uint64_t start, uint64_t end);

/* The end of the bytes that cover SVMA: of its segment, or of what was kept; SVMA when none do. */
uint64_t code_file_end(const struct code_file *c, uint64_t svma);

/* Tells whether the file, or what was kept, has a byte at SVMA. */
bool code_file_has(const struct code_file *c, uint64_t svma);

/* Copies N bytes at SVMA to RET, pointers as the loader will have them; false when the file does
 * not have them. */
bool code_file_read(struct code_file *c, uint64_t svma, uint8_t *ret, size_t n);

#endif
