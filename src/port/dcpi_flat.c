/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_flat.h.  Flatten, sort, sum neighbours. */
#include "port/dcpi_flat.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"
#include "model/fact.h"

/* dcpicat prints inflight before retdelay; other counters come in order of their numbers. */
static unsigned counter_order(unsigned counter)
{
	if (counter != FACT_RETDELAY && counter != FACT_INFLIGHT)
		return counter;
	return counter == FACT_RETDELAY ? FACT_INFLIGHT : FACT_RETDELAY;
}

static int compare_vectors(const struct vector *a, const struct vector *b)
{
	if (a->known != b->known)
		return a->known < b->known ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (int)counter_order(a->counter) - (int)counter_order(b->counter);
}

static int by_key(const void *x, const void *y, void *profile)
{
	const struct dcpi_row *a = x, *b = y;
	const struct profile *p = profile;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->idle != b->idle)
		return a->idle ? 1 : -1;
	if (a->vector != b->vector)
		return compare_vectors(&p->vectors.v[a->vector], &p->vectors.v[b->vector]);
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

void dcpi_flatten(const struct profile *p, const struct dcpi_filter *f, unsigned split,
		  dcpi_rows *out, uint64_t *n_placeless)
{
	const bool split_idle = split & DCPI_SPLIT_IDLE, by_vector = split & DCPI_SPLIT_VECTORS;
	const struct dcpi_filter all = {0};
	size_t n = 0;

	f = f ? f : &all;
	vec_each (v, &p->values) {
		const struct place *k = v->ctx ? profile_leaf(p, v->ctx) : NULL;
		const struct owner *o = &p->owners.v[v->owner];

		if (!value_counts(v) || (!by_vector && !value_is_samples(p, v)) ||
		    !wanted(f->owners, v->owner) || !wanted(f->events, v->event) ||
		    (k && !wanted(f->images, k->image)))
			continue;
		if (!by_vector && !v->count)
			continue;
		if (k)
			vec_push(out, (struct dcpi_row){.image = k->image,
							.label = o->label,
							.event = v->event,
							.idle = split_idle && o->flags & OWNER_IDLE,
							.vector = by_vector ? v->vector : 0,
							.svma = k->svma,
							.n = v->count,
							.sum = v->sum});
		else if (n_placeless && value_is_samples(p, v))
			n_placeless[v->event] += v->count;
	}
	if (out->n > 1)
		qsort_r(out->v, out->n, sizeof(*out->v), by_key, (void *)p);
	for (size_t i = 0; i < out->n; i++) {
		if (n && by_key(&out->v[n - 1], &out->v[i], (void *)p) == 0) {
			out->v[n - 1].n += out->v[i].n;
			out->v[n - 1].sum += out->v[i].sum;
		} else {
			out->v[n++] = out->v[i];
		}
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
