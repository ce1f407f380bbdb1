/* SPDX-License-Identifier: BSD-2-Clause */
/* The selection flags of a command as the filter that writers of DCPI's forms take. */
#ifndef CMD_FILTER_H
#define CMD_FILTER_H

#include "port/dcpi_flat.h"
#include "query/select.h"

/* Fills RET with what S (its owners and events) and IMAGES (names; none: all) want of P.  Release
 * it with filter_release.  -ENOENT when a name is not there. */
int filter_init(struct dcpi_filter *ret, const struct profile *p, const struct select *s,
		const opt_list *images, struct err *err);
void filter_release(struct dcpi_filter *f);

#endif
