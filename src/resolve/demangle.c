/* SPDX-License-Identifier: BSD-2-Clause */
/* See demangle.h.  libiberty knows the Itanium C++ scheme and both of Rust's ("_ZN...17h<hash>E"
 * and
 * "_R..."); its recursion limit is left on, because names come from files of others.
 *
 * base/alloc.h must not be included here: libiberty.h declares functions of the same names.  Of
 * libiberty only the two demanglers are linked, which call none of them. */
#include "resolve/demangle.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MANGLED 16384 /* beyond this the demangler's time is not worth the name */

bool demangle_applies(const char *linked)
{
	return linked[0] == '_' && (linked[1] == 'Z' || linked[1] == 'R');
}

static char *demangle(const char *mangled, int options)
{
	char *plain = rust_demangle(mangled, options);

	return plain ? plain : cplus_demangle_v3(mangled, options);
}

char *demangle_name(const char *linked, bool args)
{
	int options = DMGL_ANSI | (args ? DMGL_PARAMS : 0);
	const char *at = strchr(linked, '@');
	size_t n = at ? (size_t)(at - linked) : strlen(linked);
	char *mangled, *plain, *with_tail;

	if (!demangle_applies(linked) || n > MAX_MANGLED)
		return NULL;
	if (!at)
		return demangle(linked, options);
	mangled = strndup(linked, n);
	plain = mangled ? demangle(mangled, options) : NULL;
	free(mangled);
	if (!plain || asprintf(&with_tail, "%s%s", plain, at) < 0)
		with_tail = NULL;
	free(plain);
	return with_tail;
}
