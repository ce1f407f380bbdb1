/* SPDX-License-Identifier: BSD-2-Clause */
/* See listing_find.h.  Symbols are asked first, image by image; then DWARF is asked about each
 * place with samples, which functions are inlined there.  For example `spmv` may be
 *
 *     bench::spmv(int) in a.out                     4 samples
 *     bench::spmv(int), inlined into main           310 samples, and so the first */
#include "query/samples/listing_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "base/near.h"
#include "resolve/proc_name.h"

#define BARE_BYTES 256 /* listed from an address on that no symbol covers */

static const struct symtab *symtab_of(struct query *q, image_id image)
{
	return resolver_image(q->resolver, &q->profile->images.v[image])->symtab;
}

struct spot_range listing_spots(const struct query *q, image_id image, uint64_t start, uint64_t end)
{
	size_t lo;
	struct spot_range r;

	lo = lower_bound(k, q->first[image], q->first[image + 1], q->spots[k].svma < start);
	r.first = r.end = q->spots + lo;
	while (r.end < q->spots + q->first[image + 1] && r.end->svma < end)
		r.end++;
	return r;
}

void listing_add_spot(const struct query *q, double *to, const struct spot *s)
{
	for (unsigned c = 0; c < q->n_cols; c++)
		to[c] += (double)query_counts(q, s)[c];
}

static double spot_samples(const struct query *q, const struct columns *columns,
			   const struct spot *s)
{
	return columns->hide < q->n_cols ? (double)query_counts(q, s)[columns->hide] : 0;
}

static double range_samples(const struct query *q, const struct columns *columns,
			    struct spot_range r)
{
	double sum = 0;

	for (const struct spot *s = r.first; s < r.end; s++)
		sum += spot_samples(q, columns, s);
	return sum;
}

/* --- addresses --- */

static void find_address(struct query *q, uint64_t svma, image_id image, found_list *ret)
{
	const struct symtab *st = symtab_of(q, image);
	struct found_proc f = {.image = image, .p = {.index = symtab_find(st, svma)}};

	if (f.p.index != PROC_NONE) {
		f.p = symtab_get(st, f.p.index);
		vec_push(ret, f);
		return;
	}
	for (size_t i = q->first[image]; i < q->first[image + 1]; i++) {
		if (q->spots[i].svma != svma)
			continue;
		f.p.start = svma;
		f.p.end = svma + BARE_BYTES;
		for (uint64_t end = svma + 1; end < f.p.end; end++)
			if (symtab_find(st, end) != PROC_NONE)
				f.p.end = end;
		vec_push(ret, f);
		return;
	}
}

/* --- names --- */

/* Returns whether one of the procedures has samples. */
static bool find_symbols(struct query *q, const struct columns *columns, const char *name,
			 image_id image, found_list *ret)
{
	const struct symtab *st = symtab_of(q, image);
	_vec_ proc_list found = {0};
	bool any = false;

	symtab_find_meant(st, name, &found);
	vec_each (i, &found) {
		struct found_proc f = {.image = image, .p = symtab_get(st, *i)};

		f.samples = range_samples(q, columns, listing_spots(q, image, f.p.start, f.p.end));
		any |= f.samples > 0;
		vec_push(ret, f);
	}
	return any;
}

static bool name_is(const char *have, const char *wanted)
{
	return strcmp(have, wanted) == 0 || proc_name_means(have, wanted);
}

/* The host P of an inlined function is wanted. */
static bool is_host(struct query *q, const struct listing_name *n, image_id image, uint32_t proc)
{
	const struct image *im = &q->profile->images.v[image];

	return !n->into || name_is(symtab_get(symtab_of(q, image), proc).name, n->into) ||
	       name_is(resolver_name(q->resolver, im, proc, true), n->into);
}

static void add_inlined(struct query *q, const struct columns *columns, const struct spot *s,
			const char *inlined, uint32_t proc, found_list *ret)
{
	double n = spot_samples(q, columns, s);

	vec_each (f, ret) {
		if (f->image == s->image && f->inlined && f->p.index == proc &&
		    strcmp(f->inlined, inlined) == 0) {
			f->samples += n;
			return;
		}
	}
	vec_push(ret, (struct found_proc){.image = s->image,
					  .p = symtab_get(symtab_of(q, s->image), proc),
					  .inlined = inlined,
					  .samples = n});
}

/* Whether the Ith of the functions at one place is there further out: it calls itself. */
static bool is_repeated(const char *const *names, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(names[k], names[i]) == 0)
			return true;
	return false;
}

static void find_inlined(struct query *q, const struct columns *columns,
			 const struct listing_name *n, image_id image, found_list *ret)
{
	const struct image *im = &q->profile->images.v[image];
	const char *names[RESOLVER_MAX_FRAMES];

	for (size_t i = q->first[image]; i < q->first[image + 1]; i++) {
		const struct spot *s = &q->spots[i];
		uint32_t proc = symtab_find(symtab_of(q, image), s->svma);
		size_t n_names = resolver_inlined(q->resolver, im, s->svma, true, names,
						  RESOLVER_MAX_FRAMES);

		if (!n_names || proc == PROC_NONE || !is_host(q, n, image, proc))
			continue;
		for (size_t k = 0; k < n_names; k++)
			if (name_is(names[k], n->name) && !is_repeated(names, k))
				add_inlined(q, columns, s, names[k], proc, ret);
	}
}

bool listing_has_inlined(struct query *q, image_id image, uint64_t svma, const char *inlined)
{
	struct resolved_frame frames[RESOLVER_MAX_FRAMES];
	size_t n = resolver_frames(q->resolver, &q->profile->images.v[image], svma, true, frames,
				   RESOLVER_MAX_FRAMES);

	for (size_t i = 1; i < n && i < RESOLVER_MAX_FRAMES; i++)
		if (frames[i].name && strcmp(frames[i].name, inlined) == 0)
			return true;
	return false;
}

/* --- all of it --- */

static int compare_found(const void *a, const void *b)
{
	const struct found_proc *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if (!x->inlined != !y->inlined)
		return x->inlined ? 1 : -1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->p.start < y->p.start ? -1 : x->p.start > y->p.start;
}

static int listing_nothing(struct query *q, const struct listing_name *n, bool is_address,
			   struct err *err)
{
	struct near near = near_to(n->name, strlen(n->name) > 5 ? 4 : 2);
	const char *where = n->images ? query_image_name(q, n->images->v[0]) : NULL;

	if (is_address)
		return err_set(err, -ENOENT, "no procedure and no samples at %s%s%s", n->name,
			       where ? " in " : "", where ? where : "");
	for (size_t i = 0; i < q->n_spots; i++) {
		const struct spot *s = &q->spots[i];
		uint32_t proc;

		if (!image_ids_want(n->images, s->image))
			continue;
		proc = symtab_find(symtab_of(q, s->image), s->svma);
		if (proc != PROC_NONE)
			near_try(&near, resolver_name(q->resolver, &q->profile->images.v[s->image],
						      proc, false));
	}
	if (n->into)
		return err_set(err, -ENOENT, "no samples in a function '%s' inlined into '%s'",
			       n->name, n->into);
	if (*near.found)
		return err_set(err, -ENOENT, "no procedure '%s'%s%s; did you mean %s?", n->name,
			       where ? " in " : "", where ? where : "", near.found);
	return err_set(err, -ENOENT,
		       "no procedure '%s'%s%s; `dwell prof%s%s` lists those with samples", n->name,
		       where ? " in " : "", where ? where : "", where ? " " : "",
		       where ? str_basename(q->profile->images.v[n->images->v[0]].path) : "");
}

int listing_find(struct query *q, const struct columns *columns, const struct listing_name *n,
		 found_list *ret, struct err *err)
{
	uint64_t svma = 0;
	bool is_address = str_starts(n->name, "0x") && str_parse_u64(n->name, 0, &svma) >= 0;
	size_t n_hot = 0;

	for (image_id im = 0; im < q->profile->images.n; im++) {
		struct lines *held = NULL;

		if (n->images ? !image_ids_want(n->images, im) : q->first[im] == q->first[im + 1])
			continue;
		if (is_address) {
			find_address(q, svma, im, ret);
			continue;
		}
		/* Its lines will be listed: they are opened once, for inlined functions too. */
		if (!n->into && find_symbols(q, columns, n->name, im, ret))
			held = resolver_lines_hold(q->resolver, &q->profile->images.v[im], NULL);
		find_inlined(q, columns, n, im, ret);
		if (held)
			resolver_lines_drop(q->resolver, &q->profile->images.v[im]);
	}
	if (is_address)
		vec_each (f, ret)
			f->samples = range_samples(
				q, columns, listing_spots(q, f->image, f->p.start, f->p.end));
	vec_sort(ret, compare_found);
	while (n_hot < ret->n && ret->v[n_hot].samples > 0)
		n_hot++;
	ret->n = n_hot ? n_hot : ret->n;
	return ret->n ? 0 : listing_nothing(q, n, is_address, err);
}
