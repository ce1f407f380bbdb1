/* SPDX-License-Identifier: BSD-2-Clause */
/* What the walker asks for: which file it means, and that its table is built. */
#include "collect/calls/unwinds_impl.h"

#include "machine/procfs.h"

#define MAX_ASKED 256

/* The slot of the file that R means, or the free one where it belongs; NULL when there is none. */
static struct image_key *find_key(const struct unwinds *u, const struct image_request *r)
{
	uint32_t h = image_key_hash(r->ino, r->dev, r->generation);

	for (uint32_t i = 0; i < IMAGE_PROBES; i++) {
		struct image_key *k = &u->keys[(h + i) & (u->n_keys - 1)];

		if (!k->number ||
		    (k->ino == r->ino && k->dev == r->dev && k->generation == r->generation))
			return k;
	}
	return NULL;
}

/* include/linux/kdev_t.h: MAJOR is the upper 12 bits, MINOR the lower 20; struct images has them in
 * 32 bits each, as the sideband tells them. */
static uint64_t wide_dev(uint32_t dev)
{
	return (uint64_t)(dev >> 20) << 32 | (dev & 0xfffff);
}

static uint32_t narrow_dev(uint64_t dev)
{
	return (uint32_t)(dev >> 32 << 20 | (dev & 0xfffff));
}

struct mapping_search {
	struct unwinds *u;
	const struct image_request *r;
	uint32_t code;
};

static void match_mapping(void *ctx, const struct procfs_map *m)
{
	struct mapping_search *s = ctx;

	/* By now the process may run another program, or another process have its number.  On some
	 * file systems (overlayfs) the kernel tells users another device and inode than it has. */
	if (m->dev == wide_dev(s->r->dev) && m->ino != s->r->ino)
		return;
	if (m->start <= s->r->start && s->r->start < m->end)
		s->code = images_intern(s->u->images, &(struct image_ref){.dev = m->dev,
									  .ino = m->ino,
									  .path = m->path,
									  .pid = s->r->tgid,
									  .start = m->start,
									  .end = m->end});
}

/* The code of the file that R means: told by the sideband, most often just now, or by the process
 * that maps it. */
static uint32_t find_code(struct unwinds *u, const struct image_request *r)
{
	struct mapping_search s = {.u = u, .r = r, .code = INDEX_NONE};

	for (size_t i = u->images->codes.n; i-- > 0;) {
		const struct mapped_code *c = &u->images->codes.v[i];

		if (c->ino == r->ino && c->dev == wide_dev(r->dev) &&
		    c->ino_generation == r->generation)
			return (uint32_t)i;
	}
	if (r->tgid)
		procfs_each_map(r->tgid, match_mapping, &s);
	return s.code;
}

enum served {
	SERVED,
	SERVED_IN_VAIN, /* it will be asked for again */
	NOT_SERVED,	/* its file is not known (yet) */
};

static enum served unwinds_requests_serve(struct unwinds *u, const struct image_request *r)
{
	struct image_key *key = find_key(u, r);
	const struct shared_table *t;
	uint32_t number, code;

	if (!key) {
		u->stats.n_not_numbered++;
		return SERVED_IN_VAIN;
	}
	number = key->number;
	if (!number) {
		code = find_code(u, r);
		if (code == INDEX_NONE)
			return NOT_SERVED;
		/* Generated code: what it is depends on the process, so frames are addresses. */
		if (u->images->codes.v[code].kind == CODE_ANON)
			return SERVED_IN_VAIN;
		number = unwinds_number(u, code);
		if (!number)
			return SERVED_IN_VAIN;
		key->ino = r->ino;
		key->dev = r->dev;
		key->generation = r->generation;
	}
	unwinds_want_table(u, &u->tables.v[u->table_of[number] - 1], r->tgid);
	__atomic_store_n(&key->number, number, __ATOMIC_RELEASE);
	t = &u->tables.v[u->table_of[number] - 1];
	return t->wanted || t->state == TABLE_READY ? SERVED : SERVED_IN_VAIN;
}

static bool same_file(const struct image_request *a, const struct image_request *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->generation == b->generation;
}

bool unwinds_serve(struct unwinds *u, const struct image_request *r)
{
	enum served served = unwinds_requests_serve(u, r);

	if (served != NOT_SERVED)
		return served == SERVED;
	vec_each (a, &u->asked)
		if (same_file(a, r))
			return false;
	if (u->asked.n < MAX_ASKED)
		vec_push(&u->asked, *r);
	else
		u->stats.n_unknown++;
	return false;
}

size_t unwinds_serve_again(struct unwinds *u)
{
	size_t n = 0;

	vec_each (r, &u->asked)
		if (unwinds_requests_serve(u, r) == NOT_SERVED)
			u->asked.v[n++] = *r;
	return u->asked.n = n;
}

void unwinds_tell(struct unwinds *u, uint32_t code)
{
	const struct mapped_code *c = &u->images->codes.v[code];
	struct image_request r = {.ino = c->ino, .dev = narrow_dev(c->dev)};
	struct image_key *key;
	uint32_t number = unwinds_number_of(u, code);

	if (!number || !images_generation(u->images, code, &r.generation))
		return;
	key = find_key(u, &r);
	if (!key || key->number)
		return;
	key->ino = r.ino;
	key->dev = r.dev;
	key->generation = r.generation;
	__atomic_store_n(&key->number, number, __ATOMIC_RELEASE);
}

uint32_t unwinds_number_of(struct unwinds *u, uint32_t code)
{
	uint32_t *number = vec_at(&u->number_of, code);

	if (*number)
		return *number;
	if (u->images->codes.v[code].kind == CODE_VDSO)
		return *number = IMAGE_NUMBER_VDSO;
	for (uint32_t n = IMAGE_NUMBER_VDSO + 1; n < u->images->numbered.n; n++)
		if (u->images->numbered.v[n] == code && u->table_of[n])
			return *number = n; /* the walker asked for it */
	return *number = unwinds_number(u, code);
}

void unwinds_region(struct unwinds *u, const struct mapping *m, struct walk_region *ret)
{
	const enum mapped_kind kind = u->images->codes.v[m->code].kind;
	uint32_t number;

	*ret = (struct walk_region){.start = m->start, .end = m->end, .bias = m->off - m->start};
	if (kind == CODE_ANON)
		return; /* .image is WALK_ANONYMOUS */
	if (kind == CODE_VDSO)
		ret->bias = -m->start;
	number = unwinds_number_of(u, m->code);
	ret->image = number ? number : WALK_UNKNOWN_FILE;
}

enum table_hope unwinds_ask(struct unwinds *u, uint32_t number, uint32_t pid)
{
	struct shared_table *t;

	if (!u->table_of[number])
		return TABLE_IS_NOT_COMING;
	t = &u->tables.v[u->table_of[number] - 1];
	unwinds_want_table(u, t, pid);
	if (t->state == TABLE_READY || t->state == TABLE_FAILED)
		return TABLE_IS_THERE;
	return t->wanted || t->state == TABLE_WAITING ? TABLE_IS_COMING : TABLE_IS_NOT_COMING;
}
