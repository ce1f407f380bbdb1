/* SPDX-License-Identifier: BSD-2-Clause */
/* See rows.h. */
#include "unwind/rows.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const void *owner, uint32_t i, const void *key)
{
	const struct rule_set *s = owner;

	return memcmp(&s->rules.v[i], key, sizeof(struct unwind_rule)) == 0;
}

uint32_t rule_set_intern(struct rule_set *s, const struct unwind_rule *rule)
{
	uint64_t words[2], hash;
	uint32_t i;

	_Static_assert(sizeof(*rule) == sizeof(words), "hashed as two words");
	memcpy(words, rule, sizeof(words));
	hash = hash_pair(words[0], words[1]);
	i = index_find(&s->index, hash, is_same, s, rule);
	if (i != INDEX_NONE)
		return i;
	index_add(&s->index, hash, (uint32_t)s->rules.n);
	vec_push(&s->rules, *rule);
	return (uint32_t)s->rules.n - 1;
}

void rows_add(struct rows *rows, uint64_t off, uint32_t rule)
{
	uint32_t at = (uint32_t)(off - rows->base);
	struct row *last = rows->v.n ? &rows->v.v[rows->v.n - 1] : NULL;

	if (last && last->off == at) {
		rows->v.n--;
		last = rows->v.n ? last - 1 : NULL;
	}
	if (last ? last->rule == rule : rule == UNWIND_NO_RULE)
		return;
	vec_push(&rows->v, (struct row){at, rule});
}

bool rows_find_off(const struct rows *rows, uint64_t svma, uint64_t *n_bytes, uint64_t *ret_off)
{
	for (uint32_t i = 0; i < rows->in->n_segments; i++) {
		const struct unwind_segment *s = &rows->in->segments[i];
		uint64_t rel = svma - s->svma;

		if (rel >= s->n_bytes)
			continue;
		if (*n_bytes > s->n_bytes - rel)
			*n_bytes = s->n_bytes - rel;
		*ret_off = s->off + rel;
		return true;
	}
	return false;
}

void rows_add_piece(struct rows *rows, struct piece_list *list, uint64_t svma, uint64_t n_bytes,
		    uint32_t item)
{
	uint64_t off;

	if (n_bytes && rows_find_off(rows, svma, &n_bytes, &off))
		vec_push(list, (struct piece){off, off + n_bytes, item});
}

static int compare(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

static bool is_sorted(const struct piece_list *list)
{
	for (size_t i = 1; i < list->n; i++)
		if (list->v[i].off < list->v[i - 1].off)
			return false;
	return true;
}

void rows_run_pieces(struct rows *rows, struct piece_list *list, rows_piece_fn *run, void *owner)
{
	const struct piece *v = list->v;
	uint64_t end = 0;

	if (!is_sorted(list)) /* linkers mostly keep the order of the code */
		vec_sort(list, compare);
	for (size_t i = 0; i < list->n; i++) {
		struct piece piece = v[i];
		size_t next = i + 1;

		if (i > 0 && v[i - 1].off == piece.off)
			continue;
		while (next < list->n && v[next].off == piece.off)
			next++;
		if (next < list->n && v[next].off < piece.end)
			piece.end = v[next].off;
		if (i > 0 && end < piece.off)
			rows_add(rows, end, UNWIND_NO_RULE);
		run(owner, &piece);
		end = piece.end;
	}
	if (list->n)
		rows_add(rows, end, UNWIND_NO_RULE);
}
