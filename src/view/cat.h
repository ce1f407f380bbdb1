/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples address by address as a table, for JSON and CSV; for people there is
 * dcpicat's text form. */
#ifndef VIEW_CAT_H
#define VIEW_CAT_H

#include "port/dcpi_flat.h"
#include "view/emit.h"

/* Emits what F wants of P: the events, the losses, and a row for each image, label and address,
 * images by path.  False when there is no row. */
bool cat_emit(struct emit *e, const struct profile *p, const struct dcpi_filter *f);

#endif
