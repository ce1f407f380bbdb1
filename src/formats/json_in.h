/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON from outside as a tree, by jansson.  A question about what is not there, or is of another
 * type, has the answer "none": so a reader of a format asks for what it needs, and checks at the
 * end what it has got. */
#ifndef FORMATS_JSON_IN_H
#define FORMATS_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Files beyond that are refused: a tree is some ten times as large as its text. */
#define JSON_IN_MOST_BYTES ((size_t)512 << 20)
#define JSON_IN_MOST_ROOM  ((size_t)4 << 30) /* about; an empty array of 3 bytes takes 136 */

struct json_in; /* a value in the tree */

/* Chooses what hashes of keys begin with, once for this process and its children.  Without it the
 * first json_in_parse opens a file of random numbers, which a reader without rights may not. */
void json_in_seed(void);

/* Parses the N bytes.  -EBADMSG with the line; -E2BIG.  Free *RET with json_in_free. */
int json_in_parse(const void *bytes, size_t n, struct json_in **ret, struct err *err);

/* Parses, as json_in_parse does, the output of a writer that puts NUL into texts.  For json_in_text
 * such a text ends there. */
int json_in_parse_with_nul(const void *bytes, size_t n, struct json_in **ret, struct err *err);
void json_in_free(struct json_in *j);

/* What J, an object, has under KEY; NULL: nothing, or null.  J may be NULL here and below. */
const struct json_in *json_in_get(const struct json_in *j, const char *key);

/* The elements of an array, 0 of anything else; the one at I, NULL when there is none. */
size_t json_in_n(const struct json_in *j);
const struct json_in *json_in_at(const struct json_in *j, size_t i);

/* The text of a string; NULL: it is none. */
const char *json_in_text(const struct json_in *j);

/* A number, whole or not; false: it is none. */
bool json_in_number(const struct json_in *j, double *ret);

/* A whole number of 0 or more below 2^32; false: it is none. */
bool json_in_u32(const struct json_in *j, uint32_t *ret);

/* Whether it is `true`; false is all else. */
bool json_in_is_true(const struct json_in *j);

bool json_in_is_object(const struct json_in *j);

#endif
