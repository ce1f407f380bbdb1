/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the file an image was, and the separate file with its symbols and DWARF, by identity: a
 * file whose build-id (or, through .gnu_debuglink, whose checksum) differs is never returned, nor
 * one whose build-id is right and whose content is another image's. */
#ifndef RESOLVE_DEBUG_FILE_H
#define RESOLVE_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/image.h"

struct debuginfod;

struct debug_paths {
	const char *const *extra; /* files and directories named by the user; borrowed */
	size_t n_extra;
	const char *debug_root;	       /* normally /usr/lib/debug */
	struct debuginfod *debuginfod; /* NULL: not asked */
};

/* Opens a file that is IM: its path, the extra paths, the build-id directories, perf's cache in
 * ~/.debug, debuginfod.  Its digest must be IM's, if IM has one.  Returns a descriptor (close it)
 * and, when RET_PATH is not NULL, the path in fresh memory.  -ESTALE: none found, and the file at
 * IM's path is another one; -ENOENT: none found. */
int debug_file_open_code(const struct debug_paths *where, const struct image *im, char **ret_path,
			 struct err *err);

/* Opens the separate debug file of IM, whose executable segments must lie where CODE says (NULL, or
 * without segments: not known).  CODE_FD (-1 when there is none) is its code file, read for
 * .gnu_debuglink.  -ENOENT: none found. */
int debug_file_open_debug(const struct debug_paths *where, const struct image *im,
			  const struct image_layout *code, int code_fd, char **ret_path,
			  struct err *err);

/* Whether IM's code file or a debug file of it may have lines (resolve/lines.h), by what lies where
 * the two above look and which sections it has.  Nothing is hashed, as it must be to know which
 * file it is, and no server is asked: where there is one it says true. */
bool debug_file_may_have_lines(const struct debug_paths *where, const struct image *im);

/* Opens the file that the .gnu_debugaltlink of the file at FD (borrowed), which is PATH, names: dwz
 * moved parts of its DWARF there.  Whether it is the right one is not looked at.  -1: none is
 * named, or it is no regular file. */
int debug_file_open_alt(int fd, const char *path);

/* Tells whether the file at FD (borrowed) is a debug file of IM by its build-id, and fits CODE as
 * debug_file_open_debug demands.  It opens nothing. */
bool debug_file_is(int fd, const struct image *im, const struct image_layout *code);

/* The name, below a directory that is searched, of a file of IM: ".build-id/xx/yyyy" + SUFFIX, the
 * usual one, or ".build-id/xx/yyyy.DIGEST" + SUFFIX when EXACT, for two images of one build-id.
 * Fresh memory; NULL when IM has no build-id to speak of, or no digest for EXACT. */
char *debug_file_name(const struct image *im, bool exact, const char *suffix);

/* Opens the vmlinux of the kernel with identity ID, where distributions and kernel
 * builders put it. */
int debug_file_open_vmlinux(const struct debug_paths *where, const struct build_id *id,
			    char **ret_path, struct err *err);

/* The debuginfod client library, loaded when first needed; NULL when $DEBUGINFOD_URLS is not set or
 * the library is not installed.  What a server does not have is not asked for again. */
struct debuginfod *debuginfod_new(void);
void debuginfod_free(struct debuginfod *d);

/* Opens the executable, or with DEBUG the debug file, of ID; like debug_file_open_code. */
int debuginfod_open(struct debuginfod *d, const struct build_id *id, bool debug, char **ret_path,
		    struct err *err);

#endif
