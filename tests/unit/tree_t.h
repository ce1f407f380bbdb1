/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of small files that tests make and take away. */
#ifndef TESTS_UNIT_TREE_T_H
#define TESTS_UNIT_TREE_T_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"

static inline int tree_remove_one_(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

/* Removes PATH and all below it. */
static inline void tree_remove(const char *path)
{
	nftw(path, tree_remove_one_, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *tree_made_;

static inline void tree_unmake_(void)
{
	tree_remove(tree_made_);
}

/* Makes the directory NAME (of mkdtemp) when first called, and removes it with all below it when
 * the program ends.  One for a program.  *RET_NEW: it was made now.  Returns false when it could
 * not be. */
static inline bool tree_make_once(char *name, bool *ret_new)
{
	*ret_new = !tree_made_;
	if (tree_made_)
		return true;
	tree_made_ = mkdtemp(name);
	return tree_made_ && atexit(tree_unmake_) == 0;
}

/* Writes TEXT to the file NAME below ROOT, and makes the directories it is in. */
static inline bool tree_put(const char *root, const char *name, const char *text)
{
	_mem_ char *path = xasprintf("%s/%s", root, name);
	char *slash = strrchr(path, '/');
	FILE *f;

	*slash = '\0';
	if (file_mkdirs(path, NULL) < 0)
		return false;
	*slash = '/';
	f = fopen(path, "w");
	if (!f)
		return false;
	fputs(text, f);
	return fclose(f) == 0;
}

#endif
