/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that find interpreters share (interpreter.h). */
#ifndef RESOLVE_INTERPRETER_IMPL_H
#define RESOLVE_INTERPRETER_IMPL_H

#include "resolve/interpreter.h"

/* Whether the file's table of names may have NAME: two small reads. */
bool interpreter_may_export(const struct elf_file *f, const char *name);

typedef void interpreter_symbol_fn(void *ctx, const char *name, uint64_t svma, uint64_t size);

/* Calls FN for each symbol that F exports. */
void interpreter_each_symbol(const struct elf_file *f, interpreter_symbol_fn *fn, void *ctx);

/* Reads N bytes of the file that are loaded at SVMA. */
bool interpreter_read(const struct elf_file *f, uint64_t svma, void *ret, size_t n);

bool interpreter_may_be_v8(const struct elf_file *f);

/* Puts V8's number and version into IN; else why it is refused. */
enum interpreter_refusal interpreter_find_v8(struct elf_file *f, struct unwind_input *in);

#endif
