/* SPDX-License-Identifier: BSD-2-Clause */
/* See jitcode.h.
 *
 * Which load has an address now is kept in two lists of pieces, each sorted and disjoint: `young`
 * is short and takes every new load, `old` is what it is merged into when it is full.  Where both
 * have an address, young is right.  So a load costs a search and a move of a few kilobytes, however
 * many there are, and a merge for every MOST_YOUNG of them. */
#include "resolve/jitcode.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/lower_bound.h"
#include "base/vec.h"
#include "resolve/jitdump.h"
#include "resolve/jitread.h"
#include "resolve/perfmap.h"

#define MOST_YOUNG 512

/* What a hostile dump may make us keep. */
#define MOST_LOADS	(1u << 18)
#define MOST_NAME_BYTES (32u << 20)
#define MOST_NAME	32768

/* Bytes read at a time: a record's head and any reasonable name. */
#define WINDOW 65536

/* Pieces looked at for one dump or map.  An honest one needs some four a procedure; one whose
 * procedures all overlap would need a number of them squared. */
#define MOST_STEPS (16u << 20)

/* A map that is written anew is read anew: so many bytes in all, and so many in one go. */
#define MOST_MAP_BYTES	 (128u << 20)
#define MOST_MAP_WINDOWS 64

/* Windows a call reads at most, so that a dump that grows without end does not hold up others. */
#define MOST_WINDOWS 4096

/* What is asked for is the present: a time so far behind it is another clock's. */
#define MOST_AHEAD_NS (10ull * 1000000000)

struct load {
	uint64_t svma;
	uint32_t n_bytes;
	uint32_t name, n_name; /* in the pool */
};

struct piece {
	uint64_t start, end; /* run-time addresses */
	uint32_t load;
};

typedef VEC(struct piece) piece_list;

struct jitcode {
	struct jitdump dump;
	bool has_header, trusted;
	int failed;	  /* why it is read no further */
	size_t n_bytes;	  /* of memory, counted in all_bytes */
	uint64_t n_steps; /* pieces looked at */
	uint64_t n_read;  /* bytes of a map */
	uint64_t at;
	VEC(struct load) loads;
	VEC(char) pool;
	piece_list young, old;
	uint32_t n_replaced;
	uint64_t next_ns;
	/* The end of a map's text before `at` when it was last read. */
	char tail[JITREAD_TAIL];
	size_t n_tail;
};

static size_t all_bytes;		 /* of every struct jitcode */
static size_t most_all_bytes = SIZE_MAX; /* jitcode_limit_all */

void jitcode_limit_all(size_t n_bytes)
{
	most_all_bytes = n_bytes;
}

/* Counts J's memory anew. */
static void count_bytes(struct jitcode *j)
{
	all_bytes -= j->n_bytes;
	j->n_bytes = j->loads.cap * sizeof(*j->loads.v) + j->pool.cap +
		     (j->young.cap + j->old.cap) * sizeof(*j->old.v);
	all_bytes += j->n_bytes;
}

struct jitcode *jitcode_new(void)
{
	struct jitcode *j = xcalloc(1, sizeof(*j));

	j->next_ns = UINT64_MAX;
	return j;
}

void jitcode_free(struct jitcode *j)
{
	if (!j)
		return;
	all_bytes -= j->n_bytes;
	vec_release(&j->loads);
	vec_release(&j->pool);
	vec_release(&j->young);
	vec_release(&j->old);
	free(j);
}

uint64_t jitcode_at(const struct jitcode *j)
{
	return j->at;
}

uint64_t jitcode_next_ns(const struct jitcode *j)
{
	return j->next_ns;
}

uint32_t jitcode_n_replaced(const struct jitcode *j)
{
	return j->n_replaced;
}

size_t jitcode_n_symbols(const struct jitcode *j)
{
	return j->loads.n;
}

/* Pieces. */

/* Number of pieces that end at or before AVMA. */
static size_t jitcode_lower(const piece_list *l, uint64_t avma)
{
	return lower_bound(k, 0, l->n, l->v[k].end <= avma);
}

static const struct piece *find_in(const piece_list *l, uint64_t avma)
{
	size_t i = jitcode_lower(l, avma);

	return i < l->n && l->v[i].start <= avma ? &l->v[i] : NULL;
}

static const struct load *find_load(const struct jitcode *j, uint64_t avma)
{
	const struct piece *p = find_in(&j->young, avma);

	if (!p)
		p = find_in(&j->old, avma);
	return p ? &j->loads.v[p->load] : NULL;
}

/* The highest layer that has an address of [START, END) in L, or -1. */
static int highest_layer(struct jitcode *j, const piece_list *l, uint64_t start, uint64_t end)
{
	int highest = -1;

	for (size_t i = jitcode_lower(l, start); i < l->n && l->v[i].start < end; i++) {
		int layer = (int)(j->loads.v[l->v[i].load].svma >> JITCODE_LAYER_SHIFT);

		j->n_steps++;
		if (layer > highest)
			highest = layer;
	}
	return highest;
}

/* Puts P in place of whatever it overlaps; what sticks out of it on either side stays. */
static void jitcode_put(piece_list *l, const struct piece *p)
{
	size_t first = jitcode_lower(l, p->start), last = first, n_new = 0;
	struct piece new[3];

	while (last < l->n && l->v[last].start < p->end)
		last++;
	if (first < last && l->v[first].start < p->start) {
		new[n_new] = l->v[first];
		new[n_new++].end = p->start;
	}
	new[n_new++] = *p;
	if (first < last && l->v[last - 1].end > p->end) {
		new[n_new] = l->v[last - 1];
		new[n_new++].start = p->end;
	}
	vec_reserve(l, n_new);
	memmove(&l->v[first + n_new], &l->v[last], (l->n - last) * sizeof(*l->v));
	memcpy(&l->v[first], new, n_new * sizeof(*new));
	l->n = l->n - (last - first) + n_new;
}

/* Makes one list of both. */
static void jitcode_merge(struct jitcode *j)
{
	piece_list all = {0};
	uint64_t done = 0; /* addresses below are settled */
	size_t k = 0;

	vec_reserve(&all, 2 * j->young.n + j->old.n);
	vec_each (y, &j->young) {
		for (; k < j->old.n && j->old.v[k].start < y->start; k++) {
			struct piece p = j->old.v[k];

			if (p.start < done)
				p.start = done;
			if (p.end <= p.start)
				continue;
			if (p.end > y->start) {
				p.end = y->start;
				vec_push(&all, p);
				break; /* what sticks out behind Y comes after it */
			}
			vec_push(&all, p);
		}
		vec_push(&all, *y);
		done = y->end;
		while (k < j->old.n && j->old.v[k].end <= done)
			k++;
	}
	for (; k < j->old.n; k++) {
		struct piece p = j->old.v[k];

		if (p.start < done)
			p.start = done;
		if (p.start < p.end)
			vec_push(&all, p);
	}
	vec_release(&j->old);
	j->old = all;
	j->young.n = 0;
}

/* Records. */

static bool same_name(const struct jitcode *j, const struct load *l, const char *name, size_t n)
{
	return l->n_name == n && memcmp(j->pool.v + l->name, name, n) == 0;
}

/* Where the first free address from AT on is, up to END; *RET_NEXT is where it ends. */
static uint64_t find_gap(struct jitcode *j, uint64_t at, uint64_t end, uint64_t *ret_next)
{
	const piece_list *lists[] = {&j->young, &j->old};
	bool moved;

	do {
		moved = false;
		j->n_steps++;
		*ret_next = end;
		for (size_t k = 0; k < n_elems(lists); k++) {
			size_t i = jitcode_lower(lists[k], at);

			if (i >= lists[k]->n)
				continue;
			if (lists[k]->v[i].start <= at) {
				at = lists[k]->v[i].end;
				moved = true;
			} else if (lists[k]->v[i].start < *ret_next) {
				*ret_next = lists[k]->v[i].start;
			}
		}
	} while (moved && at < end);
	return at < end ? at : end;
}

static void add_code(struct jitcode *j, uint64_t avma, uint64_t n_bytes, const char *name,
		     size_t n_name)
{
	struct piece p = {.start = avma, .end = avma + n_bytes, .load = (uint32_t)j->loads.n};
	const uint64_t limit = 1ull << JITCODE_LAYER_SHIFT;
	const struct load *there = find_load(j, avma);
	int below, old_layer;
	struct load load;

	/* Empty procedures have no samples; the rest is nonsense. */
	if (!n_bytes || n_bytes > UINT32_MAX || avma >= limit || n_bytes > limit - avma)
		return;
	if (n_name > MOST_NAME)
		n_name = MOST_NAME;
	if (!n_name) {
		name = "?";
		n_name = 1;
	}
	below = highest_layer(j, &j->young, p.start, p.end);
	old_layer = highest_layer(j, &j->old, p.start, p.end);
	if (old_layer > below)
		below = old_layer;
	/* Told again, and nothing was there in between. */
	if (there && there->svma == ((uint64_t)below << JITCODE_LAYER_SHIFT | avma) &&
	    there->n_bytes == n_bytes && same_name(j, there, name, n_name))
		return;
	if (below >= 0)
		j->n_replaced++;
	if (below >= JITCODE_MAX_LAYER)
		return;
	load = (struct load){.svma = (uint64_t)(below + 1) << JITCODE_LAYER_SHIFT | avma,
			     .n_bytes = (uint32_t)n_bytes,
			     .name = (uint32_t)j->pool.n,
			     .n_name = (uint32_t)n_name};
	vec_push(&j->loads, load);
	/* Addresses that nobody had before may have samples already, in layer 0. */
	for (uint64_t at = avma, next; below >= 0; at = next) {
		at = find_gap(j, at, p.end, &next);
		if (at == p.end)
			break;
		load.svma = at;
		load.n_bytes = (uint32_t)(next - at);
		vec_push(&j->loads, load);
	}
	vec_reserve(&j->pool, n_name);
	memcpy(j->pool.v + j->pool.n, name, n_name);
	j->pool.n += n_name;
	jitcode_put(&j->young, &p);
	if (j->young.n >= MOST_YOUNG)
		jitcode_merge(j);
	count_bytes(j);
}

static void jitcode_apply(struct jitcode *j, const struct jitdump_record *r)
{
	const struct load *l;
	_mem_ char *name = NULL;

	if (r->kind == JITDUMP_LOAD)
		add_code(j, r->avma, r->n_code, r->name, r->n_name);
	if (r->kind != JITDUMP_MOVE)
		return;
	l = find_load(j, r->old_avma);
	if (!l)
		return;					/* moved before it was loaded */
	name = xmemdup(j->pool.v + l->name, l->n_name); /* the pool moves when it grows */
	add_code(j, r->avma, r->n_code, name, l->n_name);
}

static bool is_full(const struct jitcode *j)
{
	return j->loads.n >= MOST_LOADS || j->pool.n >= MOST_NAME_BYTES ||
	       all_bytes >= most_all_bytes || j->n_steps >= MOST_STEPS ||
	       j->n_read >= MOST_MAP_BYTES;
}

static int jitcode_fail(struct jitcode *j, int code, struct err *err)
{
	j->failed = code;
	if (code == -E2BIG)
		return err_set(err, code,
			       "generated code: more than %u procedures, %u MiB of names, or what "
			       "all processes' may take",
			       MOST_LOADS, MOST_NAME_BYTES >> 20);
	return err_set(err, code, "jitdump+%#llx: no record", (unsigned long long)j->at);
}

/* Is R of a later time than UNTIL_NS?  A time far in the future is another clock's, unless the
 * file is read long after it was written. */
static bool is_later(const struct jitcode *j, const struct jitdump_record *r, uint64_t until_ns)
{
	return (r->kind == JITDUMP_LOAD || r->kind == JITDUMP_MOVE) && r->time > until_ns &&
	       (j->trusted || r->time - until_ns < MOST_AHEAD_NS) &&
	       !(j->dump.flags & JITDUMP_FLAG_ARCH_TIMESTAMP);
}

void jitcode_trust_times(struct jitcode *j)
{
	j->trusted = true;
}

int jitcode_feed(struct jitcode *j, const uint8_t *bytes, size_t n, uint64_t until_ns,
		 struct err *err)
{
	const uint64_t from = j->at;

	j->next_ns = UINT64_MAX;
	if (j->failed < 0)
		return jitcode_fail(j, j->failed, err);
	if (!j->has_header) {
		int rc = jitdump_read_header(bytes, n, &j->dump, err);

		if (rc == -ENODATA)
			return 0;
		if (rc < 0)
			return j->failed = rc;
		j->has_header = true;
		j->at = j->dump.n_bytes;
	}
	while (j->at - from < n) {
		size_t at = (size_t)(j->at - from);
		struct jitdump_record r;
		/* What a full window cannot hold will not come with a later one. */
		int rc = jitdump_read_record(&j->dump, bytes + at, n - at, n - at >= WINDOW, &r);

		if (rc == -ENODATA)
			return 0;
		if (rc < 0)
			return jitcode_fail(j, rc, err);
		if (is_later(j, &r, until_ns)) {
			j->next_ns = r.time;
			return 0;
		}
		if (is_full(j))
			return jitcode_fail(j, -E2BIG, err);
		jitcode_apply(j, &r);
		j->at += r.n_bytes;
	}
	return 0;
}

int jitcode_read(struct jitcode *j, int fd, uint64_t until_ns, struct err *err)
{
	_mem_ uint8_t *window = NULL;
	uint64_t before;
	ssize_t n;
	int rc = 0;

	if (j->failed < 0)
		return jitcode_fail(j, j->failed, err);
	window = xmalloc(WINDOW);
	for (int i = 0; i < MOST_WINDOWS && rc >= 0; i++) {
		before = j->at;
		n = pread(fd, window, WINDOW, (off_t)j->at);
		if (n < 0)
			return err_errno(err, -errno, "jitdump");
		rc = jitcode_feed(j, window, (size_t)n, until_ns, err);
		if (j->at == before)
			break;
	}
	return rc;
}

/* Perf maps. */

/* Takes the lines of TEXT and returns how many bytes they have. */
static size_t feed_lines(struct jitcode *j, const char *text, size_t n, bool last)
{
	const char *p = text, *end = text + n, *eol;

	for (; p < end && !is_full(j); p = eol + 1) {
		struct perfmap_entry e;

		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol && !last)
			break;
		if (perfmap_parse_line(p, eol ? eol : end, &e))
			add_code(j, e.start, e.end - e.start, e.name, e.n_name);
		if (!eol)
			return n;
	}
	return (size_t)(p - text);
}

static bool was_continued(const struct jitcode *j, int fd)
{
	char now[JITREAD_TAIL];

	return pread(fd, now, j->n_tail, (off_t)(j->at - j->n_tail)) == (ssize_t)j->n_tail &&
	       memcmp(now, j->tail, j->n_tail) == 0;
}

int jitcode_read_map(struct jitcode *j, int fd, bool last, struct err *err)
{
	_mem_ char *window = NULL;

	if (j->failed < 0)
		return jitcode_fail(j, j->failed, err);
	if (!was_continued(j, fd))
		j->at = j->n_tail = 0;
	window = xmalloc(WINDOW);
	for (int i = 0; i < (last ? MOST_WINDOWS : MOST_MAP_WINDOWS); i++) {
		ssize_t n = pread(fd, window, WINDOW, (off_t)j->at);
		size_t used;

		if (n < 0)
			return err_errno(err, -errno, "perf map");
		/* What fills a window without an end is no line. */
		used = feed_lines(j, window, (size_t)n, n == WINDOW ? false : last);
		if (is_full(j))
			return jitcode_fail(j, -E2BIG, err);
		if (!used)
			used = n == WINDOW ? WINDOW : 0;
		if (!used)
			break;
		j->at += used;
		j->n_read += used;
		j->n_tail = used < JITREAD_TAIL ? used : JITREAD_TAIL;
		memcpy(j->tail, window + used - j->n_tail, j->n_tail);
	}
	return 0;
}

/* Answers of children. */

void jitcode_question(const struct jitcode *j, bool map, bool last, struct wr *ret)
{
	wr_u8(ret, (map ? JITREAD_MAP : 0) | (last ? JITREAD_LAST : 0));
	wr_uleb(ret, j->at);
	wr_uleb(ret, j->n_tail);
	wr_bytes(ret, j->tail, j->n_tail);
}

int jitcode_begin(struct jitcode *j, struct rd *r, bool *ret_more, struct err *err)
{
	uint8_t flags = rd_u8(r);
	uint64_t at = rd_uleb(r);
	size_t n_tail = rd_count(r, 1);
	const uint8_t *tail = rd_bytes(r, n_tail);

	if (j->failed < 0)
		return jitcode_fail(j, j->failed, err);
	if (r->bad || flags & ~JITREAD_MORE || n_tail > sizeof(j->tail) || n_tail > at)
		return jitcode_fail(j, -EBADMSG, err);
	*ret_more = flags & JITREAD_MORE && at != j->at;
	j->n_read += n_tail ? (at > j->at ? at - j->at : at) : 0;
	j->at = at;
	j->n_tail = n_tail;
	memcpy(j->tail, tail, n_tail);
	return 0;
}

/* One record of an answer, as one of a dump. */
static bool get_record(struct rd *r, struct jitdump_record *ret)
{
	uint8_t kind = rd_u8(r);

	*ret = (struct jitdump_record){.kind = kind == JITREAD_MOVE ? JITDUMP_MOVE : JITDUMP_LOAD};
	ret->time = rd_uleb(r);
	ret->avma = rd_uleb(r);
	ret->n_code = rd_uleb(r);
	ret->old_avma = rd_uleb(r);
	ret->n_name = rd_count(r, 1);
	ret->name = (const char *)rd_bytes(r, ret->n_name);
	return !r->bad && (kind == JITREAD_LOAD || kind == JITREAD_MOVE);
}

int jitcode_take(struct jitcode *j, struct rd *r, uint64_t until_ns, struct err *err)
{
	j->next_ns = UINT64_MAX;
	if (j->failed < 0)
		return jitcode_fail(j, j->failed, err);
	while (rd_left(r)) {
		const struct rd before = *r;
		struct jitdump_record rec;

		if (!get_record(r, &rec))
			return jitcode_fail(j, -EBADMSG, err);
		if (is_later(j, &rec, until_ns)) {
			j->next_ns = rec.time;
			*r = before;
			return 0;
		}
		if (is_full(j))
			return jitcode_fail(j, -E2BIG, err);
		jitcode_apply(j, &rec);
	}
	return 0;
}

/* Questions. */

uint64_t jitcode_svma(const struct jitcode *j, uint64_t avma)
{
	const struct load *l = find_load(j, avma);

	return l ? (l->svma & ~0ull << JITCODE_LAYER_SHIFT) | avma : avma;
}

void jitcode_symbols(const struct jitcode *j, struct symtab *ret)
{
	struct symtab_builder b = {0};
	const struct load *last = NULL;
	struct symbol_name name;

	/* A procedure's pieces follow each other and share its name. */
	vec_each (l, &j->loads) {
		if (!(last && last->name == l->name && last->n_name == l->n_name) &&
		    !symtab_builder_name(&b, j->pool.v + l->name, l->n_name, &name))
			break;
		last = l;
		symtab_builder_add_named(&b, l->svma, l->n_bytes, &name, 0);
	}
	symtab_builder_finish(&b, ret);
}
