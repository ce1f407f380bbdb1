/* SPDX-License-Identifier: BSD-2-Clause */
/* Procedures that never return. */
#ifndef RESOLVE_NORETURN_H
#define RESOLVE_NORETURN_H

#include <stdbool.h>

/* Tells whether the procedure with the linked name NAME (as symtabs have it, also NAME@plt) is
 * known never to return to its caller. */
bool noreturn_is(const char *name);

#endif
