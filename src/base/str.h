/* SPDX-License-Identifier: BSD-2-Clause */
/* Text being built (struct str: NUL-terminated, growing) and small text helpers. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *v; /* NULL when nothing was added yet; else NUL-terminated */
	size_t n, cap;
};

void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t n);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_reset(struct str *s); /* empty, keeps the memory */
void str_release(struct str *s);

/* Append V as "%lu" and "%lx" do, some ten times faster.  str_addu_wide begins with as many FILL as
 * make WIDTH characters (20 at most) of it. */
void str_addu(struct str *s, uint64_t v);
void str_addu_wide(struct str *s, uint64_t v, size_t width, char fill);
void str_addx(struct str *s, uint64_t v);

/* A text that is released at the end of its scope: `_str_ struct str line = {0};`. */
#define _str_ __attribute__((cleanup(str_release)))

/* The text, "" when nothing was added; lives until the next change of S. */
const char *str_get(const struct str *s);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

static inline bool str_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The part behind the last '/'. */
const char *str_basename(const char *path);

/* Number of edits (insert, delete, change, swap of neighbours) between A and B; for
 * "did you mean". */
unsigned str_distance(const char *a, const char *b);

/* Parses all of S as an unsigned number; BASE 0 takes 0x too.  0, or -EINVAL, or -ERANGE. */
int str_parse_u64(const char *s, int base, uint64_t *ret);

/* Parses a duration such as 10, 2.5s, 500ms, 3m, 2h, 7d, 4w (seconds without a unit) into
 * nanoseconds. */
int str_parse_duration_ns(const char *s, uint64_t *ret_ns);

/* Parses a size such as 4096, 500M, 10G (1024s; K, M, G, T) into bytes.  0, -EINVAL or -ERANGE. */
int str_parse_bytes(const char *s, uint64_t *ret);

/* Writes 2*N_BYTES lower-case hex digits and a NUL to RET. */
void str_hex(const uint8_t *bytes, size_t n_bytes, char *ret);

/* Parses hex digits into at most MAX bytes; returns the number of bytes, or -EINVAL. */
int str_unhex(const char *hex, uint8_t *ret, size_t max);

#endif
