/* SPDX-License-Identifier: BSD-2-Clause */
/* The paths of a tree as texts, as FlameGraph's stackcollapse-perf.pl names them:
 *
 *     make;_start;main;read_file;entry_SYSCALL_64_[k]     17
 */
#ifndef QUERY_ROWS_PATH_TEXTS_H
#define QUERY_ROWS_PATH_TEXTS_H

#include "base/str.h"
#include "query/rows/tree_rows.h"

struct path_text {
	size_t at; /* of its text in texts */
	double amount;
};

struct path_texts {
	VEC(struct path_text) paths; /* each text once, in order of texts */
	struct str texts;	     /* with a NUL behind each */
};

/* Fills RET with the paths of T, of procedures below owners, that have an amount of the column that
 * rows are hidden by: their scopes from the root, with ';' between.  Suffixes are _[k] in the
 * kernel, _[j] in generated code, _[i] inlined; code without a symbol is called after its image.  A
 * ';' in a name becomes ':' and a control character '?'; in an owner's name blanks become '_'.
 * Errors: those of opening T's rows.  Release RET also after a failure. */
int path_texts_init(struct path_texts *ret, struct tree_source *t, struct err *err);
void path_texts_release(struct path_texts *p);

#endif
