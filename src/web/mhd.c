/* SPDX-License-Identifier: BSD-2-Clause */
/* See mhd.h. */
#include "web/mhd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

int mhd_load(struct mhd *ret, struct err *err)
{
	void *library = dlopen(MHD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool all = library;

#define FIND(name)                                                                                 \
	ret->name = library ? (__typeof__(ret->name))dlsym(library, "MHD_" #name) : NULL;          \
	all = all && ret->name;
	MHD_CALLS(FIND)
#undef FIND
	/* It stays loaded: what it draws in leaves state behind that unloading loses. */
	return all ? 0
		   : err_set(err, -ENOTSUP,
			     "HTTP needs the library " MHD_LIBRARY " (package libmicrohttpd12)");
}
