/* SPDX-License-Identifier: BSD-2-Clause */
/* See late.h. */
#include "fleet/late.h"

#include <inttypes.h>
#include <string.h>

#include "resolve/symcache.h"

void fleet_names_release(struct fleet_names *n)
{
	resolver_free(n->resolver);
	fleet_ids_release(&n->asked);
	vec_release(&n->stamps);
	vec_release(&n->late);
}

/* The stamp of an image whose file was not read, since its recorder would keep its symbols. */
#define LATE_WAITING 1

static uint64_t stamp_of(struct fleet_names *n, const struct build_id *id)
{
	const uint64_t key = hash_bytes(id->bytes, id->n_bytes);
	const uint32_t i = fleet_ids_find(&n->asked, key);

	if (i != FLEET_NO_NUMBER)
		return n->stamps.v[i];
	fleet_ids_add(&n->asked, key, (uint32_t)n->stamps.n);
	vec_push(&n->stamps, n->images ? symcache_stamp(n->images, id) : 0);
	return n->stamps.v[n->stamps.n - 1];
}

bool fleet_names_wait(struct fleet_names *n, const struct image *im)
{
	return n->is_live && im->build_id.n_bytes && !stamp_of(n, &im->build_id);
}

void fleet_names_look(struct fleet_names *n, const struct image *im)
{
	if (im->build_id.n_bytes)
		stamp_of(n, &im->build_id);
}

bool late_has(const late_images *l, const struct late_image *im)
{
	vec_each (i, l)
		if (i->recording == im->recording && i->stamp == im->stamp &&
		    build_id_same(&i->id, &im->id))
			return true;
	return false;
}

void fleet_names_note(struct fleet_names *n, const struct image *im)
{
	struct late_image new = {.recording = n->recording, .id = im->build_id};

	if (!im->build_id.n_bytes)
		return;
	new.stamp = fleet_names_wait(n, im) ? LATE_WAITING : stamp_of(n, &im->build_id);
	if (n->late.n < LATE_MOST && !late_has(&n->late, &new))
		vec_push(&n->late, new);
}

bool fleet_names_want(const struct fleet_names *n, const struct image *im)
{
	if (!n->wanted)
		return true;
	vec_each (i, n->wanted)
		if (build_id_same(&i->id, &im->build_id))
			return true;
	return false;
}

static bool is_due(const struct late_image *im, struct fleet_names *n)
{
	const uint64_t stamp = stamp_of(n, &im->id);

	return im->stamp == LATE_WAITING ? stamp || !n->is_live : stamp != im->stamp;
}

void late_take_due(late_images *l, struct fleet_names *n, uint64_t mark, late_images *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct late_image im = l->v[i];

		if (im.recording == mark && is_due(&im, n))
			vec_push(ret, im);
		else
			l->v[kept++] = im;
	}
	l->n = kept;
}

void late_parse(late_images *l, const char *mark, char *rest)
{
	char *save = NULL;
	const char *stamp = strtok_r(rest, " ", &save);
	struct late_image new;

	if (stamp && l->n < LATE_MOST && str_parse_u64(mark, 16, &new.recording) >= 0 &&
	    str_parse_u64(stamp, 16, &new.stamp) >= 0 && build_id_parse(save, &new.id) >= 0)
		vec_push(l, new);
}

void late_format(struct str *s, const struct late_image *im)
{
	char hex[2 * BUILD_ID_MAX + 1];

	build_id_format(&im->id, hex);
	str_addf(s, "late %016" PRIx64 " %016" PRIx64 " %s\n", im->recording, im->stamp, hex);
}
