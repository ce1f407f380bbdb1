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

#include "base/hash.h"
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

/* A file's functions, by the names that its lines give them. */
struct gcov_functions {
	VEC(struct gcov_function {
		const char *name; /* of the document */
		const char *demangled;
	})
	v;
	struct index by_name;
};

static bool same_function(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct gcov_functions *)owner)->v.v[i].name, key) == 0;
}

static void functions_add(struct gcov_functions *f, const char *name, const char *demangled)
{
	index_add(&f->by_name, hash_str(name), (uint32_t)f->v.n);
	vec_push(&f->v, (struct gcov_function){name, demangled});
}

/* The demangled name of the function NAME of F. */
static const char *function_of(struct gcov *g, struct gcov_functions *f, const char *name)
{
	uint32_t i;

	if (!name)
		return "";
	i = index_find(&f->by_name, hash_str(name), same_function, f, name);
	if (i == INDEX_NONE) {
		i = (uint32_t)f->v.n;
		functions_add(f, name, arena_strdup(&g->arena, name));
	}
	return f->v.v[i].demangled;
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

/* Adds FUNCTIONS of the file PATH to RET, and how often each was called to G. */
static void add_functions(struct gcov *g, const char *path, const struct json_in *functions,
			  struct gcov_functions *ret)
{
	for (size_t i = 0; i < json_in_n(functions); i++) {
		const struct json_in *f = json_in_at(functions, i);
		const char *name = json_in_text(json_in_get(f, "name"));
		const char *demangled = gcov_text(g, json_in_get(f, "demangled_name"));

		add_line(g, f, "execution_count",
			 &(struct gcov_line){.file = path, .function = demangled});
		if (name && index_find(&ret->by_name, hash_str(name), same_function, ret, name) ==
				    INDEX_NONE)
			functions_add(ret, name, demangled);
	}
}

static void add_file(struct gcov *g, const char *folder, const struct json_in *file)
{
	const struct json_in *lines = json_in_get(file, "lines");
	const char *path = path_of(g, folder, json_in_get(file, "file"));
	struct gcov_functions functions = {0};

	add_functions(g, path, json_in_get(file, "functions"), &functions);
	for (size_t i = 0; i < json_in_n(lines); i++) {
		const struct json_in *l = json_in_at(lines, i);
		const char *name = json_in_text(json_in_get(l, "function_name"));
		uint32_t line;

		if (!json_in_u32(json_in_get(l, "line_number"), &line) || !line)
			continue;
		add_line(g, l, "count",
			 &(struct gcov_line){.file = path,
					     .function = function_of(g, &functions, name),
					     .line = line});
	}
	index_release(&functions.by_name);
	vec_release(&functions.v);
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
