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
#include "collect/unwinds.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/procfs.h"

#define RETRY_CYCLES 8
#define MAX_ASKED    256

/* What is mapped at once of tables that are not all mapped: 1 MiB. */
#define PIECE_WORDS (1u << 18)

/* What rows get whose own rule found no room. */
#define TOO_COMPLEX_RULE 1

/* An empty table at the beginning of the words: two blocks' worth of numbers and a row. */
#define EMPTY_BLOCKS_AT 0
#define EMPTY_ROWS_AT	2
#define EMPTY_N_WORDS	3
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

static uint32_t *open_words(const struct unwinds *u, size_t at, size_t n)
{
	return u->mem.words ? &u->mem.words[at] : u->mem.open(u->mem.ctx, at, n);
}

static void close_words(const struct unwinds *u, uint32_t *words, size_t at, size_t n)
{
	if (!u->mem.words && words)
		u->mem.close(u->mem.ctx, words, at, n);
}

/* Nobody looks into it, whose first offset is behind all: without memory it stays zeroed. */
static void add_empty_table(const struct unwinds *u)
{
	uint32_t *words = open_words(u, 0, EMPTY_N_WORDS);

	if (!words)
		return;
	words[EMPTY_BLOCKS_AT] = 0;
	words[EMPTY_BLOCKS_AT + 1] = 1;
	words[EMPTY_ROWS_AT] = 0;
	close_words(u, words, 0, EMPTY_N_WORDS);
}

void unwinds_init(struct unwinds *u, const struct unwind_memory *mem, struct image_key *keys,
		  uint32_t n_keys, struct images *images, unwind_load_fn *load)
{
	uint32_t n_words = mem->n_words < UINT32_MAX ? (uint32_t)mem->n_words : UINT32_MAX;

	*u = (struct unwinds){
		.mem = *mem, .keys = keys, .n_keys = n_keys, .images = images, .load = load};
	assert(n_words > EMPTY_N_WORDS);
	u->table_of = xcalloc(mem->n_images, sizeof(*u->table_of));
	intern_rule(u, &(struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_NO_FDE});
	intern_rule(u, &(struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_TOO_COMPLEX});
	add_empty_table(u);
	extents_give(&u->free, EMPTY_N_WORDS, n_words - EMPTY_N_WORDS);
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
	vec_release(&u->retired);
	vec_release(&u->asked);
	extents_release(&u->free);
	index_release(&u->rule_ix);
	free(u->table_of);
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

/* Word number I of BUILT as it is published: blocks, then rows, whose rules' numbers RULE_OF has.
 */
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
		words = open_words(u, (size_t)t->at + i, n);
		if (!words)
			return false;
		for (uint32_t k = 0; k < n; k++)
			words[k] = table_word(built, rule_of, i + k);
		close_words(u, words, (size_t)t->at + i, n);
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

/* T's file is of no use.  Those that it stands for, because they said to be the same before it was
 * read, are built from themselves.  T moves when there are such. */
static void fail(struct unwinds *u, struct shared_table *t)
{
	const uint32_t code = t->code, pid = t->wanted_by, table = (uint32_t)(t - u->tables.v);
	size_t n = 0;

	t->state = TABLE_FAILED;
	u->stats.n_failed++;
	for (size_t i = 0; i < u->tables.v[table].numbers.n; i++) {
		uint32_t number = u->tables.v[table].numbers.v[i];
		struct shared_table own = {.code = images_numbered(u->images, number),
					   .wanted = true,
					   .wanted_by = pid};

		if (own.code == code) {
			u->tables.v[table].numbers.v[n++] = number;
			continue;
		}
		vec_push(&own.numbers, number);
		vec_push(&u->tables, own);
		u->table_of[number] = (uint32_t)u->tables.n;
	}
	u->tables.v[table].numbers.n = n;
	show_images(u, &u->tables.v[table]);
}

/* Takes BUILT over. */
static void place_table(struct unwinds *u, struct shared_table *t, struct unwind_table *built)
{
	if (words_of(built) + EMPTY_N_WORDS > u->mem.n_words) {
		fail(u, t); /* never will there be room */
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

static void build(struct unwinds *u, struct shared_table *t, int fd)
{
	struct unwind_table built = {0};
	uint64_t start_ns = clock_mono_ns();
	int rc = fd < 0 ? -ENOENT : u->load(fd, &built, NULL);

	u->stats.build_ns += clock_mono_ns() - start_ns;
	if (rc >= 0 && !is_sound(&built)) {
		unwind_table_release(&built);
		rc = -EBADMSG;
	}
	if (rc < 0) {
		fail(u, t);
		return;
	}
	u->stats.n_built++;
	place_table(u, t, &built);
}

/* Builds T's table, from the file its code means. */
static void build_wanted(struct unwinds *u, struct shared_table *t)
{
	const struct code *c = &u->images->codes.v[t->code];
	_fd_ int reopened = -1;

	if (c->fd < 0 && c->has_layout)
		reopened = images_reopen(u->images, t->code, t->wanted_by);
	t->wanted = false;
	build(u, t, c->fd >= 0 ? c->fd : reopened);
}

/* Has T's table built, unless it is there or cannot be, from what process PID sees. */
static void want_table(struct unwinds *u, struct shared_table *t, uint32_t pid)
{
	if (t->state != TABLE_ABSENT || clock_now(u) < t->retry_at)
		return;
	t->wanted = true;
	t->wanted_by = pid;
}

bool unwinds_build_next(struct unwinds *u)
{
	struct shared_table *next = NULL;
	uint64_t least = 0;

	vec_each (t, &u->tables) {
		uint64_t n_bytes = u->images->codes.v[t->code].layout.text_bytes;

		if (!t->wanted || (next && n_bytes >= least))
			continue;
		next = t;
		least = n_bytes;
	}
	if (!next)
		return false;
	build_wanted(u, next);
	return true;
}

/* Numbers. */

static bool same_layout(const struct code *a, const struct code *b)
{
	const struct image_layout *x = &a->layout, *y = &b->layout;

	/* A hash of the ends of a file says nothing of what is between them.  A build-id is only
	 * what the file says: nobody's file shall stand for another user's. */
	return a->has_layout && b->has_layout && !x->hashed && !y->hashed && a->owner == b->owner &&
	       build_id_same(&x->build_id, &y->build_id) && x->n_loads == y->n_loads &&
	       memcmp(x->loads, y->loads, x->n_loads * sizeof(x->loads[0])) == 0;
}

static uint32_t intern_table(struct unwinds *u, uint32_t code)
{
	const struct code *c = u->images->codes.v;

	vec_each (t, &u->tables)
		if (t->code == code ||
		    (!t->pinned && t->state != TABLE_FAILED && same_layout(&c[t->code], &c[code])))
			return (uint32_t)(t - u->tables.v);
	vec_push(&u->tables, (struct shared_table){.code = code});
	return (uint32_t)u->tables.n - 1;
}

static void join(struct unwinds *u, uint32_t number, uint32_t table)
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
	join(u, number, table);
	return number;
}

void unwinds_want(struct unwinds *u, uint32_t number, uint32_t pid)
{
	struct shared_table *t;

	if (!u->table_of[number])
		return;
	t = &u->tables.v[u->table_of[number] - 1];
	want_table(u, t, pid);
	if (t->wanted)
		build_wanted(u, t);
}

void unwinds_add_vdso(struct unwinds *u, const struct unwind_table *table)
{
	uint32_t code = images_numbered(u->images, IMAGE_NUMBER_VDSO);
	struct shared_table *t;

	vec_push(&u->tables, (struct shared_table){.code = code, .pinned = true});
	t = &u->tables.v[u->tables.n - 1];
	t->n = (uint32_t)words_of(table);
	join(u, IMAGE_NUMBER_VDSO, (uint32_t)u->tables.n - 1);
	if (!is_sound(table) || !publish(u, t, table))
		fail(u, t);
}

/* Requests. */

/* The slot of the file that R means, or the free one where it belongs; NULL when there is none. */
static struct image_key *find_key(const struct unwinds *u, const struct image_request *r)
{
	uint32_t h = image_key_hash(r->ino, r->dev, r->generation);

	for (uint32_t i = 0; i < IMAGE_PROBES; i++) {
		struct image_key *k = &u->keys[(h + i) & (u->n_keys - 1)];

		if (!k->number ||
		    (k->ino == r->ino && k->dev == r->dev && k->generation == r->generation))
			return k;
	}
	return NULL;
}

/* include/linux/kdev_t.h: MAJOR is the upper 12 bits, MINOR the lower 20; struct images has them in
 * 32 bits each, as the sideband tells them. */
static uint64_t wide_dev(uint32_t dev)
{
	return (uint64_t)(dev >> 20) << 32 | (dev & 0xfffff);
}

struct mapping_search {
	struct unwinds *u;
	const struct image_request *r;
	uint32_t code;
};

static void match_mapping(void *ctx, const struct procfs_map *m)
{
	struct mapping_search *s = ctx;

	/* By now the process may run another program, or another process have its number.  On some
	 * file systems (overlayfs) the kernel tells users another device and inode than it has. */
	if (m->dev == wide_dev(s->r->dev) && m->ino != s->r->ino)
		return;
	if (m->start <= s->r->start && s->r->start < m->end)
		s->code = images_intern(s->u->images, &(struct image_ref){.dev = m->dev,
									  .ino = m->ino,
									  .path = m->path,
									  .pid = s->r->tgid,
									  .start = m->start,
									  .end = m->end});
}

/* The code of the file that R means: told by the sideband, or by the process that maps it. */
static uint32_t find_code(struct unwinds *u, const struct image_request *r)
{
	struct mapping_search s = {.u = u, .r = r, .code = INDEX_NONE};

	vec_each (c, &u->images->codes)
		if (c->ino == r->ino && c->dev == wide_dev(r->dev) &&
		    c->ino_generation == r->generation)
			return (uint32_t)(c - u->images->codes.v);
	if (r->tgid)
		procfs_each_map(r->tgid, match_mapping, &s);
	return s.code;
}

enum served {
	SERVED,
	SERVED_IN_VAIN, /* it will be asked for again */
	NOT_SERVED,	/* its file is not known (yet) */
};

static enum served serve(struct unwinds *u, const struct image_request *r)
{
	struct image_key *key = find_key(u, r);
	const struct shared_table *t;
	uint32_t number, code;

	if (!key) {
		u->stats.n_not_numbered++;
		return SERVED_IN_VAIN;
	}
	number = key->number;
	if (!number) {
		code = find_code(u, r);
		if (code == INDEX_NONE)
			return NOT_SERVED;
		/* Generated code: what it is depends on the process, so frames are addresses. */
		if (u->images->codes.v[code].kind == CODE_ANON)
			return SERVED_IN_VAIN;
		number = unwinds_number(u, code);
		if (!number)
			return SERVED_IN_VAIN;
		key->ino = r->ino;
		key->dev = r->dev;
		key->generation = r->generation;
	}
	want_table(u, &u->tables.v[u->table_of[number] - 1], r->tgid);
	__atomic_store_n(&key->number, number, __ATOMIC_RELEASE);
	t = &u->tables.v[u->table_of[number] - 1];
	return t->wanted || t->state == TABLE_READY ? SERVED : SERVED_IN_VAIN;
}

static bool same_file(const struct image_request *a, const struct image_request *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->generation == b->generation;
}

bool unwinds_serve(struct unwinds *u, const struct image_request *r)
{
	enum served served = serve(u, r);

	if (served != NOT_SERVED)
		return served == SERVED;
	vec_each (a, &u->asked)
		if (same_file(a, r))
			return false;
	if (u->asked.n < MAX_ASKED)
		vec_push(&u->asked, *r);
	else
		u->stats.n_unknown++;
	return false;
}

size_t unwinds_serve_again(struct unwinds *u)
{
	size_t n = 0;

	vec_each (r, &u->asked)
		if (serve(u, r) == NOT_SERVED)
			u->asked.v[n++] = *r;
	return u->asked.n = n;
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

/* Checking. */

/* What is published of T, which IM shows. */
static void check_words(const struct unwinds *u, const struct shared_table *t,
			const struct unwind_image *im)
{
	uint32_t *blocks = open_words(u, t->at, t->n);

	if (!blocks)
		return;
	for (uint32_t i = 0; i < im->n_blocks; i++)
		assert(blocks[i] <= blocks[i + 1]);
	assert(im->n_blocks + 1 + blocks[im->n_blocks] == t->n);
	for (uint32_t i = 0; i < blocks[im->n_blocks]; i++)
		assert(((const struct unwind_row *)&blocks[im->n_blocks + 1])[i].rule < u->n_rules);
	close_words(u, blocks, t->at, t->n);
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
	extents_give(&all, 0, EMPTY_N_WORDS);
	assert(all.v.n == 1 && all.v.v[0].n == u->mem.n_words);
	assert(n_bytes == u->stats.n_bytes && n_tables == u->stats.n_tables &&
	       n_numbers == u->stats.n_images);
	for (uint32_t i = 0; i < u->n_keys; i++)
		assert(!u->keys[i].number || u->table_of[u->keys[i].number]);
	extents_release(&all);
}
