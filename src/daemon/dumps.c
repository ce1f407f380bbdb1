/* SPDX-License-Identifier: BSD-2-Clause */
/* See dumps.h.
 *
 * A dump belongs to the file, not to the process: one that forks shares with its child the code it
 * had generated.  It is read in a cycle when the first sample of that cycle falls into code it may
 * tell of, so a process that runs no generated code costs nothing.  What a dump says follows from
 * its bytes alone (jitcode.h), so it can be forgotten and read again. */
#include "daemon/dumps.h"

#include "base/hash.h"
#include "base/str.h"
#include "resolve/jitcode.h"

struct dump {
	uint32_t code;	     /* number in struct images */
	uint32_t cycle;	     /* of the last sample; 0: there was none */
	bool unread;	     /* nothing in it could be used: it is something else */
	bool used;	     /* since it was last settled */
	image_id image;	     /* when there was a sample */
	struct jitcode *jit; /* NULL: forgotten */
	uint32_t n_replaced; /* of jit, when it was last asked */
};

/* A dump's identity is this recording's own, like that of code of perf maps. */
static image_id add_image(const struct procs *ps, const struct proc *p, uint32_t code)
{
	const uint64_t id[] = {ps->salt, hash_pair(~ps->salt, code)};
	struct image im = {.kind = IMAGE_JIT, .flags = IMAGE_HASHED};
	struct str path = {0};
	image_id ret;

	im.build_id.n_bytes = sizeof(id);
	memcpy(im.build_id.bytes, id, sizeof(id));
	str_addf(&path, "[jit] %s", profile_str(ps->profile, p->comm));
	im.path = str_get(&path);
	ret = profile_intern_image(ps->profile, &im);
	str_release(&path);
	return ret;
}

static struct dump *get_dump(struct dumps *ds, uint32_t code)
{
	struct dump *d;

	vec_each (known, &ds->v)
		if ((*known)->code == code)
			return *known;
	d = xcalloc(1, sizeof(*d));
	d->code = code;
	vec_push(&ds->v, d);
	return d;
}

/* Reads what was written, and was so by UNTIL_NS. */
static void read_dump(struct dump *d, const struct procs *ps, uint64_t until_ns)
{
	int fd = ps->images->codes.v[d->code].fd;

	if (!d->jit)
		d->jit = jitcode_new();
	/* After an error what was read before it is good, and nothing more comes. */
	if (fd < 0 || (jitcode_read(d->jit, fd, until_ns, NULL) < 0 && !jitcode_at(d->jit)))
		d->unread = true;
}

static bool find(struct frame_source *s, const struct frame_query *q, struct frame_place *ret)
{
	struct dumps *ds = (struct dumps *)s; /* its first member */
	struct procs *ps = q->procs;
	const struct proc *p = &ps->v.v[q->proc];
	struct dump *d;

	if (!p->dump || !q->map || ps->images->codes.v[q->map->code].kind != CODE_ANON)
		return false;
	d = get_dump(ds, p->dump - 1);
	if (!d->unread &&
	    (d->cycle != ps->cycle || !d->jit || jitcode_next_ns(d->jit) <= q->time_ns))
		read_dump(d, ps, q->time_ns);
	if (d->unread)
		return false;
	ps->n_changes += jitcode_n_replaced(d->jit) - d->n_replaced;
	d->n_replaced = jitcode_n_replaced(d->jit);
	if (!d->cycle)
		d->image = add_image(ps, p, d->code);
	d->cycle = ps->cycle;
	d->used = true;
	ret->image = d->image;
	ret->svma = jitcode_svma(d->jit, q->avma);
	return true;
}

struct frame_source *dumps_init(struct dumps *d)
{
	*d = (struct dumps){.source = {.find = find}};
	return &d->source;
}

void dumps_release(struct dumps *ds)
{
	vec_each (d, &ds->v) {
		jitcode_free((*d)->jit);
		free(*d);
	}
	vec_release(&ds->v);
}

static void save(struct dump *d, const struct procs *ps, struct resolver *r)
{
	struct symtab st;

	read_dump(d, ps, UINT64_MAX);
	jitcode_symbols(d->jit, &st);
	resolver_save_symtab(r, &ps->profile->images.v[d->image], &st, NULL);
	symtab_release(&st);
}

void dumps_save(struct dumps *ds, const struct procs *ps, struct resolver *r)
{
	vec_each (d, &ds->v)
		if (!(*d)->unread && (*d)->jit)
			save(*d, ps, r);
}

void dumps_settle(struct dumps *ds, const struct procs *ps, struct resolver *r)
{
	vec_each (d, &ds->v) {
		if (!(*d)->unread && (*d)->jit && !(*d)->used) {
			save(*d, ps, r);
			jitcode_free((*d)->jit);
			(*d)->jit = NULL;
			(*d)->n_replaced = 0;
		}
		(*d)->used = false;
	}
}
