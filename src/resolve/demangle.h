/* SPDX-License-Identifier: BSD-2-Clause */
/* Linked names of C++ and Rust as their programmers wrote them. */
#ifndef RESOLVE_DEMANGLE_H
#define RESOLVE_DEMANGLE_H

#include <stdbool.h>

/* Tells whether LINKED looks mangled; a cheap test for demangle_name. */
bool demangle_applies(const char *linked);

/* The readable form of LINKED in fresh memory (free it), with or without the types of its
 * arguments, or NULL when LINKED is not mangled.  What follows an '@' ("@plt") is kept. */
char *demangle_name(const char *linked, bool args);

#endif
