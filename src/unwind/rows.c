/* SPDX-License-Identifier: BSD-2-Clause */
/* See rows.h. */
#include "unwind/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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

/* Takes N_BYTES of what building may take; false when there is not that much. */
static bool take_bytes(struct frame_rows *rows, size_t n_bytes)
{
	if (*rows->left < n_bytes) {
		*rows->ran_out = true;
		return false;
	}
	*rows->left -= n_bytes;
	return true;
}

void row_list_release(struct frame_rows *rows)
{
	*rows->left += rows->v.n * sizeof(rows->v.v[0]);
	vec_release(&rows->v);
}

void piece_list_release(struct frame_rows *rows, struct piece_list *list)
{
	*rows->left += list->n * sizeof(list->v[0]);
	vec_release(list);
}

void rows_add(struct frame_rows *rows, uint64_t off, uint32_t rule)
{
	uint32_t at = (uint32_t)(off - rows->base);
	struct frame_row *last = rows->v.n ? &rows->v.v[rows->v.n - 1] : NULL;

	if (last && last->off == at) {
		rows->v.n--;
		*rows->left += sizeof(*last);
		last = rows->v.n ? last - 1 : NULL;
	}
	if (last ? last->rule == rule : rule == UNWIND_NO_RULE)
		return;
	if (take_bytes(rows, sizeof(struct frame_row)))
		vec_push(&rows->v, (struct frame_row){at, rule});
}

bool rows_find_off(const struct frame_rows *rows, uint64_t svma, uint64_t *n_bytes,
		   uint64_t *ret_off)
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

void rows_add_piece(struct frame_rows *rows, struct piece_list *list, uint64_t svma,
		    uint64_t n_bytes, uint32_t item)
{
	uint64_t off;

	if (!n_bytes || !rows_find_off(rows, svma, &n_bytes, &off) ||
	    !take_bytes(rows, sizeof(struct packed_piece)))
		return;
	off -= rows->base;
	vec_push(list, (struct packed_piece){(uint32_t)off, (uint32_t)(off + n_bytes), item});
}

static bool is_sorted(const struct piece_list *list)
{
	for (size_t i = 1; i < list->n; i++)
		if (list->v[i].off < list->v[i - 1].off)
			return false;
	return true;
}

#define DIGIT_BITS 10
#define N_DIGITS   3 /* offsets from rows.base have 30 bits: build.c's MAX_SPAN */

/* By ascending offset, digit by digit; those of one offset stay in the order they had. */
static void sort_pieces(struct frame_rows *rows, struct piece_list *list)
{
	const size_t n_bytes = list->n * sizeof(list->v[0]);
	struct packed_piece *from = list->v, *to, *swap;

	if (!take_bytes(rows, n_bytes))
		return;
	to = xmalloc(n_bytes);
	for (unsigned d = 0; d < N_DIGITS; d++) {
		size_t at[(1 << DIGIT_BITS) + 1] = {0};

#define DIGIT(p) ((p)->off >> (d * DIGIT_BITS) & ((1 << DIGIT_BITS) - 1))
		for (size_t i = 0; i < list->n; i++)
			at[DIGIT(&from[i]) + 1]++;
		for (size_t i = 0; i < 1 << DIGIT_BITS; i++)
			at[i + 1] += at[i];
		for (size_t i = 0; i < list->n; i++)
			to[at[DIGIT(&from[i])]++] = from[i];
#undef DIGIT
		swap = from;
		from = to;
		to = swap;
	}
	list->v = from;
	list->cap = list->n;
	free(to);
	*rows->left += n_bytes;
}

void rows_run_pieces(struct frame_rows *rows, struct piece_list *list, rows_piece_fn *run,
		     void *owner)
{
	const struct packed_piece *v;
	uint64_t end = 0;

	if (!is_sorted(list)) /* linkers mostly keep the order of the code */
		sort_pieces(rows, list);
	if (*rows->ran_out)
		return;
	v = list->v;
	for (size_t i = 0; i < list->n; i++) {
		struct piece piece = {rows->base + v[i].off, rows->base + v[i].end, v[i].item};
		size_t next = i + 1;

		if (i > 0 && v[i - 1].off == v[i].off)
			continue;
		while (next < list->n && v[next].off == v[i].off)
			next++;
		if (next < list->n && v[next].off < v[i].end)
			piece.end = rows->base + v[next].off;
		if (i > 0 && end < piece.off)
			rows_add(rows, end, UNWIND_NO_RULE);
		run(owner, &piece);
		end = piece.end;
	}
	if (list->n)
		rows_add(rows, end, UNWIND_NO_RULE);
}
