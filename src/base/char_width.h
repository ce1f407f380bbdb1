/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns a character takes on a terminal, without a locale.  By Unicode 14.0: East_Asian_Width
 * W and F take two, the general categories Mn and Me none. */
#ifndef BASE_CHAR_WIDTH_H
#define BASE_CHAR_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* Returns 0, 1 or 2. */
unsigned char_width(uint32_t c);

/* Whether C draws nothing of its own but changes what stands around it: controls (Cc), formats (Cf:
 * directions, joiners, tags), line and paragraph separators, variation selectors and blank
 * letters. */
bool char_is_harmful(uint32_t c);

#endif
