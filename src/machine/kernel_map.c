/* SPDX-License-Identifier: BSD-2-Clause */
/* See kernel_map.h.  Ranges may nest (a BPF program inside the module area):
 * the latest start wins. */
#include "machine/kernel_map.h"
#include "base/lower_bound.h"

#include <string.h>

void kernel_map_init(struct kernel_map *k, struct profile *p)
{
	*k = (struct kernel_map){.profile = p};
}

void kernel_map_release(struct kernel_map *k)
{
	vec_release(&k->v);
}

/* Number of pieces that start at or before IP. */
static size_t kernel_map_upper(const struct kernel_map *k, uint64_t ip)
{
	return lower_bound(i, 0, k->v.n, k->v.v[i].start <= ip);
}

static void insert(struct kernel_map *k, const struct kernel_piece *piece)
{
	size_t at = kernel_map_upper(k, piece->start);

	vec_reserve(&k->v, 1);
	memmove(&k->v.v[at + 1], &k->v.v[at], (k->v.n - at) * sizeof(*k->v.v));
	k->v.v[at] = *piece;
	k->v.n++;
}

void kernel_map_add(struct kernel_map *k, const struct kernel_range *r)
{
	struct kernel_piece piece = {
		.start = r->start, .end = r->end, .svma = r->svma, .desc = r->image};
	size_t i = kernel_map_upper(k, r->start);

	piece.desc.path = profile_str(k->profile, profile_intern_str(k->profile, r->image.path));
	if (i && k->v.v[i - 1].end > r->start) { /* cut the one before, keep its tail */
		struct kernel_piece *before = &k->v.v[i - 1], tail = *before;

		before->end = r->start;
		if (tail.end > r->end) {
			tail.svma += r->end - tail.start;
			tail.start = r->end;
			insert(k, &tail);
		}
	}
	for (i = 0; i < k->v.n;) { /* and those it covers or was left empty */
		struct kernel_piece *p = &k->v.v[i];

		if (p->start >= r->start && p->start < r->end && p->end > r->end) {
			p->svma += r->end - p->start;
			p->start = r->end;
		}
		if ((p->start >= r->start && p->end <= r->end) || p->start >= p->end) {
			memmove(p, p + 1, (k->v.n - i - 1) * sizeof(*p));
			k->v.n--;
		} else {
			i++;
		}
	}
	if (r->start < r->end)
		insert(k, &piece);
}

static struct kernel_piece *kernel_map_find(const struct kernel_map *k, uint64_t ip)
{
	size_t i = kernel_map_upper(k, ip);

	return i && ip < k->v.v[i - 1].end ? &k->v.v[i - 1] : NULL;
}

bool kernel_map_place(struct kernel_map *k, uint64_t ip, place_id *ret)
{
	struct kernel_piece *p = kernel_map_find(k, ip);

	while (!p && k->learn && k->learn(k->learn_ctx, ip))
		p = kernel_map_find(k, ip);
	if (!p)
		return false;
	if (!p->has_image) {
		p->image = profile_intern_image(k->profile, &p->desc);
		p->has_image = true;
	}
	*ret = profile_intern_place(k->profile, p->image, p->svma + (ip - p->start), 0);
	return true;
}
