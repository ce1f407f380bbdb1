/* SPDX-License-Identifier: BSD-2-Clause */
/* An interpreter's own frames between those of the functions it executes. */
#ifndef QUERY_SAMPLES_RUNTIME_H
#define QUERY_SAMPLES_RUNTIME_H

#include "model/profile.h"

/* Takes the frames of an interpreter's program or library out of all paths with functions of a
 * script; samples in them become the function's, at its line.  Libraries that the interpreter calls
 * stay. */
void runtime_fold(struct profile *p);

#endif
