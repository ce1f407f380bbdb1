/* SPDX-License-Identifier: BSD-2-Clause */
/* See source.h. */
#include "query/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int source_needs(const struct source *s, enum source_feature f, const char *what, struct err *err)
{
	const char *reason = s->ops->why_not(s, f);

	if (!reason)
		return 0;
	return err_set(err, -EINVAL, "%s%s%s", what, str_starts(reason, "is ") ? " " : ": ",
		       reason);
}

/* Images with at least one percent of the whole in rows that have no names, or in what one of
 * these called. */
static void find_nameless(struct flat *f)
{
	const unsigned col = f->source->columns.hide;
	image_id n_images = 0;
	double *sums, *below;

	if (f->level < SCOPE_PROCEDURE || !f->source->query || !f->source->columns.cols.n)
		return;
	n_images = (image_id)f->source->query->profile->images.n;
	sums = xcalloc((size_t)n_images + 1, sizeof(*sums));
	below = xcalloc((size_t)n_images + 1, sizeof(*below));
	vec_each (r, &f->rows) {
		if (!r->nameless || r->image == SCOPE_NO_IMAGE)
			continue;
		sums[r->image] += r->own[col];
		if (r->inclusive && r->inclusive[col] > below[r->image])
			below[r->image] = r->inclusive[col];
	}
	for (image_id im = 0; im < n_images; im++)
		if ((sums[im] != 0 && sums[im] >= floor(f->whole / 100)) ||
		    (below[im] != 0 && below[im] >= floor(f->whole / 100)))
			vec_push(&f->images, im);
	free(below);
	free(sums);
}

static void settle_rows(struct source *s, struct flat *f, double keep_pct, size_t most)
{
	flat_settle(f);
	f->n_all = f->rows.n;
	flat_sort(f);
	flat_keep(f, keep_pct, most);
	if (s->ops->name)
		s->ops->name(s, f);
	find_nameless(f);
}

int source_flat(struct source *s, const struct flat_opts *o, struct flat *ret, struct err *err)
{
	int rc;

	*ret = (struct flat){
		.source = s,
		.by = o->by,
		.level = o->level,
		.threads = o->threads,
		.inclusive = o->inclusive,
		.by_inclusive = o->by_inclusive,
		.by_place = o->by_place,
		.contexts = o->contexts,
		.keep_col = s->columns.hide,
	};
	rc = s->ops->flat(s, o, ret, err);
	if (rc >= 0)
		settle_rows(s, ret, o->keep_pct, o->most);
	return rc;
}

int source_neighbours(struct source *s, const struct neighbour_opts *o, struct flat *ret,
		      struct err *err)
{
	int rc;

	*ret = (struct flat){
		.source = s,
		.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
		.level = SCOPE_PROCEDURE,
		.keep_col = s->columns.hide,
		.whose.kind = o->kind,
	};
	rc = s->ops->neighbours(s, o, ret, err);
	if (rc >= 0)
		settle_rows(s, ret, o->keep_pct, 0);
	return rc;
}

int source_tree(struct source *s, const struct tree_opts *o, enum tree_form form,
		struct tree_source **ret, struct err *err)
{
	return s->ops->tree(s, o, form, ret, err);
}

void tree_source_close(struct tree_source *t)
{
	if (t)
		t->close(t);
}

int source_listing(struct source *s, const struct listing_opts *o, struct sources *sources,
		   struct listing *ret, struct err *err)
{
	return s->ops->listing(s, o, sources, ret, err);
}

int source_blocks(struct source *s, const struct listing *l, const struct exact_counts *exact,
		  struct blocks *ret, struct err *err)
{
	const int rc = source_needs(s, SOURCE_CODE, "--blocks", err);

	*ret = (struct blocks){0};
	return rc < 0 ? rc : blocks_gather(l, &s->columns, exact, ret, err);
}

int source_thread_lines(struct source *s, const struct thread_line_opts *o,
			struct thread_lines *ret, struct err *err)
{
	int rc = source_needs(s, SOURCE_TIMES, "time lines", err);

	*ret = (struct thread_lines){0};
	if (rc >= 0)
		rc = s->ops->thread_lines(s, o, ret, err);
	if (rc >= 0)
		thread_lines_sort(ret);
	ret->source = s;
	return rc;
}

void source_close(struct source *s)
{
	if (s)
		s->ops->close(s);
}
