/* SPDX-License-Identifier: BSD-2-Clause */
/* See text.h.  A character is one column: names are code, where wide characters are rare, and a
 * table a column off is better than a dependency on the locale. */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* Unicode "Cc", and the explicit direction characters of UAX #9, which can make a name look like
 * another one. */
static bool is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t text_show(struct str *out, const char *s)
{
	size_t width = 0;

	while (*s) {
		const char *start = s;
		size_t before;
		uint32_t c;
		size_t n;

		while ((unsigned char)*s >= 0x20 && (unsigned char)*s < 0x7f)
			s++;
		if (s > start) {
			str_addn(out, start, (size_t)(s - start));
			width += (size_t)(s - start);
			continue;
		}
		n = decode((const unsigned char *)s, &c);
		before = out->n;
		if (n == 0 || (n == 1 && is_harmful(c)))
			str_addf(out, "\\x%02x", (unsigned char)*s);
		else if (is_harmful(c))
			str_addf(out, "\\u{%x}", c);
		else
			str_addn(out, s, n);
		width += n > 1 && !is_harmful(c) ? 1 : out->n - before;
		s += n ? n : 1;
	}
	return width;
}

size_t text_width(const char *s)
{
	struct str shown = {0};
	const char *p = s;
	size_t width;

	while ((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f)
		p++;
	if (!*p)
		return (size_t)(p - s);
	width = text_show(&shown, s);
	str_release(&shown);
	return width;
}

/* Characters of safe UTF-8 text. */
static size_t n_chars(const char *s, size_t n)
{
	size_t chars = 0;

	for (size_t i = 0; i < n; i++)
		chars += ((unsigned char)s[i] & 0xc0) != 0x80;
	return chars;
}

static size_t skip_chars(const char *s, size_t chars)
{
	size_t i = 0;

	while (s[i] && chars > 0) {
		i++;
		while (((unsigned char)s[i] & 0xc0) == 0x80)
			i++;
		chars--;
	}
	return i;
}

/* Copies S with what stands between top-level OPEN and CLOSE written as "...".  An `operator` name
 * keeps its brackets. */
static void collapse(struct str *out, const char *s, char open, char close)
{
	unsigned depth = 0;

	for (const char *p = s; *p; p++) {
		bool is_operator =
			p - s >= 8 && (memcmp(p - 8, "operator", 8) == 0 ||
				       (p - s >= 9 && memcmp(p - 9, "operator", 8) == 0));

		if (is_operator && depth == 0) {
			str_addc(out, *p);
			continue;
		}
		if (*p == close && depth > 0 && p[-1] != '-' && --depth == 0)
			str_add(out, "...");
		if (depth == 0)
			str_addc(out, *p);
		if (*p == open)
			depth++;
	}
}

static size_t add_tail(struct str *out, const char *s, size_t width)
{
	size_t chars = n_chars(s, strlen(s));

	str_add(out, "...");
	str_add(out, s + skip_chars(s, chars - (width - 3)));
	return width;
}

static size_t add_name(struct str *out, const char *s, size_t width)
{
	struct str a = {0}, b = {0};
	const char *best;
	size_t used;

	collapse(&a, s, '(', ')');
	best = str_get(&a);
	if (n_chars(best, strlen(best)) > width) {
		collapse(&b, str_get(&a), '<', '>');
		best = str_get(&b);
	}
	used = n_chars(best, strlen(best));
	if (used <= width)
		str_add(out, best);
	else
		used = add_tail(out, best, width);
	str_release(&a);
	str_release(&b);
	return used;
}

size_t text_add_cut(struct str *out, const char *s, enum text_cut how, size_t width)
{
	size_t chars = n_chars(s, strlen(s));

	if (how == TEXT_WHOLE || chars <= width) {
		str_add(out, s);
		return chars;
	}
	if (how == TEXT_NAME)
		return add_name(out, s, width);
	if (how == TEXT_PATH)
		return add_tail(out, s, width);
	str_addn(out, s, skip_chars(s, width - 3));
	str_add(out, "...");
	return width;
}
