/* SPDX-License-Identifier: BSD-2-Clause */
/* One view as text: lines of a document, of which some are rows that keys are for.
 *
 *     vm, 2026-11-23 04:13:35 UTC, 3.0 s       )
 *     event      period samples lost           ) head: always there
 *     cpu-clock      %  procedure              )
 *          2572 85.85%  __sin_fma              rows: these scroll, one has the cursor
 *           380 12.68%  inner
 *     no symbols for libfoo.so: ...            notes: behind the rows, scroll with them
 *
 * The document is what `dwell prof`, `tree` and the others print; the emitter says where its rows
 * stand (struct emit, rows_at). */
#ifndef TUI_PANE_H
#define TUI_PANE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/* What a row is, as far as keys need to know. */
struct pane_row {
	const char *procedure; /* NULL: none */
	const char *image;     /* its name or path; NULL: none, or not known */
	uint64_t id;	       /* the same in the next second, where it is the same thing */
	bool can_fold, is_folded;
};

struct pane {
	struct str text;
	VEC(size_t) lines;	   /* where each begins */
	size_t head;		   /* that many lines are fixed, as far as half of the screen */
	size_t n_rows;		   /* lines behind them that are rows; the others are notes */
	VEC(struct pane_row) rows; /* of the first rows; may be fewer */
	struct arena arena;	   /* texts of rows */
	/* These outlive the text: */
	size_t cursor, top; /* line behind the head; the first one shown */
	unsigned skip;	    /* columns scrolled away */
	bool moved;	    /* somebody put the cursor where it is */
};

/* Empties P but for where it stands. */
void pane_clear(struct pane *p);
void pane_release(struct pane *p);

/* Finds P's lines.  The rows begin at offset ROWS_AT of the text and end at ROWS_END; where there
 * are none (both 0), all lines scroll, and none is a row. */
void pane_settle(struct pane *p, size_t rows_at, size_t rows_end);

/* Puts the cursor on the row with ID, if it is there. */
void pane_find_row(struct pane *p, uint64_t id);

/* The row under the cursor; NULL: it is none that is known. */
const struct pane_row *pane_row(const struct pane *p);

/* Moves by N lines, or to line AT, as far as there are lines; HEIGHT is that of the screen's
 * part. */
void pane_move(struct pane *p, long n);
void pane_go(struct pane *p, size_t at);

/* Moves to the next line (FORWARD; else the one before) that has TEXT, upper and lower case alike,
 * once around the document.  False: there is none.  WITH_THIS: the cursor's own line counts. */
bool pane_search(struct pane *p, const char *text, bool forward, bool with_this);

/* Draws P into the HEIGHT lines of the screen from FIRST on. */
void pane_draw(struct pane *p, unsigned first, unsigned height);

#endif
