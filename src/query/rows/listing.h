/* SPDX-License-Identifier: BSD-2-Clause */
/* One procedure, annotated: its instructions and its source lines, each with the samples there. */
#ifndef QUERY_ROWS_LISTING_H
#define QUERY_ROWS_LISTING_H

#include "query/rows/columns.h"
#include "query/samples/code.h"
#include "query/samples/listing_find.h"
#include "resolve/source.h"

#define LINE_NONE UINT32_MAX
#define INSN_NONE UINT32_MAX

/* What somebody wants to see. */
struct listing_opts {
	const char *name;  /* see struct listing_name */
	const char *image; /* NULL: any */
	const char *into;  /* only as inlined into this procedure; NULL: any */
};

/* What --hot leaves out and why a row stays. */
enum listing_heat {
	HEAT_NONE,
	HEAT_LEADS, /* it leads to what is hot: next to it, a jump to it, the head of its loop */
	HEAT_HOT,   /* among those that together have most samples */
};

struct listing_insn {
	uint64_t svma;
	const char *text;      /* NULL: only the address is known */
	const double *counts;  /* samples on any byte of it */
	uint32_t line;	       /* index into lines, LINE_NONE */
	uint32_t jumps_to;     /* index into insns, where its direct jump goes; INSN_NONE */
	const uint64_t *loops; /* svmas of the heads of the loops it is in, the outermost first */
	const char *inlined;   /* the innermost function inlined here; NULL: the procedure's own */
	uint8_t n_bytes;
	uint8_t n_loops;
	uint8_t heat;	/* enum listing_heat */
	bool is_target; /* a direct jump of this procedure goes here */
};

struct listing_line {
	const char *file;
	uint32_t line;
	const char *text; /* NULL: the source file was not found or is shorter */
	double *counts;	  /* sum over its instructions; NULL when it has none */
	uint8_t heat;	  /* enum listing_heat */
};

/* One thing that the name may have meant. */
struct listing_candidate {
	const char *procedure; /* with its arguments */
	const char *image;     /* NULL: not known */
	const char *into;      /* the procedure it is inlined into; NULL: none */
	uint64_t start;	       /* 0: not known */
	double samples;	       /* in the column that rows are hidden by */
};

struct listing {
	const char *image; /* what it is called; NULL: not known */
	char build_id[2 * BUILD_ID_MAX + 1];
	const char *procedure;
	const char *into; /* the procedure that it is inlined into; NULL: none */
	VEC(struct listing_candidate) candidates; /* what else the name means; this is the first */
	uint64_t start, end;			  /* no end: START when it is not known */
	unsigned n_cols;			  /* counts are so many */
	double *total;				  /* samples in [start, end), per column */
	VEC(struct listing_insn) insns; /* ascending; with no code to read, the addresses sampled */
	VEC(struct listing_line)
	lines;		      /* the procedure's own file in line order, then what was inlined
				 from others, by file and line */
	const char *file;     /* the procedure's own, NULL unknown */
	bool of_lines;	      /* the source knows lines and addresses, and no code */
	bool has_code;	      /* instructions have texts */
	bool is_script;	      /* a function of an interpreter: START and END are made up */
	bool is_kept;	      /* code that the database keeps: the image's file is gone */
	bool has_source;      /* some line has its text */
	bool is_source_newer; /* the source was changed after the image was made */
	uid_t named_by;	      /* who said which files are the sources (open_as.h) */
	struct err why_no_code, why_no_source;
	struct arena arena;
	struct image_code code; /* the file names of lines live in it */
	struct sources *sources;
};

/* Annotates F's procedure, with counts of COLUMNS, which are Q's and what is made of them.  SOURCES
 * loads source files (borrowed until listing_close).  What cannot be had is left out, with the
 * reason in the two messages.  L must stay in place until listing_close. */
void listing_open(struct listing *l, struct query *q, const struct columns *columns,
		  const struct found_proc *f, struct sources *sources);
void listing_close(struct listing *l);

/* The name of F's procedure, with its arguments; it lives as long as Q's resolver. */
const char *listing_name_of(struct query *q, const struct found_proc *f);

/* For who fills a listing. */

/* Zeros, one for each column, that live as long as L. */
double *listing_new_counts(struct listing *l);

/* Sorts the lines that were pushed, those of L->file first; each remains once. */
void listing_sort_lines(struct listing *l);

/* The number of a line, LINE_NONE when it is not there. */
uint32_t listing_find_line(const struct listing *l, const char *file, uint32_t line);

/* Finds which rows are hot by column COL, and which lead there. */
void listing_find_heat(struct listing *l, unsigned col);

/* Sets the numbers that are made of others, in all rows. */
void listing_evaluate(struct listing *l, const struct columns *c);

/* Fills L with the lines of a function of script IMAGE, which has the samples SPOTS. */
void listing_of_script(struct listing *l, struct query *q, image_id image, struct spot_range spots);

/* Loads the lines' texts; sources changed after MADE_S (seconds since 1970; 0: not known) are newer
 * than the image. */
void listing_load_texts(struct listing *l, uint64_t made_s);

#endif
