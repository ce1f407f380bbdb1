/* SPDX-License-Identifier: BSD-2-Clause */
/* From call frame information to an unwind table (table.h).
 *
 * Bytes come from files nobody vouches for: everything is read with bounds, what is damaged or too
 * complex becomes rows that say so, and work and memory are bounded by the sizes
 * of the sections. */
#ifndef UNWIND_BUILD_H
#define UNWIND_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "unwind/table.h"

#define UNWIND_MAX_SEGMENTS 16
#define UNWIND_MAX_LOOPS    8
#define UNWIND_MAX_SWITCHES 8

/* A section's bytes, decompressed, and the address its file states for them. */
struct unwind_section {
	const uint8_t *bytes; /* NULL: not there */
	size_t n_bytes;
	uint64_t svma;
};

/* Takes that from SVMA on RULE holds; a rule of zeros: none does. */
typedef void unwind_put_fn(void *owner, uint64_t svma, const struct unwind_rule *rule);

/* Puts by ascending address what is known of N_BYTES of code at SVMA, which lie at OFF in the file.
 * CTX is unwind_input.code. */
typedef void unwind_read_code_fn(void *ctx, uint64_t svma, uint64_t off, uint64_t n_bytes,
				 unwind_put_fn *put, void *owner);

/* What a little-endian file of 64 bits tells. */
struct unwind_input {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	struct unwind_section eh_frame, debug_frame, sframe;
	struct unwind_section go; /* .gopclntab */
	uint32_t n_switches;	  /* code that runs on another stack than its caller */
	struct unwind_switch {
		uint64_t start, end; /* svma */
		uint32_t depth;	     /* of the caller's stack when it was left */
		uint8_t how;	     /* UNWIND_SWITCH_* */
		short goroutine_at;  /* words from the thread's `m` to its goroutine */
	} switches[UNWIND_MAX_SWITCHES];
	uint64_t text_svma,
		data_svma;	 /* bases of DW_EH_PE_textrel and datarel (.got) pointers; 0 none */
	uint64_t sigreturn_svma; /* signal trampoline without frame information of its own, of 8
				    bytes: that of AArch64's vdso; 0 none */
	struct unwind_interpreter interpreter;
	uint32_t n_loops; /* where its loop is: the procedure, and parts split off from it */
	struct unwind_loop {
		uint64_t svma, n_bytes;
	} loops[UNWIND_MAX_LOOPS];
	unwind_read_code_fn *read_code; /* for code that no section speaks of; NULL: nobody does */
	void *code;
	uint32_t n_segments; /* executable ones, by ascending svma */
	size_t most_bytes;   /* that building may take besides the sections; 0: any */
	struct unwind_segment {
		uint64_t svma, off, n_bytes;
	} segments[UNWIND_MAX_SEGMENTS];
};

#define UNWIND_KEY_BYTES 16

struct unwind_table {
	uint8_t key[UNWIND_KEY_BYTES]; /* hash of all that it was made from; zeros: not known */
	struct unwind_interpreter interpreter;
	uint64_t first_off;
	uint32_t n_blocks, n_rows, n_rules;
	uint32_t *blocks; /* n_blocks + 1 */
	struct unwind_row *rows;
	struct unwind_rule *rules; /* the table's own; rows' rule numbers mean these */
	/* What it was made of: */
	uint32_t n_fdes, n_too_complex, n_damaged;
	uint64_t n_text_bytes; /* covered by frame information */
};

/* Builds RET from what IN has: .eh_frame first, then .gopclntab, .debug_frame and .sframe where it
 * has gaps, and what read_code says where gaps of 16 bytes are left.
 * Release it with unwind_table_release.  -ENOENT when there is no frame information at all (a table
 * of gaps is of no use), -ENOTSUP for another machine, -E2BIG when it needs more than 65,535 rules
 * or 2^25 rows, or IN's most_bytes. */
int unwind_build(const struct unwind_input *in, struct unwind_table *ret, struct err *err);
void unwind_table_release(struct unwind_table *t);

/* Bytes that T takes when it is published: blocks and rows, without rules. */
size_t unwind_table_bytes(const struct unwind_table *t);

/* The rule that holds at file offset OFF; rule 0 outside of the table. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *t, uint64_t off);

#endif
