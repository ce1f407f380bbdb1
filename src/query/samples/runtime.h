/* SPDX-License-Identifier: BSD-2-Clause */
/* Interpreted code: its names, and the interpreter's own frames between those of the functions it
 * executes. */
#ifndef QUERY_SAMPLES_RUNTIME_H
#define QUERY_SAMPLES_RUNTIME_H

#include "model/profile.h"
#include "resolve/resolver.h"

/* Tells R the names and lines that P has for interpreted code. */
void runtime_name_scripts(const struct profile *p, struct resolver *r);

/* Takes the frames of an interpreter's program or library out of all paths with functions of a
 * script; samples in them become the function's, at its line.  Libraries that the interpreter calls
 * stay.  What a runtime does by itself is one frame of its own (phases.h); R has P's symbols. */
void runtime_fold(struct profile *p, struct resolver *r);

#endif
