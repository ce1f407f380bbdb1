/* SPDX-License-Identifier: BSD-2-Clause */
/* See paths.h.
 *
 * Work is per context and per value, never per sample or per frame of a path.  Parents have smaller
 * numbers than their children, so that one walk down the numbers sums a tree up, and one walk
 * up the numbers carries facts from callers to callees.  A context counts for its row unless an
 * outer one does (`again`), which one walk through the tree finds out for all owners.
 *
 * Samples grouped by owner are summed up one group after the other, each over the contexts it
 * touches.
 *
 * Example: main calls work, which calls main again.  Contexts by number, with their samples:
 *     1 main@40100a (0)   2 work@401017 below 1 (3)   3 work@401019 below 1 (0)
 *     4 main@401000 below 3 (4)   5 main@401005 below 3 (1)
 *     again    4 and 5: context 1, outside of them, is of the row main already
 *     sum_up   5: total 1, goes to its parent 3 and not to main (again);  4: total 4, goes to 3
 *              3: total 5, goes to 1; work's inclusive = 5
 *              2: total 3, goes to 1; work's inclusive = 8
 *              1: total 8; main's inclusive = 8
 * `dwell prof` says main 5, inclusive 8; work 3, inclusive 8. */
#include "query/samples/paths.h"

#include <stdlib.h>
#include <string.h>

bool query_has_paths(const struct query *q)
{
	unsigned col;

	vec_each (v, &q->profile->values)
		if (q->profile->ctxs.v[v->ctx].parent && value_counts(v) &&
		    query_counts_value(q, v, &col))
			return true;
	return false;
}

void paths_init(struct paths *p, struct query *q)
{
	const struct profile *pr = q->profile;
	bool *has_place = xcalloc(pr->places.n + 1, sizeof(*has_place));
	unsigned col;

	*p = (struct paths){.q = q};
	p->used = xcalloc(pr->ctxs.n, sizeof(*p->used));
	vec_each (v, &pr->values)
		if (value_counts(v) && query_counts_value(q, v, &col))
			p->used[v->ctx] = true;
	for (size_t c = pr->ctxs.n; c-- > 1;) {
		if (!p->used[c])
			continue;
		p->used[pr->ctxs.v[c].parent] = true;
		p->n_spots += !has_place[pr->ctxs.v[c].place];
		has_place[pr->ctxs.v[c].place] = true;
	}
	p->used[0] = false;
	p->spots = xcalloc(p->n_spots + 1, sizeof(*p->spots));
	p->n_spots = 0;
	for (place_id pl = 0; pl < pr->places.n; pl++)
		if (has_place[pl])
			p->spots[p->n_spots++] =
				(struct spot){pr->places.v[pl].svma, pr->places.v[pl].image, pl};
	qsort(p->spots, p->n_spots, sizeof(*p->spots), spot_compare);
	free(has_place);
}

void paths_release(struct paths *p)
{
	free(p->used);
	free(p->spots);
	*p = (struct paths){0};
}

/* --- groups of owners --- */

static bool same_group(const struct row_by *by, const struct owner *a, const struct owner *b)
{
	for (unsigned i = 0; i < by->n; i++) {
		unsigned k = by->keys[i];

		if (k >= N_OWNER_KEYS)
			continue;
		if (owner_value(a, k) != owner_value(b, k) ||
		    (!owner_is_known(a, k) && strcmp(owner_stand_in(a, k), owner_stand_in(b, k))))
			return false;
	}
	return true;
}

static uint64_t group_hash(const struct row_by *by, const struct owner *o)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < by->n; i++)
		if (by->keys[i] < N_OWNER_KEYS)
			h = hash_pair(h, owner_value(o, by->keys[i]));
	return h;
}

struct group_owner {
	const struct profile *p;
	const struct row_by *by;
};

static bool is_group(const void *ctx, uint32_t owner, const void *key)
{
	const struct group_owner *g = ctx;

	return same_group(g->by, &g->p->owners.v[owner], key);
}

/* For each owner the first of those with its keys: the group's number. */
static owner_id *group_owners(const struct profile *p, const struct row_by *by)
{
	const struct group_owner g = {p, by};
	owner_id *group = xcalloc(p->owners.n + 1, sizeof(*group));
	struct index ix = {0};

	for (owner_id o = 0; o < p->owners.n; o++) {
		const struct owner *owner = &p->owners.v[o];
		uint64_t h = group_hash(by, owner);

		group[o] = index_find(&ix, h, is_group, &g, owner);
		if (group[o] != INDEX_NONE)
			continue;
		group[o] = o;
		index_add(&ix, h, o);
	}
	index_release(&ix);
	return group;
}

/* --- cells: rows of a group and a code row --- */

struct sums {
	struct paths paths;
	struct query *q;
	bool inclusive;
	struct spot_rows code;	/* images or procedures; none when rows are of owners only */
	uint32_t *of_place;	/* index into code, or ROW_NONE */
	owner_id *group;	/* by owner; NULL: rows are code */
	bool *again;		/* by context: an outer one has the same code row */
	struct spot_rows *rows; /* what comes out */
	struct index ix;	/* of rows, by (group, code row) */
	VEC(uint32_t) code_of_row;
	uint64_t *total;      /* by context, zero between uses */
	uint32_t *touched_by; /* by context: the group (+ 1) that touched it last */
	VEC(ctx_id) touched;
};

struct cell_key {
	owner_id group;
	uint32_t code;
};

static bool is_cell(const void *ctx, uint32_t i, const void *key)
{
	const struct sums *s = ctx;
	const struct cell_key *k = key;

	return s->rows->rows.v[i].owner == k->group && s->code_of_row.v[i] == k->code;
}

static struct spot_row *cell(struct sums *s, owner_id group, uint32_t code)
{
	const struct cell_key key = {group, code};
	uint64_t h = hash_u64((uint64_t)group << 32 | code);
	uint32_t i = index_find(&s->ix, h, is_cell, s, &key);
	struct spot_row row;

	if (i != INDEX_NONE)
		return &s->rows->rows.v[i];
	row = s->code.rows.n ? s->code.rows.v[code] : (struct spot_row){.image = ROW_NO_IMAGE};
	row.owner = group;
	row.counts = rows_new_counts(s->q);
	row.inclusive = s->inclusive ? rows_new_counts(s->q) : NULL;
	index_add(&s->ix, h, (uint32_t)s->rows->rows.n);
	vec_push(&s->rows->rows, row);
	vec_push(&s->code_of_row, code);
	return &s->rows->rows.v[s->rows->rows.n - 1];
}

static bool adds_something(const struct query *q, const struct value *v)
{
	unsigned n = 0;

	return value_counts(v) && query_shares(q, v, &n) && n;
}

static uint32_t code_of(const struct sums *s, ctx_id c)
{
	return s->of_place[s->q->profile->ctxs.v[c].place];
}

static void add_exclusive(struct sums *s)
{
	vec_each (v, &s->q->profile->values) {
		uint32_t code;

		if (!adds_something(s->q, v))
			continue;
		code = code_of(s, v->ctx);
		if (code != ROW_NONE)
			query_add_value(s->q, v,
					(uint64_t *)cell(s, s->group[v->owner], code)->counts);
	}
}

/* --- inclusive --- */

/* Finds the contexts that have an outer one with the same code row: a walk through the tree that
 * counts, for each row, how many of its contexts it is inside of. */
static void find_again(struct sums *s)
{
	const struct profile *p = s->q->profile;
	ctx_id *first = xcalloc(p->ctxs.n, sizeof(*first)),
	       *next = xcalloc(p->ctxs.n, sizeof(*next));
	uint32_t *inside = xcalloc(s->code.rows.n + 1, sizeof(*inside));
	ctx_id c = 0;

	s->again = xcalloc(p->ctxs.n, sizeof(*s->again));
	for (ctx_id i = (ctx_id)p->ctxs.n; i-- > 1;) {
		if (!s->paths.used[i])
			continue;
		next[i] = first[p->ctxs.v[i].parent];
		first[p->ctxs.v[i].parent] = i;
	}
	for (;;) {
		if (first[c]) {
			ctx_id child = first[c];
			uint32_t code = code_of(s, child);

			first[c] = next[child];
			if (code != ROW_NONE)
				s->again[child] = inside[code]++ > 0;
			c = child;
			continue;
		}
		if (c == 0)
			break;
		if (code_of(s, c) != ROW_NONE)
			inside[code_of(s, c)]--;
		c = p->ctxs.v[c].parent;
	}
	free(first);
	free(next);
	free(inside);
}

static int compare_falling(const void *a, const void *b)
{
	const ctx_id *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

/* Lists the contexts above the values of one group, children before parents. */
static void paths_touch(struct sums *s, uint32_t group, const uint32_t *values, size_t n)
{
	const struct profile *p = s->q->profile;

	s->touched.n = 0;
	for (size_t i = 0; i < n; i++)
		for (ctx_id c = p->values.v[values[i]].ctx; c && s->touched_by[c] != group + 1;
		     c = p->ctxs.v[c].parent) {
			s->touched_by[c] = group + 1;
			vec_push(&s->touched, c);
		}
	if (s->touched.n < p->ctxs.n / 16) {
		vec_sort(&s->touched, compare_falling);
		return;
	}
	s->touched.n = 0;
	for (ctx_id c = (ctx_id)p->ctxs.n; c-- > 1;)
		if (s->touched_by[c] == group + 1)
			vec_push(&s->touched, c);
}

/* Adds column COL of the values to the inclusive counts of the group's rows. */
static void sum_up(struct sums *s, uint32_t group, unsigned col, const uint32_t *values, size_t n)
{
	const struct profile *p = s->q->profile;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct value *v = &p->values.v[values[i]];
		unsigned n_shares;
		const struct share *share = query_shares(s->q, v, &n_shares);

		for (; n_shares; share++, n_shares--) {
			if (share->col != col)
				continue;
			s->total[v->ctx] += share_amount(share, v);
			any = true;
		}
	}
	for (size_t i = 0; any && i < s->touched.n; i++) {
		ctx_id c = s->touched.v[i];
		uint64_t sum = s->total[c];
		uint32_t code = code_of(s, c);
		struct spot_row *row;

		s->total[c] = 0;
		if (!sum)
			continue;
		if (p->ctxs.v[c].parent)
			s->total[p->ctxs.v[c].parent] += sum;
		if (s->again[c] || code == ROW_NONE)
			continue;
		row = s->group ? cell(s, group, code) : &s->rows->rows.v[code];
		((uint64_t *)row->inclusive)[col] += sum;
	}
}

struct by_group {
	const struct profile *p;
	const owner_id *group;
};

static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct by_group *g = arg;
	owner_id x = g->group[g->p->values.v[*(const uint32_t *)a].owner],
		 y = g->group[g->p->values.v[*(const uint32_t *)b].owner];

	return x < y ? -1 : x > y;
}

static void add_inclusive(struct sums *s)
{
	const struct profile *p = s->q->profile;
	struct by_group order = {p, s->group};
	_vec_ VEC(uint32_t) values = {0};
	size_t end;

	for (uint32_t i = 0; i < p->values.n; i++)
		if (adds_something(s->q, &p->values.v[i]))
			vec_push(&values, i);
	if (s->group && values.n > 1)
		qsort_r(values.v, values.n, sizeof(*values.v), compare_groups, &order);
	find_again(s);
	s->total = xcalloc(p->ctxs.n, sizeof(*s->total));
	s->touched_by = xcalloc(p->ctxs.n, sizeof(*s->touched_by));
	for (size_t i = 0; i < values.n; i = end) {
		owner_id group = s->group ? s->group[p->values.v[values.v[i]].owner] : 0;

		for (end = i + 1; end < values.n; end++)
			if (s->group && s->group[p->values.v[values.v[end]].owner] != group)
				break;
		paths_touch(s, group, values.v + i, end - i);
		for (unsigned col = 0; col < s->q->n_cols; col++)
			sum_up(s, group, col, values.v + i, end - i);
	}
}

/* Rows of owners only: every place of the images wanted is in the one code row. */
static void without_code(struct sums *s, const image_ids *images)
{
	for (size_t i = 0; i < s->paths.n_spots; i++) {
		const struct spot *spot = &s->paths.spots[i];
		bool wanted = !images;

		for (size_t k = 0; images && k < images->n && !wanted; k++)
			wanted = images->v[k] == spot->image;
		if (wanted)
			s->of_place[spot->place] = 0;
	}
}

void paths_rows(struct query *q, const struct row_by *by, bool inclusive, const image_ids *images,
		struct spot_rows *ret)
{
	const unsigned code_key = rows_code_key(by);
	const size_t n_places = q->profile->places.n;
	struct sums s = {.q = q, .inclusive = inclusive && code_key, .rows = ret};

	paths_init(&s.paths, q);
	s.of_place = xmalloc((n_places + 1) * sizeof(*s.of_place));
	memset(s.of_place, 0xff, n_places * sizeof(*s.of_place));
	if (code_key)
		rows_of_spots(q, code_key, images, s.paths.spots, s.paths.n_spots, &s.code,
			      s.of_place);
	else
		without_code(&s, images);
	if (by->n > (code_key != 0)) {
		s.group = group_owners(q->profile, by);
		add_exclusive(&s);
	} else {
		vec_each (row, &s.code.rows) {
			row->inclusive = s.inclusive ? rows_new_counts(q) : NULL;
			vec_push(&ret->rows, *row);
		}
	}
	if (s.inclusive)
		add_inclusive(&s);
	ret->by = *by;
	rows_find_total(q, ret);
	paths_release(&s.paths);
	rows_release(&s.code);
	index_release(&s.ix);
	vec_release(&s.code_of_row);
	vec_release(&s.touched);
	free(s.of_place);
	free(s.group);
	free(s.again);
	free(s.total);
	free(s.touched_by);
}
