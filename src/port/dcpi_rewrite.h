/* SPDX-License-Identifier: BSD-2-Clause */
/* One DCPI profile file written anew. */
#ifndef PORT_DCPI_REWRITE_H
#define PORT_DCPI_REWRITE_H

#include "base/err.h"

/* Reads the profile file PATH (or dcpicat's text of one image and one event), STRIDE as for
 * dcpi_read, and replaces OUTPUT with the same of version 0.MINOR (6 or 7); only the version line
 * changes, and with it the padding.  -EINVAL when OUTPUT is there and no plain file, or when the
 * text holds more. */
int dcpi_rewrite(const char *path, unsigned stride, unsigned minor, const char *output,
		 struct err *err);

#endif
