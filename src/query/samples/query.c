/* SPDX-License-Identifier: BSD-2-Clause */
/* See query.h.
 *
 * Values are summed per place first (two passes over arrays, no hashing), because a place is named
 * once however many owners, vectors and contexts have samples there.  Idle tasks' samples are kept
 * apart until their place's procedure tells whether they were idling. */
#include "query/samples/query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/sets/bind.h"
#include "query/samples/pruned.h"

/* Whether samples in IM are the kernel's. */
static bool is_kernel(const struct image *im)
{
	return im->kind == IMAGE_KERNEL || im->kind == IMAGE_MODULE || im->kind == IMAGE_BPF;
}

/* Code of virtual machines and below the kernel is in no image; only what stands for its path is
 * known, as "[guest kernel]". */
static bool is_guest(const struct image *im)
{
	return im->kind == IMAGE_UNKNOWN &&
	       (str_starts(im->path, "[guest ") || strcmp(im->path, "[hypervisor]") == 0);
}

uint64_t query_scaled(const struct query_col *c, uint64_t n)
{
	if (*c->measures)
		return n / 1000;
	return c->duty >= 1 || c->duty <= 0 ? n : (uint64_t)llround((double)n / c->duty);
}

uint64_t query_open(const struct query *q, const struct estimate_part *p)
{
	uint64_t n = p->open == NO_COL ? 0 : q->cols[p->open].n_samples;

	if (p->total != NO_COL)
		n += q->cols[p->hits].n_samples - q->cols[p->measured].n_samples;
	return n;
}

static int by_loss_name(const void *a, const void *b)
{
	const struct named_loss *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void query_losses(const struct query *q, named_losses *ret)
{
	const struct profile *p = q->profile;

	vec_each (l, &p->losses) {
		const char *name = profile_str(p, l->name);
		struct named_loss *sum = NULL;
		bool selected = false;

		for (unsigned c = 0; c < q->n_cols; c++)
			selected |= q->is_one_event || q->cols[c].event == l->event;
		if (!selected || !l->n)
			continue;
		vec_each (s, ret)
			if (strcmp(s->name, name) == 0)
				sum = s;
		if (!sum) {
			sum = vec_add(ret);
			sum->name = name;
		}
		sum->n += l->n;
	}
	vec_sort(ret, by_loss_name);
}

bool query_is_scaled(const struct query *q)
{
	for (unsigned c = 0; c < q->n_events; c++)
		if (q->cols[c].duty < 1)
			return true;
	return false;
}

/* Column of the samples of each event, or n_cols. */
static unsigned *cols_of_events(const struct query *q)
{
	unsigned *col_of = xcalloc(q->profile->events.n + 1, sizeof(*col_of));

	for (size_t e = 0; e < q->profile->events.n; e++)
		col_of[e] = q->n_cols;
	for (unsigned c = 0; c < q->n_events; c++)
		col_of[q->cols[c].event] = c;
	return col_of;
}

/* --- spots --- */

static void find_not_delivered(struct query *q, const uint64_t *n_idle_tasks)
{
	for (unsigned i = 0; i < q->n_events; i++) {
		struct query_col *c = &q->cols[i];

		c->not_delivered =
			event_not_delivered(&q->profile->events.v[c->event], n_idle_tasks[i]);
	}
}

/* What V adds; its event has a column. */
static const struct share_span *span_of(const struct query *q, const struct value *v)
{
	return &q->spans[q->row_of[v->event] * q->profile->vectors.n + v->vector];
}

/* Sums the values per place: q->counts, and what idle tasks have in fresh
 * memory (NULL: nothing). */
static uint64_t *sum_places(struct query *q)
{
	const struct profile *p = q->profile;
	size_t n_counts = (p->places.n + 1) * q->n_cols;
	uint64_t *n_idle_tasks = xcalloc(q->n_cols + 1, sizeof(*n_idle_tasks));
	/* Copies: the compiler cannot know that sums are none of these. */
	const struct value *const values = p->values.v;
	const size_t n_values = p->values.n;
	const struct owner *const owners = p->owners.v;
	const struct ctx *const ctxs = p->ctxs.v;
	const unsigned *const col_of = q->col_of;
	const bool *const wanted = q->wanted;
	const size_t n_vectors = p->vectors.n;
	const unsigned n_cols = q->n_cols;
	uint64_t *idle = NULL, *counts;

	counts = q->counts = xcalloc(n_counts ? n_counts : 1, sizeof(*q->counts));
	for (size_t i = 0; i < n_values; i++) {
		const struct value *v = &values[i];
		const bool is_idle = owners[v->owner].flags & OWNER_IDLE;
		const unsigned c = col_of[v->event];
		const struct share *share;
		const struct share_span *span;
		uint64_t *sums = counts;

		if (c == n_cols || v->ctx == 0)
			continue;
		if (is_idle && value_is_samples(p, v))
			n_idle_tasks[c] += value_amount(p, v);
		if (*q->cols[c].measures)
			q->cols[c].n_intervals += v->count;
		if (wanted && !wanted[v->owner])
			continue;
		if (is_idle)
			sums = idle = idle ? idle : xcalloc(n_counts, sizeof(*idle));
		sums += (size_t)ctxs[v->ctx].place * n_cols;
		span = &q->spans[q->row_of[v->event] * n_vectors + v->vector];
		share = q->shares.v + span->first;
		for (uint32_t n = span->n; n; n--, share++)
			sums[share->col] += share_amount(share, v);
	}
	find_not_delivered(q, n_idle_tasks);
	free(n_idle_tasks);
	return idle;
}

static bool is_idling(struct query *q, const struct place *pl)
{
	const struct image *im = &q->profile->images.v[pl->image];
	const struct symtab *st;
	uint32_t i;

	if (im->kind != IMAGE_KERNEL)
		return false;
	st = resolver_image(q->resolver, im)->symtab;
	if (!st->n)
		return true;
	i = symtab_find(st, pl->svma);
	return i != PROC_NONE && resolve_is_idle(symtab_get(st, i).name);
}

static void settle_idle(struct query *q, uint64_t *idle)
{
	const struct profile *p = q->profile;

	for (size_t pl = 0; idle && pl < p->places.n; pl++) {
		uint64_t *at = idle + pl * q->n_cols;
		bool any = false, idling;

		for (unsigned c = 0; c < q->n_cols; c++)
			any |= at[c] != 0;
		if (!any)
			continue;
		idling = is_idling(q, &p->places.v[pl]);
		if (idling && !q->idling)
			q->idling = xcalloc(p->places.n, sizeof(*q->idling));
		if (idling)
			q->idling[pl] = true;
		for (unsigned c = 0; c < q->n_cols; c++) {
			if (idling)
				q->cols[c].n_idle += at[c];
			else
				q->counts[pl * q->n_cols + c] += at[c];
		}
	}
}

int spot_compare(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->svma != y->svma)
		return x->svma < y->svma ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Counts S into the columns' totals; false when it has no samples. */
static bool add_to_totals(struct query *q, const struct spot *s)
{
	const struct image *im = &q->profile->images.v[s->image];
	const uint64_t *n = query_counts(q, s);
	bool any = false;

	for (unsigned c = 0; c < q->n_cols; c++)
		any |= n[c] != 0;
	for (unsigned c = 0; any && c < q->n_cols; c++) {
		q->cols[c].n_samples += n[c];
		if (is_kernel(im))
			q->cols[c].n_kernel += n[c];
		else if (is_guest(im))
			q->cols[c].n_guest += n[c];
		else if (im->kind == IMAGE_UNKNOWN)
			q->cols[c].n_unknown += n[c];
	}
	return any;
}

static void find_spots(struct query *q)
{
	const struct profile *p = q->profile;
	bool sorted = true;
	size_t i = 0;

	q->spots = xcalloc(p->places.n + 1, sizeof(*q->spots));
	for (place_id pl = 0; pl < p->places.n; pl++) {
		struct spot s = {p->places.v[pl].svma, p->places.v[pl].image, pl};

		if (!add_to_totals(q, &s))
			continue;
		if (q->n_spots && spot_compare(&q->spots[q->n_spots - 1], &s) > 0)
			sorted = false;
		q->spots[q->n_spots++] = s;
	}
	if (!sorted)
		qsort(q->spots, q->n_spots, sizeof(*q->spots), spot_compare);
	q->first = xcalloc(p->images.n + 1, sizeof(*q->first));
	for (image_id im = 0; im < p->images.n; im++) {
		q->first[im] = i;
		while (i < q->n_spots && q->spots[i].image == im)
			i++;
	}
	q->first[p->images.n] = i;
}

int query_init(struct query *q, const struct profile *p, struct resolver *r, const struct select *s,
	       struct err *err)
{
	uint64_t *idle;
	int rc;

	*q = (struct query){.profile = p, .resolver = r};
	rc = query_bind(q, s, err);
	if (rc >= 0)
		rc = select_owners(p, s, &q->wanted, err);
	if (rc < 0) {
		query_release(q);
		return rc;
	}
	q->image_names = xcalloc(p->images.n + 1, sizeof(*q->image_names));
	q->col_of = cols_of_events(q);
	idle = sum_places(q);
	settle_idle(q, idle);
	find_spots(q);
	query_count_pruned(q);
	free(idle);
	return 0;
}

void query_release(struct query *q)
{
	free(q->cols);
	vec_release(&q->shown);
	pm_columns_release(&q->columns);
	vec_release(&q->shares);
	free(q->spans);
	free(q->row_of);
	free(q->counts);
	free(q->spots);
	free(q->first);
	free(q->wanted);
	free(q->col_of);
	free(q->idling);
	free(q->image_names);
	arena_release(&q->arena);
	*q = (struct query){0};
}

/* Whether V's event is chosen, its owner wanted, and it is not idle time. */
static bool wants_value(const struct query *q, const struct value *v)
{
	const struct profile *p = q->profile;

	if (q->col_of[v->event] == q->n_cols || v->ctx == 0 || (q->wanted && !q->wanted[v->owner]))
		return false;
	return !q->idling || !(p->owners.v[v->owner].flags & OWNER_IDLE) ||
	       !q->idling[p->ctxs.v[v->ctx].place];
}

bool query_counts_value(const struct query *q, const struct value *v, unsigned *ret_col)
{
	*ret_col = q->col_of[v->event];
	return wants_value(q, v) && value_is_samples(q->profile, v);
}

const struct share *query_shares(const struct query *q, const struct value *v, unsigned *ret_n)
{
	const struct share_span *span;

	*ret_n = 0;
	if (!wants_value(q, v))
		return NULL;
	span = span_of(q, v);
	*ret_n = span->n;
	return q->shares.v + span->first;
}

/* Whether another image with samples has IMAGE's path, and whether one has its build-id too. */
static bool shares_path(const struct query *q, image_id image, bool *ret_build_id)
{
	const struct profile *p = q->profile;
	const struct image *im = &p->images.v[image];
	bool any = false;

	*ret_build_id = false;
	for (image_id i = 0; i < p->images.n; i++) {
		if (i == image || q->first[i] == q->first[i + 1] ||
		    strcmp(p->images.v[i].path, im->path) != 0)
			continue;
		any = true;
		*ret_build_id |= build_id_same(&p->images.v[i].build_id, &im->build_id) &&
				 !image_digest_same(p->images.v[i].digest, im->digest);
	}
	return any;
}

const char *query_image_name(struct query *q, image_id image)
{
	const struct image *im = &q->profile->images.v[image];
	const char **name = &q->image_names[image];
	char id[2 * BUILD_ID_MAX + 1], digest[2 * IMAGE_DIGEST_BYTES + 1];
	bool same_build_id;
	size_t size;
	char *s;

	if (*name)
		return *name;
	/* Where there is no image, the path may say what is known: "[guest kernel]". */
	if (!*im->path || (im->kind == IMAGE_UNKNOWN && *im->path != '['))
		return *name = "[unknown]";
	if (!im->build_id.n_bytes || !shares_path(q, image, &same_build_id))
		return *name = im->path;
	build_id_format(&im->build_id, id);
	str_hex(im->digest, IMAGE_DIGEST_BYTES, digest);
	size = strlen(im->path) + 21;
	s = arena_alloc(&q->arena, size);
	if (same_build_id)
		snprintf(s, size, "%s (%.8s/%.8s)", im->path, id, digest);
	else
		snprintf(s, size, "%s (%.8s)", im->path, id);
	return *name = s;
}
