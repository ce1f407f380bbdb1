/* SPDX-License-Identifier: BSD-2-Clause */
/* Folded stacks: "main;hot;add 40", a line for each call path, outermost first. */
#ifndef FORMATS_FOLDED_H
#define FORMATS_FOLDED_H

#include "formats/text_lines.h"

/* Splits a line at its last blank: *RET_STACK is what stands before it, *RET_N the number behind
 * it.  A fraction is cut off.  False: the line is none. */
bool folded_parse(const struct text_line *l, struct text_line *ret_stack, uint64_t *ret_n);

/* Takes the next frame of STACK; false when there is none. */
bool folded_next_frame(struct text_line *stack, struct text_line *ret);

/* Whether the N bytes begin with lines of folded stacks: half of the first few are, and one has a
 * ';'.  The reader names the line that is none. */
bool folded_probe(const uint8_t *bytes, size_t n);

#endif
