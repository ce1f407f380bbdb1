/* SPDX-License-Identifier: BSD-2-Clause */
/* See set_rows.h.
 *
 * Each set is summed by scope with its own resolver; a scope's texts are then its name in all sets,
 * so that rows meet in one hash table.  Samples of one event that were taken with several periods
 * (a daemon that changed its rate) have different weights: amounts are sums of weights, and tests
 * are made with as many samples of equal weight as would have the same variance (L. Kish, Survey
 * Sampling, 1965). */
#include "query/set_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* An image as the sets know it: one path. */
struct common_image {
	enum image_kind kind;
	const char *path;
	const char *build; /* the first seen */
	unsigned last_set; /* the last that has it */
	bool is_wanted, is_rebuilt;
	uint32_t same_as; /* the entry that stands for it; itself */
};

struct matcher {
	struct set_rows *r;
	enum scope_kind level;
	const opt_list *names;
	VEC(struct common_image) images;
	uint32_t **image_of;	/* by set, by its image: number in images */
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

static bool is_compared(const struct set_rows *r, const struct query *q, unsigned col)
{
	return strcmp(event_name(q, col), r->event) == 0;
}

static const char *ordinal(unsigned k, char ret[24])
{
	static const char *const words[] = {"first", "second", "third"};

	if (k < n_elems(words))
		return words[k];
	snprintf(ret, 24, "%uth", k + 1);
	return ret;
}

static int init_side(struct set_rows *r, unsigned k, struct query *q, struct err *err)
{
	struct set_side *side = &r->sides[k];
	struct name_list there = {{0}, 0};
	double squares = 0;
	bool any = false;
	char nth[24];

	side->q = q;
	for (unsigned c = 0; c < q->n_cols; c++) {
		double w = weight(&q->cols[c]), n = (double)q->cols[c].n_samples;

		name_list_add(&there, q->cols[c].name);
		if (!is_compared(r, q, c))
			continue;
		any = true;
		side->n_samples += q->cols[c].n_samples;
		side->amount += n * w;
		squares += n * w * w;
	}
	if (!any)
		return err_set(err, -ENOENT,
			       "the %s set has no event '%s' to compare the first one's with; "
			       "it has: %s",
			       ordinal(k, nth), r->event, there.n ? there.text : "none");
	if (!side->n_samples)
		return err_set(err, -ENOENT, "the %s set has no samples of %s", ordinal(k, nth),
			       r->event);
	side->n_effective = side->amount * side->amount / squares;
	return 0;
}

/* --- images --- */

static void add_image(struct matcher *m, unsigned k, image_id im)
{
	const struct image *image = &m->r->sides[k].q->profile->images.v[im];
	const bool unknown = image->kind == IMAGE_UNKNOWN || !*image->path;
	const char *path = unknown ? "[unknown]" : image->path;
	char id[2 * BUILD_ID_MAX + 1];
	struct common_image *c = NULL;

	build_id_format(&image->build_id, id);
	vec_each (i, &m->images)
		if (i->kind == image->kind && strcmp(i->path, path) == 0)
			c = i;
	if (!c) {
		c = vec_add(&m->images);
		c->kind = image->kind;
		c->path = path;
		c->same_as = (uint32_t)(c - m->images.v);
		c->build = arena_strdup(&m->r->arena, id);
	}
	c->last_set = k;
	c->is_rebuilt |= strcmp(c->build, id) != 0;
	m->image_of[k][im] = (uint32_t)(c - m->images.v);
}

static bool may_be_one(const struct common_image *a, const struct common_image *b)
{
	return a->kind == b->kind && strcmp(str_basename(a->path), str_basename(b->path)) == 0;
}

/* Whether a set has two images that may be one with entry FIRST. */
static bool is_ambiguous(const struct matcher *m, const struct common_image *first)
{
	for (unsigned k = 0; k < m->r->n_sets; k++) {
		const struct query *q = m->r->sides[k].q;
		uint32_t found = INDEX_NONE;

		for (image_id im = 0; im < q->profile->images.n; im++) {
			uint32_t i = m->image_of[k][im];

			if (i == INDEX_NONE || !may_be_one(first, &m->images.v[i]))
				continue;
			if (found != INDEX_NONE && found != i)
				return true;
			found = i;
		}
	}
	return false;
}

/* Joins images that were moved: build directories, containers. */
static void join_moved(struct matcher *m)
{
	for (uint32_t i = 0; i < m->images.n; i++) {
		struct common_image *first = &m->images.v[i];
		bool alone = true;

		for (uint32_t j = i + 1; j < m->images.n && alone; j++)
			alone = !may_be_one(first, &m->images.v[j]);
		if (alone || first->same_as != i || is_ambiguous(m, first))
			continue;
		for (uint32_t j = i + 1; j < m->images.n; j++) {
			struct common_image *c = &m->images.v[j];

			if (!may_be_one(first, c))
				continue;
			c->same_as = i;
			first->is_rebuilt |= c->is_rebuilt || strcmp(first->build, c->build) != 0;
			if (c->last_set >= first->last_set) {
				first->last_set = c->last_set;
				first->path = c->path;
			}
		}
	}
}

static int find_wanted(struct matcher *m, struct err *err)
{
	for (size_t i = 0; m->names && i < m->names->n; i++) {
		bool found = false;
		int rc = 0;

		for (unsigned k = 0; k < m->r->n_sets; k++) {
			image_ids ids = {0};

			rc = select_find_images(m->r->sides[k].q->profile, m->names->v[i], &ids,
						err);
			vec_each (im, &ids) {
				uint32_t c = m->image_of[k][*im];

				if (c != INDEX_NONE)
					m->images.v[m->images.v[c].same_as].is_wanted = true;
			}
			found |= rc == 0;
			vec_release(&ids);
		}
		if (!found)
			return rc;
	}
	return 0;
}

static int match_images(struct matcher *m, struct err *err)
{
	for (unsigned k = 0; k < m->r->n_sets; k++) {
		const struct query *q = m->r->sides[k].q;

		m->image_of[k] = xcalloc(q->profile->images.n + 1, sizeof(uint32_t));
		for (image_id im = 0; im < q->profile->images.n; im++) {
			m->image_of[k][im] = INDEX_NONE;
			if (q->first[im] < q->first[im + 1])
				add_image(m, k, im);
		}
	}
	join_moved(m);
	vec_each (i, &m->images) {
		if (i->same_as != (uint32_t)(i - m->images.v) || !i->is_rebuilt)
			continue;
		m->r->n_rebuilt++;
		m->r->rebuilt = i->path;
	}
	return find_wanted(m, err);
}

static bool is_wanted(const struct matcher *m, const struct common_image *c)
{
	return !m->names || !m->names->n || m->images.v[c->same_as].is_wanted;
}

/* --- rows --- */

static bool key_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct matcher *)owner)->keys.v[i], key) == 0;
}

/* What tells scope SC of set K, whose image is number COMMON, from others. */
static void add_key(const struct matcher *m, unsigned k, const struct scope *sc, uint32_t common,
		    struct str *key)
{
	const struct image *im = &m->r->sides[k].q->profile->images.v[sc->image];
	char id[2 * BUILD_ID_MAX + 1];

	str_addf(key, "%" PRIu32, common);
	if (sc->kind != SCOPE_IMAGE)
		str_addf(key, "\n%s", sc->name);
	if (sc->kind == SCOPE_LINE)
		str_addf(key, "\n%s\n%" PRIu32, sc->file ? str_basename(sc->file) : "", sc->line);
	if (sc->kind == SCOPE_ADDRESS) {
		build_id_format(&im->build_id, id);
		str_addf(key, "\n%s\n%" PRIx64, id, sc->svma);
	}
}

static void *zeros(struct arena *a, size_t n_bytes)
{
	return memset(arena_alloc(a, n_bytes), 0, n_bytes);
}

/* The row of SC; made when it is not there yet. */
static struct set_row *find_row(struct matcher *m, unsigned k, const struct scope *sc,
				uint32_t common)
{
	struct arena *a = &m->r->arena;
	struct str key = {0};
	struct set_row *r;
	uint64_t hash;
	uint32_t i;

	add_key(m, k, sc, common, &key);
	hash = hash_str(key.v);
	i = index_find(&m->index, hash, key_same, m, key.v);
	if (i == INDEX_NONE) {
		i = (uint32_t)m->r->rows.n;
		index_add(&m->index, hash, i);
		vec_push(&m->keys, arena_strdup(a, key.v));
		r = vec_add(&m->r->rows);
		*r = (struct set_row){
			.kind = sc->kind,
			.image_kind = m->images.v[common].kind,
			.image = m->images.v[common].path,
			.procedure = sc->kind == SCOPE_IMAGE ? NULL : arena_strdup(a, sc->name),
			.line = sc->line,
			.svma = sc->svma,
			.n = zeros(a, m->r->n_sets * sizeof(*r->n)),
			.amount = zeros(a, m->r->n_sets * sizeof(*r->amount)),
		};
	}
	str_release(&key);
	r = &m->r->rows.v[i];
	if (sc->file)
		r->file = arena_strdup(a, sc->file);
	return r;
}

/* Adds the samples of set K. */
static int add_side(struct matcher *m, unsigned k, struct err *err)
{
	const struct scopes_opts so = {.level = m->level, .no_inline = true};
	struct query *q = m->r->sides[k].q;
	bool *used = xcalloc(q->profile->places.n + 1, sizeof(*used));
	struct scopes scopes;
	int rc;

	for (size_t i = 0; i < q->n_spots; i++)
		for (unsigned col = 0; col < q->n_cols; col++)
			used[q->spots[i].place] |=
				is_compared(m->r, q, col) && query_counts(q, &q->spots[i])[col] &&
				is_wanted(m, &m->images.v[m->image_of[k][q->spots[i].image]]);
	rc = scopes_init(&scopes, q, &so, used, err);
	for (size_t i = 0; !rc && i < q->n_spots; i++) {
		const uint64_t *counts = query_counts(q, &q->spots[i]);
		struct set_row *r;
		uint32_t n;

		if (!used[q->spots[i].place])
			continue;
		r = find_row(m, k,
			     &scopes.scopes.v[*scopes_of_place(&scopes, q->spots[i].place, &n)],
			     m->images.v[m->image_of[k][q->spots[i].image]].same_as);
		for (unsigned col = 0; col < q->n_cols; col++) {
			if (!is_compared(m->r, q, col))
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

int set_rows_init(struct set_rows *r, struct query *const *sets, unsigned n, enum scope_kind level,
		  const opt_list *images, struct err *err)
{
	struct matcher m = {.r = r, .level = level, .names = images};
	int rc = 0;

	*r = (struct set_rows){.n_sets = n};
	if (!sets[0]->n_cols)
		return err_set(err, -ENOENT, "the first set has no samples");
	r->event = event_name(sets[0], sets[0]->sort);
	r->is_time = sets[0]->cols[sets[0]->sort].is_time;
	r->sides = xcalloc(n, sizeof(*r->sides));
	m.image_of = xcalloc(n, sizeof(*m.image_of));
	for (unsigned k = 0; k < n && !rc; k++)
		rc = init_side(r, k, sets[k], err);
	if (!rc)
		rc = match_images(&m, err);
	for (unsigned k = 0; k < n && !rc; k++)
		rc = add_side(&m, k, err);
	for (unsigned k = 0; k < n; k++)
		free(m.image_of[k]);
	free(m.image_of);
	vec_release(&m.images);
	vec_release(&m.keys);
	index_release(&m.index);
	if (rc)
		set_rows_release(r);
	return rc;
}

void set_rows_release(struct set_rows *r)
{
	vec_release(&r->rows);
	free(r->sides);
	arena_release(&r->arena);
	*r = (struct set_rows){0};
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

int set_row_compare(const struct set_row *a, const struct set_row *b)
{
	int d = strcmp(a->image, b->image);

	d = d ? d : compare_text(a->procedure, b->procedure);
	d = d ? d : compare_text(a->file, b->file);
	if (!d && a->line != b->line)
		d = a->line < b->line ? -1 : 1;
	return d ? d : a->svma < b->svma ? -1 : a->svma > b->svma;
}

int set_rows_parse_by(const char *text, enum scope_kind *ret, struct err *err)
{
	static const struct {
		const char *name;
		enum scope_kind level;
	} words[] = {
		{"image", SCOPE_IMAGE},		{"dso", SCOPE_IMAGE},
		{"procedure", SCOPE_PROCEDURE}, {"symbol", SCOPE_PROCEDURE},
		{"sym", SCOPE_PROCEDURE},	{"line", SCOPE_LINE},
		{"srcline", SCOPE_LINE},	{"address", SCOPE_ADDRESS},
	};

	for (size_t i = 0; i < n_elems(words); i++) {
		if (strcmp(words[i].name, text) != 0)
			continue;
		*ret = words[i].level;
		return 0;
	}
	return err_set(err, -EINVAL, "--by %s: must be image, procedure, line or address", text);
}
