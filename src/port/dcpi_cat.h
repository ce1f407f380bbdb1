/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile as the text of dcpicat: a block for each image and label, a column for each event. */
#ifndef PORT_DCPI_CAT_H
#define PORT_DCPI_CAT_H

#include "base/str.h"
#include "model/profile.h"
#include "port/dcpi_flat.h"
#include "port/dcpi_kept.h"

/* Appends the blocks of what F wants (NULL: everything) of P to OUT, with the
 * header lines of KEPT (NULL: none), a blank line between two,
 * ordered by image name, image id and label; returns how many there were.  Images without samples
 * have none. */
size_t dcpi_cat_format(const struct profile *p, const struct dcpi_filter *f,
		       const struct dcpi_kept *kept, struct str *out);

#endif
