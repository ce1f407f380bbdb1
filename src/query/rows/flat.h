/* SPDX-License-Identifier: BSD-2-Clause */
/* Flat tables: each image, procedure, line, address, owner or thread once, with its own numbers and
 * those of what it called.  Rows of any source are of this kind. */
#ifndef QUERY_ROWS_FLAT_H
#define QUERY_ROWS_FLAT_H

#include "query/rows/columns.h"
#include "query/samples/scopes.h"
#include "query/samples/spot_rows.h"

struct source;

struct flat_row {
	const double *own;	 /* one number per column */
	const double *inclusive; /* with what it called; NULL: not wanted */
	double key;		 /* see flat_settle */
	const char *procedure;	 /* NULL: the row is of none, or not named yet */
	const char *file;
	uint64_t svma;
	image_id image;	 /* SCOPE_NO_IMAGE: of none */
	uint32_t proc;	 /* the procedure's index in the image's symtab; PROC_NONE */
	uint32_t member; /* the owner's, or the thread's number */
	uint32_t line;	 /* 0: not known */
	enum scope_kind kind;
	bool nameless; /* no symbol says what it is called */
	bool inlined;
	bool truncated; /* a path's missing part: behind all other rows */
};

struct flat_image {
	const char *path;	   /* what it is called */
	const char *file;	   /* its path alone; NULL: not known */
	const char *kind;	   /* "file", "kernel", ...; NULL: not known */
	const struct build_id *id; /* NULL: none */
	bool is_mark;		   /* no code: "[truncated: CAUSE]" */
};

struct flat_opts {
	struct row_by by;      /* owners' keys and code, of samples */
	enum scope_kind level; /* of code; SCOPE_ROOT: rows are of owners or threads alone */
	bool threads;	       /* a row is a thread */
	const char *contexts;  /* of these alone, "12+15"; NULL: all */
	bool inclusive, by_inclusive;
	bool by_place;		/* in order of images and addresses */
	double keep_pct;	/* the fewest rows that hold so much of the whole; 100: all */
	size_t most;		/* rows; 0: all */
	const opt_list *images; /* names; none: all */
};

enum neighbour_kind { NEIGHBOUR_CALLERS, NEIGHBOUR_CALLEES };

struct neighbour_opts {
	enum neighbour_kind kind;
	const char *procedure;
	double keep_pct;
	const opt_list *images;
};

/* Whose callers or callees rows are. */
struct flat_whose {
	enum neighbour_kind kind;
	const char *procedure; /* its name; NULL: the rows are nobody's */
	image_id image;	       /* SCOPE_NO_IMAGE: none, or several procedures are called so */
	size_t n_procedures;
	double *inclusive, *own; /* one number per column */
	unsigned column;	 /* the one people are told of */
};

/* What the values of threads come to. */
struct flat_moments {
	unsigned column;
	const char *scope;  /* "inclusive", "exclusive" */
	uint64_t n_threads; /* with a value */
	double stats[6];    /* as flat_stat_names */
};
extern const char *const flat_stat_names[6];

struct flat {
	struct source *source;
	VEC(struct flat_row) rows;
	struct row_by by;
	enum scope_kind level;
	bool threads, inclusive, by_inclusive;
	bool is_ordered;      /* rows come in their order */
	bool drops_empty;     /* rows with nothing in a column that is shown are none */
	bool by_key;	      /* keys come before all numbers */
	bool by_place;	      /* numbers are no matter */
	const char *contexts; /* of options */
	double *totals;	      /* by column: 100 % */
	double whole;	      /* of column `keep_col`, of all rows: what `keep_pct` is of */
	unsigned keep_col;
	size_t n_all;	    /* rows there were before some were kept */
	unsigned n_told;    /* that many columns are told of `whose` */
	const double *idle; /* outside of the percentages; NULL: nothing */
	struct flat_whose whose;
	VEC(struct flat_moments) moments; /* of threads: two for each column, one when of all */
	image_ids images;		  /* of rows that have no names, worth a note */
	void *kept;			  /* the source's, until flat_release */
	void (*release)(void *kept);
	struct arena arena;
};

/* Room for one number per column, zeros, that lives as long as F. */
double *flat_numbers(struct flat *f);

/* Adds ROWS of T, of IMAGES (by image; NULL: all) alone, and their numbers to the whole.  They must
 * outlive F. */
struct tree_source;
struct tree_rows;
void flat_add_tree_rows(struct flat *f, struct tree_source *t, const struct tree_rows *rows,
			const bool *images);

/* Drops empty rows and gives each its key, where F says so; evaluates nothing. */
void flat_settle(struct flat *f);

/* Sorts by falling key, number of the sort column (inclusive ones first where F says so), then of
 * the others, then by what rows are. */
void flat_sort(struct flat *f);

/* Keeps the fewest rows that hold PCT percent (0 to 100) of the whole, and MOST of them. */
void flat_keep(struct flat *f, double pct, size_t most);

void flat_release(struct flat *f);

#endif
