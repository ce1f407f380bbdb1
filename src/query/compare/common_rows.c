/* SPDX-License-Identifier: BSD-2-Clause */
/* See common_rows.h.  A row's texts are its key in one hash table. */
#include "query/compare/common_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

void common_rows_init(struct common_rows *c, struct set_rows *r, const opt_list *names)
{
	*c = (struct common_rows){.r = r, .names = names};
	c->image_of = xcalloc(r->n_sets, sizeof(*c->image_of));
	c->n_images = xcalloc(r->n_sets, sizeof(*c->n_images));
}

void common_rows_release(struct common_rows *c)
{
	for (unsigned k = 0; k < c->r->n_sets; k++)
		free(c->image_of[k]);
	free(c->image_of);
	free(c->n_images);
	vec_release(&c->images);
	vec_release(&c->keys);
	index_release(&c->index);
}

void common_rows_size(struct common_rows *c, unsigned k, uint32_t n_images)
{
	c->n_images[k] = n_images;
	c->image_of[k] = xcalloc((size_t)n_images + 1, sizeof(uint32_t));
	for (uint32_t im = 0; im < n_images; im++)
		c->image_of[k][im] = INDEX_NONE;
}

/* --- images --- */

static bool may_be_kind(const char *a, const char *b)
{
	return a == b || !a || !b;
}

void common_image_add(struct common_rows *c, unsigned k, uint32_t image, const char *kind,
		      const char *path, const char *build)
{
	struct common_image *found = NULL;

	vec_each (i, &c->images)
		if (may_be_kind(i->kind, kind) && strcmp(i->path, path) == 0)
			found = i;
	if (!found) {
		found = vec_add(&c->images);
		found->path = path;
		found->same_as = (uint32_t)(found - c->images.v);
		found->build = arena_strdup(&c->r->arena, build);
	}
	found->kind = found->kind ? found->kind : kind;
	found->last_set = k;
	found->is_rebuilt |= strcmp(found->build, build) != 0;
	c->image_of[k][image] = (uint32_t)(found - c->images.v);
}

static bool may_be_one(const struct common_image *a, const struct common_image *b)
{
	return may_be_kind(a->kind, b->kind) &&
	       strcmp(str_basename(a->path), str_basename(b->path)) == 0;
}

/* Whether a set has two images that may be one with entry FIRST. */
static bool is_ambiguous(const struct common_rows *c, const struct common_image *first)
{
	for (unsigned k = 0; k < c->r->n_sets; k++) {
		uint32_t found = INDEX_NONE;

		for (uint32_t im = 0; im < c->n_images[k]; im++) {
			uint32_t i = c->image_of[k][im];

			if (i == INDEX_NONE || !may_be_one(first, &c->images.v[i]))
				continue;
			if (found != INDEX_NONE && found != i)
				return true;
			found = i;
		}
	}
	return false;
}

/* Makes entry I stand for those behind it that may be one with it. */
static void join_with(struct common_rows *c, uint32_t i)
{
	struct common_image *first = &c->images.v[i];

	for (uint32_t j = i + 1; j < c->images.n; j++) {
		struct common_image *other = &c->images.v[j];

		if (!may_be_one(first, other))
			continue;
		other->same_as = i;
		first->is_rebuilt |= other->is_rebuilt || strcmp(first->build, other->build) != 0;
		if (other->last_set >= first->last_set) {
			first->last_set = other->last_set;
			first->path = other->path;
		}
	}
}

void common_images_join(struct common_rows *c)
{
	for (uint32_t i = 0; i < c->images.n; i++) {
		struct common_image *first = &c->images.v[i];
		bool alone = true;

		for (uint32_t j = i + 1; j < c->images.n && alone; j++)
			alone = !may_be_one(first, &c->images.v[j]);
		if (!alone && first->same_as == i && !is_ambiguous(c, first))
			join_with(c, i);
	}
	vec_each (i, &c->images) {
		if (i->same_as != (uint32_t)(i - c->images.v) || !i->is_rebuilt)
			continue;
		c->r->n_rebuilt++;
		c->r->rebuilt = i->path;
	}
}

static const struct common_image *image_entry(const struct common_rows *c, unsigned k,
					      uint32_t image)
{
	return &c->images.v[c->images.v[c->image_of[k][image]].same_as];
}

bool common_image_is_wanted(const struct common_rows *c, unsigned k, uint32_t image)
{
	return !c->names || !c->names->n || image_entry(c, k, image)->is_wanted;
}

uint32_t common_image_in(const struct common_rows *c, unsigned k, uint32_t image, unsigned to)
{
	const struct common_image *entry = image_entry(c, k, image);

	for (uint32_t im = 0; im < c->n_images[to]; im++)
		if (c->image_of[to][im] != INDEX_NONE && image_entry(c, to, im) == entry)
			return im;
	return INDEX_NONE;
}

/* --- rows --- */

static bool row_key_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct common_rows *)owner)->keys.v[i], key) == 0;
}

/* What tells SC, whose image is entry number COMMON, from others. */
static void add_row_key(const struct scope *sc, uint32_t common, const char *build,
			const struct line_key *line, struct str *key)
{
	str_addf(key, "%" PRIu32, common);
	if (sc->kind != SCOPE_IMAGE)
		str_addf(key, "\n%s", sc->name);
	if (line)
		str_addf(key, "\n%s\n%s%s%" PRIu32, line->file ? str_basename(line->file) : "",
			 line->is_new ? "new " : "", line->declared ? "+" : "",
			 line->line - line->declared);
	if (sc->kind == SCOPE_ADDRESS)
		str_addf(key, "\n%s\n%" PRIx64, build, sc->svma);
}

struct set_row *common_row_find(struct common_rows *c, unsigned k, const struct scope *sc,
				uint32_t image, const char *build, const struct line_key *line)
{
	const struct common_image *entry = image_entry(c, k, image);
	struct arena *a = &c->r->arena;
	const unsigned n_sets = c->r->n_sets;
	struct str key = {0};
	struct set_row *r;
	uint64_t hash;
	uint32_t i;

	add_row_key(sc, (uint32_t)(entry - c->images.v), build, line, &key);
	hash = hash_str(key.v);
	i = index_find(&c->index, hash, row_key_same, c, key.v);
	if (i == INDEX_NONE) {
		i = (uint32_t)c->r->rows.n;
		index_add(&c->index, hash, i);
		vec_push(&c->keys, arena_strdup(a, key.v));
		r = vec_add(&c->r->rows);
		*r = (struct set_row){
			.kind = sc->kind,
			.image_kind = entry->kind,
			.image = entry->path,
			.procedure = sc->kind == SCOPE_IMAGE ? NULL : arena_strdup(a, sc->name),
			.line = sc->line,
			.svma = sc->svma,
			.n = arena_calloc(a, n_sets, sizeof(*r->n)),
			.amount = arena_calloc(a, n_sets, sizeof(*r->amount)),
			.open = arena_calloc(a, n_sets, sizeof(*r->open)),
			.worth = arena_calloc(a, n_sets, sizeof(*r->worth)),
			.sums = arena_calloc(a, n_sets, sizeof(*r->sums)),
		};
	}
	str_release(&key);
	r = &c->r->rows.v[i];
	r->line = sc->line;
	if (sc->file)
		r->file = arena_strdup(a, sc->file);
	return r;
}
