/* SPDX-License-Identifier: BSD-2-Clause */
/* Where files lie that were at other paths when something named them: rules FROM=TO, as hpcprof's
 * option -R has them, in lists of paths to look in.
 *
 * Example: the rule "/build=/src" has /build/loops.c looked for as /src/loops.c; the rule "/=" says
 * that no file is where it was. */
#ifndef BASE_PATH_RULES_H
#define BASE_PATH_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Checks the rule TEXT, FROM=TO.  "\=" stands for '=' and "\\" for '\'; a component "*" of FROM
 * stands for any one.  -EINVAL: FROM or TO is missing, or FROM is not absolute. */
int path_rule_check(const char *text, struct err *err);

/* Whether TEXT, of a list of paths, is a rule, also one whose TO is missing, and no file of that
 * name. */
bool path_rule_is(const char *text);

/* PATH by the rule TEXT, in fresh memory; NULL when the rule is not about it, "" when it says that
 * the file is not there. */
char *path_rule_apply(const char *text, const char *path);

/* Where the file called PATH is by the first of the N texts that is a rule about it and leads to a
 * regular file, or to nowhere (""), in fresh memory; NULL when none does: then it is at PATH. */
char *path_rules_find(const char *const *texts, size_t n, const char *path);

#endif
