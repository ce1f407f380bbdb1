/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of when samples came. */
#ifndef VIEW_MINUTES_H
#define VIEW_MINUTES_H

#include "query/samples/minutes.h"
#include "view/emit.h"

/* A row for each minute, event and owner; WITH_STEP: JSON says how many minutes stand together. */
void minutes_show(struct emit *e, const struct minutes *m, bool with_step);

#endif
