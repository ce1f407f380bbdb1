/* SPDX-License-Identifier: BSD-2-Clause */
/* See gcov.h.
 *
 * A document names the directory that the compiler ran in, then files, each with functions and
 * lines; a line of a template is there once for each function made of it:
 *
 *     {"current_working_directory": "/src", "files": [{"file": "a.c",
 *      "functions": [{"name": "f", "demangled_name": "f", "start_line": 3, ...}],
 *      "lines": [{"line_number": 4, "function_name": "f", "count": 100, ...}]}]}
 *
 * Source: gcov(1), --json-format; counts are whole numbers of 64 bits there, and doubles here,
 * exact below 2^53. */
#include "formats/gcov.h"

#include <errno.h>
#include <string.h>

#include "formats/json_in.h"

bool gcov_probe(const uint8_t *bytes, size_t n)
{
	return n && bytes[0] == '{';
}

static const char *gcov_text(struct gcov *g, const struct json_in *j)
{
	const char *text = json_in_text(j);

	return text ? arena_strdup(&g->arena, text) : "";
}

/* The path of FILE, below FOLDER when it is relative. */
static const char *path_of(struct gcov *g, const char *folder, const struct json_in *file)
{
	const char *name = gcov_text(g, file);
	char *path;

	if (name[0] == '/' || !folder[0])
		return name;
	path = xasprintf("%s/%s", folder, name);
	name = arena_strdup(&g->arena, path);
	free(path);
	return name;
}

/* The demangled name of the function of FILE that is called NAME. */
static const char *function_of(struct gcov *g, const struct json_in *file, const char *name)
{
	const struct json_in *functions = json_in_get(file, "functions");

	for (size_t i = 0; name && i < json_in_n(functions); i++) {
		const struct json_in *f = json_in_at(functions, i);
		const char *own = json_in_text(json_in_get(f, "name"));

		if (own && strcmp(own, name) == 0)
			return gcov_text(g, json_in_get(f, "demangled_name"));
	}
	return name ? arena_strdup(&g->arena, name) : "";
}

/* Adds a line of PATH that the object J counts under KEY. */
static void add_line(struct gcov *g, const struct json_in *j, const char *key,
		     const struct gcov_line *of)
{
	struct gcov_line l = *of;
	double n;

	if (!json_in_number(json_in_get(j, key), &n) || !(n >= 0 && n < 1e18))
		return;
	l.n = (uint64_t)n;
	vec_push(&g->v, l);
}

static void add_functions(struct gcov *g, const char *path, const struct json_in *functions)
{
	for (size_t i = 0; i < json_in_n(functions); i++) {
		const struct json_in *f = json_in_at(functions, i);

		add_line(g, f, "execution_count",
			 &(struct gcov_line){
				 .file = path,
				 .function = gcov_text(g, json_in_get(f, "demangled_name"))});
	}
}

static void add_file(struct gcov *g, const char *folder, const struct json_in *file)
{
	const struct json_in *lines = json_in_get(file, "lines");
	const char *path = path_of(g, folder, json_in_get(file, "file"));
	const char *last = NULL, *function = ""; /* of the line before */

	for (size_t i = 0; i < json_in_n(lines); i++) {
		const struct json_in *l = json_in_at(lines, i);
		const char *name = json_in_text(json_in_get(l, "function_name"));
		uint32_t line;

		if (!json_in_u32(json_in_get(l, "line_number"), &line) || !line)
			continue;
		if (!last || !name || strcmp(last, name) != 0)
			function = function_of(g, file, name);
		last = name;
		add_line(g, l, "count",
			 &(struct gcov_line){.file = path, .function = function, .line = line});
	}
	add_functions(g, path, json_in_get(file, "functions"));
}

static int read_document(const uint8_t *bytes, size_t n, struct gcov *g, struct err *err)
{
	struct json_in *j = NULL;
	const struct json_in *files;
	const char *folder;
	int rc = json_in_parse(bytes, n, &j, err);

	if (rc < 0)
		return rc;
	files = json_in_get(j, "files");
	folder = gcov_text(g, json_in_get(j, "current_working_directory"));
	for (size_t i = 0; i < json_in_n(files); i++)
		add_file(g, folder, json_in_at(files, i));
	if (!json_in_n(files))
		rc = err_set(err, -EBADMSG, "JSON, but not gcov's");
	json_in_free(j);
	return rc;
}

int gcov_read(const uint8_t *bytes, size_t n, struct gcov *g, struct err *err)
{
	struct err why = {0};
	int rc = 0;

	if (read_document(bytes, n, g, &why) >= 0)
		return 0;
	if (n < 2 || !memchr(bytes, '\n', n - 1) || g->v.n)
		return err_set(err, -EBADMSG, "%s", why.msg);
	for (size_t at = 0, line = 1; at < n && rc >= 0; line++) {
		const uint8_t *end = memchr(bytes + at, '\n', n - at);
		const size_t length = end ? (size_t)(end - bytes) - at : n - at;

		if (length)
			rc = read_document(bytes + at, length, g, err);
		if (rc < 0)
			err_prefix(err, rc, "document %zu", line);
		at += length + 1;
	}
	return rc;
}

void gcov_release(struct gcov *g)
{
	vec_release(&g->v);
	arena_release(&g->arena);
	*g = (struct gcov){0};
}
