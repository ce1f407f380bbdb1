/* SPDX-License-Identifier: BSD-2-Clause */
/* See prof.h.  Columns are dcpiprof's: for the event sorted by `count % cum%`, for each other one
 * `count %`, then the names.  JSON and CSV carry the counts as stored. */
#include "view/prof.h"

#include <stdlib.h>
#include <string.h>

#include "view/header.h"

struct prof {
	struct query *q;
	const struct prof_opts *opts;
	unsigned *order;  /* query column of each event shown */
	uint64_t *totals; /* per query column, over all rows: what 100 % is */
	struct emit_col *cols;
	unsigned n_cols;
	struct emit_cell *cells;
	uint64_t so_far;
	bool scaled;
};

static void make_cols(struct prof *p)
{
	const struct query *q = p->q;
	struct emit_col *counts = xcalloc(q->n_cols + 1, sizeof(*counts));
	const struct emit_col names[] = {
		{"kind", NULL, EMIT_STR,
		 .in = EMIT_IN_JSON | EMIT_IN_CSV | (p->opts->show_kind ? EMIT_IN_TABLE : 0)},
		{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME,
		 .in = EMIT_IN_JSON | (p->opts->by_procedure ? EMIT_IN_TABLE | EMIT_IN_CSV : 0)},
		{"svma", NULL, EMIT_HEX,
		 .in = p->opts->by_procedure ? EMIT_IN_JSON | EMIT_IN_CSV : EMIT_IN_NONE},
		{"image", NULL, EMIT_STR, .cut = TEXT_PATH},
		{"build_id", NULL, EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	};

	p->order = xcalloc(q->n_cols + 1, sizeof(*p->order));
	count_cols(q, counts, p->order);
	p->cols = xcalloc(2 * q->n_cols + 1 + n_elems(names), sizeof(*p->cols));
	for (unsigned i = 0; i < q->n_cols; i++) {
		p->cols[p->n_cols++] = counts[i];
		p->cols[p->n_cols++] = (struct emit_col){"percent", "%", EMIT_PERCENT,
							 .in = EMIT_IN_TABLE, .hot = true};
		if (i == 0)
			p->cols[p->n_cols++] = (struct emit_col){"cum_percent", "cum%",
								 EMIT_PERCENT, .in = EMIT_IN_TABLE};
	}
	memcpy(p->cols + p->n_cols, names, sizeof(names));
	p->n_cols += n_elems(names);
	p->cells = xcalloc(p->n_cols, sizeof(*p->cells));
	free(counts);
}

static struct emit_cell percent(uint64_t part, uint64_t whole, bool shown)
{
	return (struct emit_cell){.d = whole ? 100 * (double)part / (double)whole : 0,
				  .none = !shown};
}

/* Emits a row of COUNTS (one per query column).  OUTSIDE: it has no part in the percentages. */
static void emit_counts(struct emit *e, struct prof *p, const uint64_t *counts,
			const char *procedure, uint64_t svma, const char *image,
			const struct image *im, bool outside)
{
	const struct query *q = p->q;
	struct emit_cell *cell = p->cells;
	char *id = NULL;

	if (q->n_cols && !outside)
		p->so_far += counts[q->sort];
	for (unsigned i = 0; i < q->n_cols; i++) {
		unsigned c = p->order[i];

		*cell++ = (struct emit_cell){.u = e->format == EMIT_TABLE
							  ? query_scaled(&q->cols[c], counts[c])
							  : counts[c]};
		*cell++ = percent(counts[c], p->totals[c], !outside);
		if (i == 0)
			*cell++ = percent(p->so_far, p->totals[c], !outside);
	}
	if (im && im->build_id.n_bytes && e->format != EMIT_TABLE) {
		id = arena_alloc(&p->q->arena, 2 * BUILD_ID_MAX + 1);
		build_id_format(&im->build_id, id);
	}
	*cell++ = (struct emit_cell){.s = im ? image_kind_name(im->kind) : "idle"};
	*cell++ = (struct emit_cell){.s = procedure};
	*cell++ = (struct emit_cell){.u = svma, .none = outside};
	*cell++ = (struct emit_cell){.s = image};
	*cell++ = (struct emit_cell){.s = id};
	emit_row(e, p->cells);
}

/* Idle CPUs are one row below the others, outside the percentages. */
static void emit_idle(struct emit *e, struct prof *p)
{
	uint64_t *idle = xcalloc(p->q->n_cols + 1, sizeof(*idle));
	bool any = false;

	for (unsigned c = 0; c < p->q->n_cols; c++) {
		idle[c] = p->q->cols[c].n_idle;
		any |= idle[c] != 0;
	}
	if (any && !p->opts->images)
		emit_counts(e, p, idle, p->opts->by_procedure ? "[idle]" : NULL, 0,
			    p->opts->by_procedure ? NULL : "[idle]", NULL, true);
	free(idle);
}

/* The images worth a note: those with at least one percent of the samples in nameless rows. */
static image_ids nameless_images(const struct prof *p, const struct rows *rows)
{
	const struct query *q = p->q;
	uint64_t *sums = xcalloc(q->profile->images.n + 1, sizeof(*sums));
	image_ids found = {0};

	vec_each (r, &rows->rows)
		if (q->n_cols && r->nameless)
			sums[r->image] += r->counts[q->sort];
	for (image_id im = 0; im < q->profile->images.n; im++)
		if (sums[im] && sums[im] >= rows->total / 100)
			vec_push(&found, im);
	free(sums);
	return found;
}

size_t prof_emit(struct emit *e, struct query *q, const struct prof_opts *opts)
{
	struct prof p = {.q = q, .opts = opts, .scaled = query_is_scaled(q)};
	image_ids nameless = {0};
	struct rows rows = {0};
	size_t n;

	if (opts->by_procedure)
		rows_by_procedure(q, opts->images, &rows);
	else
		rows_by_image(q, opts->images, &rows);
	n = rows.rows.n;
	rows_sort(q, &rows);
	make_cols(&p);
	p.totals = xcalloc(q->n_cols + 1, sizeof(*p.totals));
	vec_each (r, &rows.rows)
		for (unsigned c = 0; c < q->n_cols; c++)
			p.totals[c] += r->counts[c];
	rows_keep(q, &rows, opts->keep_pct);
	if (opts->by_procedure)
		rows_name(q, &rows);
	emit_begin(e);
	header_emit(e, q, opts->no_header);
	emit_table(e, "rows", p.cols, p.n_cols);
	vec_each (r, &rows.rows) {
		const struct image *im = &q->profile->images.v[r->image];

		emit_counts(e, &p, r->counts, r->procedure, r->svma, query_image_name(q, r->image),
			    im, false);
	}
	emit_idle(e, &p);
	emit_table_end(e);
	if (opts->by_procedure) {
		nameless = nameless_images(&p, &rows);
		notes_emit(e, q, &nameless);
	}
	emit_end(e);
	vec_release(&nameless);
	rows_release(&rows);
	free(p.order);
	free(p.totals);
	free(p.cols);
	free(p.cells);
	return n;
}
