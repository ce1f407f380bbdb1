/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts by number, each once: tables of strings of file formats.  A zeroed struct is empty. */
#ifndef BASE_TEXT_TABLE_H
#define BASE_TEXT_TABLE_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct text_table {
	VEC(const char *) texts; /* borrowed */
	struct index index;
};

/* Returns the number of TEXT, from 0 on in the order they come.  TEXT must live as long as T. */
uint32_t text_table_intern(struct text_table *t, const char *text);

void text_table_release(struct text_table *t);

#endif
