/* SPDX-License-Identifier: BSD-2-Clause */
/* One procedure, annotated: its instructions and its source lines, each with the samples there. */
#ifndef QUERY_ROWS_LISTING_H
#define QUERY_ROWS_LISTING_H

#include "query/samples/code.h"
#include "query/rows/columns.h"
#include "resolve/source.h"

#define LINE_NONE UINT32_MAX

struct listing_insn {
	uint64_t svma;
	const char *text;     /* NULL: only the address is known */
	const double *counts; /* samples on any byte of it */
	uint32_t line;	      /* index into lines, LINE_NONE */
	uint8_t n_bytes;
	bool is_target; /* a direct jump of this procedure goes here */
};

struct listing_line {
	const char *file;
	uint32_t line;
	const char *text; /* NULL: the source file was not found or is shorter */
	double *counts;	  /* sum over its instructions; NULL when it has none */
};

struct listing {
	const char *image; /* what it is called; NULL: not known */
	char build_id[2 * BUILD_ID_MAX + 1];
	const char *procedure;
	uint64_t start, end;		/* no end: START when it is not known */
	unsigned n_cols;		/* counts are so many */
	double *total;			/* samples in [start, end), per column */
	VEC(struct listing_insn) insns; /* ascending; with no code to read, the addresses sampled */
	VEC(struct listing_line)
	lines;		      /* the procedure's own file in line order, then what was inlined
				 from others, by file and line */
	const char *file;     /* the procedure's own, NULL unknown */
	bool of_lines;	      /* the source knows lines and addresses, and no code */
	bool has_code;	      /* instructions have texts */
	bool has_source;      /* some line has its text */
	bool is_source_newer; /* the source was changed after the image was made */
	struct err why_no_code, why_no_source;
	struct arena arena;
	struct image_code code; /* the file names of lines live in it */
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

/* Annotates F's procedure, with counts of COLUMNS, which are Q's and what is made of them.  SOURCES
 * loads source files (borrowed until listing_close).  What cannot be had is left out, with the
 * reason in the two messages.  L must stay in place until listing_close. */
void listing_open(struct listing *l, struct query *q, const struct columns *columns,
		  const struct found_proc *f, struct sources *sources);
void listing_close(struct listing *l);

/* For who fills a listing. */

/* Zeros, one for each column, that live as long as L. */
double *listing_new_counts(struct listing *l);

/* Sorts the lines that were pushed, those of L->file first; each remains once. */
void listing_sort_lines(struct listing *l);

/* The number of a line, LINE_NONE when it is not there. */
uint32_t listing_find_line(const struct listing *l, const char *file, uint32_t line);

/* Sets the numbers that are made of others, in all rows. */
void listing_evaluate(struct listing *l, const struct columns *c);

/* Loads the lines' texts; IMAGE_FD (-1: none) tells whether sources are newer. */
void listing_load_texts(struct listing *l, int image_fd);

#endif
