/* SPDX-License-Identifier: BSD-2-Clause */
/* What the terminal shows: each view asks the source one question and has the answer printed by the
 * printer that `dwell prof`, `tree`, `list` and `diff` use. */
#ifndef TUI_VIEWS_H
#define TUI_VIEWS_H

#include "query/source.h"
#include "tui/folds.h"
#include "tui/pane.h"
#include "view/list.h"

enum view_kind {
	VIEW_TABLE,	 /* each procedure, image, command ... once */
	VIEW_TREE,	 /* from the root down, or from the sampled procedures up */
	VIEW_NEIGHBOURS, /* callers or callees of a procedure */
	VIEW_CODE,	 /* a procedure's source lines and instructions */
	VIEW_CHANGES,	 /* this set beside another one */
	VIEW_HELP,
};

struct view {
	enum view_kind kind;
	unsigned by;	     /* TABLE: what rows are, see view_next_by */
	enum tree_form form; /* TREE */
	enum neighbour_kind neighbour;
	enum list_mode mode;	 /* CODE: as far as it can be had */
	unsigned sort;		 /* number of a key of sort: view_next_sort */
	char *procedure, *image; /* NEIGHBOURS, CODE; NULL: none */
	struct folds folds;
	struct pane pane;
	bool is_short;	    /* TABLE: rows below the screen were not asked for */
	struct err missing; /* CODE: why it has no lines, or no instructions; "": it has */
};

void view_release(struct view *v);

/* What V's lines are made of. */
struct view_input {
	struct source *source;
	struct source *other; /* CHANGES: what it is compared with; NULL: nothing is there yet */
	const char *names[2]; /* CHANGES: what the two are called, OTHER first */
	unsigned width;
	unsigned most_rows; /* TABLE: more are not asked for; 0: as many as somebody may look at */
	bool colour;
	bool live; /* what would name images is not looked for */
};

/* Fills V's pane.  The cursor stays on the row it is on, unless nobody has put it there.  On
 * failure the pane is as it was, and ERR says why in one line. */
int view_fill(struct view *v, const struct view_input *in, struct err *err);

/* What V shows, for the status line: "procedures", "callers of inner". */
void view_add_title(const struct view *v, struct str *out);

/* What V is sorted by: the next column of S, inclusive or exclusive; the next thing that rows are.
 * False: there is one only. */
bool view_next_sort(struct view *v, const struct source *s);
bool view_next_by(struct view *v, const struct source *s);
void view_add_sort(const struct view *v, const struct source *s, struct str *out);

#endif
