/* SPDX-License-Identifier: BSD-2-Clause */
/* See text_table.h. */
#include "base/text_table.h"

static bool text_table_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct text_table *)owner)->texts.v[i], key) == 0;
}

uint32_t text_table_intern(struct text_table *t, const char *text)
{
	const uint64_t hash = hash_str(text);
	uint32_t i = index_find(&t->index, hash, text_table_same, t, text);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)t->texts.n;
	vec_push(&t->texts, text);
	index_add(&t->index, hash, i);
	return i;
}

void text_table_release(struct text_table *t)
{
	vec_release(&t->texts);
	index_release(&t->index);
}
