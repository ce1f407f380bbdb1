/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of an ELF file. */
#ifndef RESOLVE_SYMTAB_ELF_H
#define RESOLVE_SYMTAB_ELF_H

#include "base/err.h"
#include "resolve/elf_file.h"
#include "resolve/symtab.h"

enum symtab_source {
	SYMTAB_NONE,	  /* the file has no symbols */
	SYMTAB_DYNSYM,	  /* exported ones only */
	SYMTAB_MINIDEBUG, /* .dynsym and .gnu_debugdata */
	SYMTAB_FULL,	  /* .symtab */
};

/* Adds the procedures of F to B: from .symtab, else from .dynsym and .gnu_debugdata; says which.
 * Adds the ranges of its code sections too.  Damaged tables give what can be read of them. */
enum symtab_source symtab_elf_read(struct elf_file *f, struct symtab_builder *b);

/* Adds the variables of F to B, and the ranges of its sections of data: from .symtab, else from
 * .dynsym; says which. */
enum symtab_source symtab_elf_read_data(struct elf_file *f, struct symtab_builder *b);

/* Adds the stubs of the procedure linkage table, named NAME@plt (x86-64 and aarch64). */
void symtab_elf_read_plt(struct elf_file *f, struct symtab_builder *b);

/* Adds what the unwind tables know of procedures without symbols, as PROC_UNNAMED. */
void symtab_elf_read_frames(struct elf_file *f, struct symtab_builder *b);

/* Adds the functions of a Go program, which stripped ones keep. */
void symtab_elf_read_go(struct elf_file *f, struct symtab_builder *b);

/* Loads the table of Go's functions of F, whose sections were read, and where its code begins: free
 * it.  NULL: it has none. */
uint8_t *elf_load_go(const struct elf_file *f, size_t *ret_n, uint64_t *ret_text);

/* Unpacks N bytes of .xz into fresh memory (free it); -EBADMSG when damaged, -E2BIG above MAX. */
int xz_unpack(const uint8_t *bytes, size_t n, size_t max, uint8_t **ret, size_t *ret_n,
	      struct err *err);

#endif
