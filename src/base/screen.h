/* SPDX-License-Identifier: BSD-2-Clause */
/* How wide a screen is, and prose that fits it. */
#ifndef BASE_SCREEN_H
#define BASE_SCREEN_H

#include "base/opts.h"
#include "base/str.h"

/* The columns that what is written to FD has to fit: those of the terminal, else what $COLUMNS
 * says, as ps(1) takes it; 80 on a terminal that does not say; 0: any. */
unsigned screen_width(int fd);

/* Adds the help of TABLE's options, folded below their texts to WIDTH columns; 0: not folded. */
void screen_add_help(struct str *out, const struct opt *table, unsigned width);

#endif
