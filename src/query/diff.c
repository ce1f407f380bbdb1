/* SPDX-License-Identifier: BSD-2-Clause */
/* See diff.h, and docs/design/comparing.md for what is behind the numbers.
 *
 * Each set is summed by scope with its own resolver; a scope's texts are then its name in both, so
 * that rows meet in one hash table.  Samples of one event that were taken with several periods (a
 * daemon that changed its rate) have different weights: amounts are sums of weights, and tests are
 * made with as many samples of equal weight as would have the same variance (L. Kish, Survey
 * Sampling, 1965). */
#include "query/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "query/significance.h"

/* An image as both sets know it. */
struct common_image {
	enum image_kind kind;
	const char *path[2]; /* NULL: no samples in this set */
	const char *build;   /* of the first build seen */
	bool is_wanted[2], is_rebuilt;
	uint32_t same_as; /* the entry that stands for it; itself */
};

struct matcher {
	struct diff *d;
	const struct diff_opts *o;
	VEC(struct common_image) images;
	uint32_t *image_of[2];	/* by the set's image: number in images */
	VEC(const char *) keys; /* by row */
	struct index index;
};

/* --- events --- */

static const char *event_name(const struct query *q, unsigned col)
{
	return profile_str(q->profile, q->profile->events.v[q->cols[col].event].name);
}

/* What a sample of column C stands for. */
static double weight(const struct query_col *c)
{
	double duty = c->duty > 0 && c->duty < 1 ? c->duty : 1;

	return c->is_time ? 1 : (c->period ? (double)c->period : 1) / duty;
}

static bool is_compared(const struct diff *d, const struct query *q, unsigned col)
{
	return strcmp(event_name(q, col), d->event) == 0;
}

static int init_side(struct diff *d, unsigned k, struct query *q, struct err *err)
{
	struct diff_side *side = &d->sides[k];
	struct name_list there = {{0}, 0};
	double squares = 0;
	bool any = false;

	side->q = q;
	for (unsigned c = 0; c < q->n_cols; c++) {
		double w = weight(&q->cols[c]), n = (double)q->cols[c].n_samples;

		name_list_add(&there, q->cols[c].name);
		if (!is_compared(d, q, c))
			continue;
		any = true;
		side->n_samples += q->cols[c].n_samples;
		side->amount += n * w;
		squares += n * w * w;
	}
	if (!any)
		return err_set(err, -ENOENT,
			       "the second set has no event '%s' to compare the first one's with; "
			       "it has: %s",
			       d->event, there.n ? there.text : "none");
	if (!side->n_samples)
		return err_set(err, -ENOENT, "the %s set has no samples of %s",
			       k ? "second" : "first", d->event);
	side->n_effective = side->amount * side->amount / squares;
	return 0;
}

/* --- images --- */

static void add_image(struct matcher *m, unsigned k, image_id im)
{
	const struct image *image = &m->d->sides[k].q->profile->images.v[im];
	const char *path = *image->path ? image->path : "[unknown]";
	char id[2 * BUILD_ID_MAX + 1];
	struct common_image *c = NULL;

	build_id_format(&image->build_id, id);
	vec_each (i, &m->images)
		if (i->kind == image->kind && strcmp(i->path[i->path[0] ? 0 : 1], path) == 0)
			c = i;
	if (!c) {
		c = vec_add(&m->images);
		c->kind = image->kind;
		c->same_as = (uint32_t)(c - m->images.v);
		c->build = arena_strdup(&m->d->arena, id);
	}
	c->path[k] = path;
	c->is_rebuilt |= strcmp(c->build, id) != 0;
	m->image_of[k][im] = (uint32_t)(c - m->images.v);
}

/* The only image that has samples in set K alone, is of C's kind and has C's file name. */
static struct common_image *find_only(struct matcher *m, const struct common_image *c, unsigned k)
{
	const char *name = str_basename(c->path[c->path[0] ? 0 : 1]);
	struct common_image *found = NULL;

	vec_each (i, &m->images) {
		if (!i->path[k] || i->path[!k] || i->kind != c->kind ||
		    strcmp(str_basename(i->path[k]), name) != 0)
			continue;
		if (found)
			return NULL;
		found = i;
	}
	return found;
}

/* Pairs images that were moved: build directories, containers. */
static void match_moved(struct matcher *m)
{
	for (uint32_t i = 0; i < m->images.n; i++) {
		struct common_image *a = &m->images.v[i], *b;

		if (!a->path[0] || a->path[1] || find_only(m, a, 0) != a)
			continue;
		b = find_only(m, a, 1);
		if (!b)
			continue;
		/* Later pairs must not see these two as lone ones. */
		a->path[1] = b->path[1];
		a->is_rebuilt |= b->is_rebuilt || strcmp(a->build, b->build) != 0;
		b->path[0] = a->path[0];
		b->same_as = i;
	}
}

static int find_wanted(struct matcher *m, struct err *err)
{
	for (size_t i = 0; m->o->images && i < m->o->images->n; i++) {
		const char *name = m->o->images->v[i];
		image_ids ids[2] = {{0}};
		int rc[2];

		for (unsigned k = 0; k < 2; k++) {
			rc[k] = select_find_images(m->d->sides[k].q->profile, name, &ids[k], err);
			vec_each (im, &ids[k]) {
				uint32_t c = m->image_of[k][*im];

				if (c != INDEX_NONE)
					m->images.v[m->images.v[c].same_as].is_wanted[k] = true;
			}
			vec_release(&ids[k]);
		}
		if (rc[0] && rc[1])
			return rc[1];
	}
	return 0;
}

static int match_images(struct matcher *m, struct err *err)
{
	for (unsigned k = 0; k < 2; k++) {
		const struct query *q = m->d->sides[k].q;

		m->image_of[k] = xcalloc(q->profile->images.n + 1, sizeof(uint32_t));
		for (image_id im = 0; im < q->profile->images.n; im++) {
			m->image_of[k][im] = INDEX_NONE;
			if (q->first[im] < q->first[im + 1])
				add_image(m, k, im);
		}
	}
	match_moved(m);
	vec_each (i, &m->images) {
		if (i->same_as != (uint32_t)(i - m->images.v) || !i->is_rebuilt || !i->path[0] ||
		    !i->path[1])
			continue;
		m->d->n_rebuilt++;
		m->d->rebuilt = arena_strdup(&m->d->arena, i->path[1]);
	}
	return find_wanted(m, err);
}

static bool is_wanted(const struct matcher *m, const struct common_image *c)
{
	return !m->o->images || !m->o->images->n || c->is_wanted[0] || c->is_wanted[1];
}

/* --- rows --- */

static bool key_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct matcher *)owner)->keys.v[i], key) == 0;
}

/* The row of scope SC of set K, whose image is number COMMON; made when it is not there yet. */
static struct diff_row *find_row(struct matcher *m, unsigned k, const struct scope *sc,
				 uint32_t common)
{
	const struct image *im = &m->d->sides[k].q->profile->images.v[sc->image];
	struct arena *a = &m->d->arena;
	char id[2 * BUILD_ID_MAX + 1] = "";
	struct str key = {0};
	struct diff_row *r;
	uint64_t hash;
	uint32_t i;

	if (sc->kind == SCOPE_ADDRESS)
		build_id_format(&im->build_id, id);
	str_addf(&key, "%" PRIu32, common);
	if (sc->kind != SCOPE_IMAGE)
		str_addf(&key, "\n%s", sc->name);
	if (sc->kind == SCOPE_LINE)
		str_addf(&key, "\n%s\n%" PRIu32, sc->file ? str_basename(sc->file) : "", sc->line);
	if (sc->kind == SCOPE_ADDRESS)
		str_addf(&key, "\n%s\n%" PRIx64, id, sc->svma);
	hash = hash_str(key.v);
	i = index_find(&m->index, hash, key_same, m, key.v);
	if (i == INDEX_NONE) {
		i = (uint32_t)m->d->rows.n;
		index_add(&m->index, hash, i);
		vec_push(&m->keys, arena_strdup(a, key.v));
		r = vec_add(&m->d->rows);
		r->kind = sc->kind;
		r->image_kind = im->kind;
		r->image = m->images.v[common].path[m->images.v[common].path[1] ? 1 : 0];
		r->line = sc->line;
		r->svma = sc->svma;
	}
	str_release(&key);
	r = &m->d->rows.v[i];
	if (!r->procedure && sc->kind != SCOPE_IMAGE)
		r->procedure = arena_strdup(a, sc->name);
	if (sc->file)
		r->file = arena_strdup(a, sc->file);
	return r;
}

/* Adds the samples of set K. */
static int add_side(struct matcher *m, unsigned k, struct err *err)
{
	const struct scopes_opts so = {.level = m->o->level, .no_inline = true};
	struct query *q = m->d->sides[k].q;
	bool *used = xcalloc(q->profile->places.n + 1, sizeof(*used));
	struct scopes scopes;
	int rc;

	for (size_t i = 0; i < q->n_spots; i++) {
		const struct common_image *c = &m->images.v[m->image_of[k][q->spots[i].image]];

		for (unsigned col = 0; col < q->n_cols; col++)
			used[q->spots[i].place] |= is_compared(m->d, q, col) &&
						   query_counts(q, &q->spots[i])[col] &&
						   is_wanted(m, &m->images.v[c->same_as]);
	}
	rc = scopes_init(&scopes, q, &so, used, err);
	for (size_t i = 0; !rc && i < q->n_spots; i++) {
		const uint64_t *counts = query_counts(q, &q->spots[i]);
		struct diff_row *r;
		uint32_t n;

		if (!used[q->spots[i].place])
			continue;
		r = find_row(m, k,
			     &scopes.scopes.v[*scopes_of_place(&scopes, q->spots[i].place, &n)],
			     m->images.v[m->image_of[k][q->spots[i].image]].same_as);
		for (unsigned col = 0; col < q->n_cols; col++) {
			if (!is_compared(m->d, q, col))
				continue;
			r->n[k] += counts[col];
			r->amount[k] += (double)counts[col] * weight(&q->cols[col]);
		}
	}
	if (!rc)
		scopes_release(&scopes);
	free(used);
	return rc;
}

/* --- significance --- */

/* As many samples of equal weight as tell as much as the row's of set K. */
static uint64_t effective(const struct diff *d, const struct diff_row *r, unsigned k)
{
	return (uint64_t)llround(r->share[k] * d->sides[k].n_effective);
}

/* Sets R->p, not yet adjusted; NaN when the row could not tell anything. */
static void test_row(const struct diff *d, const struct diff_opts *o, struct diff_row *r)
{
	const uint64_t totals[2] = {(uint64_t)llround(d->sides[0].n_effective),
				    (uint64_t)llround(d->sides[1].n_effective)};
	const double w[2] = {d->sides[0].amount / d->sides[0].n_effective,
			     d->sides[1].amount / d->sides[1].n_effective};
	const double share1 = w[1] / (w[0] + w[1]);
	uint64_t n[2] = {effective(d, r, 0), effective(d, r, 1)};
	double least;

	for (unsigned k = 0; k < 2; k++)
		n[k] = n[k] < totals[k] ? n[k] : totals[k];
	least = o->absolute ? two_rates_least_p(n[0], n[1], share1)
			    : two_shares_least_p(n[0], totals[0], n[1], totals[1]);
	r->p = NAN;
	if (d->is_time || least >= o->alpha)
		return;
	r->p = o->absolute ? two_rates_p(n[0], n[1], share1)
			   : two_shares_p(n[0], totals[0], n[1], totals[1]);
}

static void test_rows(struct diff *d, const struct diff_opts *o)
{
	double *p = xcalloc(d->rows.n + 1, sizeof(*p));

	for (size_t i = 0; i < d->rows.n; i++) {
		test_row(d, o, &d->rows.v[i]);
		p[i] = d->rows.v[i].p;
		d->n_tested += !isnan(p[i]);
	}
	holm_adjust(p, d->rows.n);
	for (size_t i = 0; i < d->rows.n; i++) {
		struct diff_row *r = &d->rows.v[i];

		/* Too few samples to tell anything are chance, not an open question. */
		r->p = isnan(p[i]) && !d->is_time ? 1 : p[i];
		r->is_significant = d->is_time ? r->change != 0 : r->p < o->alpha;
	}
	free(p);
}

static void find_changes(struct diff *d, const struct diff_opts *o)
{
	vec_each (r, &d->rows) {
		for (unsigned k = 0; k < 2; k++)
			r->share[k] = r->amount[k] / d->sides[k].amount;
		r->change = o->absolute ? (r->amount[1] - r->amount[0]) / d->sides[0].amount
					: r->share[1] - r->share[0];
	}
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_change(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int d;

	if (fabs(x->change) != fabs(y->change))
		return fabs(x->change) > fabs(y->change) ? -1 : 1;
	if (x->amount[1] != y->amount[1])
		return x->amount[1] > y->amount[1] ? -1 : 1;
	d = strcmp(x->image, y->image);
	d = d ? d : compare_text(x->procedure, y->procedure);
	d = d ? d : compare_text(x->file, y->file);
	if (!d && x->line != y->line)
		d = x->line < y->line ? -1 : 1;
	return d ? d : x->svma < y->svma ? -1 : x->svma > y->svma;
}

int diff_init(struct diff *d, struct query *a, struct query *b, const struct diff_opts *o,
	      struct err *err)
{
	struct matcher m = {.d = d, .o = o};
	int rc;

	*d = (struct diff){0};
	if (!a->n_cols)
		return err_set(err, -ENOENT, "the first set has no samples");
	d->event = event_name(a, a->sort);
	d->is_time = a->cols[a->sort].is_time;
	rc = init_side(d, 0, a, err);
	if (!rc)
		rc = init_side(d, 1, b, err);
	if (!rc)
		rc = match_images(&m, err);
	for (unsigned k = 0; k < 2 && !rc; k++)
		rc = add_side(&m, k, err);
	if (!rc) {
		find_changes(d, o);
		test_rows(d, o);
		vec_sort(&d->rows, by_change);
	}
	free(m.image_of[0]);
	free(m.image_of[1]);
	vec_release(&m.images);
	vec_release(&m.keys);
	index_release(&m.index);
	if (rc)
		diff_release(d);
	return rc;
}

void diff_release(struct diff *d)
{
	vec_release(&d->rows);
	arena_release(&d->arena);
	*d = (struct diff){0};
}
