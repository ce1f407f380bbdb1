/* SPDX-License-Identifier: BSD-2-Clause */
/* From dwell's contexts, chains of places, to HPCToolkit's: a place is a function, what was inlined
 * there, loops, a line and an instruction, and the next place's function is called from the
 * instruction or from the line. */
#ifndef HPC_EXPAND_H
#define HPC_EXPAND_H

#include "hpc/contexts.h"
#include "query/samples/query.h"

enum calls_from { CALLS_FROM_INSTRUCTION, CALLS_FROM_LINE };

/* Adds the contexts of Q's profile that OWN (by context) is set for, and their callers, to C.
 * Returns by context the node that its samples belong to, HPC_NONE for others, in fresh memory.
 * USED says which have samples at all: what a context is depends on what is called from it, and
 * other processes may add that.  Each place is looked up once, image by image.
 *
 *     entry -> [call] function -> loop -> line -> [inlined call] function -> line -> instruction
 *
 * FROM says whether a called function stands below the instruction or beside it, below the line. In
 * the latter case only instructions that have samples are there: OWN itself is set for them.
 * Where the line is not known there is none, and the loop or function takes its place.
 * What is no code (a mark) is a function alone.  A path begins at the entry of the main thread or
 * of another thread when its outermost function says so or it has no name, else at the unknown
 * entry. */
uint32_t *expand_contexts(struct contexts *c, struct query *q, enum calls_from from,
			  const bool *used, const bool *own);

#endif
