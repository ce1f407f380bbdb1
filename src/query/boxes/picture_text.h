/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for pictures: fit for any reader, bounded, each kept once. */
#ifndef QUERY_BOXES_PICTURE_TEXT_H
#define QUERY_BOXES_PICTURE_TEXT_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

/* Copies S into A as text_show writes it, its first 1,000 bytes; a template's name can have a
 * hundred thousand.  NULL becomes "". */
const char *picture_text(struct arena *a, const char *s);

/* Texts, each once, in the order they came.  Starts zeroed; the texts stay the caller's. */
struct text_list {
	VEC(const char *) texts;
	struct index index;
};

/* Returns the number of TEXT, which is added when it is new. */
uint32_t text_list_number(struct text_list *l, const char *text);
void text_list_release(struct text_list *l);

#endif
