/* SPDX-License-Identifier: BSD-2-Clause */
/* Which interpreter an ELF file holds, and where its loop is, for the unwind table to mark. */
#ifndef RESOLVE_INTERPRETER_H
#define RESOLVE_INTERPRETER_H

#include "resolve/elf_file.h"
#include "unwind/build.h"

/* Puts the interpreter of F, and where its loop is, into IN, whose segments are set; where a check
 * fails, why it is refused.  Reads the sections' table, and more only of a CPython. */
void interpreter_find(struct elf_file *f, struct unwind_input *in);

/* Puts what is known of the program of Go in F into IN, whose .gopclntab and switches of stacks are
 * set, unless it is an interpreter. */
void interpreter_find_go(struct elf_file *f, struct unwind_input *in);

#endif
