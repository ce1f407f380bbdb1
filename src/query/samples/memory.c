/* SPDX-License-Identifier: BSD-2-Clause */
/* See memory.h.  Two words tell a row from the others of its kind (key_of).  Each access gets the
 * number of its row.  There are many lines, and few that anybody contends for: so rows are chosen
 * first, and only what is in those is added up and named. */
#include "query/samples/memory.h"

#include <stdlib.h>
#include <string.h>

#include "query/samples/memory_names.h"

#define PAGE_BITS 12
#define NO_ROW	  UINT32_MAX
#define SOME	  64 /* accesses whose rows are looked for beside each other */

/* A row that was seen, before it is chosen: what its order hangs on. */
struct memory_seen {
	uint64_t key[2];
	uint64_t samples, modified; /* of its sums */
	uint32_t pid;
	uint32_t tid; /* of the first access */
	bool shared;  /* another thread accessed it */
	bool stored;  /* somebody wrote to it */
};

struct memory_maker {
	struct query *q;
	const struct profile *p;
	const struct memory_opts *o;
	struct memory *ret;
	struct memory_namer namer;
	VEC(struct memory_seen) seen;
	struct index ix; /* of what was seen */
	/* By access: the number in `seen`, and after add_up_rows of the row; NO_ROW: none. */
	uint32_t *row_of;
};

static bool is_wanted(const struct query *q, const struct access *a)
{
	return q->col_of[a->event] != q->n_cols && (!q->wanted || q->wanted[a->owner]);
}

bool memory_is_told(const struct query *q)
{
	vec_each (a, &q->profile->accesses)
		if (is_wanted(q, a))
			return true;
	return false;
}

static bool access_has(const struct profile *p, const struct access *a, unsigned bit)
{
	const struct vector *v = &p->vectors.v[a->vector];

	return v->known & v->value & FACT_MASK(bit);
}

static void sums_add(struct memory_sums *s, const struct profile *p, const struct access *a)
{
	s->samples += a->count;
	s->loads += access_has(p, a, FACT_LOAD) ? a->count : 0;
	s->stores += access_has(p, a, FACT_STORE) ? a->count : 0;
	s->modified += access_has(p, a, FACT_SNOOPHITM) ? a->count : 0;
	s->remote += access_has(p, a, FACT_REMOTE) ? a->count : 0;
	s->latency += a->latency;
	s->n_latency += a->latency_of ? a->count : 0;
}

/* Sets KEY to what tells A's row from others. */
static void key_of(struct memory_maker *m, const struct access *a, uint64_t key[2])
{
	const struct place *data = &m->p->places.v[a->data];

	key[0] = (uint64_t)data->image << 32 | a->pid;
	switch (m->o->by) {
	case MEMORY_LEVEL:
		key[0] = 0;
		key[1] = memory_level(m->p, a);
		break;
	case MEMORY_TLB:
		key[0] = 0;
		key[1] = memory_tlb(m->p, a);
		break;
	case MEMORY_LATENCY:
		key[0] = 0;
		key[1] = a->latency_of;
		break;
	case MEMORY_OBJECT:
		key[0] = data->image;
		key[1] = memory_object(&m->namer, a);
		break;
	case MEMORY_PAGE:
		key[1] = data->svma >> PAGE_BITS;
		break;
	case MEMORY_NODE:
		key[0] = a->node;
		key[1] = a->cpu_node;
		break;
	case MEMORY_PROCEDURE:
		key[0] = m->p->places.v[a->place].image;
		key[1] = memory_procedure(&m->namer, a->place);
		break;
	default:
		key[1] = data->svma / m->o->line_bytes;
		break;
	}
}

static bool same_row(const void *owner, uint32_t i, const void *key)
{
	const struct memory_seen *s = &((const struct memory_maker *)owner)->seen.v[i];
	const uint64_t *k = key;

	return s->key[0] == k[0] && s->key[1] == k[1];
}

struct row_key {
	uint64_t key[2], hash;
};

/* Returns the number of the row K, of which A is an access. */
static uint32_t intern_row(struct memory_maker *m, const struct row_key *k, const struct access *a)
{
	uint32_t i = index_find(&m->ix, k->hash, same_row, m, k->key);
	struct memory_seen *s;

	if (i == INDEX_NONE) {
		i = (uint32_t)m->seen.n;
		vec_push(&m->seen, (struct memory_seen){.key = {k->key[0], k->key[1]},
							.pid = a->pid,
							.tid = a->tid});
		index_add(&m->ix, k->hash, i);
	}
	s = &m->seen.v[i];
	s->samples += a->count;
	s->modified += access_has(m->p, a, FACT_SNOOPHITM) ? a->count : 0;
	s->stored |= access_has(m->p, a, FACT_STORE);
	s->shared |= s->tid != a->tid;
	return i;
}

/* Gives the N accesses from number FIRST on their rows.  There are many rows, and they come in no
 * order: what all of the accesses look at is loaded at once. */
static void sort_some(struct memory_maker *m, size_t first, size_t n)
{
	const struct access *a = &m->p->accesses.v[first];
	struct row_key keys[SOME];
	bool wanted[SOME];

	for (size_t i = 0; i < n; i++) {
		wanted[i] = is_wanted(m->q, &a[i]);
		if (wanted[i])
			__builtin_prefetch(&m->p->places.v[a[i].data]);
	}
	for (size_t i = 0; i < n; i++) {
		if (!wanted[i])
			continue;
		key_of(m, &a[i], keys[i].key);
		keys[i].hash = hash_pair(keys[i].key[0], keys[i].key[1]);
		index_prefetch(&m->ix, keys[i].hash);
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t row = wanted[i] ? index_guess(&m->ix, keys[i].hash) : INDEX_NONE;

		if (row != INDEX_NONE)
			__builtin_prefetch(&m->seen.v[row]);
	}
	for (size_t i = 0; i < n; i++) {
		m->row_of[first + i] = NO_ROW;
		if (!wanted[i])
			continue;
		sums_add(&m->ret->all, m->p, &a[i]);
		m->row_of[first + i] = intern_row(m, &keys[i], &a[i]);
	}
}

static void sort_into_rows(struct memory_maker *m)
{
	const size_t n = m->p->accesses.n;

	m->row_of = xcalloc(n + 1, sizeof(*m->row_of));
	for (size_t i = 0; i < n; i += SOME)
		sort_some(m, i, n - i < SOME ? n - i : SOME);
}

/* --- order --- */

struct row_order {
	struct memory_seen row;
	const char *where; /* the path of its image; "" where there is none */
	uint32_t was;	   /* its number in `seen` */
};

static bool is_contended(const struct memory_seen *s)
{
	return s->modified || (s->stored && s->shared);
}

/* The most frequent first. */
static int by_weight(const void *a, const void *b)
{
	const struct row_order *x = a, *y = b;

	if (x->row.samples != y->row.samples)
		return x->row.samples < y->row.samples ? 1 : -1;
	if (strcmp(x->where, y->where) != 0)
		return strcmp(x->where, y->where);
	for (unsigned i = 2; i-- > 0;)
		if (x->row.key[i] != y->row.key[i])
			return x->row.key[i] < y->row.key[i] ? -1 : 1;
	return 0;
}

/* Lines that other cores had changed come first. */
static int by_contention(const void *a, const void *b)
{
	const struct row_order *x = a, *y = b;

	if (x->row.modified != y->row.modified)
		return x->row.modified < y->row.modified ? 1 : -1;
	return by_weight(a, b);
}

static int by_key(const void *a, const void *b)
{
	const struct row_order *x = a, *y = b;

	return x->row.key[1] < y->row.key[1] ? -1 : x->row.key[1] > y->row.key[1];
}

/* Returns the path of the image that R's key begins with. */
static const char *where_is(const struct memory_maker *m, const struct memory_seen *r)
{
	const enum memory_by by = m->o->by;

	if (by == MEMORY_OBJECT || by == MEMORY_PROCEDURE)
		return m->p->images.v[r->key[0]].path;
	return by == MEMORY_LINE || by == MEMORY_PAGE ? m->p->images.v[r->key[0] >> 32].path : "";
}

/* Rows in no order; with KEPT the first of them are. */
struct row_orders {
	VEC(struct row_order) rows;
	bool kept;
};

/* Adds ROW to ORDER unless MOST rows of it come before.  Of rows there are many and few are shown:
 * whenever there are twice as many as that, the later half goes. */
static void add_order(struct row_orders *order, const struct row_order *row, size_t most,
		      int (*compare)(const void *, const void *))
{
	/* Number MOST - 1 is the last one that was kept when half of them went. */
	if (order->kept && compare(row, &order->rows.v[most - 1]) > 0)
		return;
	vec_push(&order->rows, *row);
	if (order->rows.n < 2 * most)
		return;
	vec_sort(&order->rows, compare);
	order->rows.n = most;
	order->kept = true;
}

/* Makes rows of the first N of what was seen, of lines of those that are wanted. */
static void keep_rows(struct memory_maker *m, uint32_t *now)
{
	const bool lines = m->o->by == MEMORY_LINE, few = lines && !m->o->all_lines;
	int (*const compare)(const void *, const void *) = m->o->by == MEMORY_LATENCY ? by_key
							   : lines ? by_contention
								   : by_weight;
	/* There are few levels, TLBs and latencies, and all of them matter. */
	const size_t most = m->o->by > MEMORY_LATENCY && m->seen.n > m->o->n ? m->o->n : m->seen.n;
	struct row_orders order = {0};
	size_t n = 0;

	for (uint32_t i = 0; i < m->seen.n; i++) {
		const struct memory_seen *s = &m->seen.v[i];

		now[i] = NO_ROW;
		if (few && !is_contended(s))
			continue;
		n++;
		add_order(&order, &(struct row_order){*s, where_is(m, s), i}, most, compare);
	}
	vec_sort(&order.rows, compare);
	for (size_t i = 0; i < order.rows.n && i < most; i++) {
		const struct memory_seen *s = &order.rows.v[i].row;

		now[order.rows.v[i].was] = (uint32_t)i;
		vec_push(&m->ret->rows,
			 (struct memory_row){.key = {s->key[0], s->key[1]}, .pid = s->pid});
	}
	m->ret->n_left_out = n - m->ret->rows.n;
	vec_release(&order.rows);
}

/* Adds up the accesses of the rows that are kept.  Those of others have no row then. */
static void add_up_rows(struct memory_maker *m)
{
	uint32_t *now = xmalloc((m->seen.n + 1) * sizeof(*now));

	keep_rows(m, now);
	for (size_t i = 0; i < m->p->accesses.n; i++) {
		if (m->row_of[i] != NO_ROW)
			m->row_of[i] = now[m->row_of[i]];
		if (m->row_of[i] != NO_ROW)
			sums_add(&m->ret->rows.v[m->row_of[i]].sums, m->p, &m->p->accesses.v[i]);
	}
	free(now);
}

/* --- threads --- */

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* What an access is to its line: whether it stores, and its thread. */
#define DEALT_STORE  1u
#define DEALT_THREAD 1 /* where its number begins */

/* Looks at the N accesses DEALT of the line R. */
static void look_at_line(struct memory_row *r, uint64_t *dealt, size_t n)
{
	if (n > 1)
		qsort(dealt, n, sizeof(*dealt), by_number);
	for (size_t i = 0; i < n; i++) {
		const uint64_t tid = dealt[i] >> DEALT_THREAD;
		bool writes = false;

		for (; i < n && dealt[i] >> DEALT_THREAD == tid; i++)
			writes |= dealt[i] & DEALT_STORE;
		i--;
		r->n_threads++;
		r->n_writers += writes;
	}
}

/* Counts each line's distinct threads, and those that store.  Accesses are dealt to their lines
 * first: most lines have few of them. */
static void look_at_lines(struct memory_maker *m)
{
	const size_t n_rows = m->ret->rows.n;
	size_t *end = xcalloc(n_rows + 3, sizeof(*end)), *at = end + 1;
	uint64_t *dealt = xcalloc(m->p->accesses.n + 1, sizeof(*dealt));

	for (size_t i = 0; i < m->p->accesses.n; i++)
		if (m->row_of[i] != NO_ROW)
			at[m->row_of[i] + 1]++;
	for (size_t r = 1; r <= n_rows; r++)
		at[r] += at[r - 1];
	for (size_t i = 0; i < m->p->accesses.n; i++) {
		const struct access *a = &m->p->accesses.v[i];

		if (m->row_of[i] == NO_ROW)
			continue;
		dealt[at[m->row_of[i]]++] = (uint64_t)a->tid << DEALT_THREAD |
					    (access_has(m->p, a, FACT_STORE) ? DEALT_STORE : 0);
	}
	/* What was the first of each row is the first of the next now. */
	for (size_t r = 0; r < n_rows; r++)
		look_at_line(&m->ret->rows.v[r], &dealt[end[r]], end[r + 1] - end[r]);
	free(dealt);
	free(end);
}

/* --- lines --- */

static int by_use(const void *a, const void *b)
{
	const struct memory_use *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int by_use_weight(const void *a, const void *b)
{
	const struct memory_use *x = a, *y = b;

	if (x->row != y->row || x->offset != y->offset)
		return by_use(a, b);
	if (x->sums.samples != y->sums.samples)
		return x->sums.samples < y->sums.samples ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void sums_join(struct memory_sums *to, const struct memory_sums *s)
{
	to->samples += s->samples;
	to->loads += s->loads;
	to->stores += s->stores;
	to->modified += s->modified;
	to->remote += s->remote;
	to->latency += s->latency;
	to->n_latency += s->n_latency;
}

static void find_uses(struct memory_maker *m)
{
	const uint64_t mask = m->o->line_bytes - 1;
	size_t n = 0;

	for (size_t i = 0; i < m->p->accesses.n; i++) {
		const struct access *a = &m->p->accesses.v[i];
		struct memory_use *u;

		if (m->row_of[i] == NO_ROW)
			continue;
		u = vec_add(&m->ret->uses);
		*u = (struct memory_use){.row = m->row_of[i],
					 .offset = (uint32_t)(m->p->places.v[a->data].svma & mask),
					 .place = a->place};
		sums_add(&u->sums, m->p, a);
	}
	vec_sort(&m->ret->uses, by_use);
	for (size_t i = 0; i < m->ret->uses.n; i++) {
		struct memory_use *u = m->ret->uses.v;

		if (n && by_use(&u[n - 1], &u[i]) == 0)
			sums_join(&u[n - 1].sums, &u[i].sums);
		else
			u[n++] = u[i];
	}
	m->ret->uses.n = n;
	vec_sort(&m->ret->uses, by_use_weight);
	vec_each (u, &m->ret->uses)
		memory_name_use(&m->namer, u);
}

/* --- names --- */

static void name_line(struct memory_maker *m, struct memory_row *r, uint64_t bytes)
{
	r->start = r->key[1] * bytes;
	memory_name_data(&m->namer, (image_id)(r->key[0] >> 32), r->start, bytes, r);
}

static void name_row(struct memory_maker *m, struct memory_row *r)
{
	switch (m->o->by) {
	case MEMORY_LEVEL:
		r->name = memory_level_name((unsigned)r->key[1]);
		break;
	case MEMORY_TLB:
		r->name = memory_tlb_name((unsigned)r->key[1]);
		break;
	case MEMORY_LATENCY:
		r->name = memory_latency_name(&m->namer, (uint32_t)r->key[1]);
		break;
	case MEMORY_OBJECT:
		memory_name_object(&m->namer, (image_id)r->key[0], r->key[1], r);
		break;
	case MEMORY_NODE:
		r->name = memory_node_name(&m->namer, r->key[0], r->key[1]);
		break;
	case MEMORY_PROCEDURE:
		memory_name_procedure(&m->namer, (image_id)r->key[0], r->key[1], r);
		break;
	case MEMORY_PAGE:
		name_line(m, r, 1u << PAGE_BITS);
		break;
	default:
		name_line(m, r, m->o->line_bytes);
		break;
	}
}

void memory_gather(struct query *q, const struct memory_opts *o, struct memory *ret)
{
	struct memory_maker m = {.q = q, .p = q->profile, .o = o, .ret = ret};

	*ret = (struct memory){0};
	m.namer = (struct memory_namer){.q = q, .arena = &ret->arena};
	for (unsigned i = 0; i < q->n_events; i++) /* accesses of idle tasks are shown, too */
		ret->n_samples += q->cols[i].n_samples + q->cols[i].n_idle;
	sort_into_rows(&m);
	add_up_rows(&m);
	if (o->by == MEMORY_LINE)
		look_at_lines(&m);
	vec_each (r, &ret->rows)
		name_row(&m, r);
	if (o->by == MEMORY_LINE)
		find_uses(&m);
	index_release(&m.ix);
	vec_release(&m.seen);
	memory_namer_release(&m.namer);
	free(m.row_of);
}

void memory_release(struct memory *m)
{
	vec_release(&m->rows);
	vec_release(&m->uses);
	arena_release(&m->arena);
}
