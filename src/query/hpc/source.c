/* SPDX-License-Identifier: BSD-2-Clause */
/* See source.h. */
#include "query/hpc/source.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "query/hpc/lines.h"
#include "query/hpc/listing.h"
#include "query/hpc/neighbours.h"
#include "query/hpc/threads.h"
#include "query/hpc/tree.h"

struct hpc_source {
	struct source source;
	struct hpc_db db;
	struct hpc_query query;
	bool has_db, has_query;
	char *line, *more; /* of about */
};

static struct hpc_source *hpc_source_of(const struct source *s)
{
	return (struct hpc_source *)s;
}

struct hpc_query *hpc_source_query(struct source *s)
{
	return &hpc_source_of(s)->query;
}

/* --- what there is --- */

static const char *hpc_why_not(const struct source *s, enum source_feature f)
{
	switch (f) {
	case SOURCE_SAMPLES:
		return "an HPCToolkit database has values of metrics, not samples";
	case SOURCE_RECORDINGS:
	case SOURCE_OWNERS:
		return "an HPCToolkit database has threads (--thread) instead";
	case SOURCE_SETS:
		return "an HPCToolkit database has metrics (--event), not what samples met";
	case SOURCE_CODE:
		return "an HPCToolkit database has no instructions";
	default:
		return NULL;
	}
}

static const char *hpc_line(struct hpc_source *hs, uint32_t n)
{
	const struct hpc_query *q = &hs->query;
	struct str line = {0};

	str_add(&line, q->db->meta.title);
	str_addf(&line, "%sHPCToolkit database of %" PRIu32 " thread%s", line.n ? ", " : "", n,
		 n == 1 ? "" : "s");
	if (!q->all_threads)
		str_addf(&line, ", %" PRIu32 " of them chosen", q->n_threads);
	free(hs->line);
	hs->line = line.v;
	return line.v;
}

static const char *hpc_more(struct hpc_source *hs)
{
	if (!hs->query.n_more)
		return NULL;
	free(hs->more);
	hs->more = xasprintf("%u more metrics are not 0; --event and --all-metrics show them",
			     hs->query.n_more);
	return hs->more;
}

static void hpc_about(struct source *s, struct source_about *ret)
{
	struct hpc_source *hs = hpc_source_of(s);
	const struct hpc_meta *meta = &hs->db.meta;
	const uint32_t n = hs->db.profiles.nProfiles ? hs->db.profiles.nProfiles - 1 : 0;

	*ret = (struct source_about){
		.line = hpc_line(hs, n),
		.more = hpc_more(hs),
		.facts = {{"format", "HPCToolkit", 0},
			  {"layout", hpc_layout_name(meta->layout), 0},
			  {"title", meta->title, 0},
			  {"description", meta->description, 0},
			  {"profiles", NULL, n},
			  {"profiles_chosen", NULL, hs->query.n_threads}},
		.n_facts = 6,
	};
}

static struct flat_image hpc_image(struct source *s, image_id image)
{
	const struct hpc_meta *meta = &hpc_source_of(s)->db.meta;
	struct hpc_module m = {.path = ""};

	if (image < meta->n_modules)
		hpc_meta_module(meta, image, &m, NULL);
	return (struct flat_image){
		.path = *m.path ? m.path : "[unknown]",
		.file = *m.path ? m.path : NULL,
	};
}

/* --- rows of code --- */

/* What rows of a tree live in. */
struct tree_kept {
	struct hpc_tree *tree;
	struct tree_rows rows;
	struct hpc_neighbours neighbours;
};

static void release_tree_kept(void *p)
{
	struct tree_kept *k = p;

	hpc_neighbours_release(&k->neighbours);
	tree_rows_release(&k->rows);
	tree_source_close(&k->tree->source);
	free(k);
}

/* Which images are wanted, by module; NULL in *RET when all are. */
static int find_modules(struct hpc_tree *t, const opt_list *names, bool **ret, struct err *err)
{
	uint32_t n_modules = t->q->db->meta.n_modules;
	struct name_list there = {{0}, 0};
	_mem_ bool *wanted = NULL;

	*ret = NULL;
	if (!names || !names->n)
		return 0;
	wanted = xcalloc((size_t)n_modules + 1, sizeof(*wanted));
	vec_each (name, names) {
		bool found = false;

		for (uint32_t i = 0; i < n_modules; i++) {
			const char *path = hpc_scopes_image(&t->scopes, i);

			if (strcmp(path, *name) != 0 && strcmp(str_basename(path), *name) != 0)
				continue;
			wanted[i] = found = true;
		}
		for (uint32_t i = 0; !found && i < n_modules; i++)
			name_list_add(&there, str_basename(hpc_scopes_image(&t->scopes, i)));
		if (!found)
			return err_set(err, -ENOENT, "no values in an image '%s'; there are: %s",
				       *name, there.text);
	}
	*ret = take_ptr(&wanted);
	return 0;
}

static struct tree_kept *keep_tree(struct flat *f)
{
	struct tree_kept *k = xcalloc(1, sizeof(*k));

	f->kept = k;
	f->release = release_tree_kept;
	f->is_ordered = true;
	f->keep_col = f->source->columns.sort;
	f->n_told = (unsigned)f->source->columns.cols.n;
	return k;
}

static int flat_of_code(struct source *s, const struct flat_opts *o, struct flat *ret,
			struct err *err)
{
	const struct hpc_tree_opts to = {.form = TREE_FLAT, .scopes.level = o->level};
	const struct tree_rows_opts ro = {.form = TREE_FLAT, .by_inclusive = o->by_inclusive};
	struct hpc_tree *t;
	struct tree_kept *k;
	_mem_ bool *modules = NULL;
	int rc = hpc_tree_open(&t, hpc_source_query(s), &to, err);

	if (rc < 0)
		return rc;
	k = keep_tree(ret);
	k->tree = t;
	rc = tree_rows_init(&k->rows, &t->source, &ro, err);
	if (rc >= 0)
		rc = find_modules(t, o->images, &modules, err);
	if (rc >= 0)
		flat_add_tree_rows(ret, &t->source, &k->rows, modules);
	return rc;
}

static int hpc_neighbours_flat(struct source *s, const struct neighbour_opts *o, struct flat *ret,
			       struct err *err)
{
	const struct hpc_tree_opts to = {.form = TREE_FLAT, .scopes.level = SCOPE_PROCEDURE};
	const opt_list all = {0};
	struct hpc_neighbours *n;
	struct hpc_tree *t;
	struct tree_kept *k;
	int rc = hpc_tree_open(&t, hpc_source_query(s), &to, err);

	if (rc < 0)
		return rc;
	k = keep_tree(ret);
	k->tree = t;
	n = &k->neighbours;
	rc = hpc_neighbours_find(t, o->kind, o->procedure, o->images ? o->images : &all, n, err);
	if (rc < 0)
		return rc;
	flat_add_tree_rows(ret, &t->source, &n->rows, NULL);
	ret->whose = (struct flat_whose){
		.kind = o->kind,
		.procedure = n->procedure,
		.image = n->image,
		.n_procedures = n->n_procedures,
		.inclusive = n->inclusive,
		.own = n->exclusive,
		.column = s->columns.sort,
	};
	ret->totals = xcalloc(s->columns.cols.n + 1, sizeof(*ret->totals));
	memcpy(ret->totals, n->inclusive, s->columns.cols.n * sizeof(double));
	return 0;
}

/* --- rows of threads --- */

static void release_threads(void *p)
{
	hpc_threads_release(p);
	free(p);
}

/* Nothing is exclusive when rows are whole threads (OF_ALL). */
static void add_moments(struct flat *f, const struct hpc_threads *t, bool of_all)
{
	for (size_t c = 0; c < f->source->columns.cols.n; c++)
		for (unsigned k = 0; k < 2u - of_all; k++) {
			const struct hpc_moments *m = k ? &t->exclusive[c] : &t->inclusive[c];
			struct flat_moments out = {
				.column = (unsigned)c,
				.scope = k ? "exclusive" : "inclusive",
				.n_threads = (uint64_t)m->n,
			};

			for (unsigned i = 0; i < N_HPC_STATS; i++)
				out.stats[i] = hpc_moments_stat(m, i);
			vec_push(&f->moments, out);
		}
}

static int flat_of_threads(struct source *s, const struct flat_opts *o, struct flat *ret,
			   struct err *err)
{
	struct hpc_query *q = hpc_source_query(s);
	struct hpc_threads *t = xcalloc(1, sizeof(*t));
	const bool of_all = !o->contexts;
	_vec_ ctx_list ids = {0};
	int rc = 0;

	ret->kept = t;
	ret->release = release_threads;
	ret->is_ordered = true;
	ret->keep_col = q->columns.sort;
	ret->inclusive = ret->by_inclusive = !of_all;
	if (of_all)
		vec_push(&ids, HPC_ROOT_CTX);
	else
		rc = hpc_parse_contexts(o->contexts, &ids, err);
	if (rc >= 0)
		rc = hpc_threads_find(t, q, ids.v, ids.n, err);
	if (rc >= 0 && o->keep_pct > 0)
		hpc_threads_sort(t, q);
	for (size_t i = 0; i < t->rows.n && rc >= 0; i++) {
		const struct hpc_thread_row *r = &t->rows.v[i];
		_str_ struct str name = {0};

		rc = hpc_db_thread_name(q->db, r->profile, &name, err);
		vec_push(&ret->rows, (struct flat_row){
					     .own = of_all ? r->inclusive : r->exclusive,
					     .inclusive = r->inclusive,
					     .procedure = arena_strdup(&ret->arena, str_get(&name)),
					     .image = SCOPE_NO_IMAGE,
					     .proc = PROC_NONE,
					     .member = r->profile,
				     });
	}
	if (rc >= 0) {
		add_moments(ret, t, of_all);
		ret->whole = t->inclusive[q->columns.sort].x;
	}
	return rc;
}

static int hpc_flat(struct source *s, const struct flat_opts *o, struct flat *ret, struct err *err)
{
	for (unsigned i = 0; i < o->by.n; i++)
		if (o->by.keys[i] < N_OWNER_KEYS)
			return err_set(err, -EINVAL,
				       "--by %s: rows of an HPCToolkit database are thread, image, "
				       "file, procedure, line or address",
				       owner_key_name(o->by.keys[i]));
	return o->threads ? flat_of_threads(s, o, ret, err) : flat_of_code(s, o, ret, err);
}

/* --- trees and listings --- */

static int hpc_source_tree(struct source *s, const struct tree_opts *o, enum tree_form form,
			   struct tree_source **ret, struct err *err)
{
	const struct hpc_tree_opts to = {
		.form = form,
		.scopes = o->scopes,
		.fold_recursion = o->fold_recursion,
	};
	struct hpc_tree *t;
	int rc;

	if (o->n_owners)
		return err_set(err, -EINVAL,
			       "--by: rows of an HPCToolkit database are procedure, image, file, "
			       "loop, line or address");
	rc = hpc_tree_open(&t, hpc_source_query(s), &to, err);
	if (rc < 0)
		return rc;
	t->source.source = s;
	*ret = &t->source;
	return 0;
}

static int hpc_source_listing(struct source *s, const struct listing_opts *o,
			      struct sources *sources, struct listing *ret, struct err *err)
{
	struct stat st;

	/* The database says which files are sources. */
	return hpc_listing_open(ret, hpc_source_query(s), o, sources,
				stat(s->path, &st) < 0 ? UID_ANYBODY : st.st_uid, err);
}

static int hpc_thread_lines(struct source *s, const struct thread_line_opts *o,
			    struct thread_lines *ret, struct err *err)
{
	return hpc_lines_find(ret, hpc_source_query(s), o, err);
}

/* --- open and close --- */

static void hpc_close(struct source *s)
{
	struct hpc_source *hs = hpc_source_of(s);

	if (hs->has_query)
		hpc_query_release(&hs->query);
	if (hs->has_db)
		hpc_db_close(&hs->db);
	free(hs->line);
	free(hs->more);
	free(s->path);
	free(hs);
}

static const struct source_ops hpc_ops = {
	.close = hpc_close,
	.why_not = hpc_why_not,
	.flat = hpc_flat,
	.neighbours = hpc_neighbours_flat,
	.image = hpc_image,
	.tree = hpc_source_tree,
	.listing = hpc_source_listing,
	.thread_lines = hpc_thread_lines,
	.about = hpc_about,
};

/* What selects among samples means nothing here. */
static int check_select(const struct source *s, const struct select *sel, struct err *err)
{
	const char *given = sel->epochs	  ? "--epoch"
			    : sel->since  ? "--since"
			    : sel->until  ? "--until"
			    : sel->host	  ? "--host"
			    : sel->stride ? "--stride"
					  : NULL;
	char option[32];

	if (given)
		return source_needs(s, SOURCE_RECORDINGS, given, err);
	for (enum owner_key k = 0; k < N_OWNER_KEYS; k++) {
		if (!sel->owners[k].n)
			continue;
		snprintf(option, sizeof(option), "--%s", owner_key_name(k));
		return source_needs(s, SOURCE_OWNERS, option, err);
	}
	if (sel->columns.n || sel->sort_set || sel->errors)
		return source_needs(s, SOURCE_SETS, sel->errors ? "--error" : "--pm", err);
	return 0;
}

int hpc_source_open(struct source **ret, const struct source_opts *o, const char *path,
		    struct err *err)
{
	struct hpc_source *hs = xcalloc(1, sizeof(*hs));
	struct source *s = &hs->source;
	const struct hpc_opts ho = {
		.select = o->select,
		.stats = o->stats,
		.threads = o->threads,
		.derived = o->derived,
		.all_metrics = o->all_metrics,
		.taxonomy = o->taxonomy,
	};
	int rc;

	s->ops = &hpc_ops;
	s->format = "HPCToolkit database";
	s->path = xstrdup(path);
	rc = check_select(s, o->select, err);
	if (rc == 0) {
		rc = hpc_db_open(&hs->db, path, err);
		hs->has_db = rc == 0;
	}
	if (rc == 0) {
		rc = hpc_query_init(&hs->query, &hs->db, &ho, err);
		hs->has_query = rc == 0;
	}
	if (rc != 0) {
		hpc_close(s);
		return rc;
	}
	/* Borrowed: they remain the query's. */
	s->columns = hs->query.columns;
	*ret = s;
	return 0;
}
