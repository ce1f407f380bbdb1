/* SPDX-License-Identifier: BSD-2-Clause */
/* Names from outside made fit for a screen: nothing in them may drive the terminal, and a long one
 * is cut where it says least. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>

#include "base/str.h"

/* Appends S with every control character (C0, DEL, C1), text direction override and malformed UTF-8
 * byte written as \xNN or \u{N}; returns the columns the text takes, one per character. */
size_t text_show(struct str *out, const char *s);

/* The columns text_show would report. */
size_t text_width(const char *s);

enum text_cut {
	TEXT_WHOLE, /* never cut */
	TEXT_NAME,  /* a procedure: gives up parameters, then template arguments, then its beginning
		     */
	TEXT_PATH,  /* gives up its beginning */
	TEXT_END,   /* gives up its end */
};

/* Appends S, which text_show has made safe, cut to WIDTH columns (4 or more); "..." stands for what
 * was left out.  Returns the columns used. */
size_t text_add_cut(struct str *out, const char *s, enum text_cut how, size_t width);

#endif
