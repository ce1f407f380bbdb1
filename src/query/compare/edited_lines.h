/* SPDX-License-Identifier: BSD-2-Clause */
/* Which line of a procedure is which after its source was edited. */
#ifndef QUERY_COMPARE_EDITED_LINES_H
#define QUERY_COMPARE_EDITED_LINES_H

#include "query/samples/query.h"
#include "query/samples/scopes.h"

/* An image of one set, and its line table and code once they were opened. */
struct edited_image {
	struct query *q;
	image_id image;
	struct lines *lines;	/* NULL: none */
	struct code_file *code; /* NULL: none */
};

/* A line of a procedure. */
struct edited_line {
	const char *file; /* full path; lives as long as its image's lines */
	uint32_t line;
	uint32_t first, n; /* its instructions, in edited_text.mnemonics */
	uint32_t twin;	   /* its number in the other build; EDITED_NONE */
};

#define EDITED_NONE UINT32_MAX

/* The lines of one build of a procedure, by file, then line. */
struct edited_text {
	VEC(struct edited_line) lines;
	VEC(uint32_t) mnemonics; /* hashes, sorted within a line */
	uint32_t declared;	 /* the line of its declaration; 0: not known */
};

struct edited_lines {
	VEC(struct edited_image) images;
	/* The procedure that was asked about last. */
	const struct query *q;
	image_id image;
	uint32_t proc;
	struct edited_text old, new;
	bool is_known; /* both builds have lines and code */
	uint64_t old_start;
};

enum edited_kind { EDITED_UNKNOWN, EDITED_SAME, EDITED_NEW };

/* Finds the line of build OLD_IMAGE of OLD that became SC, a line of build SC->image of Q.
 * EDITED_SAME: *RET_FILE, which lives as long as E, and *RET_LINE are it, and *RET_START its
 * procedure's start.  EDITED_NEW: it was not there.  EDITED_UNKNOWN: a build lacks lines or
 * code. */
enum edited_kind edited_lines_find(struct edited_lines *e, struct query *old, image_id old_image,
				   struct query *q, const struct scope *sc, const char **ret_file,
				   uint32_t *ret_line, uint64_t *ret_start);
void edited_lines_release(struct edited_lines *e);

#endif
