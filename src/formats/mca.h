/* SPDX-License-Identifier: BSD-2-Clause */
/* What llvm-mca says of blocks of instructions: how long they take on a CPU at best, and what
 * holds them up.  mca_read takes its JSON (LLVM 14, llvm-mca --json --timeline:
 * llvm/tools/llvm-mca/Views); mca_format and mca_parse keep the same in few bytes:
 *
 *     u32 "dmca", u32 version 1, texts (uleb length, bytes): the CPU
 *     uleb width, uleb n_blocks; each block: f32 repeated, f32 apart, u8 bound, text port,
 *         uleb n_insns; each instruction: f32 own, uleb latency, uleb n_uops, u8 flags
 *     u64 XXH3 of all before
 *
 * A block of no instructions is one that has no model. */
#ifndef FORMATS_MCA_H
#define FORMATS_MCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "base/wr.h"

#define MCA_TEXT 32

/* How often llvm-mca is to run a block, and how many runs it is to tell about one by one. */
#define MCA_RUNS       100u
#define MCA_TOLD_RUNS  8u
#define MCA_MOST_INSNS (1u << 20)

/* What keeps a block that runs again and again from being faster. */
enum mca_bound {
	MCA_FRONT, /* instructions that can begin in a cycle */
	MCA_PORTS, /* a unit that executes them */
	MCA_CHAIN, /* instructions that wait for each other's results */
	MCA_N_BOUNDS,
};

struct mca_insn {
	float own; /* cycles by which it puts off the end of a run, when the block repeats */
	uint32_t latency, n_uops;
	bool loads, stores;
	bool in_chain; /* the longest chain of results goes through it; only of bound MCA_CHAIN */
};

struct mca_block {
	float repeated; /* cycles of a run when the block repeats; the sum of `own` */
	float apart;	/* cycles at best when other code runs before and behind: no chains */
	enum mca_bound bound;
	char port[MCA_TEXT];	 /* the busiest unit; "": none */
	uint32_t first, n_insns; /* in insns */
};

struct mca {
	char cpu[MCA_TEXT];
	uint32_t width; /* of what begins in a cycle */
	VEC(struct mca_block) blocks;
	VEC(struct mca_insn) insns;
};

/* Reads what llvm-mca wrote of N_BLOCKS regions called "0", "1", ... .  -EBADMSG: it is not that.
 * RET is empty after an error; mca_release it in any case. */
int mca_read(const void *json, size_t n, uint32_t n_blocks, struct mca *ret, struct err *err);

/* Adds the blocks of FROM, which must be of the same CPU, behind those of TO.  -EINVAL: it is
 * not. */
int mca_append(struct mca *to, const struct mca *from);

void mca_format(const struct mca *m, struct wr *ret);
int mca_parse(const void *bytes, size_t n, struct mca *ret, struct err *err);
/* Puts the right checksum into N bytes; for tests that damage what lies before it. */
void mca_seal(uint8_t *bytes, size_t n);

void mca_release(struct mca *m);

#endif
