/* SPDX-License-Identifier: BSD-2-Clause */
/* See query.h.
 *
 * Values are summed per place first (two passes over arrays, no hashing), because a place is named
 * once however many owners, vectors and contexts have samples there.  Idle tasks' samples are kept
 * apart until their place's procedure tells whether they were idling. */
#include "query/query.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether samples in IM are the kernel's. */
static bool is_kernel(const struct image *im)
{
	return im->kind == IMAGE_KERNEL || im->kind == IMAGE_MODULE || im->kind == IMAGE_BPF;
}

uint64_t query_scaled(const struct query_col *c, uint64_t n)
{
	if (c->is_time)
		return n / 1000;
	return c->duty >= 1 || c->duty <= 0 ? n : (uint64_t)llround((double)n / c->duty);
}

bool query_is_scaled(const struct query *q)
{
	for (unsigned c = 0; c < q->n_cols; c++)
		if (q->cols[c].duty < 1)
			return true;
	return false;
}

/* --- columns --- */

static char *arena_format(struct arena *a, const char *name, uint64_t period)
{
	size_t size = strlen(name) + 24;
	char *s = arena_alloc(a, size);

	snprintf(s, size, "%s:%" PRIu64, name, period);
	return s;
}

static void add_col(struct query *q, event_id event)
{
	const struct event *e = &q->profile->events.v[event];
	struct query_col *c;

	for (unsigned i = 0; i < q->n_cols; i++)
		if (q->cols[i].event == event)
			return;
	c = &q->cols[q->n_cols++];
	*c = (struct query_col){
		.event = event,
		.name = profile_str(q->profile, e->name),
		.period = e->period,
		.freq_hz = e->freq_hz,
		.duty = event_duty(e),
		.is_time = event_is_time(q->profile, e),
		.n_reached = e->n_reached,
		.n_lost = profile_n_lost(q->profile, event),
	};
}

static void name_cols(struct query *q)
{
	bool *again = xcalloc(q->n_cols, sizeof(*again));

	for (unsigned i = 0; i < q->n_cols; i++)
		for (unsigned k = 0; k < q->n_cols; k++)
			if (i != k && strcmp(q->cols[i].name, q->cols[k].name) == 0)
				again[i] = true;
	for (unsigned i = 0; i < q->n_cols; i++)
		if (again[i])
			q->cols[i].name =
				arena_format(&q->arena, q->cols[i].name, q->cols[i].period);
	free(again);
	for (unsigned i = 0; i < q->n_cols; i++) {
		struct query_col *c = &q->cols[i];
		size_t n = strlen(c->name);
		char *title;

		c->title = c->name;
		if (!c->is_time)
			continue;
		title = arena_alloc(&q->arena, n + sizeof("(us)"));
		memcpy(title, c->name, n);
		memcpy(title + n, "(us)", sizeof("(us)"));
		c->title = title;
	}
}

static int choose_cols(struct query *q, const struct select *s, struct err *err)
{
	const struct profile *p = q->profile;
	opt_list names = {0};
	event_ids events = {0};
	char *text;
	int rc = 0;

	select_split_events(&s->events, &names, &text);
	vec_each (name, &names) {
		rc = select_find_events(p, *name, &events, err);
		if (rc)
			break;
	}
	q->cols = xcalloc(p->events.n + 1, sizeof(*q->cols));
	if (!rc && !names.n)
		for (event_id e = 0; e < p->events.n; e++)
			add_col(q, e);
	else
		vec_each (e, &events)
			add_col(q, *e);
	vec_release(&names);
	vec_release(&events);
	free(text);
	if (!rc)
		name_cols(q);
	return rc;
}

/* The column of time, which most people mean; else the first. */
static unsigned time_column(const struct query *q)
{
	static const char *const events[] = {"cycles", "cpu_core/cycles/", "cpu-clock",
					     "task-clock"};

	for (size_t e = 0; e < n_elems(events); e++)
		for (unsigned i = 0; i < q->n_cols; i++)
			if (str_starts(profile_str(q->profile,
						   q->profile->events.v[q->cols[i].event].name),
				       events[e]))
				return i;
	return 0;
}

static int choose_sort(struct query *q, const struct select *s, struct err *err)
{
	const char *name = s->sort;
	event_ids events = {0};
	int rc;

	if (!name) {
		q->sort = s->events.n ? 0 : time_column(q);
		return 0;
	}
	for (unsigned i = 0; i < q->n_cols; i++)
		if (strcmp(q->cols[i].name, name) == 0) {
			q->sort = i;
			return 0;
		}
	rc = select_find_events(q->profile, name, &events, err);
	if (!rc) {
		rc = -ENOENT;
		for (unsigned i = 0; i < q->n_cols && rc; i++)
			if (q->cols[i].event == events.v[0]) {
				q->sort = i;
				rc = 0;
			}
		if (rc)
			err_set(err, rc,
				"cannot sort by '%s', which is not among the events chosen", name);
	}
	vec_release(&events);
	return rc;
}

/* --- spots --- */

/* Column of each event, or n_cols. */
static unsigned *cols_of_events(const struct query *q)
{
	unsigned *col_of = xcalloc(q->profile->events.n + 1, sizeof(*col_of));

	for (size_t e = 0; e < q->profile->events.n; e++)
		col_of[e] = q->n_cols;
	for (unsigned c = 0; c < q->n_cols; c++)
		col_of[q->cols[c].event] = c;
	return col_of;
}

static void find_not_delivered(struct query *q, const uint64_t *n_idle_tasks)
{
	for (unsigned i = 0; i < q->n_cols; i++) {
		struct query_col *c = &q->cols[i];

		c->not_delivered =
			event_not_delivered(&q->profile->events.v[c->event], n_idle_tasks[i]);
	}
}

/* Sums the values per place: q->counts, and what idle tasks have in fresh memory (NULL: nothing).
 */
static uint64_t *sum_places(struct query *q)
{
	const struct profile *p = q->profile;
	size_t n_counts = (p->places.n + 1) * q->n_cols;
	uint64_t *n_idle_tasks = xcalloc(q->n_cols + 1, sizeof(*n_idle_tasks));
	uint64_t *idle = NULL;

	q->counts = xcalloc(n_counts ? n_counts : 1, sizeof(*q->counts));
	vec_each (v, &p->values) {
		bool is_idle = p->owners.v[v->owner].flags & OWNER_IDLE;
		unsigned c = q->col_of[v->event];
		size_t at;

		if (c == q->n_cols || v->ctx == 0)
			continue;
		if (is_idle)
			n_idle_tasks[c] += v->count;
		if (q->cols[c].is_time)
			q->cols[c].n_intervals += v->sum;
		if (q->wanted && !q->wanted[v->owner])
			continue;
		at = (size_t)p->ctxs.v[v->ctx].place * q->n_cols + c;
		if (is_idle && !idle)
			idle = xcalloc(n_counts, sizeof(*idle));
		(is_idle ? idle : q->counts)[at] += v->count;
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

	for (unsigned c = 0; c < q->n_cols; c++) {
		any |= n[c] != 0;
		q->cols[c].n_samples += n[c];
		if (is_kernel(im))
			q->cols[c].n_kernel += n[c];
		if (im->kind == IMAGE_UNKNOWN)
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
	rc = choose_cols(q, s, err);
	if (!rc)
		rc = choose_sort(q, s, err);
	if (!rc)
		rc = select_owners(p, s, &q->wanted, err);
	if (rc) {
		query_release(q);
		return rc;
	}
	q->image_names = xcalloc(p->images.n + 1, sizeof(*q->image_names));
	q->col_of = cols_of_events(q);
	idle = sum_places(q);
	settle_idle(q, idle);
	find_spots(q);
	free(idle);
	return 0;
}

void query_release(struct query *q)
{
	free(q->cols);
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

bool query_counts_value(const struct query *q, const struct value *v, unsigned *ret_col)
{
	const struct profile *p = q->profile;

	*ret_col = q->col_of[v->event];
	if (*ret_col == q->n_cols || v->ctx == 0 || (q->wanted && !q->wanted[v->owner]))
		return false;
	return !q->idling || !(p->owners.v[v->owner].flags & OWNER_IDLE) ||
	       !q->idling[p->ctxs.v[v->ctx].place];
}

/* Whether another image with samples has IM's path. */
static bool shares_path(const struct query *q, image_id image)
{
	const struct profile *p = q->profile;

	for (image_id i = 0; i < p->images.n; i++)
		if (i != image && q->first[i] < q->first[i + 1] &&
		    strcmp(p->images.v[i].path, p->images.v[image].path) == 0)
			return true;
	return false;
}

const char *query_image_name(struct query *q, image_id image)
{
	const struct image *im = &q->profile->images.v[image];
	const char **name = &q->image_names[image];
	char id[2 * BUILD_ID_MAX + 1];
	size_t size;
	char *s;

	if (*name)
		return *name;
	if (im->kind == IMAGE_UNKNOWN || !*im->path)
		return *name = "[unknown]";
	if (!im->build_id.n_bytes || !shares_path(q, image))
		return *name = im->path;
	build_id_format(&im->build_id, id);
	size = strlen(im->path) + 12;
	s = arena_alloc(&q->arena, size);
	snprintf(s, size, "%s (%.8s)", im->path, id);
	return *name = s;
}
