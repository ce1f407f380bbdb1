/* SPDX-License-Identifier: BSD-2-Clause */
/* Jumps of a listing as arrows beside its instructions, and loops as brackets.
 *
 *     401018 ┌───  jle    40103c
 *     401022 │┌──  jmp    40102e
 *     401024 ││[┌→ mov    ...
 */
#ifndef VIEW_LIST_ARROWS_H
#define VIEW_LIST_ARROWS_H

#include "base/str.h"
#include "query/rows/listing_arrows.h"

/* How many columns the brackets and arrows of a row take. */
unsigned arrows_width(const struct arrows *a);

/* Appends what stands beside instruction I, or beside the instructions [I, END) that are left out:
 * arrows_width columns. */
void arrows_add(const struct arrows *a, uint32_t i, struct str *out);
void arrows_add_gap(const struct arrows *a, uint32_t i, uint32_t end, struct str *out);

#endif
