/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules that hold between any two calls of unwinds.h. */
#include <assert.h>

#include "collect/calls/unwinds_impl.h"

/* What is published of T, which IM shows. */
static void check_words(const struct unwinds *u, const struct shared_table *t,
			const struct unwind_image *im)
{
	uint32_t *blocks = unwinds_open_words(u, t->at, t->n);

	if (!blocks)
		return;
	for (uint32_t i = 0; i < im->n_blocks; i++)
		assert(blocks[i] <= blocks[i + 1]);
	assert(im->n_blocks + 1 + blocks[im->n_blocks] == t->n);
	for (uint32_t i = 0; i < blocks[im->n_blocks]; i++)
		assert(((const struct unwind_row *)&blocks[im->n_blocks + 1])[i].rule < u->n_rules);
	unwinds_close_words(u, blocks, t->at, t->n);
}

static void check_image(const struct unwinds *u, const struct shared_table *t, uint32_t number)
{
	const struct unwind_image *im = &u->mem.images[number];

	assert(!t->wanted || t->state == TABLE_ABSENT);
	assert(u->table_of[number] == (uint32_t)(t - u->tables.v) + 1);
	if (t->state == TABLE_ABSENT || t->state == TABLE_WAITING) {
		assert(im->n_blocks == 0);
		return;
	}
	assert(im->n_blocks && im->first_off % UNWIND_BLOCK == 0);
	if (t->state == TABLE_FAILED)
		return;
	assert(im->blocks_at == t->at && im->rows_at == t->at + im->n_blocks + 1);
	check_words(u, t, im);
}

void unwinds_check(const struct unwinds *u)
{
	struct extents all = extents_copy(&u->free);
	uint64_t n_bytes = 0, n_tables = 0;
	uint32_t n_numbers = 0;

	vec_each (t, &u->tables) {
		assert(!t->wanted || t->queued);
		assert(t->state != TABLE_JOINED || (!t->numbers.n && !t->wanted));
		vec_each (number, &t->numbers) {
			check_image(u, t, *number);
			n_numbers++;
		}
		if (t->state != TABLE_READY)
			continue;
		extents_give(&all, t->at, t->n); /* asserts that nobody else has them */
		n_bytes += t->n * sizeof(uint32_t);
		n_tables++;
	}
	vec_each (r, &u->retired)
		extents_give(&all, r->words.at, r->words.n);
	extents_give(&all, 0, UNWINDS_EMPTY_WORDS);
	assert(all.v.n == 1 && all.v.v[0].n == u->mem.n_words);
	assert(n_bytes == u->stats.n_bytes && n_tables == u->stats.n_tables &&
	       n_numbers == u->stats.n_images);
	for (uint32_t i = 0; i < u->n_keys; i++)
		assert(!u->keys[i].number || u->table_of[u->keys[i].number]);
	extents_release(&all);
}
