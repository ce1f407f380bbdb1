/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said to people of an interpreter in an image. */
#ifndef UNWIND_INTERPRETER_H
#define UNWIND_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>

#include "unwind/table.h"

/* "CPython", "V8", "HotSpot", "PHP", "Perl", "Ruby" or "Go". */
const char *interpreter_name(const struct unwind_interpreter *i);

/* "3.11.2", or "" when the version is not known, into RET. */
void interpreter_version_text(const struct unwind_interpreter *i, char ret[24]);

/* Whether whole recordings of this version are tested; others are believed for what they say of
 * themselves, and by pictures of their memory. */
bool interpreter_is_verified(const struct unwind_interpreter *i);

/* Why its frames are not known; NULL when they are. */
const char *interpreter_refusal_text(const struct unwind_interpreter *i);

#endif
