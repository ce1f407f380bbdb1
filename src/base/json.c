/* SPDX-License-Identifier: BSD-2-Clause */
/* See json.h. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json json_init(struct str *out, int indent)
{
	return (struct json){.out = out, .indent = indent, .first = true};
}

static void newline(struct json *j)
{
	if (j->depth > j->indent)
		return;
	str_addc(j->out, '\n');
	for (int i = 0; i < j->depth; i++)
		str_add(j->out, "  ");
}

/* What stands before a value or a key. */
static void separate(struct json *j)
{
	if (j->keyed) {
		j->keyed = false;
		return;
	}
	if (!j->first)
		str_add(j->out, j->depth > j->indent ? ", " : ",");
	if (j->depth)
		newline(j);
	j->first = false;
}

void json_begin(struct json *j, char bracket)
{
	separate(j);
	str_addc(j->out, bracket);
	j->depth++;
	j->first = true;
}

void json_end(struct json *j, char bracket)
{
	bool empty = j->first;

	j->depth--;
	if (!empty && j->depth + 1 <= j->indent)
		newline(j);
	str_addc(j->out, bracket);
	j->first = false;
}

/* Length of the UTF-8 sequence at S (RFC 3629), 0 when malformed. */
static int utf8_len(const unsigned char *s)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	int n = s[0] < 0x80		? 1
		: (s[0] & 0xe0) == 0xc0 ? 2
		: (s[0] & 0xf0) == 0xe0 ? 3
		: (s[0] & 0xf8) == 0xf0 ? 4
					: 0;
	uint32_t c;

	if (n <= 1)
		return n;
	c = s[0] & (0x7f >> n);
	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

static void quoted(struct str *out, const char *s)
{
	str_addc(out, '"');
	while (*s) {
		unsigned char c = (unsigned char)*s;
		int n = utf8_len((const unsigned char *)s);

		if (n == 0) {
			str_add(out, "\xef\xbf\xbd");
			n = 1;
		} else if (c == '"' || c == '\\') {
			str_addc(out, '\\');
			str_addc(out, (char)c);
		} else if (c < 0x20 || c == 0x7f) {
			str_addf(out, "\\u%04x", c);
		} else if (c == 0xc2 &&
			   (unsigned char)s[1] < 0xa0) { /* C1: some terminals obey it */
			str_addf(out, "\\u%04x", (unsigned char)s[1]);
		} else {
			str_addn(out, s, (size_t)n);
		}
		s += n;
	}
	str_addc(out, '"');
}

void json_key(struct json *j, const char *key)
{
	separate(j);
	quoted(j->out, key);
	str_add(j->out, ": ");
	j->keyed = true;
}

void json_str(struct json *j, const char *s)
{
	separate(j);
	if (s)
		quoted(j->out, s);
	else
		str_add(j->out, "null");
}

void json_u64(struct json *j, uint64_t v)
{
	separate(j);
	str_addu(j->out, v);
}

void json_i64(struct json *j, int64_t v)
{
	separate(j);
	if (v < 0)
		str_addc(j->out, '-');
	str_addu(j->out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void json_double_text(double v, char ret[JSON_DOUBLE_MAX])
{
	if (v == trunc(v) && fabs(v) < 9007199254740992.0) {
		snprintf(ret, JSON_DOUBLE_MAX, "%.0f", v);
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(ret, JSON_DOUBLE_MAX, "%.*g", digits, v);
		if (strtod(ret, NULL) == v)
			break;
	}
}

void json_thousandths(struct json *j, uint64_t v)
{
	char digits[4] = {'.', (char)('0' + v / 100 % 10), (char)('0' + v / 10 % 10),
			  (char)('0' + v % 10)};
	size_t n = 4;

	separate(j);
	str_addu(j->out, v / 1000);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	if (n > 1)
		str_addn(j->out, digits, n);
}

void json_copies(struct json *j, const char *text, size_t n)
{
	while (n--) {
		separate(j);
		str_add(j->out, text);
	}
}

void json_double(struct json *j, double v)
{
	char text[JSON_DOUBLE_MAX];

	separate(j);
	if (!isfinite(v)) {
		str_add(j->out, "null");
		return;
	}
	json_double_text(v, text);
	str_add(j->out, text);
}

void json_bool(struct json *j, bool v)
{
	separate(j);
	str_add(j->out, v ? "true" : "false");
}

void json_add_str(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_add_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_add_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

void json_add_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}
