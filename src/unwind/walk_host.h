/* SPDX-License-Identifier: BSD-2-Clause */
/* Walking a copied stack (walk.h) outside of the kernel: what perf's ring delivers with
 * PERF_SAMPLE_STACK_USER, and what tests make by hand. */
#ifndef UNWIND_WALK_HOST_H
#define UNWIND_WALK_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/memory.h"
#include "unwind/walk_state.h"

struct walk_input {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	bool in_call;	  /* ip is behind a system call, not where it was interrupted */
	uint64_t regs[WALK_MAX_REGISTERS]; /* by DWARF number; ip: WALK_X86_IP, WALK_ARM_IP */
	uint32_t lacks;	   /* of WALK_FULL, WALK_FP and WALK_BX: what regs does not have */
	uint64_t entry_sp; /* the stack pointer the process began with; 0 unknown */
	uint64_t thread;   /* the thread's pointer; 0: unknown, goroutines are not gone on with */

	/* A walk that was left where a table was missing is taken up there: what struct walk
	 * had. */
	bool is_taken_up;
	uint32_t flags, n_falls;
	uint64_t ip, sp, fp, bx;
	bool leaves; /* ends with CHAIN_NO_TABLE where a table is missing, not by frame pointer */
	/* Before the frame of an interpreter's loop stand the functions that it executes: of image
	 * SCRIPT_IMAGE those that the N_SCRIPTS words of SCRIPTS say (collect/bpf/record.h), of
	 * others a mark, that they were not copied. */
	bool marks_loops;
	uint32_t n_scripts, script_image;
	const uint64_t *scripts;

	/* The stack: N_BYTES that were at run-time address STACK_AVMA. */
	const uint8_t *stack;
	size_t n_bytes;
	uint64_t stack_avma;
	/* Bit I: what is HOLE_BYTES long from I * HOLE_BYTES on could not be copied. */
	uint64_t holes;
	uint32_t hole_bytes; /* a multiple of 8, and so is stack_avma; 0: there are no holes */

	const struct unwind_memory *memory; /* only `clock` is read, and last_used written */
	/* Word AT of the tables, below n_words, where memory has no `words`; NULL: there are
	 * none. */
	uint32_t (*table_word)(void *ctx, uint32_t at);
	/* Sets *RET to the executable mapping around AVMA; false: there is none. */
	bool (*find_region)(void *ctx, uint64_t avma, struct walk_region *ret);
	/* Reads 8 bytes of code; NULL: none can be read, trampolines of signals without frame
	 * information are not recognized. */
	bool (*read_code)(void *ctx, uint64_t avma, uint64_t *ret);
	/* Told when an image on the stack has no table (any more); may be NULL. */
	void (*want)(void *ctx, uint32_t image, uint64_t avma);
	void *ctx; /* of all four */
};

/* Walks IN's stack.  Writes at most MAX frames (chain.h), the innermost first, to FRAMES and their
 * number to *RET_N.  Returns why the chain ends: with CHAIN_TOO_DEEP at the latest when there are
 * more than MAX.  Reads nothing outside of IN's stack and memory, whatever they contain. */
enum chain_cause walk_stack(const struct walk_input *in, uint64_t *frames, uint32_t max,
			    uint32_t *ret_n);

#endif
