/* SPDX-License-Identifier: BSD-2-Clause */
/* Settles a heap of symbols into a symtab: one procedure per address, by the rules in symtab.h.
 *
 * Symbols are sorted by address, best name last.  One pass then keeps a stack of the sized
 * procedures that are open at the current address, and a cursor up to which addresses are given
 * out:
 *
 *     symbols  A [10,50)  B [20,30)  L 25 (no size)  C [40,60)
 *     pieces   A [10,20)  B [20,30)  A [30,40) REST  C [40,60)
 *
 * L lies inside B and is dropped; the part of A behind B stays A's.  So entries never overlap, and
 * a look-up needs one binary search and one comparison. */
#include "resolve/symtab.h"
#include "base/lower_bound.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME SYMTAB_MAX_NAME
#define NO_SIZE	 (1u << 31)

struct piece {
	uint64_t start, size;
	uint32_t name, flags;
};

struct open_proc {
	uint64_t end;
	size_t first, last; /* symbols of its address */
	bool begun;	    /* its first piece is out */
};

struct settler {
	const struct symtab_builder *b;
	VEC(struct piece) out;
	VEC(struct open_proc) open;
	uint64_t cursor;
};

/* Whether N more bytes of names have room in B. */
static bool has_room(struct symtab_builder *b, uint64_t n)
{
	const uint64_t most = b->most_names ? b->most_names : UINT32_MAX;
	const bool has = b->pool.n + n <= (most < UINT32_MAX ? most : UINT32_MAX);

	b->full |= !has;
	return has;
}

/* The two functions that each symbol of a table goes through are inlined into what adds one. */

static inline bool name_add(struct symtab_builder *b, const char *name, size_t n_name,
			    struct symbol_name *ret)
{
	if (n_name > MAX_NAME)
		n_name = MAX_NAME;
	if (!n_name && b->pool.n) { /* the end of another name */
		*ret = (struct symbol_name){(uint32_t)b->pool.n - 1, 0};
		return true;
	}
	if (!has_room(b, n_name + 1))
		return false;
	*ret = (struct symbol_name){(uint32_t)b->pool.n, (uint32_t)n_name};
	vec_reserve(&b->pool, n_name + 1);
	memcpy(b->pool.v + b->pool.n, name, n_name);
	b->pool.v[b->pool.n + n_name] = '\0';
	b->pool.n += n_name + 1;
	return true;
}

static inline void symbol_add(struct symtab_builder *b, uint64_t svma, uint64_t size,
			      const struct symbol_name *name, uint32_t flags)
{
	uint32_t binding = flags & PROC_LOCAL ? 2 : flags & PROC_WEAK ? 1 : 0;
	uint32_t n_under = 0;

	while (n_under < 15 && n_under < name->n && b->pool.v[name->off + n_under] == '_')
		n_under++;
	if (size > UINT64_MAX - svma)
		size = UINT64_MAX - svma;
	if (size > UINT32_MAX)
		size = UINT32_MAX;
	if (b->symbols.n >= UINT32_MAX / 4) {
		b->full = true;
		return;
	}
	vec_push(&b->symbols,
		 (struct symbol){.svma = svma,
				 .size = (uint32_t)size,
				 .name = name->off,
				 .flags = flags,
				 .rank = flags & PROC_UNNAMED
						 ? UINT32_MAX
						 : (size ? 0 : NO_SIZE) | binding << 28 |
							   (flags & PROC_PLT ? 1u << 27 : 0) |
							   n_under << 20 | name->n});
}

void symtab_builder_add(struct symtab_builder *b, uint64_t svma, uint64_t size, const char *name,
			size_t n_name, uint32_t flags)
{
	struct symbol_name at;

	if (name_add(b, name, n_name, &at))
		symbol_add(b, svma, size, &at, flags);
}

bool symtab_builder_name(struct symtab_builder *b, const char *name, size_t n_name,
			 struct symbol_name *ret)
{
	return name_add(b, name, n_name, ret);
}

void symtab_builder_add_named(struct symtab_builder *b, uint64_t svma, uint64_t size,
			      const struct symbol_name *name, uint32_t flags)
{
	symbol_add(b, svma, size, name, flags);
}

bool symtab_builder_add_names(struct symtab_builder *b, const struct symtab *st, uint32_t *ret)
{
	if (b->most_names)
		b->most_names += st->n_pool;
	if (!has_room(b, st->n_pool))
		return false;
	*ret = (uint32_t)b->pool.n;
	vec_reserve(&b->pool, st->n_pool);
	memcpy(b->pool.v + b->pool.n, st->pool, st->n_pool);
	b->pool.n += st->n_pool;
	return true;
}

void symtab_builder_add_entry(struct symtab_builder *b, const struct symtab *st, uint32_t names,
			      const struct procedure *p, uint64_t svma)
{
	const uint32_t flags = p->flags & (PROC_LOCAL | PROC_WEAK | PROC_PLT | PROC_UNNAMED);
	const size_t off = (size_t)(p->name - st->pool);
	struct symbol_name name;

	if (p->name < st->pool || off >= st->n_pool) { /* not readable: it has another one */
		symtab_builder_add(b, svma, p->end - p->start, p->name, strlen(p->name), flags);
		return;
	}
	name = (struct symbol_name){names + (uint32_t)off, (uint32_t)strnlen(p->name, MAX_NAME)};
	symtab_builder_add_named(b, svma, p->end - p->start, &name, flags);
}

void symtab_builder_add_symtab(struct symtab_builder *b, const struct symtab *st)
{
	uint32_t names;

	if (!st->n || !symtab_builder_add_names(b, st, &names))
		return;
	for (uint32_t i = 0; i < st->n; i++) {
		struct procedure p = symtab_get(st, i);

		symtab_builder_add_entry(b, st, names, &p, p.start);
	}
}

void symtab_builder_add_range(struct symtab_builder *b, uint64_t start, uint64_t end)
{
	if (start < end)
		vec_push(&b->ranges, (struct symbol_range){start, end});
}

/* When two symbols have one address, the better name comes last. */
static int by_rank(const void *x, const void *y, void *pool)
{
	const struct symbol *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return strcmp((char *)pool + b->name, (char *)pool + a->name);
}

/* Puts the symbols in order of address, then of rank.  By radix, 11 bits at a time, because this is
 * most of what making a symtab costs: 28,000 symbols take 0.5 ms so, 5 ms by comparison. */
static void sort_symbols(struct symtab_builder *b)
{
	struct symbol *from = b->symbols.v, *to, *last;
	size_t n = b->symbols.n, next;
	uint64_t low = UINT64_MAX, high = 0;
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		uint64_t a = from[i].svma;

		sorted &= a >= high;
		low = a < low ? a : low;
		high = a > high ? a : high;
	}
	if (!sorted) {
		to = xcalloc(n, sizeof(*to));
		for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += 11) {
			size_t at[2048] = {0}, sum = 0;

			for (size_t i = 0; i < n; i++)
				at[(from[i].svma - low) >> shift & 2047]++;
			for (size_t d = 0; d < 2048; d++) {
				size_t count = at[d];

				at[d] = sum;
				sum += count;
			}
			for (size_t i = 0; i < n; i++)
				to[at[(from[i].svma - low) >> shift & 2047]++] = from[i];
			last = from;
			from = to;
			to = last;
		}
		free(to);
		b->symbols.v = from;
		b->symbols.cap = n; /* what both arrays hold at least */
	}
	for (size_t i = 0; i < n; i = next) {
		for (next = i + 1; next < n && from[next].svma == from[i].svma;)
			next++;
		if (next > i + 1)
			qsort_r(from + i, next - i, sizeof(*from), by_rank, b->pool.v);
	}
}

static int by_start(const void *x, const void *y)
{
	const struct symbol_range *a = x, *b = y;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* The end of the range that holds SVMA, or 0. */
static uint64_t range_end(const struct symtab_builder *b, uint64_t svma)
{
	size_t lo = lower_bound(k, 0, b->ranges.n, b->ranges.v[k].start <= svma);

	return lo && svma < b->ranges.v[lo - 1].end ? b->ranges.v[lo - 1].end : 0;
}

/* Gives [START, END) to the symbols FIRST to LAST of one address, aliases first. */
static void symtab_build_emit(struct settler *s, size_t first, size_t last, uint64_t start,
			      uint64_t end, uint32_t flags)
{
	uint64_t size = end - start;

	if (start >= end)
		return;
	for (size_t i = flags & PROC_REST ? last : first; i <= last; i++) {
		const struct symbol *y = &s->b->symbols.v[i];

		/* Another symbol of the same name (weak and strong, or from two tables). */
		if (i < last && strcmp(s->b->pool.v + y->name, s->b->pool.v + y[1].name) == 0)
			continue;
		vec_push(&s->out,
			 (struct piece){.start = start,
					.size = size > UINT32_MAX ? UINT32_MAX : size,
					.name = y->name,
					.flags = y->flags | flags | (i < last ? PROC_ALIAS : 0)});
	}
}

static bool is_unnamed(const struct settler *s, size_t symbol)
{
	return s->b->symbols.v[symbol].flags & PROC_UNNAMED;
}

/* Gives what the innermost open procedure has up to END, and remembers that. */
static void emit_open(struct settler *s, uint64_t end)
{
	struct open_proc *o = &s->open.v[s->open.n - 1];

	if (end > o->end)
		end = o->end;
	if (s->cursor >= end)
		return;
	/* What is left of one without a name is known by its own start. */
	symtab_build_emit(s, o->first, o->last, s->cursor, end,
			  o->begun && !is_unnamed(s, o->last) ? PROC_REST : 0);
	o->begun = true;
	s->cursor = end;
}

static void close_before(struct settler *s, uint64_t svma)
{
	while (s->open.n && s->open.v[s->open.n - 1].end <= svma) {
		emit_open(s, UINT64_MAX);
		s->open.n--;
	}
}

/* The symbols [FIRST, NEXT) of one address, those without a name left out if others have one.
 * Returns the first that counts, and their largest size: that of an unwind table only if no symbol
 * has any. */
static size_t pick(const struct symbol *y, size_t first, size_t next, uint64_t *ret_size)
{
	uint64_t size = 0;

	for (; first < next && y[first].flags & PROC_UNNAMED;
	     first++) /* their rank puts them first */
		if (y[first].size > size)
			size = y[first].size;
	*ret_size = 0;
	for (size_t i = first; i < next; i++)
		if (y[i].size > *ret_size)
			*ret_size = y[i].size;
	if (*ret_size == 0)
		*ret_size = size;
	return first < next ? first : next - 1;
}

static void symtab_build_settle(struct settler *s)
{
	const struct symbol *y = s->b->symbols.v;
	size_t n = s->b->symbols.n, next;

	for (size_t i = 0; i < n; i = next) {
		const struct open_proc *in;
		uint64_t size, end;
		size_t first;

		for (next = i; next < n && y[next].svma == y[i].svma; next++)
			;
		first = pick(y, i, next, &size);
		close_before(s, y[i].svma);
		in = s->open.n ? &s->open.v[s->open.n - 1] : NULL;
		if (is_unnamed(s, first) && (in || !range_end(s->b, y[i].svma)))
			continue;
		if (size == 0 && in && is_unnamed(s, in->last))
			size = in->end - y[i].svma;
		if (size == 0 && in)
			continue;
		if (in)
			emit_open(s, y[i].svma);
		s->cursor = y[i].svma;
		if (size) {
			vec_push(&s->open, (struct open_proc){.end = y[i].svma + size,
							      .first = first,
							      .last = next - 1});
			continue;
		}
		end = range_end(s->b, y[i].svma);
		if (next < n && y[next].svma < end)
			end = y[next].svma;
		symtab_build_emit(s, first, next - 1, y[i].svma, end, PROC_FILLED);
	}
	close_before(s, UINT64_MAX);
}

void symtab_builder_finish(struct symtab_builder *b, struct symtab *ret)
{
	struct settler s = {.b = b};
	size_t n_pool = b->pool.n;
	uint8_t *mem, *starts, *sizes, *names, *flags;
	size_t n;

	sort_symbols(b);
	vec_sort(&b->ranges, by_start);
	symtab_build_settle(&s);
	vec_release(&b->symbols); /* large tables: hold no more than needed at once */
	n = s.out.n;
	mem = xmalloc(n * 17 + n_pool + 1);
	starts = mem;
	sizes = starts + n * 8;
	names = sizes + n * 4;
	flags = names + n * 4;
	for (size_t i = 0; i < n; i++) {
		const struct piece *p = &s.out.v[i];

		memcpy(starts + i * 8, &(uint64_t){htole64(p->start)}, 8);
		memcpy(sizes + i * 4, &(uint32_t){htole32((uint32_t)p->size)}, 4);
		memcpy(names + i * 4, &(uint32_t){htole32(p->name)}, 4);
		flags[i] = (uint8_t)p->flags;
	}
	if (n_pool)
		memcpy(flags + n, b->pool.v, n_pool);
	else
		flags[n] = 0;
	*ret = (struct symtab){.n = (uint32_t)n,
			       .starts = starts,
			       .sizes = sizes,
			       .names = names,
			       .flags = flags,
			       .pool = (char *)flags + n,
			       .n_pool = (uint32_t)(n_pool ? n_pool : 1),
			       .owned = mem};
	vec_release(&s.out);
	vec_release(&s.open);
	symtab_builder_release(b);
}

void symtab_builder_release(struct symtab_builder *b)
{
	vec_release(&b->symbols);
	vec_release(&b->ranges);
	vec_release(&b->pool);
	b->most_names = 0;
	b->full = false;
}
