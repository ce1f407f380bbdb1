/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of text from outside, one after the other. */
#ifndef FORMATS_TEXT_LINES_H
#define FORMATS_TEXT_LINES_H

#include <stdbool.h>
#include <string.h>

#include "base/rd.h"

struct text_line {
	const char *text; /* not terminated; without its newline and a carriage return before it */
	size_t n;
};

/* Steps over the next line of R; false at the end. */
static inline bool text_line_next(struct rd *r, struct text_line *ret)
{
	const char *text = (const char *)r->p;
	const size_t left = rd_left(r);
	const char *end = left ? memchr(text, '\n', left) : NULL;
	size_t n = end ? (size_t)(end - text) : left;

	if (!left)
		return false;
	rd_bytes(r, n + (end != NULL));
	if (n && text[n - 1] == '\r')
		n--;
	*ret = (struct text_line){text, n};
	return true;
}

static inline bool text_line_starts(const struct text_line *l, const char *prefix)
{
	const size_t n = strlen(prefix);

	return l->n >= n && memcmp(l->text, prefix, n) == 0;
}

/* Takes the decimal or (with BASE 16) hexadecimal digits that L begins with; false when there are
 * none, or too many for 64 bits. */
static inline bool text_line_number(struct text_line *l, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < l->n; i++) {
		const char c = l->text[i];
		const unsigned d = c >= '0' && c <= '9'	  ? (unsigned)(c - '0')
				   : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
				   : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
							  : 99;

		if (d >= base)
			break;
		if (v > (UINT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	if (!i)
		return false;
	l->text += i;
	l->n -= i;
	*ret = v;
	return true;
}

static inline void text_line_skip(struct text_line *l, char c)
{
	while (l->n && *l->text == c) {
		l->text++;
		l->n--;
	}
}

#endif
