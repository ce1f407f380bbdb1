/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph: rows of a tree as boxes, each as wide as it has samples.
 *
 *     tree_rows_init ---> flame_init ---> struct flame ---> flame_html, flame_svg
 *
 * Names are made safe when they come in (text.h), so that no writer of a picture meets control
 * characters, text direction overrides or malformed UTF-8.  A picture has a bound: the smallest
 * boxes beyond it become one box beside their larger siblings, which says how many it stands for.
 * No sample is ever missing from the sum. */
#ifndef QUERY_BOXES_BOXES_H
#define QUERY_BOXES_BOXES_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "query/rows/tree_rows.h"

/* What a box stands for; it decides the colour. */
enum flame_kind {
	FLAME_NATIVE,	 /* compiled code */
	FLAME_INLINED,	 /* a call that the compiler inlined */
	FLAME_KERNEL,	 /* code of the kernel */
	FLAME_GENERATED, /* code that a running program made */
	FLAME_SCRIPT,	 /* a function of Python, Java, Node.js, ...: IMAGE_SCRIPT */
	FLAME_NAMELESS,	 /* code without a symbol */
	FLAME_MARK,	 /* why a path has no outer part */
	FLAME_WAIT,	 /* a thread's state that has no path: waiting for a CPU, blocked */
	FLAME_OWNER,	 /* a process, thread, container, ... */
	FLAME_SMALL,	 /* many boxes that are too small */
	N_FLAME_KINDS,
};

/* "native", "inlined", ...: as the data block of the page has them. */
const char *flame_kind_name(enum flame_kind k);

/* How a box's share of all differs between two sets; less than chance explains is FLAME_SAME. */
enum flame_change {
	FLAME_SAME,
	FLAME_GREW,	 /* in the second */
	FLAME_GREW_MUCH, /* to more than 1.5 times */
	FLAME_NEW,	 /* not in the first at all */
	FLAME_SHRANK,
	FLAME_SHRANK_MUCH, /* to less than two thirds */
	FLAME_GONE,	   /* not in the second at all */
	N_FLAME_CHANGES,
};

/* "same", "grew", ...: as the data block has them. */
const char *flame_change_name(enum flame_change c);

/* What boxes of one procedure share. */
struct flame_frame {
	enum flame_kind kind;
	/* Safe text: the name in full, and as boxes have room for it (text_name.h); IMAGE and FILE
	 * are "" when they are not known. */
	const char *name, *label, *image, *file;
	uint32_t line; /* 0 when not known */
};

struct flame_box {
	uint32_t depth; /* 0 at the top */
	uint32_t frame;
	uint32_t n_small; /* FLAME_SMALL: boxes it stands for */
	uint64_t self, total;
	/* Two sets: SELF and TOTAL are their sum, the first at the second's scale. */
	uint64_t side_self[2], side_total[2];
	enum flame_change change;
	uint64_t runnable, blocked; /* with has_states: parts of SELF */
};

struct flame {
	const char *title;   /* safe text */
	const char *unit;    /* "samples", "ns", "events", or "" for a metric's own */
	const char *event;   /* safe text: the column's name */
	const char *account; /* what was recorded and what was lost, in lines; safe text */
	double scale;	     /* one unit of a box's numbers is worth that much */
	uint64_t total;	     /* of all there is: 100 % */
	uint64_t shown;	     /* of the boxes at the top */
	uint64_t least;	     /* boxes with less are in FLAME_SMALL */
	uint32_t max_depth;  /* levels that were made boxes of; 0: all */
	bool callers;	     /* above a box who called it */
	bool has_states;     /* of wall time: boxes say what threads did */
	bool is_diff;	     /* of two sets, SIDES */
	struct {
		const char *name; /* safe text */
		uint64_t total;	  /* of all there is in it */
	} sides[2];
	VEC(struct flame_frame) frames;
	VEC(struct flame_box) boxes; /* in preorder, siblings by falling total */
	struct arena arena;
};

struct flame_opts {
	const char *title;     /* NULL, "": "flame graph" */
	const char *account;   /* made with the emitter */
	enum tree_form form;   /* of the rows: TREE_DOWN or TREE_CALLERS */
	uint32_t max_depth;    /* of the rows; 0: all */
	size_t max_boxes;      /* 0: FLAME_BOXES */
	size_t max_name_bytes; /* of all names together; 0: FLAME_NAME_BYTES */
};

#define FLAME_BOXES	 400000
#define FLAME_MANY	 20000 /* take too long to wait for all of them: an outline comes first */
#define FLAME_NAME_BYTES ((size_t)8 << 20)

/* Makes boxes of ROWS, which are T's.  F is to be released with flame_release. */
void flame_init(struct flame *f, struct tree_source *t, const struct tree_rows *rows,
		const struct flame_opts *o);
void flame_release(struct flame *f);

struct flame_diff_opts {
	const char *title; /* safe text */
};

/* Makes one of A, what was, and B, what is, of the same form.  RET is to be released. */
void flame_diff(struct flame *ret, const struct flame *a, const struct flame *b,
		const struct flame_diff_opts *o);

/* Sets SELF of F's boxes from TOTAL or TOTAL from SELF, whichever is there, and what is shown. */
void flame_settle(struct flame *f);

/* Leaves F about MAX_BOXES boxes: the smallest of each parent become one, which says how many it
 * stands for. */
void flame_limit(struct flame *f, size_t max_boxes);

/* Makes RET what F would be with about MAX_BOXES boxes.  RET's boxes are the caller's, all else is
 * F's, which gets a frame for small boxes if it has none. */
void flame_outline(struct flame *f, size_t max_boxes, struct flame *ret);

/* A page that is larger has fewer boxes. */
#define FLAME_PAGE_BYTES 1500000

/* Appends F as one HTML page that needs nothing else. */
void flame_html(struct str *out, struct flame *f);

/* Appends a block of what such a page has of F, for one that asks for it: flame_html.c tells its
 * layout.  Behind an outline another block has the whole. */
struct wr;
void flame_data(struct wr *out, const struct flame *f, bool is_outline);

/* Appends F as an SVG picture 1200 wide, without scripts. */
void flame_svg(struct str *out, const struct flame *f);

#endif
