/* SPDX-License-Identifier: BSD-2-Clause */
/* See neighbours.h.
 *
 * Each node that is in or below the procedure charges its own amount to one scope, which follows
 * from the node above it.  Nodes are in preorder, so one pass is enough.  Own amounts are sums over
 * threads, and add up to the whole; other statistics do not. */
#include "query/hpc/neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/str.h"

#define NOBODY UINT32_MAX

static bool in_images(struct hpc_tree *t, const opt_list *names, image_id image)
{
	const char *path = image == SCOPE_NO_IMAGE ? "" : hpc_scopes_image(&t->scopes, image);

	if (!names->n)
		return true;
	vec_each (name, names)
		if (strcmp(path, *name) == 0 || strcmp(str_basename(path), *name) == 0)
			return true;
	return false;
}

/* HPCToolkit writes the image behind the name of a procedure without source. */
static bool is_called(const struct scope *sc, const char *name)
{
	size_t n = strlen(name);

	return (sc->kind == SCOPE_PROCEDURE || sc->kind == SCOPE_ENTRY) &&
	       strncmp(sc->name, name, n) == 0 &&
	       (!sc->name[n] || sc->name[n] == '(' || str_starts(sc->name + n, " ["));
}

static int nothing_there(const struct scopes *all, const char *name, struct err *err)
{
	struct near near = near_to(name, strlen(name) > 5 ? 4 : 2);

	for (scope_id i = 1; i < all->scopes.n; i++)
		if (strcmp(all->scopes.v[i].name, name) != 0) /* not that of another image */
			near_try(&near, all->scopes.v[i].name);
	return *near.found ? err_set(err, -ENOENT,
				     "no values in or below a procedure '%s'; did you mean %s?",
				     name, near.found)
			   : err_set(err, -ENOENT,
				     "no values in or below a procedure '%s'; `dwell prof --by "
				     "procedure` "
				     "lists those that have some",
				     name);
}

/* Which scopes are the procedure, by scope. */
static int find_it(struct hpc_tree *t, const char *name, const opt_list *images, bool *is_it,
		   struct hpc_neighbours *ret, struct err *err)
{
	const struct scopes *all = &t->scopes.scopes;

	for (scope_id i = 1; i < all->scopes.n; i++) {
		const struct scope *sc = &all->scopes.v[i];

		is_it[i] = is_called(sc, name) && in_images(t, images, sc->image);
		if (!is_it[i])
			continue;
		/* Called and inlined it is the same one. */
		if (ret->n_procedures && ret->image == sc->image &&
		    strcmp(ret->procedure, sc->name) == 0)
			continue;
		ret->procedure = sc->name;
		ret->image = ret->n_procedures++ ? SCOPE_NO_IMAGE : sc->image;
	}
	return ret->n_procedures ? 0 : nothing_there(all, name, err);
}

/* The scope that each node is charged to, by node; SELF stands for the procedure. */
static void charge(const struct hpc_tree *t, enum neighbour_kind kind, const bool *is_it,
		   scope_id self, scope_id *ret)
{
	ret[0] = NOBODY;
	for (node_id n = 1; n < t->end[0]; n++) {
		node_id up = t->parent[n];

		ret[n] = ret[up];
		if (kind == NEIGHBOUR_CALLERS) {
			if (ret[n] == NOBODY && is_it[t->scope[n]])
				ret[n] = up ? t->scope[up] : self;
		} else if (is_it[t->scope[n]]) {
			ret[n] = self;
		} else if (up && is_it[t->scope[up]]) {
			ret[n] = t->scope[n];
		}
	}
}

static int by_amount(const void *x, const void *y, void *sort)
{
	const struct tree_row *a = x, *b = y;
	double u = a->exclusive[*(unsigned *)sort], v = b->exclusive[*(unsigned *)sort];

	if (u != v)
		return u < v ? 1 : -1;
	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static double *new_values(struct hpc_neighbours *ret, const struct columns *c)
{
	return arena_calloc(&ret->rows.arena, c->cols.n + 1, sizeof(double));
}

static void sum_up(struct hpc_tree *t, const bool *is_it, const scope_id *charged,
		   struct hpc_neighbours *ret)
{
	const struct columns *c = &t->q->columns;
	double **sums = xcalloc(t->scopes.scopes.scopes.n, sizeof(*sums));
	unsigned sort = c->sort;

	ret->inclusive = new_values(ret, c);
	ret->exclusive = new_values(ret, c);
	for (node_id n = 1; n < t->end[0]; n++) {
		scope_id s = charged[n];

		if (s == NOBODY)
			continue;
		if (!sums[s])
			sums[s] = new_values(ret, c);
		t->source.amounts(&t->source, n, NULL, sums[s]);
		t->source.amounts(&t->source, n, NULL, ret->inclusive);
		if (is_it[t->scope[n]])
			t->source.amounts(&t->source, n, NULL, ret->exclusive);
	}
	cols_evaluate(c, ret->inclusive);
	cols_evaluate(c, ret->exclusive);
	for (scope_id s = 0; s < t->scopes.scopes.scopes.n; s++) {
		bool any = false;

		for (unsigned i = 0; sums[s] && i < t->q->cols.n; i++)
			any |= sums[s][i] != 0;
		if (!any)
			continue;
		cols_evaluate(c, sums[s]);
		vec_push(&ret->rows.rows, (struct tree_row){.parent = TREE_ROW_NONE,
							    .scope = s,
							    .exclusive = sums[s]});
	}
	if (ret->rows.rows.n)
		qsort_r(ret->rows.rows.v, ret->rows.rows.n, sizeof(ret->rows.rows.v[0]), by_amount,
			&sort);
	free(sums);
}

int hpc_neighbours_find(struct hpc_tree *t, enum neighbour_kind kind, const char *name,
			const opt_list *images, struct hpc_neighbours *ret, struct err *err)
{
	const struct scope own = {.kind = SCOPE_PROCEDURE,
				  .image = SCOPE_NO_IMAGE,
				  .proc = PROC_NONE,
				  .nameless = true,
				  .name = kind == NEIGHBOUR_CALLERS ? "[root]" : "[self]"};
	size_t n_scopes = t->scopes.scopes.scopes.n;
	scope_id *charged;
	bool *is_it;
	int rc;

	*ret = (struct hpc_neighbours){.kind = kind, .image = SCOPE_NO_IMAGE};
	vec_each (col, &t->q->cols)
		if (col->metric && col->stat != HPC_STAT_SUM)
			return err_set(err, -EINVAL,
				       "--callers and --callees add up values of threads; --stat "
				       "%s does not go with them",
				       hpc_stat_name(col->stat));
	is_it = xcalloc(n_scopes + 1, sizeof(*is_it));
	rc = find_it(t, name, images, is_it, ret, err);
	if (rc >= 0) {
		charged = xcalloc(t->end[0], sizeof(*charged));
		charge(t, kind, is_it, scopes_intern(&t->scopes.scopes, &own), charged);
		sum_up(t, is_it, charged, ret);
		free(charged);
	}
	free(is_it);
	return rc;
}

void hpc_neighbours_release(struct hpc_neighbours *n)
{
	tree_rows_release(&n->rows);
}
