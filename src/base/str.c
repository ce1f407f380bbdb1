/* SPDX-License-Identifier: BSD-2-Clause */
/* See str.h. */
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void str_addn(struct str *s, const char *text, size_t n)
{
	vec_reserve(s, n + 1);
	if (n) /* TEXT of no bytes may be NULL */
		memcpy(s->v + s->n, text, n);
	s->n += n;
	s->v[s->n] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	str_addn(s, &c, 1);
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	vec_reserve(s, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s->v + s->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->n += (size_t)n;
}

void str_addu_wide(struct str *s, uint64_t v, size_t width, char fill)
{
	char digits[20]; /* of 2^64 - 1 */
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + v % 10);
	while (v /= 10);
	while (at && sizeof(digits) - at < width)
		digits[--at] = fill;
	str_addn(s, digits + at, sizeof(digits) - at);
}

void str_addu(struct str *s, uint64_t v)
{
	str_addu_wide(s, v, 0, ' ');
}

void str_addx(struct str *s, uint64_t v)
{
	char digits[16];
	size_t at = sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	str_addn(s, digits + at, sizeof(digits) - at);
}

void str_reset(struct str *s)
{
	s->n = 0;
	if (s->v)
		s->v[0] = '\0';
}

void str_release(struct str *s)
{
	vec_release(s);
}

const char *str_get(const struct str *s)
{
	return s->n ? s->v : "";
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

const char *str_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

unsigned str_distance(const char *a, const char *b)
{
	enum { MAX = 64 };
	size_t n = strnlen(a, MAX), m = strnlen(b, MAX);
	unsigned d[3][MAX + 1]; /* the last three rows of the usual table */

	for (size_t j = 0; j <= m; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = d[i % 3], *up = d[(i - 1) % 3], *up2 = d[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] =
				min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < row[j])
				row[j] = up2[j - 2] + 1;
		}
	}
	return d[n % 3][m];
}

int str_parse_u64(const char *s, int base, uint64_t *ret)
{
	char *end;
	unsigned long long v;

	if (!*s || *s == '-' || *s == '+' || *s == ' ')
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, base);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*ret = v;
	return 0;
}

int str_parse_duration_ns(const char *s, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9},	  {"s", 1e9},	 {"ms", 1e6},	 {"us", 1e3},
		     {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}, {"w", 604800e9}};
	char *end;
	double v;

	if (!(*s >= '0' && *s <= '9') && *s != '.')
		return -EINVAL;
	v = strtod(s, &end);
	if (!(v >= 0))
		return -EINVAL;
	for (size_t i = 0; i < n_elems(units); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		if (v * units[i].ns >= 1.8e19)
			return -ERANGE;
		*ret_ns = (uint64_t)(v * units[i].ns);
		return 0;
	}
	return -EINVAL;
}

int str_parse_bytes(const char *s, uint64_t *ret)
{
	static const char units[] = "KMGT";
	const char *unit;
	unsigned shift;
	char *end;
	uint64_t n;

	if (!(*s >= '0' && *s <= '9'))
		return -EINVAL;
	errno = 0;
	n = strtoull(s, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (*end && (!unit || end[1]))
		return -EINVAL;
	if (errno || n << shift >> shift != n)
		return -ERANGE;
	*ret = n << shift;
	return 0;
}

void str_hex(const uint8_t *bytes, size_t n_bytes, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n_bytes; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret[2 * n_bytes] = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int str_unhex(const char *hex, uint8_t *ret, size_t max)
{
	size_t n = strlen(hex);

	if (n % 2 || n / 2 > max)
		return -EINVAL;
	for (size_t i = 0; i < n; i += 2) {
		int hi = hex_digit(hex[i]), lo = hex_digit(hex[i + 1]);

		if (hi < 0 || lo < 0)
			return -EINVAL;
		ret[i / 2] = (uint8_t)(hi << 4 | lo);
	}
	return (int)(n / 2);
}
