/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal: keys in, lines out, and given back as it was at any end.
 *
 * Only this file knows ncurses.  A line is text as the emitter writes it: UTF-8 that text_show made
 * safe, in which ESC [ N m is a colour.  Nothing else that could drive the terminal gets through:
 * what is no colour is not written. */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum term_key {
	TERM_NONE = -1,
	TERM_UP = 0x110000, /* beyond all characters */
	TERM_DOWN,
	TERM_LEFT,
	TERM_RIGHT,
	TERM_PAGE_UP,
	TERM_PAGE_DOWN,
	TERM_HOME,
	TERM_END,
	TERM_ENTER,
	TERM_ESCAPE,
	TERM_BACKSPACE,
	TERM_RESIZE, /* the screen has another size */
	TERM_F1,
	TERM_F10 = TERM_F1 + 9,
};

enum term_look {
	TERM_PLAIN,
	TERM_CURSOR, /* the row that keys are for */
	TERM_BAR,    /* status and hints */
};

/* Takes the terminal.  -ENOTTY: stdin or stdout is none; -ENOTSUP: $TERM is not known, or cannot
 * place the cursor.  From now on SIGINT, SIGTERM and SIGHUP are noted (term_signal), and a crash
 * gives the terminal back before it ends the process. */
int term_open(struct err *err);

/* Gives it back; may be called twice.  Signals that want the program to end are noted on: a
 * terminal that goes away sends several, and there is something to clean up. */
void term_close(void);

/* The signal that wants the program to end; 0: none. */
int term_signal(void);

unsigned term_rows(void);
unsigned term_columns(void);
bool term_has_colour(void);

/* The next key or character that waits, TERM_NONE when none does.  Never blocks. */
int term_key(void);

/* Writes the N bytes of TEXT in line ROW, and blanks up to its end.  Characters beyond the width
 * are left out, after SKIP columns that are not shown. */
void term_line(unsigned row, const char *text, size_t n, unsigned skip, enum term_look look);

/* Shows what was written.  CURSOR_COLUMN: where in the last line something is typed; -1:
 * nowhere. */
void term_show(int cursor_column);

/* Writes all anew, as after something else wrote to the terminal. */
void term_redraw(void);

#endif
