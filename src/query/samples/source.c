/* SPDX-License-Identifier: BSD-2-Clause */
/* See source.h.  Samples are summed up as whole numbers; rows get them as doubles at the end. */
#include "query/samples/runtime.h"
#include "query/samples/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/samples/input.h"
#include "query/samples/neighbours.h"
#include "query/samples/paths.h"
#include "query/samples/threads.h"
#include "query/samples/tree_source.h"

struct samples_source {
	struct source source;
	struct input input;
	struct query own; /* of INPUT */
	bool has_input;
};

struct input *samples_source_input(struct source *s)
{
	return &((struct samples_source *)s)->input;
}

/* --- what there is --- */

static const char *samples_why_not(const struct source *s, enum source_feature f)
{
	switch (f) {
	case SOURCE_METRICS:
	case SOURCE_CONTEXTS:
	case SOURCE_FILES:
		return "is for HPCToolkit databases";
	case SOURCE_TIMES:
		return s->kind & (SOURCE_DCPI_TREE | SOURCE_DCPI_FILE | SOURCE_HISTOGRAMS)
			       ? "DCPI profiles have no times of samples"
			       : NULL;
	default:
		return NULL;
	}
}

/* --- rows --- */

/* COUNTS as numbers of columns; they may be those of several rows. */
static double *as_numbers(struct flat *f, const struct query *q, const uint64_t *counts)
{
	const struct columns *c = &f->source->columns;
	double *numbers = flat_numbers(f);

	for (unsigned i = 0; i < q->n_cols; i++)
		numbers[i] = (double)counts[i];
	if (c->cols.n > q->n_cols)
		cols_evaluate(c, numbers);
	return numbers;
}

/* Whether R is the missing part of paths that could not be followed to their beginning. */
static bool is_truncated(const struct query *q, const struct spot_row *r)
{
	const struct image *im = r->image == ROW_NO_IMAGE ? NULL : &q->profile->images.v[r->image];

	return im && im->kind == IMAGE_MARK && str_starts(im->path, IMAGE_TRUNCATED);
}

static void add_rows(struct flat *f, const struct query *q, const struct spot_rows *rows)
{
	vec_reserve(&f->rows, rows->rows.n);
	vec_each (r, &rows->rows)
		vec_push(&f->rows,
			 (struct flat_row){
				 .own = as_numbers(f, q, r->counts),
				 .inclusive = r->inclusive ? as_numbers(f, q, r->inclusive) : NULL,
				 .procedure = r->procedure,
				 .svma = r->svma,
				 .image = r->image,
				 .proc = r->proc,
				 .member = r->owner,
				 .kind = f->level,
				 .nameless = r->nameless,
				 .truncated = is_truncated(q, r),
			 });
	f->whole = (double)rows->total;
}

static void settle_flat(struct flat *f, const struct query *q)
{
	f->drops_empty = q->has_sets;
	f->by_key = q->has_sets && q->shown.v[q->sort_shown].kind == ESTIMATE_RATIO;
	f->n_told = q->n_events;
}

/* Shares are of all samples where rows count what is below them, else of those listed. */
static void find_totals(struct flat *f, const struct query *q)
{
	if (f->inclusive)
		return;
	f->totals = xcalloc(f->source->columns.cols.n + 1, sizeof(*f->totals));
	vec_each (r, &f->rows)
		for (unsigned c = 0; c < q->n_cols; c++)
			f->totals[c] += r->own[c];
	cols_evaluate(&f->source->columns, f->totals);
}

static void find_idle(struct flat *f, const struct query *q)
{
	uint64_t *idle = xcalloc(q->n_cols + 1, sizeof(*idle));
	bool any = false;

	for (unsigned c = 0; c < q->n_cols; c++) {
		idle[c] = q->cols[c].n_idle;
		any |= idle[c] != 0;
	}
	f->idle = any ? as_numbers(f, q, idle) : NULL;
	free(idle);
}

static int find_images(const struct query *q, const opt_list *names, image_ids *ret,
		       struct err *err)
{
	int rc = 0;

	for (size_t i = 0; names && i < names->n && rc >= 0; i++)
		rc = select_find_images(q->profile, names->v[i], ret, err);
	return rc;
}

static int check_flat(struct source *s, const struct flat_opts *o, struct err *err)
{
	int rc = 0;

	if (o->threads || o->contexts)
		return source_needs(s, SOURCE_CONTEXTS, o->contexts ? "--context" : "--by thread",
				    err);
	for (unsigned i = 0; i < o->by.n && rc >= 0; i++)
		if (o->by.keys[i] < N_OWNER_KEYS)
			rc = owner_key_check(s->query->profile, o->by.keys[i], err);
	return rc;
}

/* What rows of lines live in. */
struct lines_kept {
	struct tree_source *tree;
	struct tree_rows rows;
};

static void release_lines(void *p)
{
	struct lines_kept *k = p;

	tree_rows_release(&k->rows);
	tree_source_close(k->tree);
	free(k);
}

/* Rows of lines are those of a tree: where inlined calls are, one place is several lines. */
static int flat_of_lines(struct source *s, const struct flat_opts *o, const image_ids *images,
			 struct flat *ret, struct err *err)
{
	const struct tree_opts to = {.scopes.level = SCOPE_LINE, .images = images};
	const struct tree_rows_opts ro = {.form = TREE_FLAT, .by_inclusive = o->by_inclusive};
	struct lines_kept *k = xcalloc(1, sizeof(*k));
	int rc = tree_source_open(&k->tree, s->query, &s->columns, &to, err);

	ret->kept = k;
	ret->release = release_lines;
	ret->inclusive = o->inclusive && query_has_paths(s->query);
	ret->is_ordered = true;
	if (rc >= 0)
		rc = tree_rows_init(&k->rows, k->tree, &ro, err);
	if (rc >= 0)
		flat_add_tree_rows(ret, k->tree, &k->rows, NULL);
	return rc;
}

static int samples_flat(struct source *s, const struct flat_opts *o, struct flat *ret,
			struct err *err)
{
	struct query *q = s->query;
	image_ids images = {0};
	const image_ids *wanted = o->images && o->images->n ? &images : NULL;
	struct spot_rows rows = {0};
	int rc = check_flat(s, o, err);

	if (rc >= 0)
		rc = find_images(q, o->images, &images, err);
	if (rc >= 0 && o->level == SCOPE_FILE)
		rc = source_needs(s, SOURCE_FILES, "--by file", err);
	if (rc >= 0 && o->level == SCOPE_LINE) {
		rc = flat_of_lines(s, o, wanted, ret, err);
		settle_flat(ret, q);
	} else if (rc >= 0) {
		ret->inclusive = o->inclusive && rows_code_key(&o->by) && query_has_paths(q);
		if (o->level == SCOPE_ADDRESS)
			rows_by_spot(q, wanted, &rows);
		else if (ret->inclusive || o->by.n > 1 || !rows_code_key(&o->by))
			paths_rows(q, &o->by, ret->inclusive, wanted, &rows);
		else if (o->level == SCOPE_PROCEDURE)
			rows_by_procedure(q, wanted, &rows);
		else
			rows_by_image(q, wanted, &rows);
		add_rows(ret, q, &rows);
		settle_flat(ret, q);
		find_totals(ret, q);
		if (!wanted)
			find_idle(ret, q);
	}
	rows_release(&rows);
	vec_release(&images);
	return rc;
}

static int samples_neighbours(struct source *s, const struct neighbour_opts *o, struct flat *ret,
			      struct err *err)
{
	struct query *q = s->query;
	image_ids images = {0};
	struct neighbours n = {0};
	int rc = find_images(q, o->images, &images, err);

	if (rc >= 0)
		rc = neighbours_find(q, o->kind, o->procedure,
				     o->images && o->images->n ? &images : NULL, &n, err);
	if (rc >= 0) {
		add_rows(ret, q, &n.rows);
		settle_flat(ret, q);
		ret->whose = (struct flat_whose){
			.kind = o->kind,
			.procedure = n.procedure,
			.image = n.image,
			.n_procedures = n.n_procedures,
			.inclusive = as_numbers(ret, q, n.inclusive),
			.own = as_numbers(ret, q, n.exclusive),
			.column = q->shown.n ? q->shown.v[q->sort_shown].part.event : 0,
		};
		ret->totals = xcalloc(s->columns.cols.n + 1, sizeof(*ret->totals));
		memcpy(ret->totals, ret->whose.inclusive, s->columns.cols.n * sizeof(double));
	}
	neighbours_release(&n);
	vec_release(&images);
	return rc;
}

/* The procedure around an address; PROC_NONE. */
static uint32_t procedure_at(const struct query *q, image_id image, uint64_t svma)
{
	struct procedure p;

	return resolver_find(q->resolver, &q->profile->images.v[image], svma, &p) ? p.index
										  : PROC_NONE;
}

/* One image after the other, though the rows are mixed, and with copies of the names: so that only
 * one image's symbols are in memory at a time. */
static void samples_name(struct source *s, struct flat *f)
{
	const size_t n_images = s->query->profile->images.n;
	uint32_t *first, *next; /* rows of each image, + 1: a list */

	if (f->level == SCOPE_ADDRESS)
		vec_each (row, &f->rows)
			row->proc = procedure_at(s->query, row->image, row->svma);

	if (f->level < SCOPE_PROCEDURE || f->level == SCOPE_LINE || f->whose.procedure)
		return;
	first = xcalloc(n_images + 1, sizeof(*first));
	next = xcalloc(f->rows.n + 1, sizeof(*next));
	for (uint32_t i = (uint32_t)f->rows.n; i-- > 0;) {
		const image_id im = f->rows.v[i].image;

		if (im == ROW_NO_IMAGE)
			continue;
		next[i] = first[im];
		first[im] = i + 1;
	}
	for (image_id im = 0; im < n_images; im++) {
		if (!first[im])
			continue;
		for (uint32_t i = first[im]; i; i = next[i - 1]) {
			struct flat_row *row = &f->rows.v[i - 1];

			row->procedure =
				rows_procedure_name(s->query, im, row->proc, &row->nameless);
		}
		resolver_rest(s->query->resolver, &s->query->profile->images.v[im]);
	}
	free(next);
	free(first);
}

static int compare_owners(const struct profile *p, const struct row_by *by, owner_id x, owner_id y)
{
	const struct owner *a = &p->owners.v[x], *b = &p->owners.v[y];
	int d = 0;

	for (unsigned i = 0; i < by->n && d == 0; i++) {
		unsigned k = by->keys[i];

		if (k >= N_OWNER_KEYS || owner_value(a, k) == owner_value(b, k))
			continue;
		if (owner_key_is_number(k))
			d = owner_value(a, k) < owner_value(b, k) ? -1 : 1;
		else
			d = strcmp(owner_text(p, a, k), owner_text(p, b, k));
	}
	return d;
}

/* By owners, image path and address. */
static int samples_compare(const struct flat *f, const struct flat_row *a, const struct flat_row *b)
{
	const struct profile *p = f->source->query->profile;
	int d = f->by.n ? compare_owners(p, &f->by, a->member, b->member) : 0;

	if (d)
		return d;
	if (a->image == b->image)
		return a->svma < b->svma ? -1 : a->svma > b->svma;
	if (a->image == ROW_NO_IMAGE || b->image == ROW_NO_IMAGE)
		return (a->image == ROW_NO_IMAGE) - (b->image == ROW_NO_IMAGE);
	d = strcmp(p->images.v[a->image].path, p->images.v[b->image].path);
	if (!d && f->by_place)
		return a->image < b->image ? -1 : 1;
	return d ? d : a->svma < b->svma ? -1 : a->svma > b->svma;
}

/* Tells whether IM is a kernel or a vdso without a build-id: its number was made here, and nobody
 * could find it by that number. */
static bool has_own_number(const struct image *im)
{
	return (im->flags & IMAGE_HASHED) && (im->kind == IMAGE_KERNEL || im->kind == IMAGE_VDSO);
}

static struct flat_image samples_image(struct source *s, image_id image)
{
	const struct image *im = &s->query->profile->images.v[image];

	return (struct flat_image){
		.path = query_image_name(s->query, image),
		.file = im->kind == IMAGE_UNKNOWN ? NULL : im->path,
		.kind = image_kind_name(im->kind),
		.id = im->build_id.n_bytes && !has_own_number(im) ? &im->build_id : NULL,
		.is_mark = im->kind == IMAGE_MARK,
	};
}

/* --- trees and listings --- */

static int samples_tree(struct source *s, const struct tree_opts *o, enum tree_form form,
			struct tree_source **ret, struct err *err)
{
	int rc = 0;

	if (o->scopes.level == SCOPE_FILE || o->scopes.level == SCOPE_LOOP)
		rc = source_needs(s, SOURCE_FILES,
				  o->scopes.level == SCOPE_FILE ? "--by file" : "--by loop", err);
	if (rc >= 0)
		rc = tree_source_open(ret, s->query, &s->columns, o, err);
	if (rc >= 0)
		(*ret)->source = s;
	return rc;
}

static void add_candidates(struct listing *l, struct query *q, const found_list *found)
{
	vec_each (f, found) {
		const char *proc = listing_name_of(q, f);

		vec_push(&l->candidates, (struct listing_candidate){
						 .procedure = f->inlined ? f->inlined : proc,
						 .image = query_image_name(q, f->image),
						 .into = f->inlined ? proc : NULL,
						 .start = f->p.start,
						 .samples = f->samples,
					 });
	}
}

static int samples_listing(struct source *s, const struct listing_opts *o, struct sources *sources,
			   struct listing *ret, struct err *err)
{
	struct listing_name n = {.name = o->name, .into = o->into};
	image_ids images = {0};
	_vec_ found_list found = {0};
	int rc = 0;

	if (o->image) {
		rc = select_find_images(s->query->profile, o->image, &images, err);
		n.images = &images;
	}
	if (rc >= 0)
		rc = listing_find(s->query, &s->columns, &n, &found, err);
	if (rc >= 0) {
		listing_open(ret, s->query, &s->columns, &found.v[0], sources);
		add_candidates(ret, s->query, &found);
	}
	vec_release(&images);
	return rc;
}

static int samples_thread_lines(struct source *s, const struct thread_line_opts *o,
				struct thread_lines *ret, struct err *err)
{
	return threads_find(s->query, o, ret, err);
}

/* --- open and close --- */

static void samples_close(struct source *s)
{
	struct samples_source *ss = (struct samples_source *)s;

	cols_release(&s->columns);
	if (ss->has_input) {
		query_release(&ss->own);
		input_close(&ss->input);
	}
	free(s->path);
	free(ss);
}

static const struct source_ops samples_ops = {
	.close = samples_close,
	.why_not = samples_why_not,
	.flat = samples_flat,
	.neighbours = samples_neighbours,
	.name = samples_name,
	.compare = samples_compare,
	.image = samples_image,
	.tree = samples_tree,
	.listing = samples_listing,
	.thread_lines = samples_thread_lines,
};

static int make_columns(struct source *s, struct query *q, const opt_list *derived, struct err *err)
{
	int rc = 0;

	s->ops = &samples_ops;
	s->format = "recording";
	s->query = q;
	cols_of_query(&s->columns, q);
	for (size_t i = 0; derived && i < derived->n && rc >= 0; i++)
		rc = cols_derive(&s->columns, derived->v[i], NULL, NULL, err);
	return rc;
}

int samples_source_of(struct source **ret, struct query *q, const opt_list *derived,
		      struct err *err)
{
	struct samples_source *ss = xcalloc(1, sizeof(*ss));
	int rc = make_columns(&ss->source, q, derived, err);

	if (rc < 0)
		samples_close(&ss->source);
	else
		*ret = &ss->source;
	return rc;
}

/* Options for values of threads mean nothing for samples. */
static int check_opts(const struct source *s, const struct source_opts *o, struct err *err)
{
	const char *given = o->stats.n	     ? "--stat"
			    : o->threads.n   ? "--thread"
			    : o->all_metrics ? "--all-metrics"
			    : o->taxonomy    ? "--taxonomy"
					     : NULL;

	return given ? source_needs(s, SOURCE_METRICS, given, err) : 0;
}

int samples_source_open(struct source **ret, const struct source_opts *o, const char *path,
			struct err *err)
{
	struct samples_source *ss = xcalloc(1, sizeof(*ss));
	struct source *s = &ss->source;
	struct select there = *o->select;
	int rc;

	there.db = path;
	s->ops = &samples_ops;
	s->path = xstrdup(path);
	rc = check_opts(s, o, err);
	if (rc >= 0)
		rc = input_open(&ss->input, &there, err);
	if (rc >= 0 && !o->select->runtime_frames)
		runtime_fold(&ss->input.profile, ss->input.resolver);
	if (rc >= 0) {
		rc = query_init(&ss->own, &ss->input.profile, ss->input.resolver, o->select, err);
		if (rc < 0)
			input_close(&ss->input);
		ss->has_input = rc >= 0;
	}
	if (rc >= 0)
		rc = make_columns(s, &ss->own, &o->derived, err);
	if (rc < 0)
		samples_close(s);
	else
		*ret = s;
	return rc;
}
