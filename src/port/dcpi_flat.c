/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_flat.h.  Flatten, sort, sum neighbours. */
#include "port/dcpi_flat.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"

static int by_key(const void *x, const void *y)
{
	const struct dcpi_row *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->idle != b->idle)
		return a->idle ? 1 : -1;
	return a->svma < b->svma ? -1 : a->svma > b->svma;
}

static bool wanted(const bool *list, uint32_t id)
{
	return !list || list[id];
}

bool dcpi_wants_event(const struct dcpi_filter *f, event_id event)
{
	return !f || wanted(f->events, event);
}

void dcpi_flatten(const struct profile *p, const struct dcpi_filter *f, bool split_idle,
		  dcpi_rows *out, uint64_t *n_placeless)
{
	const struct dcpi_filter all = {0};
	size_t n = 0;

	f = f ? f : &all;
	vec_each (v, &p->values) {
		const struct place *k = v->ctx ? profile_leaf(p, v->ctx) : NULL;
		const struct owner *o = &p->owners.v[v->owner];

		if (!v->count || !value_is_samples(p, v) || !wanted(f->owners, v->owner) ||
		    !wanted(f->events, v->event) || (k && !wanted(f->images, k->image)))
			continue;
		if (k)
			vec_push(out, (struct dcpi_row){.image = k->image,
							.label = o->label,
							.event = v->event,
							.idle = split_idle && o->flags & OWNER_IDLE,
							.svma = k->svma,
							.n = v->count});
		else if (n_placeless)
			n_placeless[v->event] += v->count;
	}
	vec_sort(out, by_key);
	for (size_t i = 0; i < out->n; i++) {
		if (n && by_key(&out->v[n - 1], &out->v[i]) == 0)
			out->v[n - 1].n += out->v[i].n;
		else
			out->v[n++] = out->v[i];
	}
	out->n = n;
}

size_t dcpi_rows_profile_end(const dcpi_rows *rows, size_t i)
{
	size_t end = i;

	while (end < rows->n && rows->v[end].image == rows->v[i].image &&
	       rows->v[end].label == rows->v[i].label)
		end++;
	return end;
}

void dcpi_image_id(const struct image *im, char ret[2 * BUILD_ID_MAX + 1])
{
	if (im->build_id.n_bytes)
		build_id_format(&im->build_id, ret);
	else
		snprintf(ret, 2 * BUILD_ID_MAX + 1, "%016" PRIx64,
			 hash_pair(hash_str(image_kind_name(im->kind)), hash_str(im->path)));
}

const char *dcpi_image_name(const struct image *im)
{
	const char *name = str_basename(im->path);

	return *name ? name : image_kind_name(im->kind);
}
