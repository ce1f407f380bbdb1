/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops of a procedure in the source: which function each was written in, and in which line. */
#ifndef RESOLVE_PROCEDURE_LOOPS_H
#define RESOLVE_PROCEDURE_LOOPS_H

#include "resolve/code_file.h"
#include "resolve/flow.h"
#include "resolve/frames.h"
#include "resolve/loops.h"
#include "resolve/symtab.h"

/* Functions, outermost first: the procedure and what was inlined into it.  Each has the line of the
 * call of the next, the last the line of the place or loop itself. */
struct frame_chain {
	const struct frame *v;
	size_t n;
};

/* How many functions, from the outermost, two chains have in common. */
size_t frame_chain_common(struct frame_chain a, struct frame_chain b);

struct procedure_loops {
	struct loops loops;
	uint32_t *homes; /* by loop, n + 1: the functions around it are frames[homes[i]] .. */
	VEC(struct frame) frames;
	size_t n_bytes; /* of memory */
};

/* What procedures are looked at through. */
struct loop_source {
	struct code_file *code; /* NULL: the instructions are not there */
	const struct symtab *symtab;
	struct frames *frames;
	struct lines *lines; /* NULL: no DWARF */
	const void *image;   /* as FRAMES knows it */
};

/* Follows procedure P of S, whose code is there, and its cold parts: fills F; flow_release it.
 * Where P is itself a cold part of a procedure, *RET_WHOLE is that one, else it is left alone.  0,
 * or negative where the code cannot be followed. */
int procedure_flow_init(struct flow *f, const struct loop_source *s, struct procedure p,
			struct procedure *ret_whole);

/* Finds the loops of procedure PROC of S's symtab.  Unlikely code that the compiler moved away
 * (NAME.cold) belongs to it; *RET_PROC, when PROC is such, is then NAME.  Never fails: what is not
 * understood has no loops. */
void procedure_loops_init(struct procedure_loops *p, const struct loop_source *s, uint32_t proc,
			  uint32_t *ret_proc);
void procedure_loops_release(struct procedure_loops *p);

/* The functions around loop I and its line. */
static inline struct frame_chain procedure_loops_home(const struct procedure_loops *p, uint32_t i)
{
	return (struct frame_chain){.v = p->frames.v + p->homes[i],
				    .n = p->homes[i + 1] - p->homes[i]};
}

#endif
