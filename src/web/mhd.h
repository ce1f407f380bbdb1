/* SPDX-License-Identifier: BSD-2-Clause */
/* libmicrohttpd, opened with dlopen when it is asked for.  Linked, it and the TLS library it draws
 * in would be in privileged processes that nobody wants to reach by HTTP. */
#ifndef WEB_MHD_H
#define WEB_MHD_H

#include <microhttpd.h>

#include "base/err.h"

#define MHD_LIBRARY "libmicrohttpd.so.12"

/* What of the library is used. */
#define MHD_CALLS(use)                                                                             \
	use(start_daemon) use(stop_daemon) use(run) use(add_connection) use(get_timeout)           \
		use(get_daemon_info) use(get_connection_info) use(get_connection_values)           \
			use(lookup_connection_value) use(suspend_connection)                       \
				use(resume_connection) use(create_response_from_buffer)            \
					use(create_response_from_callback)                         \
						use(add_response_header) use(queue_response)       \
							use(destroy_response)

struct mhd {
#define MHD_DECLARE(name) __typeof__(&MHD_##name) name;
	MHD_CALLS(MHD_DECLARE)
#undef MHD_DECLARE
};

/* Opens the library for good.  -ENOTSUP names the package without it. */
int mhd_load(struct mhd *ret, struct err *err);

#endif
