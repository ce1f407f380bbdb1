/* SPDX-License-Identifier: BSD-2-Clause */
/* Names from outside made fit for a screen: nothing in them may drive the terminal, and a long one
 * is cut where it says least. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>

#include "base/str.h"

/* Appends S with everything that may drive a terminal or deceive a reader written as \xNN or \u{N}:
 * control characters, direction and other format characters, malformed UTF-8, piles of combining
 * marks.  Returns the columns the text takes: a wide character takes two, a combining mark none. */
size_t text_show(struct str *out, const char *s);

/* Returns how many bytes the control character at the start of S has; 0: there is none.  Control
 * characters are those below a blank, DEL, and U+0080 to U+009F, which terminals obey as well. */
size_t text_control(const char *s);

/* Appends S as a part of a line in a file of lines: each control character becomes a '?', so that a
 * name ends no line and forges none. */
void text_add_line(struct str *out, const char *s);

/* The columns text_show would report. */
size_t text_width(const char *s);

enum text_cut {
	TEXT_WHOLE, /* never cut */
	TEXT_NAME,  /* a procedure: shortened everywhere (text_name.h), and gives up its end */
	TEXT_PATH,  /* gives up its beginning */
	TEXT_END,   /* gives up its end */
	TEXT_FOLD,  /* prose, the last column: goes on below */
	TEXT_FILL,  /* the last column, written when its width is known: see struct emit */
};

/* Appends S, which text_show has made safe, cut to WIDTH columns (4 or more); "..." stands for what
 * was left out.  Returns the columns used, which may be one less for a wide character. */
size_t text_add_cut(struct str *out, const char *s, enum text_cut how, size_t width);

/* Appends TEXT, safe lines, broken at blanks so that none takes more than WIDTH columns (20 or
 * more).  A line that goes on is indented as its beginning is, and by INDENT more. */
void text_fold(struct str *out, const char *text, size_t width, size_t indent);

#endif
