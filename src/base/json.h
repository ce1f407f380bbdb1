/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes JSON text into a struct str, commas and indentation taken care of.
 *
 *     struct json j = json_init(&out, 1);
 *     json_begin(&j, '{'); json_key(&j, "name"); json_str(&j, "x"); json_end(&j, '}');
 *
 * Strings that are not valid UTF-8 have their bad bytes written as U+FFFD. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct json {
	struct str *out;
	int indent; /* levels deeper than this are written on one line; 0: all on one line */
	int depth;
	bool first; /* nothing written at this level yet */
	bool keyed; /* a key was just written */
};

struct json json_init(struct str *out, int indent);
void json_begin(struct json *j, char bracket); /* '{' or '[' */
void json_end(struct json *j, char bracket);   /* '}' or ']' */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s); /* NULL is written as null */
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j,
		 double v); /* shortest text that reads back the same; NaN as null */

/* V / 1000, exact: 1500 is "1.5". */
void json_thousandths(struct json *j, uint64_t v);

/* Adds N values.  Each is TEXT, which is JSON. */
void json_copies(struct json *j, const char *text, size_t n);

/* The text of json_double for a finite V. */
#define JSON_DOUBLE_MAX 40
void json_double_text(double v, char ret[JSON_DOUBLE_MAX]);

void json_bool(struct json *j, bool v);

/* A key and its value. */
void json_add_str(struct json *j, const char *key, const char *s);
void json_add_u64(struct json *j, const char *key, uint64_t v);
void json_add_double(struct json *j, const char *key, double v);
void json_add_bool(struct json *j, const char *key, bool v);

#endif
