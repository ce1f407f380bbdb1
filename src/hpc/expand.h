/* SPDX-License-Identifier: BSD-2-Clause */
/* From dwell's contexts, chains of places, to HPCToolkit's: a place is a function, what was inlined
 * there, loops, a line and an instruction, and the instruction calls the next place's function. */
#ifndef HPC_EXPAND_H
#define HPC_EXPAND_H

#include "hpc/contexts.h"
#include "query/samples/query.h"

/* Adds the contexts of Q's profile that OWN (by context) is set for, and their callers, to C.
 * Returns by context the node that its samples belong to, HPC_NONE for others, in fresh memory.
 * USED says which have samples at all: what a context is depends on what is called from it, and
 * other processes may add that.  Each place is looked up once, image by image.
 *
 *     entry -> [call] function -> loop -> line -> [inlined call] function -> line -> instruction
 *           -> [call] function ...
 *
 * Where the line is not known there is none, and the instruction belongs to the loop or function.
 * What is no code (a mark) is a function alone.  A path begins at the entry of the main thread or
 * of another thread when its outermost function says so or it has no name, else at the unknown
 * entry. */
uint32_t *expand_contexts(struct contexts *c, struct query *q, const bool *used, const bool *own);

#endif
