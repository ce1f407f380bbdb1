/* SPDX-License-Identifier: BSD-2-Clause */
/* The unwind table of an ELF file. */
#ifndef RESOLVE_ELF_UNWIND_H
#define RESOLVE_ELF_UNWIND_H

#include "base/err.h"
#include "unwind/build.h"

/* Reads the frame information of the ELF file open at FD (borrowed, only during the call) and
 * builds its table: from .eh_frame, .debug_frame and .sframe as its sections name them, without a
 * section table from the segments PT_GNU_EH_FRAME and PT_GNU_SFRAME.  Nothing is looked for in
 * other files.  Release *RET with unwind_table_release.  -ENOENT: it has none; -ENOTSUP: another
 * machine or a file of 32 bits; -EBADMSG, -ENODATA: not an ELF file, or truncated; -E2BIG. */
int elf_unwind_load(int fd, struct unwind_table *ret, struct err *err);

/* Loads the table of the file at FD in a process that must stay small.  -E2BIG when sections, rows
 * and what they are made of would take more than ELF_UNWIND_SMALL_BYTES; other errors as
 * elf_unwind_load.  RET has no key: whoever is told of it makes one of the answer
 * (answer_table_key). */
#define ELF_UNWIND_SMALL_BYTES ((size_t)16 << 20)
int elf_unwind_load_small(int fd, struct unwind_table *ret, struct err *err);

/* Loads the table of a file of N bytes in memory, such as the vdso.  Errors as elf_unwind_load. */
int elf_unwind_load_bytes(const uint8_t *bytes, size_t n, struct unwind_table *ret,
			  struct err *err);

#endif
