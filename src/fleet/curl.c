/* SPDX-License-Identifier: BSD-2-Clause */
/* See curl.h. */
/* Its checks of types are macros that take the functions' names. */
#define CURL_DISABLE_TYPECHECK
#include "fleet/curl.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/vec.h"

/* Older libraries cannot be set up by two threads at once. */
static CURLcode set_up(const struct curl *c)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	CURLcode rc;

	pthread_mutex_lock(&lock);
	rc = c->global_init(CURL_GLOBAL_DEFAULT);
	pthread_mutex_unlock(&lock);
	return rc;
}

int curl_load(struct curl *ret, struct err *err)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	void *library = NULL;
	bool all;

	for (size_t i = 0; i < n_elems(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	all = library;
#define FIND(name)                                                                                 \
	ret->name = library ? (__typeof__(ret->name))dlsym(library, "curl_" #name) : NULL;         \
	all = all && ret->name;
	CURL_CALLS(FIND)
#undef FIND
	if (!all)
		return err_set(err, -ENOTSUP,
			       "HTTP needs the library libcurl.so.4 (package libcurl4)");
	return set_up(ret) == CURLE_OK ? 0 : err_set(err, -EIO, "libcurl cannot be set up");
}
