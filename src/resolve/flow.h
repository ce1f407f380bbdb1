/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow of control in one procedure, from its instructions: basic blocks and the edges between
 * them, on x86-64, i386 and arm64.
 *
 * Code is followed from the procedure's start.  A call comes back, unless the caller knows better
 * or nothing of the procedure follows.  A jump out of the procedure leaves it (a tail call).  A
 * jump through a table goes where the table says; where another jump through a register goes stays
 * unknown.  What is not reached in this way (handlers of exceptions, the cases behind an unknown
 * jump) is followed from its first instruction on: such a block is a root.
 *
 * A procedure may have several parts, as when its unlikely code was moved away ("foo.cold"). */
#ifndef RESOLVE_FLOW_H
#define RESOLVE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "resolve/graph.h"

#define FLOW_MAX_PARTS	8u
#define FLOW_MAX_BYTES	(2u << 20) /* of all parts */
#define FLOW_MAX_BLOCKS (1u << 18)

struct flow_part {
	uint64_t start, end;  /* svma, disjoint from the other parts */
	const uint8_t *bytes; /* end - start */
};

struct flow_code {
	uint16_t machine; /* elf.h: EM_X86_64, EM_386 or EM_AARCH64 */
	uint32_t n_parts;
	struct flow_part parts[FLOW_MAX_PARTS]; /* the procedure begins with the first */
	/* Tells whether the procedure at SVMA (of a direct call) never returns; NULL: all do. */
	bool (*no_return)(void *ctx, uint64_t svma);
	/* Copies N bytes that are constant while the program runs, such as jump tables, to RET;
	 * false when there are none at SVMA.  NULL: nothing can be read. */
	bool (*read)(void *ctx, uint64_t svma, uint8_t *ret, size_t n);
	/* Tells whether the image has a byte at SVMA, which read would give; NULL where read is. */
	bool (*has)(void *ctx, uint64_t svma);
	void *ctx; /* first argument of all */
};

/* How a block ends. */
enum flow_end {
	FLOW_FALLS, /* the next block is a jump's target */
	FLOW_JUMPS, /* always, inside the procedure */
	FLOW_BRANCHES,
	FLOW_TABLE,   /* through a jump table that was read */
	FLOW_UNKNOWN, /* through a register or memory, to where nobody knows */
	FLOW_LEAVES,  /* returns, or jumps to another procedure */
	FLOW_STOPS,   /* traps, or calls what never returns */
	FLOW_BROKEN,  /* by what is no instruction, or by the end of a part */
};

struct flow_block {
	uint64_t start, end; /* svma */
	uint64_t last;	     /* its last instruction */
	uint64_t table;	     /* how == FLOW_TABLE: svma of the table's first entry */
	uint32_t n_insns;
	enum flow_end how;
};

struct flow {
	VEC(struct flow_block) blocks; /* ascending; [entry] is where the procedure starts */
	uint32_t *first, *succ;	       /* as in struct graph, by block */
	VEC(uint32_t) roots;	       /* blocks; the first is the procedure's start */
	VEC(uint64_t) exits;	       /* targets of direct jumps out of all parts, unsorted */
	VEC(uint64_t) calls;	       /* svmas behind calls, ascending: where these return to */
	uint32_t n_tables, n_unknown;  /* jumps through tables, and to unknown places */
	uint32_t n_insns;
};

/* Follows CODE.  0; -ENOTSUP for another machine; -E2BIG for more bytes or blocks than the limits
 * above; -EINVAL when there is no code.  F is empty after an error. */
int flow_init(struct flow *f, const struct flow_code *code);
void flow_release(struct flow *f);

/* Follows CODE for what is read on the way alone: the same as flow_init reads. */
void flow_read_tables(const struct flow_code *code);

#endif
