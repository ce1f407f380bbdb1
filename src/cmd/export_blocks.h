/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each basic block of a recording's procedures ran, as text: all blocks
 * (docs/formats/blocks.md), those of one image as pixie's (docs/formats/pixie.md), or source lines
 * for lcov (docs/formats/lcov.md). */
#ifndef CMD_EXPORT_BLOCKS_H
#define CMD_EXPORT_BLOCKS_H

#include "cmd/source_cmd.h"

enum blocks_form { BLOCKS_BB, BLOCKS_PIXIE, BLOCKS_LCOV, BLOCKS_N_FORMS };

struct export_blocks {
	enum blocks_form form;
	enum count_confidence conf; /* BLOCKS_PIXIE: less sure counts are written as 0 */
	const char *output;	    /* NULL: stdout */
	const char *counts;	    /* a file of exact counts; NULL: none */
	const opt_list *images;
};

/* Writes the blocks of all procedures with samples in O's images of what c->select names. */
int export_blocks_write(struct cmd *c, struct export_blocks *o);

#endif
