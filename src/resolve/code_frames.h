/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of code that no frame information speaks of, such as assembler code of cryptographic
 * libraries, found by reading its instructions.  x86-64. */
#ifndef RESOLVE_CODE_FRAMES_H
#define RESOLVE_CODE_FRAMES_H

#include <stdbool.h>

#include "base/sha256.h"
#include "base/vec.h"
#include "resolve/elf_file.h"
#include "unwind/build.h"

#define CODE_MAX_PARTS 32

/* Where functions begin, as symbols say; ascending. */
typedef VEC(uint64_t) code_entries;

struct code_frames {
	const struct elf_file *f;
	size_t left;	    /* bytes of code that may still be read */
	struct sha256 seen; /* what was read */
	code_entries entries;
	bool has_entries; /* they were read */
	struct code_part {
		uint64_t off, end; /* in the file */
	} parts[CODE_MAX_PARTS];
	uint32_t n_parts; /* where code is: apart, ascending; none: anywhere */
};

/* Lets unwind_build ask for the frames of F's code: fills IN->read_code, but for other machines.  C
 * and F must stay until the table is built; C is then to be released. */
void code_frames_offer(struct code_frames *c, const struct elf_file *f, struct unwind_input *in);
void code_frames_release(struct code_frames *c);

/* Puts the rules of the N_BYTES of CODE, at SVMA, by ascending address: rule 0's where none is
 * known.  A function's are given when each of its ways out leaves the stack and the registers that
 * belong to its caller as they were when it began.  C is asked where functions begin when that
 * cannot be told. */
void code_frames_find(const uint8_t *code, size_t n_bytes, uint64_t svma, struct code_frames *c,
		      unwind_put_fn *put, void *owner);

#endif
