/* SPDX-License-Identifier: BSD-2-Clause */
/* See unwinds.h.
 *
 * Publishing is safe beside a walker because a walk is short and a cycle is long: words and rules
 * are written before the image that refers to them, n_blocks last; an evicted image's n_blocks
 * becomes 0 first, and its words are used again only after a whole cycle.  An image evicted in this
 * cycle is not published again in it, so that no walk sees half of each.
 *
 * Only tables that were not used in this cycle nor in the one before are evicted, least recently
 * used first.  When all of them are in use a new one is put off for RETRY_CYCLES: building tables
 * over and over would cost more than they give.
 *
 * What is asked for is queued, and the table of the least code is built first: most of what a short
 * program runs in is small, and must not wait for a compiler.
 *
 * A rule stays for good, since rows anywhere may refer to it.
 *
 * Tables that nobody walks by in this process are written in pieces of which one is mapped at a
 * time: all of them are of the size of a small daemon. */
#include "collect/calls/unwinds_impl.h"

#include <assert.h>
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define RETRY_CYCLES 8

/* What is mapped at once of tables that are not all mapped: 1 MiB. */
#define PIECE_WORDS (1u << 18)

/* What rows get whose own rule found no room. */
#define TOO_COMPLEX_RULE 1

/* An empty table at the beginning of the words. */
#define EMPTY_BLOCKS_AT 0
#define EMPTY_ROWS_AT	2
#define EMPTY_FIRST_OFF (1ULL << FRAME_IMAGE_SHIFT) /* behind every file offset in a frame */

static bool rule_same(const void *owner, uint32_t i, const void *key)
{
	return memcmp(&((const struct unwinds *)owner)->mem.rules[i], key,
		      sizeof(struct unwind_rule)) == 0;
}

/* The number of RULE among all; TOO_COMPLEX_RULE when there is no room for it. */
static uint32_t intern_rule(struct unwinds *u, const struct unwind_rule *rule)
{
	uint64_t h = hash_bytes(rule, sizeof(*rule));
	uint32_t i = index_find(&u->rule_ix, h, rule_same, u, rule);

	if (i != INDEX_NONE)
		return i;
	if (u->n_rules == UNWIND_N_RULES)
		return TOO_COMPLEX_RULE;
	u->mem.rules[u->n_rules] = *rule;
	index_add(&u->rule_ix, h, u->n_rules);
	return u->n_rules++;
}

uint32_t *unwinds_open_words(const struct unwinds *u, size_t at, size_t n)
{
	return u->mem.words ? &u->mem.words[at] : u->mem.open(u->mem.ctx, at, n);
}

void unwinds_close_words(const struct unwinds *u, uint32_t *words, size_t at, size_t n)
{
	if (!u->mem.words && words)
		u->mem.close(u->mem.ctx, words, at, n);
}

/* Nobody looks into it, whose first offset is behind all: without memory it stays zeroed. */
static void add_empty_table(const struct unwinds *u)
{
	uint32_t *words = unwinds_open_words(u, 0, UNWINDS_EMPTY_WORDS);

	if (!words)
		return;
	words[EMPTY_BLOCKS_AT] = 0;
	words[EMPTY_BLOCKS_AT + 1] = 1;
	words[EMPTY_ROWS_AT] = 0;
	unwinds_close_words(u, words, 0, UNWINDS_EMPTY_WORDS);
}

void unwinds_init(struct unwinds *u, const struct unwind_memory *mem, struct image_key *keys,
		  uint32_t n_keys, struct images *images, unwind_load_fn *load)
{
	uint32_t n_words = mem->n_words < UINT32_MAX ? (uint32_t)mem->n_words : UINT32_MAX;

	*u = (struct unwinds){
		.mem = *mem, .keys = keys, .n_keys = n_keys, .images = images, .load = load};
	assert(n_words > UNWINDS_EMPTY_WORDS);
	u->table_of = xcalloc(mem->n_images, sizeof(*u->table_of));
	intern_rule(u, &(struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_NO_FDE});
	intern_rule(u, &(struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_TOO_COMPLEX});
	add_empty_table(u);
	extents_give(&u->free, UNWINDS_EMPTY_WORDS, n_words - UNWINDS_EMPTY_WORDS);
	*u->mem.clock = 1;
}

void unwinds_release(struct unwinds *u)
{
	vec_each (t, &u->tables) {
		if (t->state == TABLE_WAITING)
			unwind_table_release(&t->built);
		vec_release(&t->numbers);
	}
	vec_release(&u->tables);
	vec_release(&u->queue);
	vec_release(&u->table_of_code);
	vec_release(&u->retired);
	vec_release(&u->asked);
	vec_release(&u->runtimes);
	extents_release(&u->free);
	index_release(&u->rule_ix);
	free(u->table_of);
	vec_release(&u->number_of);
	*u = (struct unwinds){0};
}

static uint32_t clock_now(const struct unwinds *u)
{
	return *u->mem.clock;
}

/* Publishing. */

/* Points image NUMBER to what T is now. */
static void show_image(struct unwinds *u, const struct shared_table *t, uint32_t number)
{
	struct unwind_image *im = &u->mem.images[number];
	uint32_t n_blocks = 0;

	if (t->state == TABLE_READY) {
		im->first_off = t->first_off;
		im->blocks_at = t->at;
		im->rows_at = t->at + t->n_blocks + 1;
		im->interpreter = t->interpreter.number;
		im->anchor = t->interpreter.anchor;
		n_blocks = t->n_blocks;
	} else if (t->state == TABLE_FAILED) {
		im->first_off = EMPTY_FIRST_OFF;
		im->blocks_at = EMPTY_BLOCKS_AT;
		im->rows_at = EMPTY_ROWS_AT;
		n_blocks = 1;
	}
	im->last_used = clock_now(u);
	im->state = t->state;
	__atomic_store_n(&im->n_blocks, n_blocks, __ATOMIC_RELEASE);
}

static void show_images(struct unwinds *u, const struct shared_table *t)
{
	vec_each (number, &t->numbers)
		show_image(u, t, *number);
}

/* Word number I of BUILT as it is published: blocks, then rows, whose rules'
 * numbers RULE_OF has. */
static uint32_t table_word(const struct unwind_table *built, const uint16_t *rule_of, uint32_t i)
{
	struct unwind_row row;
	uint32_t word;

	if (i <= built->n_blocks)
		return built->blocks[i];
	row = built->rows[i - built->n_blocks - 1];
	row.rule = rule_of[row.rule];
	_Static_assert(sizeof(word) == sizeof(row), "a row is a word");
	memcpy(&word, &row, sizeof(word));
	return word;
}

static bool copy_words(struct unwinds *u, const struct shared_table *t,
		       const struct unwind_table *built, const uint16_t *rule_of)
{
	for (uint32_t i = 0, n; i < t->n; i += n) {
		uint32_t *words;

		n = t->n - i;
		if (!u->mem.words && n > PIECE_WORDS)
			n = PIECE_WORDS;
		words = unwinds_open_words(u, (size_t)t->at + i, n);
		if (!words)
			return false;
		for (uint32_t k = 0; k < n; k++)
			words[k] = table_word(built, rule_of, i + k);
		unwinds_close_words(u, words, (size_t)t->at + i, n);
	}
	return true;
}

/* Copies BUILT to T's words, which are its own already; false when they cannot be had now. */
static bool copy_table(struct unwinds *u, struct shared_table *t, const struct unwind_table *built)
{
	_mem_ uint16_t *rule_of = xcalloc(built->n_rules, sizeof(*rule_of));
	_mem_ bool *lost = xcalloc(built->n_rules, sizeof(*lost));

	for (uint32_t i = 0; i < built->n_rules; i++) {
		rule_of[i] = (uint16_t)intern_rule(u, &built->rules[i]);
		lost[i] = rule_of[i] == TOO_COMPLEX_RULE &&
			  memcmp(&built->rules[i], &u->mem.rules[TOO_COMPLEX_RULE],
				 sizeof(struct unwind_rule)) != 0;
	}
	if (!copy_words(u, t, built, rule_of))
		return false;
	for (uint32_t i = 0; i < built->n_rows; i++)
		u->stats.n_rules_lost += lost[built->rows[i].rule];
	t->first_off = built->first_off;
	t->n_blocks = built->n_blocks;
	t->interpreter = built->interpreter;
	return true;
}

static uint64_t words_of(const struct unwind_table *t)
{
	return (uint64_t)t->n_blocks + 1 + t->n_rows;
}

static bool publish(struct unwinds *u, struct shared_table *t, const struct unwind_table *built)
{
	if (!extents_take(&u->free, t->n, &t->at))
		return false;
	if (!copy_table(u, t, built)) { /* it will be tried again */
		extents_give(&u->free, t->at, t->n);
		return false;
	}
	t->state = TABLE_READY;
	u->stats.n_tables++;
	u->stats.n_bytes += t->n * sizeof(uint32_t);
	if (u->stats.n_bytes > u->stats.most_bytes)
		u->stats.most_bytes = u->stats.n_bytes;
	show_images(u, t);
	unwinds_show_runtimes(u);
	return true;
}

/* Evicting. */

static uint32_t last_used(const struct unwinds *u, const struct shared_table *t)
{
	uint32_t last = 0;

	vec_each (number, &t->numbers) {
		uint32_t used = u->mem.images[*number].last_used;

		last = used > last ? used : last;
	}
	return last;
}

static struct shared_table *least_recently_used(struct unwinds *u)
{
	struct shared_table *least = NULL;
	uint32_t least_used = 0;

	vec_each (t, &u->tables) {
		uint32_t used = last_used(u, t);

		if (t->state != TABLE_READY || t->pinned || used + 2 > clock_now(u) ||
		    (least && used >= least_used))
			continue;
		least = t;
		least_used = used;
	}
	return least;
}

static void evict(struct unwinds *u, struct shared_table *t)
{
	t->state = TABLE_ABSENT;
	t->retry_at = clock_now(u) + 1;
	show_images(u, t);
	vec_push(&u->retired, (struct retired){.words = {t->at, t->n}, .since = clock_now(u)});
	u->stats.n_evicted++;
	u->stats.n_tables--;
	u->stats.n_bytes -= t->n * sizeof(uint32_t);
}

/* Evicts until N words will fit once what is retired is free; false when too much is in use. */
static bool make_room(struct unwinds *u, uint32_t n)
{
	struct extents later = extents_copy(&u->free);
	bool fits;

	vec_each (r, &u->retired)
		extents_give(&later, r->words.at, r->words.n);
	while (!(fits = extents_fit(&later, n))) {
		struct shared_table *t = least_recently_used(u);

		if (!t)
			break;
		evict(u, t);
		extents_give(&later, t->at, t->n);
	}
	extents_release(&later);
	return fits;
}

static void put_off(struct unwinds *u, struct shared_table *t)
{
	t->state = TABLE_ABSENT;
	t->retry_at = clock_now(u) + RETRY_CYCLES;
	u->stats.n_no_room++;
}

/* Building. */

/* Adds T; returns its number. */
static uint32_t add_table(struct unwinds *u, const struct shared_table *t)
{
	vec_push(&u->tables, *t);
	*vec_at(&u->table_of_code, t->code) = (uint32_t)u->tables.n;
	return (uint32_t)u->tables.n - 1;
}

static void queue_table(struct unwinds *u, uint32_t table, uint32_t pid)
{
	struct shared_table *t = &u->tables.v[table];

	if (!t->queued)
		vec_push(&u->queue, table);
	t->queued = t->wanted = true;
	t->wanted_by = pid;
}

/* Gives each image of table TABLE that is of another file than the table's a table of its own. */
static void unwinds_split(struct unwinds *u, uint32_t table)
{
	const uint32_t code = u->tables.v[table].code, pid = u->tables.v[table].wanted_by;
	size_t n = 0;

	for (size_t i = 0; i < u->tables.v[table].numbers.n; i++) {
		uint32_t number = u->tables.v[table].numbers.v[i];
		struct shared_table own = {.code = images_numbered(u->images, number)};

		if (own.code == code) {
			u->tables.v[table].numbers.v[n++] = number;
			continue;
		}
		vec_push(&own.numbers, number);
		u->table_of[number] = add_table(u, &own) + 1;
		queue_table(u, u->table_of[number] - 1, pid);
	}
	u->tables.v[table].numbers.n = n;
}

/* Table TABLE cannot be built from its file (any more).  Those that had the same are built from
 * their own. */
static void unwinds_fail(struct unwinds *u, uint32_t table)
{
	unwinds_split(u, table);
	u->tables.v[table].state = TABLE_FAILED;
	u->stats.n_failed++;
	show_images(u, &u->tables.v[table]);
}

/* Takes BUILT over. */
static void place_table(struct unwinds *u, struct shared_table *t, struct unwind_table *built)
{
	if (words_of(built) + UNWINDS_EMPTY_WORDS > u->mem.n_words) {
		unwinds_fail(u, (uint32_t)(t - u->tables.v)); /* never will there be room */
		unwind_table_release(built);
		return;
	}
	t->n = (uint32_t)words_of(built);
	if (publish(u, t, built)) {
		unwind_table_release(built);
	} else if (make_room(u, t->n)) {
		t->state = TABLE_WAITING;
		t->built = *built;
	} else {
		put_off(u, t);
		unwind_table_release(built);
	}
}

/* What the walker is shown must lie within itself, whoever built it. */
static bool is_sound(const struct unwind_table *t)
{
	if (!t->n_blocks || !t->n_rows || t->blocks[t->n_blocks] != t->n_rows ||
	    t->first_off % UNWIND_BLOCK || t->n_blocks == UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < t->n_blocks; i++)
		if (t->blocks[i] > t->blocks[i + 1])
			return false;
	for (uint32_t i = 0; i < t->n_rows; i++)
		if (t->rows[i].rule >= t->n_rules)
			return false;
	return true;
}

/* Another table that was made from the bytes of KEY; NULL. */
static struct shared_table *find_made_from(struct unwinds *u, const struct shared_table *t,
					   const uint8_t key[UNWIND_KEY_BYTES])
{
	static const uint8_t unknown[UNWIND_KEY_BYTES];

	if (memcmp(key, unknown, sizeof(unknown)) == 0)
		return NULL;
	vec_each (other, &u->tables)
		if (other != t && other->has_key && !other->pinned &&
		    (other->state == TABLE_ABSENT || other->state == TABLE_WAITING ||
		     other->state == TABLE_READY) &&
		    memcmp(other->key, key, UNWIND_KEY_BYTES) == 0)
			return other;
	return NULL;
}

/* T's images use table SAME from now on. */
static void join_tables(struct unwinds *u, struct shared_table *t, struct shared_table *same)
{
	t->state = TABLE_JOINED;
	vec_each (number, &t->numbers) {
		vec_push(&same->numbers, *number);
		u->table_of[*number] = (uint32_t)(same - u->tables.v) + 1;
		show_image(u, same, *number);
	}
	t->numbers.n = 0;
	unwinds_show_runtimes(u);
}

/* T's file has become BUILT, which may be what T was before, what another table is, or new. */
static void take_built(struct unwinds *u, struct shared_table *t, struct unwind_table *built)
{
	const uint32_t table = (uint32_t)(t - u->tables.v);
	struct shared_table *same;

	if (t->has_key && memcmp(t->key, built->key, UNWIND_KEY_BYTES) != 0) {
		unwinds_split(u, table); /* it was rewritten; the others' were not */
		t = &u->tables.v[table];
	}
	memcpy(t->key, built->key, UNWIND_KEY_BYTES);
	t->has_key = true;
	same = find_made_from(u, t, built->key);
	if (same) {
		join_tables(u, t, same);
		t = same;
	}
	if (t->state == TABLE_ABSENT && clock_now(u) >= t->retry_at) {
		t->wanted = false;
		place_table(u, t, built);
	} else {
		unwind_table_release(built);
	}
}

static void unwinds_build(struct unwinds *u, struct shared_table *t, int fd)
{
	struct unwind_table built = {0};
	uint64_t start_ns = clock_mono_ns();
	int rc = fd < 0 ? -ENOENT : u->load(fd, &built, NULL);

	t->asked = false;
	u->stats.build_ns += clock_mono_ns() - start_ns;
	if (rc >= 0 && !is_sound(&built)) {
		unwind_table_release(&built);
		rc = -EBADMSG;
	}
	if (rc == -EAGAIN) {
		queue_table(u, (uint32_t)(t - u->tables.v), t->wanted_by);
		t->asked = true;
		return;
	}
	if (rc < 0) {
		unwinds_fail(u, (uint32_t)(t - u->tables.v));
		return;
	}
	u->stats.n_built++;
	take_built(u, t, &built);
}

/* Builds T's table, from the file its code means. */
static void build_wanted(struct unwinds *u, struct shared_table *t)
{
	const struct mapped_code *c = &u->images->codes.v[t->code];
	_fd_ int reopened = -1;

	if (c->fd < 0 && c->has_layout)
		reopened = images_reopen(u->images, t->code, t->wanted_by);
	t->wanted = false;
	unwinds_build(u, t, c->fd >= 0 ? c->fd : reopened);
}

void unwinds_want_table(struct unwinds *u, struct shared_table *t, uint32_t pid)
{
	if (t->state != TABLE_ABSENT || clock_now(u) < t->retry_at)
		return;
	queue_table(u, (uint32_t)(t - u->tables.v), pid);
}

bool unwinds_build_next(struct unwinds *u)
{
	struct shared_table *next = NULL;
	uint64_t least = 0;
	size_t n = 0;

	vec_each (table, &u->queue) {
		struct shared_table *t = &u->tables.v[*table];
		uint64_t n_bytes = u->images->codes.v[t->code].layout.text_bytes;

		t->queued = t->wanted;
		if (!t->wanted)
			continue;
		u->queue.v[n++] = *table;
		if (t->asked || (next && (n_bytes > least || (n_bytes == least && t > next))))
			continue;
		next = t;
		least = n_bytes;
	}
	u->queue.n = n;
	if (!next)
		return false;
	build_wanted(u, next);
	return true;
}

void unwinds_load_again(struct unwinds *u)
{
	vec_each (t, &u->tables)
		t->asked = false;
}

/* Numbers. */

/* The table of CODE.  One that joined another is not followed: the other may have been rewritten
 * since.  A new one joins again when it is built. */
static uint32_t intern_table(struct unwinds *u, uint32_t code)
{
	const uint32_t i = *vec_at(&u->table_of_code, code);

	if (i && u->tables.v[i - 1].state != TABLE_JOINED)
		return i - 1;
	return add_table(u, &(struct shared_table){.code = code});
}

static void unwinds_join(struct unwinds *u, uint32_t number, uint32_t table)
{
	struct shared_table *t = &u->tables.v[table];

	vec_push(&t->numbers, number);
	u->table_of[number] = table + 1;
	u->stats.n_images++;
	show_image(u, t, number);
	u->changed = true;
}

uint32_t unwinds_number(struct unwinds *u, uint32_t code)
{
	uint32_t number = images_add_number(u->images, code), table;

	if (!number || number >= u->mem.n_images) {
		u->stats.n_not_numbered++;
		return 0;
	}
	table = intern_table(u, code);
	unwinds_join(u, number, table);
	return number;
}

void unwinds_want(struct unwinds *u, uint32_t number, uint32_t pid)
{
	struct shared_table *t;

	if (!u->table_of[number])
		return;
	t = &u->tables.v[u->table_of[number] - 1];
	unwinds_want_table(u, t, pid);
	if (t->wanted)
		build_wanted(u, t);
}

void unwinds_add_vdso(struct unwinds *u, const struct unwind_table *table)
{
	uint32_t code = images_numbered(u->images, IMAGE_NUMBER_VDSO);
	uint32_t i = add_table(u, &(struct shared_table){.code = code, .pinned = true});
	struct shared_table *t = &u->tables.v[i];

	t->n = (uint32_t)words_of(table);
	unwinds_join(u, IMAGE_NUMBER_VDSO, i);
	if (!is_sound(table) || !publish(u, t, table))
		unwinds_fail(u, (uint32_t)(t - u->tables.v));
}

/* Cycles. */

static void reuse_retired(struct unwinds *u)
{
	size_t n = 0;

	vec_each (r, &u->retired) {
		if (r->since + 2 <= clock_now(u))
			extents_give(&u->free, r->words.at, r->words.n);
		else
			u->retired.v[n++] = *r;
	}
	u->retired.n = n;
}

void unwinds_tick(struct unwinds *u)
{
	__atomic_store_n(u->mem.clock, clock_now(u) + 1, __ATOMIC_RELAXED);
	reuse_retired(u);
	vec_each (t, &u->tables) {
		struct unwind_table built = t->built;

		if (t->state != TABLE_WAITING)
			continue;
		if (publish(u, t, &built)) {
			t->built = (struct unwind_table){0};
			unwind_table_release(&built);
		} else if (!make_room(u, t->n)) { /* others took it */
			put_off(u, t);
			t->built = (struct unwind_table){0};
			unwind_table_release(&built);
		}
	}
	u->stats.n_unknown += unwinds_serve_again(u);
	u->asked.n = 0;
}

bool unwinds_changed(struct unwinds *u)
{
	bool changed = u->changed;

	u->changed = false;
	return changed;
}

struct unwinds_stats unwinds_stats(const struct unwinds *u)
{
	struct unwinds_stats s = u->stats;

	s.n_rules = u->n_rules;
	s.limit_bytes = u->mem.n_words * sizeof(uint32_t);
	return s;
}
