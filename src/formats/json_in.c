/* SPDX-License-Identifier: BSD-2-Clause */
/* See json_in.h. */
#include "formats/json_in.h"

#include <errno.h>
#include <jansson.h>

static const json_t *json_of(const struct json_in *j)
{
	return (const json_t *)j;
}

static const struct json_in *some(const json_t *j)
{
	return j && !json_is_null(j) ? (const struct json_in *)j : NULL;
}

void json_in_seed(void)
{
	json_object_seed(0);
}

/* Memory that jansson 2.14 takes (measured): an empty array, an empty object, a key of an object, a
 * value in either. */
#define ROOM_ARRAY  136
#define ROOM_OBJECT 240
#define ROOM_KEY    72
#define ROOM_VALUE  48

/* About how much memory the values of N bytes take; what stands in strings is counted, too. */
static size_t room_of(const uint8_t *bytes, size_t n)
{
	size_t n_arrays = 0, n_objects = 0, n_keys = 0, n_more = 0;

	for (size_t i = 0; i < n; i++) {
		n_arrays += bytes[i] == '[';
		n_objects += bytes[i] == '{';
		n_keys += bytes[i] == ':';
		n_more += bytes[i] == ',';
	}
	return n + n_arrays * ROOM_ARRAY + n_objects * ROOM_OBJECT + n_keys * ROOM_KEY +
	       n_more * ROOM_VALUE;
}

static int json_in_parse_by(const void *bytes, size_t n, size_t flags, struct json_in **ret,
			    struct err *err)
{
	json_error_t why;
	json_t *j;

	if (n > JSON_IN_MOST_BYTES)
		return err_set(err, -E2BIG, "more than %zu bytes of JSON", JSON_IN_MOST_BYTES);
	if (room_of(bytes, n) > JSON_IN_MOST_ROOM)
		return err_set(err, -E2BIG,
			       "JSON of so many values that it needs more than %zu bytes of memory",
			       JSON_IN_MOST_ROOM);
	j = json_loadb(bytes, n, flags, &why);
	if (!j)
		return err_set(err, -EBADMSG, "line %d: %s", why.line, why.text);
	*ret = (struct json_in *)j;
	return 0;
}

int json_in_parse(const void *bytes, size_t n, struct json_in **ret, struct err *err)
{
	return json_in_parse_by(bytes, n, 0, ret, err);
}

int json_in_parse_with_nul(const void *bytes, size_t n, struct json_in **ret, struct err *err)
{
	return json_in_parse_by(bytes, n, JSON_ALLOW_NUL, ret, err);
}

void json_in_free(struct json_in *j)
{
	json_decref((json_t *)j);
}

const struct json_in *json_in_get(const struct json_in *j, const char *key)
{
	return some(json_object_get(json_of(j), key));
}

size_t json_in_n(const struct json_in *j)
{
	return json_array_size(json_of(j));
}

const struct json_in *json_in_at(const struct json_in *j, size_t i)
{
	return some(json_array_get(json_of(j), i));
}

const char *json_in_text(const struct json_in *j)
{
	return json_string_value(json_of(j));
}

bool json_in_number(const struct json_in *j, double *ret)
{
	if (!json_is_number(json_of(j)))
		return false;
	*ret = json_number_value(json_of(j));
	return true;
}

bool json_in_u32(const struct json_in *j, uint32_t *ret)
{
	const json_int_t v = json_integer_value(json_of(j));

	if (!json_is_integer(json_of(j)) || v < 0 || v >= UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

bool json_in_is_true(const struct json_in *j)
{
	return json_is_true(json_of(j));
}

bool json_in_is_object(const struct json_in *j)
{
	return json_is_object(json_of(j));
}
