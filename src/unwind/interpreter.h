/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said to people of an interpreter in an image. */
#ifndef UNWIND_INTERPRETER_H
#define UNWIND_INTERPRETER_H

#include <stddef.h>

#include "unwind/table.h"

/* "3.11.2", or "" when the version is not known, into RET. */
void interpreter_version_text(const struct unwind_interpreter *i, char ret[24]);

/* Why its frames are not known; NULL when they are. */
const char *interpreter_refusal_text(const struct unwind_interpreter *i);

#endif
