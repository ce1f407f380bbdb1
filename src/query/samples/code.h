/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions and source lines of one image, read from the very file that was profiled (or its
 * debug file), else from what the database keeps of it: never from one that was rebuilt since. */
#ifndef QUERY_SAMPLES_CODE_H
#define QUERY_SAMPLES_CODE_H

#include "query/samples/query.h"
#include "resolve/code_file.h"
#include "resolve/disasm.h"
#include "resolve/lines.h"
#include "resolve/open_as.h"

struct image_code {
	struct query *q;
	image_id image;
	struct code_file file; /* only with DISASM */
	uint64_t made_s;       /* when the image's file was written; 0: not known */
	uid_t made_by;	       /* who may have written it (open_as.h) */
	bool is_kept;	       /* what the database keeps of it is shown, for its file is gone */
	struct disasm *disasm; /* NULL: no instructions */
	struct lines *lines;   /* the resolver's; NULL: no source lines */
	/* Jumps within [own_start, own_end) are told by their targets alone. */
	uint64_t own_start, own_end;
	struct err why_no_code, why_no_lines;
};

/* Opens what there is of IMAGE; what is missing is explained in the two messages.  Q must outlive
 * C. */
void code_open(struct image_code *c, struct query *q, image_id image);
void code_close(struct image_code *c);

/* Loads the bytes of [START, END) into fresh memory; NULL when the file has not all of them. */
uint8_t *code_load(const struct image_code *c, uint64_t start, uint64_t end);

/* The end of the segment's bytes that cover SVMA, SVMA itself when none do. */
uint64_t code_end(const struct image_code *c, uint64_t svma);

/* Appends the text of the instruction at SVMA to RET; false when it cannot be had.  SVMA is where
 * an instruction begins, as sampled addresses are. */
bool code_insn_at(struct image_code *c, uint64_t svma, struct str *ret);

#endif
