/* SPDX-License-Identifier: BSD-2-Clause */
/* libcurl, opened with dlopen when a fleet's database is named: nobody else pays for it and for the
 * TLS library that it draws in. */
#ifndef FLEET_CURL_H
#define FLEET_CURL_H

#include <curl/curl.h>

#include "base/err.h"

/* What of the library is used. */
#define CURL_CALLS(use)                                                                            \
	use(global_init) use(easy_init) use(easy_cleanup) use(easy_setopt) use(easy_perform)       \
		use(easy_getinfo) use(easy_strerror) use(slist_append) use(slist_free_all)

struct curl {
#define CURL_DECLARE(name) __typeof__(&curl_##name) name;
	CURL_CALLS(CURL_DECLARE)
#undef CURL_DECLARE
};

/* Opens the library for good.  -ENOTSUP names the package without it. */
int curl_load(struct curl *ret, struct err *err);

#endif
