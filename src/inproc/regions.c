/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions for all text of this process.  Buffers come from mmap(2): a program of a hundred
 * megabytes has as much or more of them, and only what is counted in takes memory. */
#include "inproc/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "dwell/dwell.h"
#include "inproc/drain.h"
#include "inproc/export.h"
#include "inproc/sprofil.h"

enum { MAX_BUCKET_BYTES = 65536 };

uint64_t text_count(const struct dwell_regions *r, const struct text *t, size_t i)
{
	uint64_t n = 0;

	memcpy(&n, (const uint8_t *)t->counts + i * r->elem_bytes, r->elem_bytes);
	return n; /* little-endian machines only */
}

/* What is mapped. */

struct update {
	struct dwell_regions *r;
	int n_new; /* -ENOMEM */
};

static struct text *new_text(struct dwell_regions *r)
{
	if (r->n_texts == r->n_room) {
		size_t n = r->n_room ? 2 * r->n_room : 32;
		struct text *texts = realloc(r->texts, n * sizeof(*texts));

		if (!texts)
			return NULL;
		r->texts = texts;
		r->n_room = n;
	}
	return &r->texts[r->n_texts];
}

static int add_text(struct dwell_regions *r, const struct loaded_mapping *m)
{
	struct text *t = new_text(r);
	/* gprof counts in pairs of bytes: a region has an even number */
	unsigned unit = r->bucket_bytes > 2 ? r->bucket_bytes : 2;

	if (!t)
		return -ENOMEM;
	*t = (struct text){
		.start = m->start, .end = m->end, .off = m->off, .dev = m->dev, .ino = m->ino};
	mapped_describe(m, &t->code);
	t->n_counts = (m->end - m->start + unit - 1) / unit * unit / r->bucket_bytes;
	t->n_bytes = t->n_counts * r->elem_bytes;
	t->path = strdup(m->path);
	t->counts = t->path ? mmap(NULL, t->n_bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
			    : MAP_FAILED;
	if (t->counts == MAP_FAILED) {
		free(t->path);
		return -ENOMEM;
	}
	r->n_texts++;
	return 0;
}

static void take_mapping(void *ctx, const struct loaded_mapping *m)
{
	struct update *u = ctx;
	int e;

	if (!m->is_code || u->n_new < 0 || (!m->ino && strcmp(m->path, "[vdso]") != 0))
		return;
	for (size_t i = 0; i < u->r->n_texts; i++) {
		struct text *t = &u->r->texts[i];

		if (t->start == m->start && t->off == m->off && t->dev == m->dev &&
		    t->ino == m->ino && t->end == m->end) {
			t->gone = false;
			return;
		}
	}
	e = add_text(u->r, m);
	u->n_new = e < 0 ? e : u->n_new + 1;
}

static int make_profs(struct dwell_regions *r)
{
	struct prof *p = realloc(r->profs, (r->n_texts + 1) * sizeof(*p));
	size_t n = 0;

	if (!p)
		return -ENOMEM;
	r->profs = p;
	for (size_t i = 0; i < r->n_texts; i++) {
		const struct text *t = &r->texts[i];
		size_t at = n;

		if (t->gone)
			continue;
		for (; at && p[at - 1].pr_off > t->start; at--)
			p[at] = p[at - 1];
		p[at] = (struct prof){.pr_base = t->counts,
				      .pr_size = t->n_bytes,
				      .pr_off = t->start,
				      .pr_scale = (r->elem_bytes << 16) / r->bucket_bytes};
		n++;
	}
	return 0;
}

EXPORT int dwell_regions_update(struct dwell_regions *r)
{
	struct update u = {r, 0};

	drain_lock();
	for (size_t i = 0; i < r->n_texts; i++)
		r->texts[i].gone = true;
	mapped_each(take_mapping, &u);
	drain_unlock();
	if (u.n_new >= 0 && make_profs(r) < 0)
		u.n_new = -ENOMEM;
	if (u.n_new >= 0)
		return u.n_new;
	errno = ENOMEM;
	return -1;
}

/* Life. */

static bool good(const struct dwell_regions_settings *s)
{
	return s->size >= sizeof(*s) && s->bucket_bytes <= MAX_BUCKET_BYTES &&
	       !(s->bucket_bytes & (s->bucket_bytes - 1)) &&
	       (s->flags == PROF_USHORT || s->flags == PROF_UINT || s->flags == PROF_UINT64);
}

EXPORT struct dwell_regions *dwell_regions_new(const struct dwell_regions_settings *given)
{
	static const struct dwell_regions_settings usual = {.size = sizeof(usual),
							    .flags = PROF_UINT};
	const struct dwell_regions_settings *s = given ? given : &usual;
	struct dwell_regions *r;
	struct timespec now;

	if (!good(s)) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	r->start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	drain_lock();
	r->n_unplaced_before = sprofil_unplaced();
	drain_unlock();
	r->flags = s->flags;
	r->elem_bytes = s->flags == PROF_USHORT ? 2 : s->flags == PROF_UINT ? 4 : 8;
	r->bucket_bytes = s->bucket_bytes ? s->bucket_bytes : 1;
	if (dwell_regions_update(r) < 0) {
		dwell_regions_free(r);
		errno = ENOMEM;
		return NULL;
	}
	return r;
}

EXPORT struct prof *dwell_regions_get(struct dwell_regions *r, int *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < r->n_texts; i++)
		*ret_n += !r->texts[i].gone;
	return r->profs;
}

EXPORT void dwell_regions_free(struct dwell_regions *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_texts; i++) {
		munmap(r->texts[i].counts, r->texts[i].n_bytes);
		free(r->texts[i].path);
	}
	free(r->texts);
	free(r->profs);
	free(r);
}
