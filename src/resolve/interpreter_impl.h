/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that find interpreters share (interpreter.h). */
#ifndef RESOLVE_INTERPRETER_IMPL_H
#define RESOLVE_INTERPRETER_IMPL_H

#include "resolve/interpreter.h"

#define INTERPRETER_MOST_LOOP_BYTES (1u << 20)

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

bool interpreter_may_be_hotspot(const struct elf_file *f);

/* Puts HotSpot's number, version and anchor into IN, whose segments are set; else why it is
 * refused. */
enum interpreter_refusal interpreter_find_hotspot(struct elf_file *f, struct unwind_input *in);

/* Adds the code at LOOP, of N_BYTES, to IN's loops, and the pieces of frame information into whose
 * middle it jumps. */
void interpreter_add_loop(struct elf_file *f, uint64_t loop, uint64_t n_bytes,
			  struct unwind_input *in);

/* Puts where VARIABLE is into IN, whose loop is at LOOP; false when that lies in no
 * segment of code. */
bool interpreter_set_anchor(uint64_t variable, uint64_t loop, struct unwind_input *in);

bool interpreter_may_be_php(const struct elf_file *f);

/* Puts PHP's number, version, anchor and loop into IN; else why it is refused. */
enum interpreter_refusal interpreter_find_php(struct elf_file *f, struct unwind_input *in);

bool interpreter_may_be_perl(const struct elf_file *f);

/* Puts Perl's number, version, anchor and loop into IN; else why it is refused. */
enum interpreter_refusal interpreter_find_perl(struct elf_file *f, struct unwind_input *in);

bool interpreter_may_be_ruby(const struct elf_file *f);

/* Puts Ruby's number, version, anchors and loop into IN; else why it is refused. */
enum interpreter_refusal interpreter_find_ruby(struct elf_file *f, struct unwind_input *in);

#endif
