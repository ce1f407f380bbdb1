/* SPDX-License-Identifier: BSD-2-Clause */
/* See picture_text.h. */
#include "query/boxes/picture_text.h"

#include <string.h>

#include "base/text.h"

#define NAME_BYTES 1000

const char *picture_text(struct arena *a, const char *s)
{
	struct str text = {0};
	const char *kept;

	if (!s || !*s)
		return "";
	text_show(&text, s);
	if (text.n > NAME_BYTES) {
		size_t n = NAME_BYTES;

		while (n && ((unsigned char)text.v[n] & 0xc0) == 0x80)
			n--;
		text.n = n;
		text.v[n] = 0;
		str_add(&text, "...");
	}
	kept = arena_strdup(a, str_get(&text));
	str_release(&text);
	return kept;
}

static bool text_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct text_list *)owner)->texts.v[i], key) == 0;
}

uint32_t text_list_number(struct text_list *l, const char *text)
{
	uint64_t hash = hash_str(text);
	uint32_t i = index_find(&l->index, hash, text_same, l, text);

	if (i != INDEX_NONE)
		return i;
	vec_push(&l->texts, text);
	index_add(&l->index, hash, (uint32_t)l->texts.n - 1);
	return (uint32_t)l->texts.n - 1;
}

void text_list_release(struct text_list *l)
{
	vec_release(&l->texts);
	index_release(&l->index);
}
