/* SPDX-License-Identifier: BSD-2-Clause */
/* One procedure, annotated: its instructions and its source lines, each with the samples there. */
#ifndef QUERY_LISTING_H
#define QUERY_LISTING_H

#include "query/code.h"
#include "resolve/source.h"

#define LINE_NONE UINT32_MAX

struct listing_insn {
	uint64_t svma;
	const char *text;	/* NULL: only the address is known */
	const uint64_t *counts; /* samples on any byte of it */
	uint32_t line;		/* index into lines, LINE_NONE */
	uint8_t n_bytes;
	bool is_target; /* a direct jump of this procedure goes here */
};

struct listing_line {
	const char *file;
	uint32_t line;
	const char *text; /* NULL: the source file was not found or is shorter */
	uint64_t *counts; /* sum over its instructions; NULL when it has none */
};

struct listing {
	image_id image;
	const char *procedure;
	uint64_t start, end;
	uint64_t *total;		/* samples in [start, end), per column */
	VEC(struct listing_insn) insns; /* ascending; with no code to read, the addresses sampled */
	VEC(struct listing_line)
	lines;		      /* the procedure's own file in line order, then what was inlined
				 from others, by file and line */
	const char *file;     /* the procedure's own, NULL unknown */
	bool has_code;	      /* instructions have texts */
	bool has_source;      /* some line has its text */
	bool is_source_newer; /* the source was changed after the image was made */
	struct err why_no_code, why_no_source;
	struct arena arena;
	struct code code; /* the file names of lines live in it */
	struct sources *sources;
};

/* The procedures that NAME may mean in IMAGES: a name, or an address ("0x401010") for the procedure
 * around it.  -ENOENT when there is none; a procedure without samples is found too. */
struct found_proc {
	image_id image;
	struct procedure p; /* p.index == PROC_NONE: code no symbol covers, from the address on */
};
typedef VEC(struct found_proc) found_list;
int listing_find(struct query *q, const char *name, const image_ids *images, found_list *ret,
		 struct err *err);

/* Annotates F's procedure.  SOURCES loads source files (borrowed until listing_close).  What cannot
 * be had is left out, with the reason in the two messages.  L must stay in place until
 * listing_close. */
void listing_open(struct listing *l, struct query *q, const struct found_proc *f,
		  struct sources *sources);
void listing_close(struct listing *l);

#endif
