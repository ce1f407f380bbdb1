/* SPDX-License-Identifier: BSD-2-Clause */
/* See neighbours.h.
 *
 * Each context that is in or below the procedure charges one row: its own samples are that row's.
 * Which one follows from its parent's alone, so one walk up the numbers finds it for all contexts,
 * and one over the values does the sums.
 *
 * Callers: the row of the context outside of the outermost one in the procedure; all below inherit
 * it.  Callees: the row of the context next below the innermost one; the procedure itself begins
 * anew. */
#include "query/samples/neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/str.h"
#include "query/samples/paths.h"
#include "resolve/proc_name.h"

struct search {
	struct query *q;
	struct paths paths;
	struct spot_rows rows;
	uint32_t *of_place;
	bool *is_it;	  /* by row */
	uint32_t *charge; /* by context: a row, rows.n for none ([root], [self]), or ROW_NONE */
};

/* --- which procedures --- */

static bool in_images(const image_ids *images, image_id image)
{
	if (!images)
		return true;
	vec_each (i, images)
		if (*i == image)
			return true;
	return false;
}

static bool is_called(struct query *q, const struct spot_row *r, const char *name)
{
	const struct image *im = &q->profile->images.v[r->image];

	if (strcmp(r->procedure, name) == 0)
		return true;
	if (r->proc == PROC_NONE)
		return false;
	return strcmp(symtab_get(resolver_image(q->resolver, im)->symtab, r->proc).name, name) ==
		       0 ||
	       strcmp(resolver_name(q->resolver, im, r->proc, false), name) == 0;
}

/* Whether NAME is another name of R's procedure, or part of its name (proc_name_means). */
static bool is_alias(struct query *q, const struct spot_row *r, const char *name)
{
	const struct symtab *st =
		resolver_image(q->resolver, &q->profile->images.v[r->image])->symtab;
	_vec_ proc_list found = {0};
	bool is = false;

	if (proc_name_means(r->procedure, name))
		return true;
	if (r->proc == PROC_NONE)
		return false;
	symtab_find_name(st, name, &found);
	vec_each (i, &found)
		is |= *i == r->proc;
	return is;
}

static bool covers(struct query *q, const struct spot_row *r, uint64_t svma)
{
	const struct symtab *st =
		resolver_image(q->resolver, &q->profile->images.v[r->image])->symtab;

	return r->proc != PROC_NONE && symtab_find(st, svma) == r->proc;
}

static int nothing_there(struct search *s, const char *name, struct err *err)
{
	struct near near = near_to(name, strlen(name) > 5 ? 4 : 2);

	vec_each (r, &s->rows.rows)
		near_try(&near, r->procedure);
	if (*near.found)
		return err_set(err, -ENOENT,
			       "no samples in or below a procedure '%s'; did you mean %s?", name,
			       near.found);
	return err_set(err, -ENOENT,
		       "no samples in or below a procedure '%s'; `dwell prof --by procedure` lists "
		       "those that have some",
		       name);
}

static int find_it(struct search *s, const char *name, const image_ids *images,
		   struct neighbours *ret, struct err *err)
{
	uint64_t svma = 0;
	bool is_address = str_starts(name, "0x") && str_parse_u64(name, 0, &svma) >= 0;

	for (int aliases = 0; aliases < 2 && !ret->n_procedures; aliases++)
		for (size_t i = 0; i < s->rows.rows.n; i++) {
			const struct spot_row *r = &s->rows.rows.v[i];

			if (!in_images(images, r->image))
				continue;
			s->is_it[i] = is_address ? covers(s->q, r, svma)
				      : aliases	 ? is_alias(s->q, r, name)
						 : is_called(s->q, r, name);
			if (!s->is_it[i])
				continue;
			ret->procedure = r->procedure;
			ret->image = ret->n_procedures++ ? ROW_NO_IMAGE : r->image;
		}
	return ret->n_procedures ? 0 : nothing_there(s, name, err);
}

/* --- charging --- */

static uint32_t row_of(const struct search *s, ctx_id c)
{
	return s->of_place[s->q->profile->ctxs.v[c].place];
}

static void charge_callers(struct search *s)
{
	const struct profile *p = s->q->profile;

	for (ctx_id c = 1; c < p->ctxs.n; c++) {
		ctx_id parent = p->ctxs.v[c].parent;

		if (!s->paths.used[c])
			continue;
		s->charge[c] = s->charge[parent];
		if (s->charge[c] == ROW_NONE && s->is_it[row_of(s, c)])
			s->charge[c] = parent ? row_of(s, parent) : (uint32_t)s->rows.rows.n;
	}
}

static void charge_callees(struct search *s)
{
	const struct profile *p = s->q->profile;

	for (ctx_id c = 1; c < p->ctxs.n; c++) {
		ctx_id parent = p->ctxs.v[c].parent;

		if (!s->paths.used[c])
			continue;
		if (s->is_it[row_of(s, c)])
			s->charge[c] = (uint32_t)s->rows.rows.n;
		else if (parent && s->is_it[row_of(s, parent)])
			s->charge[c] = row_of(s, c);
		else
			s->charge[c] = s->charge[parent];
	}
}

/* Sums the values into the rows charged and leaves the rows that have any, named. */
static void sum_up(struct search *s, enum neighbour_kind kind, struct neighbours *ret)
{
	const size_t n_rows = s->rows.rows.n;
	bool *has = xcalloc(n_rows + 1, sizeof(*has));
	unsigned col;

	vec_push(&s->rows.rows,
		 (struct spot_row){.image = ROW_NO_IMAGE,
				   .proc = PROC_NONE,
				   .procedure = kind == NEIGHBOUR_CALLERS ? "[root]" : "[self]"});
	vec_each (r, &s->rows.rows)
		r->counts = rows_new_counts(s->q);
	vec_each (v, &s->q->profile->values) {
		uint32_t row = s->charge[v->ctx];

		if (!value_counts(v) || row == ROW_NONE)
			continue;
		query_add_value(s->q, v, (uint64_t *)s->rows.rows.v[row].counts);
		query_add_value(s->q, v, ret->inclusive);
		if (s->is_it[row_of(s, v->ctx)])
			query_add_value(s->q, v, ret->exclusive);
		has[row] |= query_counts_value(s->q, v, &col);
	}
	for (size_t i = 0; i <= n_rows; i++)
		if (has[i])
			vec_push(&ret->rows.rows, s->rows.rows.v[i]);
	rows_find_total(s->q, &ret->rows);
	free(has);
}

int neighbours_find(struct query *q, enum neighbour_kind kind, const char *name,
		    const image_ids *images, struct neighbours *ret, struct err *err)
{
	const struct profile *p = q->profile;
	struct search s = {.q = q};
	int rc;

	*ret = (struct neighbours){.image = ROW_NO_IMAGE};
	if (!query_has_paths(q))
		return err_set(err, -ENOENT,
			       "no sample here has a caller; `dwell record -g` records call paths");
	paths_init(&s.paths, q);
	s.of_place = xmalloc((p->places.n + 1) * sizeof(*s.of_place));
	memset(s.of_place, 0xff, p->places.n * sizeof(*s.of_place));
	rows_of_spots(q, ROW_KEY_PROCEDURE, NULL, s.paths.spots, s.paths.n_spots, &s.rows,
		      s.of_place);
	rows_name(q, &s.rows);
	s.is_it = xcalloc(s.rows.rows.n + 1, sizeof(*s.is_it));
	rc = find_it(&s, name, images, ret, err);
	if (rc >= 0) {
		ret->inclusive = rows_new_counts(q);
		ret->exclusive = rows_new_counts(q);
		s.charge = xmalloc(p->ctxs.n * sizeof(*s.charge));
		memset(s.charge, 0xff, p->ctxs.n * sizeof(*s.charge));
		if (kind == NEIGHBOUR_CALLERS)
			charge_callers(&s);
		else
			charge_callees(&s);
		sum_up(&s, kind, ret);
	}
	paths_release(&s.paths);
	rows_release(&s.rows);
	free(s.of_place);
	free(s.is_it);
	free(s.charge);
	return rc;
}

void neighbours_release(struct neighbours *n)
{
	rows_release(&n->rows);
}
