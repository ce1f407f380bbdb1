/* SPDX-License-Identifier: BSD-2-Clause */
/* How wide each column of a table is on a screen, and which columns there is no room for.
 *
 * The column gives way that loses the fewest characters by it, a name's counted twice, so that the
 * width goes to what is cut.  Example: names of 20, one of 300, beside paths of 30, in 60 columns.
 * Cutting names to 21 cuts one row, cutting paths to 29 cuts all: names become 20 wide, paths keep
 * 30.  When texts are at their least, columns that can be spared go, the most spare first, and
 * texts are widened again. */
#ifndef VIEW_FIT_H
#define VIEW_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct fit_col {
	size_t natural; /* what its title and cells take */
	size_t least;	/* of a number: what its cells take; its title may be cut down to that */
	size_t gap;	/* blanks before it, unless it is the first */
	enum text_cut cut;
	uint8_t spare; /* see struct emit_col */
	const unsigned
		*wider; /* by width, below NATURAL: how many cells are wider; NULL: a number */
	/* The answer. */
	size_t width;
	bool left_out;
};

/* Fits the N columns into LIMIT (20 or more). */
void fit_columns(struct fit_col *cols, unsigned n, size_t limit);

#endif
