/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of the source files that contexts speak of, so that a database can be read elsewhere. */
#ifndef HPC_COPIES_H
#define HPC_COPIES_H

#include "hpc/contexts.h"
#include "hpc/directory.h"

/* No file above COPIES_MAX_FILE bytes is copied, and no more than COPIES_MAX_ALL together. */
#define COPIES_MAX_FILE (8u << 20)
#define COPIES_MAX_ALL	(256u << 20)

/* Where files lie that are copied under the path they had: see base/path_rules.h. */
struct copies_rules {
	const char *const *texts;
	size_t n;
};

/* Copies each file of C that can be read to src/ below DIR, under its own absolute path, and marks
 * it as copied under its new path.  Files that a database has come from there, DATABASES being the
 * directories by number of the input; those that only databases without a copy name are not looked
 * for on this machine.  What cannot be read is left alone; so is what is no regular
 * file, what no text is, and for root what not everybody may read: the paths come from binaries.
 * Errors are those of writing.  RET_N says how many were copied. */
int copies_save(struct contexts *c, const struct new_dir *dir, const char *const *databases,
		const struct copies_rules *rules, uint32_t *ret_n, struct err *err);

#endif
