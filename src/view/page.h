/* SPDX-License-Identifier: BSD-2-Clause */
/* A page that needs nothing but itself.
 *
 * Nothing that was recorded is ever markup: it is in the data block, zlib's format in base64, and
 * the script puts it on a canvas or into text nodes.  The page's own policy (CSP) lets only the
 * script and the style run whose SHA-256 it names, and lets nothing be fetched. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include "base/str.h"
#include "base/wr.h"

struct page {
	const char *title;     /* safe text */
	const char *generator; /* "dwell flame" */
	const char *body, *style, *script;
};

/* Appends P with the data block DATA, and with WHOLE behind the script unless it is NULL or empty:
 * what the script can do without at first. */
void page_add(struct str *out, const struct page *p, const struct wr *data, const struct wr *whole);

#endif
