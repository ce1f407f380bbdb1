/* SPDX-License-Identifier: BSD-2-Clause */
/* See text.h.
 *
 *     bytes       A  ESC  combining acute x 4     U+6F22 (wide)
 *     text_show   A  \x1b  \u{301} \u{301} ...   U+6F22
 *
 * The escape is written out; so is a mark that has no letter before it, and each mark behind the
 * second of a letter: ten thousand of them would take no column and fill the screen. */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/char_width.h"

/* Decodes the UTF-8 sequence at S into *RET (RFC 3629); returns its length, 0 when malformed. */
static size_t decode(const unsigned char *s, uint32_t *ret)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80		   ? 1
		   : (s[0] & 0xe0) == 0xc0 ? 2
		   : (s[0] & 0xf0) == 0xe0 ? 3
		   : (s[0] & 0xf8) == 0xf0 ? 4
					   : 0;
	uint32_t c;

	if (n <= 1) {
		*ret = s[0];
		return n;
	}
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	*ret = c;
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* Returns the bytes at the beginning of S that are printable ASCII, or the lines and arrows of
 * listings: U+2180 to U+21BF, U+2500 to U+257F.  Each of these takes one column and harms nothing.
 * *RET_WIDTH: their columns. */
static size_t plain_run(const char *s, size_t *ret_width)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n_lines = 0;

	for (;;) {
		if (*p >= 0x20 && *p < 0x7f) {
			p++;
		} else if (*p == 0xe2 && (p[1] == 0x94 || p[1] == 0x95 || p[1] == 0x86) &&
			   (p[2] & 0xc0) == 0x80) {
			p += 3;
			n_lines++;
		} else {
			*ret_width = (size_t)(p - (const unsigned char *)s) - 2 * n_lines;
			return (size_t)(p - (const unsigned char *)s);
		}
	}
}

size_t text_control(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
		return 2;
	return *p && (*p < ' ' || *p == 0x7f);
}

void text_add_line(struct str *out, const char *s)
{
	while (*s) {
		const size_t n = text_control(s);

		str_addc(out, n ? '?' : *s);
		s += n ? n : 1;
	}
}

#define MOST_MARKS 2 /* of a letter */

size_t text_show(struct str *out, const char *s)
{
	size_t width = 0;
	unsigned marks = MOST_MARKS; /* what comes first is behind no letter */

	while (*s) {
		size_t before = out->n, n, takes;
		uint32_t c;

		n = plain_run(s, &takes);
		if (n) {
			str_addn(out, s, n);
			width += takes;
			s += n;
			marks = s[-1] == ' ' ? MOST_MARKS : 0;
			continue;
		}
		n = decode((const unsigned char *)s, &c);
		takes = n > 1 ? char_width(c) : 1;
		if (n <= 1) {
			str_addf(out, "\\x%02x", (unsigned char)*s);
		} else if (char_is_harmful(c) || (!takes && marks++ >= MOST_MARKS)) {
			str_addf(out, "\\u{%x}", c);
		} else {
			str_addn(out, s, n);
			width += takes;
			before = out->n;
			marks = takes ? 0 : marks;
		}
		width += out->n - before;
		s += n ? n : 1;
	}
	return width;
}

size_t text_width(const char *s)
{
	_str_ struct str shown = {0};
	size_t width;

	return s[plain_run(s, &width)] ? text_show(&shown, s) : width;
}

/* --- cutting text that was made safe --- */

/* The bytes of the character at S and the columns it takes. */
static size_t char_at(const char *s, unsigned *ret_width)
{
	uint32_t c;
	size_t n;

	*ret_width = 1;
	if ((unsigned char)*s < 0x80)
		return 1;
	n = decode((const unsigned char *)s, &c);
	if (n > 1)
		*ret_width = char_width(c);
	return n ? n : 1;
}

/* Returns the bytes of the longest beginning of the N bytes at S that takes at most WIDTH columns,
 * with the marks on its last letter; *RET_WIDTH: the columns it takes. */
static size_t text_skip(const char *s, size_t n_bytes, size_t width, size_t *ret_width)
{
	size_t i = 0;

	*ret_width = 0;
	while (i < n_bytes) {
		unsigned takes;
		size_t n = char_at(s + i, &takes);

		if (*ret_width + takes > width)
			break;
		*ret_width += takes;
		i += n;
	}
	return i;
}

static size_t add_head(struct str *out, const char *s, size_t width)
{
	size_t used, n = text_skip(s, strlen(s), width - 3, &used);

	str_addn(out, s, n);
	str_add(out, "...");
	return used + 3;
}

/* ALL is the width of S.  A wide character that fits by half goes whole. */
static size_t add_tail(struct str *out, const char *s, size_t all, size_t width)
{
	const size_t goes = all - (width - 3);
	size_t cut, n = text_skip(s, strlen(s), goes, &cut);
	unsigned takes;

	if (cut < goes) {
		n += char_at(s + n, &takes);
		cut += takes;
	}
	for (size_t bytes; (bytes = char_at(s + n, &takes)) && s[n] && !takes; n += bytes)
		;
	str_add(out, "...");
	str_add(out, s + n);
	return all - cut + 3;
}

size_t text_add_cut(struct str *out, const char *s, enum text_cut how, size_t width)
{
	size_t all = text_width(s);

	if (how == TEXT_WHOLE || all <= width) {
		str_add(out, s);
		return all;
	}
	return how == TEXT_PATH ? add_tail(out, s, all, width) : add_head(out, s, width);
}

/* Folds the N bytes of one line at S. */
static void fold_line(struct str *out, const char *s, size_t n, size_t width, size_t indent)
{
	const size_t lead = strspn(s, " ");
	const size_t hang = lead + indent < width / 2 ? lead + indent : indent;
	size_t at = 0, least = lead < n ? lead : n;

	for (;;) {
		size_t used, fits = text_skip(s, n, width - at, &used), cut = fits;

		if (fits == n)
			break;
		while (cut > least && s[cut] != ' ')
			cut--;
		/* A word that is longer than a line is cut. */
		if (cut <= least)
			cut = fits;
		str_addn(out, s, cut);
		str_addc(out, '\n');
		while (cut < n && s[cut] == ' ')
			cut++;
		s += cut;
		n -= cut;
		for (at = 0; at < hang; at++)
			str_addc(out, ' ');
		least = 0;
	}
	str_addn(out, s, n);
}

void text_fold(struct str *out, const char *text, size_t width, size_t indent)
{
	while (*text) {
		const size_t n = strcspn(text, "\n");

		fold_line(out, text, n, width, indent);
		text += n;
		if (*text) {
			str_addc(out, '\n');
			text++;
		}
	}
}
