/* SPDX-License-Identifier: BSD-2-Clause */
/* Where Go's runtime goes on with another stack than its caller's, for the unwind table to say. */
#ifndef RESOLVE_GO_SWITCHES_H
#define RESOLVE_GO_SWITCHES_H

#include "resolve/elf_file.h"
#include "unwind/build.h"

/* Puts into IN, whose table of Go's functions is loaded, which code of F runs on another stack:
 * none when the code that switches is not as it is known. */
void go_switches_find(const struct elf_file *f, struct unwind_input *in);

#endif
