/* SPDX-License-Identifier: BSD-2-Clause */
/* See err.h.  No allocation: messages are cut at the buffer's end. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	err->where[0] = '\0';
	return code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	n = strlen(err->msg);
	snprintf(err->msg + n, sizeof(err->msg) - n, ": %s", strerror(-code));
	err->where[0] = '\0';
	return code;
}

int err_prefix(struct err *err, int code, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	size_t n;

	if (!err)
		return code;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	n = strlen(err->msg);
	snprintf(err->msg + n, sizeof(err->msg) - n, ": %s", old);
	return code;
}

/* Columns that the N bytes at S take where each character takes one. */
static size_t width(const char *s, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += ((unsigned char)s[i] & 0xc0) != 0x80;
	return w;
}

static int is_inner(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void err_mark(struct err *err, const char *text, size_t at, size_t n)
{
	/* The text and its carets share the room; what is cut away is far from the place. */
	const size_t room = sizeof(err->where) / 2 - 2;
	size_t length = strlen(text), start = 0, shown;
	char *out;

	if (!err)
		return;
	at = at < length ? at : length;
	if (at + n > room)
		start = n < room / 2 ? at + n - room / 2 : at;
	/* Not in the midst of a character, which has four bytes at most. */
	for (int i = 0; i < 3 && start && start < length && is_inner(text[start]); i++)
		start--;
	shown = length - start < room ? length - start : room;
	if (at + n > start + shown)
		n = start + shown - at;
	out = err->where;
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)text[start + i];

		*out++ = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	*out++ = '\n';
	for (size_t i = width(text + start, at - start); i > 0; i--)
		*out++ = ' ';
	for (size_t i = n ? width(text + at, n) : 1; i > 0; i--)
		*out++ = '^';
	*out = '\0';
}
