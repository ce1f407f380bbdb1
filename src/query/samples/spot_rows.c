/* SPDX-License-Identifier: BSD-2-Clause */
/* See spot_rows.h.
 *
 * Spots come sorted by image and address and procedures do not overlap, so each procedure's spots
 * are neighbours: one walk, one symbol look-up per procedure, no hashing.  Only the rest of a
 * procedure behind one nested in it joins a row made earlier.
 *
 * Example: main is [401000, 401017), work is [401017, 40101f); samples of one event:
 *     spots    401000: 4   401005: 1   401017: 3
 *     401000   symtab_find: main.  A row for main, counts = 4
 *     401005   lies before main's end: no look-up; main's counts = 5
 *     401017   does not: symtab_find: work.  A row for work, counts = 3
 *     rows     main 5, work 3; of_place, if asked for, says 0, 0, 1; total 8
 * An address that no symbol covers goes to one row per image, with proc == PROC_NONE.  Rows by
 * owner and inclusive counts need contexts: paths.c goes on with this example. */
#include "query/samples/spot_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* --- what rows are --- */

static unsigned find_key(const char *name, size_t n)
{
	static const struct {
		const char *name;
		unsigned key;
	} words[] = {
		{"image", ROW_KEY_IMAGE},	  {"dso", ROW_KEY_IMAGE},
		{"procedure", ROW_KEY_PROCEDURE}, {"symbol", ROW_KEY_PROCEDURE},
		{"sym", ROW_KEY_PROCEDURE},	  {"function", ROW_KEY_PROCEDURE},
	};
	enum owner_key owner = owner_key_find(name, n);

	for (size_t i = 0; i < n_elems(words); i++)
		if (strlen(words[i].name) == n && memcmp(words[i].name, name, n) == 0)
			return words[i].key;
	return owner == N_OWNER_KEYS ? N_ROW_KEYS : (unsigned)owner;
}

static void remove_key(struct row_by *by, unsigned key)
{
	unsigned n = 0;

	for (unsigned i = 0; i < by->n; i++)
		if (by->keys[i] != key)
			by->keys[n++] = by->keys[i];
	by->n = n;
}

int rows_parse_by(const char *text, struct row_by *ret, struct err *err)
{
	struct row_by by = {0};

	for (const char *s = text, *end; s; s = *end ? end + 1 : NULL) {
		size_t n = strcspn(s, ",");
		unsigned key = find_key(s, n);
		bool again = false;

		end = s + n;
		if (key == N_ROW_KEYS)
			return err_set(err, -EINVAL,
				       "--by %.*s: must be image, procedure, comm, pid, tid, "
				       "cgroup, unit, container, pod, namespace, image-tag, "
				       "version, tenant, label, uid, exe, host, or several with "
				       "commas",
				       (int)n, s);
		for (unsigned i = 0; i < by.n; i++)
			again |= by.keys[i] == key;
		if (!again)
			by.keys[by.n++] = key;
	}
	if (rows_code_key(&by) == ROW_KEY_PROCEDURE)
		remove_key(&by, ROW_KEY_IMAGE);
	*ret = by;
	return 0;
}

unsigned rows_code_key(const struct row_by *by)
{
	unsigned found = 0;

	for (unsigned i = 0; i < by->n; i++)
		if (by->keys[i] >= N_OWNER_KEYS && by->keys[i] > found)
			found = by->keys[i];
	return found;
}

/* --- rows of spots --- */

uint64_t *rows_new_counts(struct query *q)
{
	return arena_calloc(&q->arena, q->n_cols, sizeof(uint64_t));
}

static void add_counts(const struct query *q, uint64_t *to, const struct spot *s)
{
	const uint64_t *from = query_counts(q, s);

	for (unsigned c = 0; c < q->n_cols; c++)
		to[c] += from[c];
}

void rows_find_total(const struct query *q, struct spot_rows *r)
{
	r->total = 0;
	vec_each (row, &r->rows)
		r->total += q->n_cols ? row->counts[q->sort] : 0;
}

/* The row of image IM for its spots [SPOTS, END). */
static void image_row(struct query *q, image_id im, const struct spot *spots,
		      const struct spot *end, struct spot_rows *ret, uint32_t *of_place)
{
	uint64_t *counts = rows_new_counts(q);

	for (const struct spot *s = spots; s < end; s++) {
		add_counts(q, counts, s);
		if (of_place)
			of_place[s->place] = (uint32_t)ret->rows.n;
	}
	vec_push(&ret->rows, (struct spot_row){im, PROC_NONE, 0, .counts = counts});
}

/* The row of this image, made since FIRST_ROW, that the spots of P go to; ROW_NONE when there is
 * none yet. */
static uint32_t find_row(const struct spot_rows *r, size_t first_row, const struct procedure *p,
			 const struct symtab *st)
{
	for (size_t i = r->rows.n; i-- > first_row;) {
		const struct spot_row *row = &r->rows.v[i];

		if (row->proc == p->index)
			return (uint32_t)i;
		if (row->proc != PROC_NONE && (p->flags & PROC_REST) &&
		    strcmp(symtab_get(st, row->proc).name, p->name) == 0)
			return (uint32_t)i;
	}
	return ROW_NONE;
}

/* A rest that has samples without its beginning having any is a row under its own entry. */
static void procedure_rows(struct query *q, image_id im, const struct spot *spots,
			   const struct spot *end, struct spot_rows *ret, uint32_t *of_place)
{
	const struct symtab *st = resolver_image(q->resolver, &q->profile->images.v[im])->symtab;
	struct procedure p = {.index = PROC_NONE};
	uint32_t row = ROW_NONE, bare = ROW_NONE;
	size_t first_row = ret->rows.n;

	for (const struct spot *s = spots; s < end; s++) {
		if (p.index == PROC_NONE || s->svma >= p.end) {
			uint32_t at = symtab_find(st, s->svma);

			p = (struct procedure){.index = PROC_NONE};
			row = bare;
			if (at != PROC_NONE) {
				p = symtab_get(st, at);
				row = p.flags & PROC_REST ? find_row(ret, first_row, &p, st)
							  : ROW_NONE;
			}
		}
		if (row == ROW_NONE) {
			row = (uint32_t)ret->rows.n;
			if (p.index == PROC_NONE)
				bare = row;
			vec_push(&ret->rows,
				 (struct spot_row){im, p.index,
						   p.index == PROC_NONE ? s->svma : p.start,
						   .counts = rows_new_counts(q)});
		}
		add_counts(q, (uint64_t *)ret->rows.v[row].counts, s);
		if (of_place)
			of_place[s->place] = row;
	}
}

void rows_of_spots(struct query *q, unsigned key, const image_ids *images, const struct spot *spots,
		   size_t n, struct spot_rows *ret, uint32_t *ret_of_place)
{
	const struct spot *end = spots + n, *next;

	for (const struct spot *s = spots; s < end; s = next) {
		for (next = s; next < end && next->image == s->image;)
			next++;
		if (!image_ids_want(images, s->image))
			continue;
		if (key == ROW_KEY_IMAGE) {
			image_row(q, s->image, s, next, ret, ret_of_place);
		} else {
			procedure_rows(q, s->image, s, next, ret, ret_of_place);
			resolver_rest(q->resolver, &q->profile->images.v[s->image]);
		}
	}
	rows_find_total(q, ret);
}

void rows_by_image(struct query *q, const image_ids *images, struct spot_rows *ret)
{
	rows_of_spots(q, ROW_KEY_IMAGE, images, q->spots, q->n_spots, ret, NULL);
}

void rows_by_procedure(struct query *q, const image_ids *images, struct spot_rows *ret)
{
	rows_of_spots(q, ROW_KEY_PROCEDURE, images, q->spots, q->n_spots, ret, NULL);
}

void rows_by_spot(struct query *q, const image_ids *images, struct spot_rows *ret)
{
	for (size_t i = 0; i < q->n_spots; i++) {
		const struct spot *s = &q->spots[i];

		if (image_ids_want(images, s->image))
			vec_push(&ret->rows, (struct spot_row){s->image, PROC_NONE, s->svma,
							       .counts = query_counts(q, s)});
	}
	rows_find_total(q, ret);
}

void rows_release(struct spot_rows *r)
{
	vec_release(&r->rows);
}

/* --- names --- */

const char *rows_procedure_name(struct query *q, image_id image, uint32_t proc, bool *ret_nameless)
{
	const struct image *im = &q->profile->images.v[image];
	const struct symtab *st;

	*ret_nameless = im->kind != IMAGE_MARK;
	if (im->kind == IMAGE_MARK)
		return im->path;
	if (im->kind == IMAGE_UNKNOWN)
		return "[unknown]";
	if (proc == PROC_NONE)
		return "[no symbol]";
	st = resolver_image(q->resolver, im)->symtab;
	*ret_nameless = symtab_get(st, proc).flags & PROC_UNNAMED;
	return arena_strdup(&q->arena, resolver_name(q->resolver, im, proc, true));
}

/* One image after the other, though the rows are mixed, and with copies of the names: so that only
 * one image's symbols are in memory at a time. */
void rows_name(struct query *q, struct spot_rows *r)
{
	const size_t n_images = q->profile->images.n;
	bool *has_rows = xcalloc(n_images + 1, sizeof(*has_rows));

	vec_each (row, &r->rows)
		if (row->image != ROW_NO_IMAGE)
			has_rows[row->image] = true;
	for (image_id im = 0; im < n_images; im++) {
		if (!has_rows[im])
			continue;
		vec_each (row, &r->rows)
			if (row->image == im)
				row->procedure =
					rows_procedure_name(q, im, row->proc, &row->nameless);
		resolver_rest(q->resolver, &q->profile->images.v[im]);
	}
	free(has_rows);
}
