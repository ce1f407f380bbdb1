/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each basic block of a recording's procedures ran, as text: docs/formats/blocks.md. */
#ifndef CMD_EXPORT_BLOCKS_H
#define CMD_EXPORT_BLOCKS_H

#include "cmd/source_cmd.h"

struct export_blocks {
	const char *output; /* NULL: stdout */
	const char *counts; /* a file of exact counts; NULL: none */
	const opt_list *images;
};

/* Writes the blocks of all procedures with samples in O's images of what c->select names. */
int export_blocks_write(struct cmd *c, struct export_blocks *o);

#endif
