/* SPDX-License-Identifier: BSD-2-Clause */
/* A listing as one HTML page: source and code side by side. */
#ifndef VIEW_LIST_HTML_H
#define VIEW_LIST_HTML_H

#include "base/str.h"
#include "query/source.h"

/* Appends the page of L, which is S's.  ACCOUNT is what was recorded and lost, as text. */
void list_page(struct str *out, struct source *s, const struct listing *l, const char *account);

/* Appends what that page shows, as JSON. */
void list_data(struct str *out, struct source *s, const struct listing *l, const char *account);

#endif
