/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of tables: samples summed by image, by procedure, by whose they are, or one by one. */
#ifndef QUERY_SAMPLES_SPOT_ROWS_H
#define QUERY_SAMPLES_SPOT_ROWS_H

#include "query/samples/owners.h"
#include "query/samples/query.h"

/* What a row is: one of each of these.  The keys of owners have their own numbers. */
enum row_key { ROW_KEY_IMAGE = N_OWNER_KEYS, ROW_KEY_PROCEDURE, N_ROW_KEYS };

struct row_by {
	unsigned keys[N_ROW_KEYS]; /* enum owner_key or enum row_key, each once */
	unsigned n;
};

/* Parses "comm,pid,procedure"; perf's names are understood (symbol, sym, dso).  A procedure is one
 * of an image: "image" beside it is no key of its own.  -EINVAL when a word is none of them, or
 * there is none. */
int rows_parse_by(const char *text, struct row_by *ret, struct err *err);

/* Whether rows are of images or procedures (ROW_KEY_IMAGE, ROW_KEY_PROCEDURE), else 0. */
unsigned rows_code_key(const struct row_by *by);

#define ROW_NO_IMAGE UINT32_MAX

struct spot_row {
	image_id image; /* ROW_NO_IMAGE: rows are of owners only, or this one is no code */
	uint32_t proc;	/* the procedure's index in the image's symtab; PROC_NONE: no symbol */
	uint64_t svma;	/* of the procedure's start, or of the spot */
	const char *procedure;	   /* see rows_name; NULL before */
	bool nameless;		   /* no symbol says so: see rows_procedure_name */
	owner_id owner;		   /* one of those summed here: they have the same row keys */
	const uint64_t *counts;	   /* one per column, stored samples; lives as long as the query */
	const uint64_t *inclusive; /* those below it in call paths added; NULL: not wanted */
};

struct spot_rows {
	VEC(struct spot_row) rows;
	struct row_by by; /* no keys: of image or procedure */
	uint64_t total;	  /* of the sort column over all rows */
};

/* One row per image with samples.  IMAGES limits them; NULL means all. */
void rows_by_image(struct query *q, const image_ids *images, struct spot_rows *ret);

/* One row per procedure with samples, and one per image (proc == PROC_NONE) for addresses no symbol
 * covers.  Two procedures of one name are two rows. */
void rows_by_procedure(struct query *q, const image_ids *images, struct spot_rows *ret);

/* One row per address with samples. */
void rows_by_spot(struct query *q, const image_ids *images, struct spot_rows *ret);

/* Rows by image or by procedure (KEY) of the N SPOTS, ordered like the query's, which need no
 * samples. RET_OF_PLACE (by place, made by the caller) gets each spot's row; ROW_NONE is left where
 * no row is wanted or no spot given. */
#define ROW_NONE UINT32_MAX
void rows_of_spots(struct query *q, unsigned key, const image_ids *images, const struct spot *spots,
		   size_t n, struct spot_rows *ret, uint32_t *ret_of_place);

void rows_release(struct spot_rows *r);

/* Counts for one row: zeros, one per column, that live as long as the query. */
uint64_t *rows_new_counts(struct query *q);

/* Sets the total of rows whose counts are complete. */
void rows_find_total(const struct query *q, struct spot_rows *r);

/* Gives each row the name of its procedure: "[no symbol]" without one, "[unknown]" in no image,
 * what is known of the path for a mark.  Rows of no image keep theirs. */
void rows_name(struct query *q, struct spot_rows *r);

/* What procedure PROC of IMAGE is called in tables; *RET_NAMELESS: no symbol says so.  Lives as
 * long as Q. */
const char *rows_procedure_name(struct query *q, image_id image, uint32_t proc, bool *ret_nameless);

#endif
