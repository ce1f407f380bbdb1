/* SPDX-License-Identifier: BSD-2-Clause */
/* The inlined calls an address lies in, from DWARF 2 to 5.
 *
 * A compilation unit is read into a sorted array when one of its addresses is first asked for.
 * Names and places of calls are looked up for the scopes that answer.  The .dwo files of gcc and
 * clang (-gsplit-dwarf) are not read. */
#ifndef RESOLVE_INLINES_H
#define RESOLVE_INLINES_H

#include "resolve/lines.h"

/* The deepest chain of calls handed out. */
#define INLINES_MAX 64

struct inline_scope {
	const char *name; /* as linked (mangled) where DWARF has it so, else plain; "?" without */
	const char *file; /* where it was called from; NULL: not known */
	uint32_t line;	  /* from 1; 0: not known */
	uint16_t column;  /* from 1; 0: not known */
	uint32_t discriminator; /* of the call; 0: none */
	uint32_t decl_line;	/* where the function itself is defined; 0: not known */
};

/* Finds the procedure that the instruction at SVMA belongs to and the calls inlined into it that
 * the instruction came from: RET[0] is the procedure (called from nowhere), RET[1] the function
 * inlined into it, and so on.  Returns how many there are, at most MAX (the outermost) and
 * INLINES_MAX; 0 when DWARF does not know SVMA.  The line of SVMA itself, which lines_find has, is
 * in the last one.  The texts live as long as L. */
size_t inlines_find(struct lines *l, uint64_t svma, struct inline_scope *ret, size_t max);

/* Finds only the names of the inlined functions.  No line table is read, which is much less
 * work. */
size_t inlines_names(struct lines *l, uint64_t svma, const char **ret, size_t max);

/* How many scopes were read so far, in how many units. */
void inlines_stats(const struct lines *l, size_t *ret_n_units, size_t *ret_n_scopes);

#endif
