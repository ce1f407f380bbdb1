/* SPDX-License-Identifier: BSD-2-Clause */
/* See set_rows.h.
 *
 * Each set is summed by scope with its own resolver; a scope's texts are then its name in all sets,
 * so that rows meet in one hash table.  Samples of one event that were taken with several periods
 * (a daemon that changed its rate) have different weights: amounts are sums of weights, and tests
 * are made with as many samples of equal weight as would have the same variance (L. Kish, Survey
 * Sampling, 1965). */
#include "query/compare/set_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "query/compare/common_rows.h"
#include "query/compare/edited_lines.h"
#include "query/compare/line_rows.h"
#include "query/compare/metric_rows.h"

/* --- events --- */

static const char *event_name(const struct query *q, unsigned col)
{
	return profile_str(q->profile, q->profile->events.v[q->cols[col].event].name);
}

/* What a sample of column C stands for. */
static double set_rows_weight(const struct query_col *c)
{
	double duty = c->duty > 0 && c->duty < 1 ? c->duty : 1;

	return *c->measures ? 1 : (c->period ? (double)c->period : 1) / duty;
}

const char *set_ordinal(unsigned k, char ret[24])
{
	static const char *const words[] = {"first", "second", "third"};

	if (k < n_elems(words))
		return words[k];
	snprintf(ret, 24, "%uth", k + 1);
	return ret;
}

/* The column of the query that counts E's samples: all its numbers are made of such. */
static uint32_t samples_of(const struct estimate *e)
{
	return e->kind == ESTIMATE_EVENT   ? e->part.event
	       : e->kind == ESTIMATE_TOTAL ? e->part.measured
					   : e->part.hits;
}

/* How much of a name is what was written: populations may stand behind it. */
static size_t written_length(const char *name)
{
	return strcspn(name, "@");
}

/* What the N samples of E's event stand for that weigh WEIGHT (in units of the event), as the
 * columns of Q have them: where periods vary, what they weigh. */
static double amount_of(const struct query *q, uint32_t event, double n, double weighs)
{
	const struct query_col *c = &q->cols[event];
	const double duty = c->duty > 0 && c->duty < 1 ? c->duty : 1;

	return c->weight == event ? n * set_rows_weight(c) : weighs / duty;
}

/* The squares of what each of the N samples of EVENT stands for, added up.  Where periods vary they
 * are known of all samples of the event; of some, these are taken for their share. */
static double squares_of(const struct query *q, uint32_t event, double n)
{
	const struct query_col *c = &q->cols[event];
	const struct event *e = &q->profile->events.v[c->event];
	const double duty = c->duty > 0 && c->duty < 1 ? c->duty : 1;

	if (c->weight == event || !e->weight_squares || !e->n_reached)
		return n * set_rows_weight(c) * set_rows_weight(c);
	return e->weight_squares * n / (double)e->n_reached / (duty * duty);
}

/* Whether E of Q is what is compared, whatever its period. */
static bool is_compared(const struct set_rows *r, const struct query *q, const struct estimate *e)
{
	const size_t n = written_length(e->name);

	return e->kind == r->kind && strcmp(event_name(q, e->part.event), r->event) == 0 &&
	       (e->kind == ESTIMATE_EVENT ||
		(strlen(r->name) == n && memcmp(r->name, e->name, n) == 0));
}

/* Adds what E of Q is in all to SIDE. */
static void add_column(struct set_side *side, const struct estimate *e, double *squares)
{
	const struct query *q = side->q;
	const struct query_col *col = &q->cols[samples_of(e)];
	const double w = set_rows_weight(&q->cols[e->part.event]);

	vec_push(&side->columns, e);
	side->n_samples += col->n_samples;
	*squares += squares_of(q, e->part.event, (double)col->n_samples);
	if (e->kind != ESTIMATE_EVENT)
		side->n_open += query_open(q, &e->part);
	if (e->kind != ESTIMATE_EVENT && e->part.killed != NO_COL)
		side->n_killed += q->cols[e->part.killed].n_samples;
	if (e->kind == ESTIMATE_RATIO)
		side->n_open += query_open(q, &e->per);
	else if (e->kind == ESTIMATE_TOTAL)
		side->amount += (double)q->cols[e->part.total].n_samples * w;
	else if (e->kind == ESTIMATE_COUNT)
		side->amount += (double)col->n_samples * w;
	else
		side->amount += amount_of(q, e->part.event, (double)col->n_samples,
					  (double)q->cols[col->weight].n_samples);
}

/* Sets a ratio's amount to that of all samples. */
static void set_ratio(struct set_side *side, const struct estimate *e)
{
	double *sums = xcalloc(side->q->n_cols, sizeof(*sums));
	enum knowledge worth;

	for (unsigned c = 0; c < side->q->n_cols; c++)
		sums[c] = (double)side->q->cols[c].n_samples;
	side->amount = estimate_get(e, sums, &worth);
	side->is_unknown = worth == IS_UNKNOWN || worth == IS_NONE;
	free(sums);
}

static int not_there(const struct set_rows *r, const struct query *q, const char *nth,
		     struct err *err)
{
	struct name_list there = {{0}, 0};

	vec_each (e, &q->shown)
		if (e->kind == ESTIMATE_EVENT)
			name_list_add(&there, e->name);
	if (r->kind == ESTIMATE_EVENT)
		return err_set(err, -ENOENT,
			       "the %s set has no event '%s' to compare the first one's with; "
			       "it has: %s",
			       nth, r->event, there.n ? there.text : "none");
	return err_set(err, -ENOENT,
		       "the %s set has no '%s' of %s to compare the first one's with; --event "
		       "chooses one event",
		       nth, r->name, r->event);
}

static int init_side(struct set_rows *r, unsigned k, struct query *q, struct err *err)
{
	struct set_side *side = &r->sides[k];
	double squares = 0;
	char nth[24];

	side->q = q;
	vec_each (e, &q->shown) {
		if (!is_compared(r, q, e))
			continue;
		side->is_unknown |= e->part.never || (e->kind == ESTIMATE_RATIO && e->per.never);
		add_column(side, e, &squares);
	}
	if (!side->columns.n)
		return not_there(r, q, set_ordinal(k, nth), err);
	if (r->kind == ESTIMATE_RATIO && side->columns.n > 1)
		return err_set(err, -EINVAL,
			       "the %s set has '%s' of several periods or events, which cannot be "
			       "added up",
			       set_ordinal(k, nth), r->name);
	if (!side->n_samples && r->kind == ESTIMATE_EVENT)
		return err_set(err, -ENOENT, "the %s set has no samples of %s", set_ordinal(k, nth),
			       r->event);
	if (r->kind == ESTIMATE_RATIO)
		set_ratio(side, side->columns.v[0]);
	side->is_unknown |= !side->n_samples && side->n_open && r->kind != ESTIMATE_RATIO;
	side->n_effective = squares > 0 ? side->amount * side->amount / squares : 0;
	r->has_open |= side->n_open || side->is_unknown;
	return 0;
}

static bool same_written(const struct estimate *a, const struct estimate *b)
{
	const size_t n = written_length(a->name);

	return a->kind == b->kind && n == written_length(b->name) &&
	       memcmp(a->name, b->name, n) == 0;
}

/* Finds what is compared in the first set, Q. */
static int choose(struct set_rows *r, const struct query *q, struct err *err)
{
	const struct estimate *sorted = &q->shown.v[q->sort_shown], *found = NULL;
	struct name_list names = {{0}, 0};
	bool several = false;

	vec_each (e, &q->shown) {
		if (e->kind == ESTIMATE_EVENT || (q->is_by_set && !same_written(e, sorted)))
			continue;
		name_list_add(&names, e->name);
		several |= found && (!same_written(e, found) ||
				     strcmp(event_name(q, e->part.event),
					    event_name(q, found->part.event)) != 0);
		found = found ? found : e;
	}
	if (several)
		return err_set(err, -EINVAL,
			       "one column is compared; --sp chooses it, --event its event: %s",
			       names.text);
	found = found ? found : sorted;
	r->kind = found->kind;
	r->event = r->name = event_name(q, found->part.event);
	r->measures = q->cols[found->part.event].measures;
	if (r->kind != ESTIMATE_EVENT)
		r->name = arena_strndup(&r->arena, found->name, written_length(found->name));
	r->unit = *r->measures			      ? 1000
		  : r->kind == ESTIMATE_RATIO	      ? 1
		  : q->cols[found->part.event].period ? (double)q->cols[found->part.event].period
						      : 1;
	return 0;
}

/* --- images --- */

static void add_image(struct common_rows *m, unsigned k, image_id im)
{
	const struct image *image = &m->r->sides[k].q->profile->images.v[im];
	char id[2 * BUILD_ID_MAX + 1];

	build_id_format(&image->build_id, id);
	common_image_add(m, k, im, image_kind_name(image->kind),
			 image->kind == IMAGE_UNKNOWN ? query_image_name(m->r->sides[k].q, im)
			 : *image->path		      ? image->path
						      : "[unknown]",
			 id);
}

static int find_wanted(struct common_rows *m, struct err *err)
{
	for (size_t i = 0; m->names && i < m->names->n; i++) {
		bool found = false;
		int rc = 0;

		for (unsigned k = 0; k < m->r->n_sets; k++) {
			image_ids ids = {0};

			rc = select_find_images(m->r->sides[k].q->profile, m->names->v[i], &ids,
						err);
			vec_each (im, &ids) {
				uint32_t c = m->image_of[k][*im];

				if (c != INDEX_NONE)
					m->images.v[m->images.v[c].same_as].is_wanted = true;
			}
			found |= rc >= 0;
			vec_release(&ids);
		}
		if (!found)
			return rc;
	}
	return 0;
}

static int match_images(struct common_rows *m, struct err *err)
{
	for (unsigned k = 0; k < m->r->n_sets; k++) {
		const struct query *q = m->r->sides[k].q;

		common_rows_size(m, k, (uint32_t)q->profile->images.n);
		for (image_id im = 0; im < q->profile->images.n; im++)
			if (q->first[im] < q->first[im + 1])
				add_image(m, k, im);
	}
	common_images_join(m);
	return find_wanted(m, err);
}

/* --- rows --- */

/* Sets VALUES to the numbers at S; false when none has to do with what is compared. */
static bool read_spot(const struct set_side *side, const struct spot *s, double *values)
{
	const uint64_t *counts = query_counts(side->q, s);
	bool any = false;

	for (unsigned c = 0; c < side->q->n_cols; c++)
		values[c] = (double)counts[c];
	vec_each (e, &side->columns)
		any |= !estimate_is_empty(*e, values);
	return any;
}

/* Adds what is at a spot to row R of set K. */
static void add_values(struct common_rows *m, struct set_row *r, unsigned k, const double *values)
{
	const struct set_side *side = &m->r->sides[k];
	const struct query *q = side->q;

	vec_each (p, &side->columns) {
		const struct estimate *e = *p;
		const double n = values[samples_of(e)];

		r->n[k] += (uint64_t)n;
		r->open[k] += (uint64_t)estimate_open(e, values);
		r->amount[k] += e->kind == ESTIMATE_EVENT
					? amount_of(q, e->part.event, n,
						    values[q->cols[e->part.event].weight])
					: (e->kind == ESTIMATE_TOTAL ? values[e->part.total] : n) *
						  set_rows_weight(&q->cols[e->part.event]);
	}
	if (m->r->kind != ESTIMATE_RATIO)
		return;
	if (!r->sums[k])
		r->sums[k] = arena_calloc(&m->r->arena, q->n_cols, sizeof(double));
	for (unsigned c = 0; c < q->n_cols; c++)
		r->sums[k][c] += values[c];
}

/* What was found out about lines last. */
struct line_finder {
	struct edited_lines edited;
	const struct query *q; /* whose procedure at START of IMAGE is declared in FILE, LINE */
	image_id image;
	uint64_t start;
	const char *file;
	uint32_t line; /* 0: not known */
};

/* The line of FILE that declares the procedure at START of IMAGE, whose line LINE is; 0: not known,
 * or another file's. */
static uint32_t declared_in(struct line_finder *f, const struct query *q, image_id image,
			    uint64_t start, const char *file, uint32_t line)
{
	if (f->q != q || f->image != image || f->start != start) {
		f->q = q;
		f->image = image;
		f->start = start;
		if (!resolver_declaration(q->resolver, &q->profile->images.v[image], start,
					  &f->file, &f->line))
			f->line = 0;
	}
	return f->line && f->line <= line && strcmp(f->file, file) == 0 ? f->line : 0;
}

static bool same_build(const struct query *a, image_id x, const struct query *b, image_id y)
{
	const struct image *i = &a->profile->images.v[x], *j = &b->profile->images.v[y];

	return build_id_same(&i->build_id, &j->build_id) && image_digest_fits(i->digest, j->digest);
}

/* What line SC of set K is: that of the first set which it was before somebody edited the
 * source. */
static struct line_key key_of_line(struct common_rows *m, struct line_finder *f, unsigned k,
				   const struct scope *sc)
{
	struct query *q = m->r->sides[k].q, *first = m->r->sides[0].q;
	struct line_key key = {.file = sc->file, .line = sc->line};
	uint32_t before;
	uint64_t start;

	if (!sc->file || sc->image == SCOPE_NO_IMAGE || sc->proc == PROC_NONE)
		return key;
	start = symtab_get(resolver_image(q->resolver, &q->profile->images.v[sc->image])->symtab,
			   sc->proc)
			.start;
	before = k ? common_image_in(m, k, sc->image, 0) : INDEX_NONE;
	if (before != INDEX_NONE && !same_build(q, sc->image, first, before)) {
		enum edited_kind is = edited_lines_find(&f->edited, first, before, q, sc, &key.file,
							&key.line, &start);

		key.is_new = is == EDITED_NEW;
		if (is == EDITED_SAME) {
			key.declared = declared_in(f, first, before, start, key.file, key.line);
			return key;
		}
	}
	key.declared = declared_in(f, q, sc->image, start, sc->file, sc->line);
	return key;
}

/* Adds the samples of set K. */
static int add_side(struct common_rows *m, unsigned k, struct err *err)
{
	const struct scopes_opts so = {.level = m->r->level, .no_inline = true};
	struct set_side *side = &m->r->sides[k];
	struct query *q = side->q;
	bool *used = xcalloc(q->profile->places.n + 1, sizeof(*used));
	double *values = xcalloc(q->n_cols, sizeof(*values));
	struct line_finder finder = {0};
	struct scopes scopes;
	int rc;

	side->row_of_place = arena_calloc(&m->r->arena, q->profile->places.n + 1, sizeof(uint32_t));
	memset(side->row_of_place, 0xff, (q->profile->places.n + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < q->n_spots; i++)
		used[q->spots[i].place] |= read_spot(side, &q->spots[i], values) &&
					   common_image_is_wanted(m, k, q->spots[i].image);
	rc = scopes_init(&scopes, q, &so, used, err);
	for (size_t i = 0; rc >= 0 && i < q->n_spots; i++) {
		const image_id im = q->spots[i].image;
		char build[2 * BUILD_ID_MAX + 1] = "";
		const struct scope *sc;
		struct line_key line;
		struct set_row *r;
		uint32_t n;

		if (!used[q->spots[i].place])
			continue;
		if (m->r->level == SCOPE_ADDRESS)
			build_id_format(&q->profile->images.v[im].build_id, build);
		sc = &scopes.scopes.v[*scopes_of_place(&scopes, q->spots[i].place, &n)];
		if (sc->kind == SCOPE_LINE)
			line = key_of_line(m, &finder, k, sc);
		r = common_row_find(m, k, sc, im, build, sc->kind == SCOPE_LINE ? &line : NULL);
		read_spot(side, &q->spots[i], values);
		add_values(m, r, k, values);
		side->row_of_place[q->spots[i].place] = (uint32_t)(r - m->r->rows.v);
	}
	edited_lines_release(&finder.edited);
	if (rc >= 0)
		scopes_release(&scopes);
	free(values);
	free(used);
	return rc;
}

/* Says what the numbers of all rows are worth, and makes ratios. */
static void set_rows_settle(struct set_rows *r)
{
	vec_each (row, &r->rows)
		for (unsigned k = 0; k < r->n_sets; k++) {
			const struct estimate *e = r->sides[k].columns.v[0];

			if (r->kind == ESTIMATE_RATIO && row->sums[k])
				row->amount[k] = estimate_get(e, row->sums[k], &row->worth[k]);
			else if (e->kind != ESTIMATE_EVENT && e->part.never)
				row->worth[k] = IS_UNKNOWN;
			else if (r->kind == ESTIMATE_RATIO)
				row->worth[k] = e->per.never ? IS_UNKNOWN : IS_NONE;
			else if (row->open[k])
				row->worth[k] = row->n[k] ? IS_AT_LEAST : IS_UNKNOWN;
		}
}

/* Puts samples on common rows. */
static int sample_rows_init(struct set_rows *r, struct source *const *sets, const opt_list *images,
			    struct err *err)
{
	struct common_rows m;
	int rc;

	if (!sets[0]->query->n_cols)
		return err_set(err, -ENOENT, "the first set has no samples");
	rc = choose(r, sets[0]->query, err);
	if (rc < 0)
		return rc;
	common_rows_init(&m, r, images);
	for (unsigned k = 0; k < r->n_sets && rc >= 0; k++)
		rc = init_side(r, k, sets[k]->query, err);
	if (rc >= 0)
		rc = match_images(&m, err);
	for (unsigned k = 0; k < r->n_sets && rc >= 0; k++)
		rc = add_side(&m, k, err);
	if (rc >= 0 && r->level == SCOPE_LINE)
		line_rows_join(r);
	if (rc >= 0)
		set_rows_settle(r);
	common_rows_release(&m);
	return rc;
}

int set_rows_init(struct set_rows *r, struct source *const *sets, unsigned n, enum scope_kind level,
		  const opt_list *images, struct err *err)
{
	bool all_samples = true;
	int rc;

	*r = (struct set_rows){.n_sets = n, .level = level, .measures = ""};
	r->sides = xcalloc(n, sizeof(*r->sides));
	for (unsigned k = 0; k < n; k++) {
		r->sides[k].source = sets[k];
		all_samples &= sets[k]->query != NULL;
	}
	rc = all_samples ? sample_rows_init(r, sets, images, err)
			 : metric_rows_init(r, sets, images, err);
	if (rc < 0)
		set_rows_release(r);
	return rc;
}

void set_rows_release(struct set_rows *r)
{
	vec_release(&r->rows);
	for (unsigned k = 0; r->sides && k < r->n_sets; k++)
		vec_release(&r->sides[k].columns);
	free(r->sides);
	arena_release(&r->arena);
	*r = (struct set_rows){0};
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

const char *set_row_image(const struct set_row *r, bool is_table)
{
	const bool is_mark =
		r->image_kind && strcmp(r->image_kind, image_kind_name(IMAGE_MARK)) == 0;

	return is_table && is_mark && r->procedure ? "" : r->image;
}

int set_row_compare(const struct set_row *a, const struct set_row *b)
{
	int d = strcmp(a->image, b->image);

	d = d ? d : compare_text(a->procedure, b->procedure);
	d = d ? d : compare_text(a->file, b->file);
	if (!d && a->line != b->line)
		d = a->line < b->line ? -1 : 1;
	return d ? d : a->svma < b->svma ? -1 : a->svma > b->svma;
}

int set_rows_parse_by(const char *text, enum scope_kind *ret, struct err *err)
{
	static const struct {
		const char *name;
		enum scope_kind level;
	} words[] = {
		{"image", SCOPE_IMAGE},		{"dso", SCOPE_IMAGE},
		{"procedure", SCOPE_PROCEDURE}, {"symbol", SCOPE_PROCEDURE},
		{"sym", SCOPE_PROCEDURE},	{"function", SCOPE_PROCEDURE},
		{"line", SCOPE_LINE},		{"instruction", SCOPE_ADDRESS},
		{"srcline", SCOPE_LINE},	{"address", SCOPE_ADDRESS},
	};

	for (size_t i = 0; i < n_elems(words); i++) {
		if (strcmp(words[i].name, text) != 0)
			continue;
		*ret = words[i].level;
		return 0;
	}
	return err_set(err, -EINVAL, "--by %s: must be image, procedure, line or address", text);
}
