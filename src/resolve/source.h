/* SPDX-License-Identifier: BSD-2-Clause */
/* Source files, for listings: loaded whole, once, by the path DWARF gives them.
 *
 * A source file is anybody's bytes under a path that a binary made up.  Only regular files are
 * read, and what could upset a terminal (control characters other than tab, broken UTF-8) is
 * replaced by '?' when it is loaded.  For root only what the binary's owner could read is read, or
 * what lies below a directory that a rule names: else a binary could have root show any file. */
#ifndef RESOLVE_SOURCE_H
#define RESOLVE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "resolve/open_as.h"

#define SOURCE_MAX_BYTES (64u << 20)

struct source_text {
	const char *path; /* where it was found */
	uint64_t
		mtime_wall_ns; /* last changed, ns since 1970: newer than the binary is a warning */
	uint32_t n_lines;
};

struct sources;

struct sources *sources_new(void);
void sources_free(struct sources *s);

/* Adds a rule FROM=TO: a path that begins with FROM (whole components) is looked for with TO in its
 * place.  Rules are tried in order, the path as it is last.  -EINVAL: no '=', or
 * nothing before it. */
int sources_map(struct sources *s, const char *rule, struct err *err);

/* Finds file PATH, which NAMED_BY said is a source (open_as.h), loading it the first time; a
 * failure is remembered too.  Returns a borrowed pointer that lives as long as S, or NULL: -ENOENT,
 * -EACCES ..., -EINVAL for what is not a regular file, -E2BIG above SOURCE_MAX_BYTES, as *RET_CODE
 * (may be NULL) and ERR say. */
const struct source_text *sources_load(struct sources *s, const char *path, uid_t named_by,
				       int *ret_code, struct err *err);

/* Line LINE (from 1) of FILE, without its line end; not NUL-terminated, *RET_N is its length.  NULL
 * when the file has no such line. */
const char *source_line(const struct source_text *file, uint32_t line, size_t *ret_n);

#endif
