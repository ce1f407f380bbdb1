/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree as folded stacks, the lines that flamegraph.pl, speedscope and others read:
 *
 *    
 * make;_start;main;read_file;entry_SYSCALL_64_[k] 17 */
#ifndef VIEW_FOLDED_H
#define VIEW_FOLDED_H

#include "base/str.h"
#include "query/source.h"

/* Appends a line for each path of T, of procedures below owners, with an amount of the column that
 * rows are hidden by: its scopes from the root, with ';' between, a blank and SCALE times the
 * amount as a whole number.  The suffixes are those of FlameGraph's stackcollapse-perf.pl: _[k] in
 * the kernel, _[j] in generated code, _[i] inlined; as there, code without a symbol is called after
 * its image.  A ';' in a name becomes ':' and a control character '?'; in an owner's name blanks
 * become '_'.  *RET_SUM is the sum of the numbers.  Errors: those of opening T's rows. */
int folded_write(struct str *out, struct tree_source *t, double scale, uint64_t *ret_sum,
		 struct err *err);

#endif
