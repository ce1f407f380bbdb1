/* SPDX-License-Identifier: BSD-2-Clause */
/* See reduce.h.  What one process sends another are its tables as they are; the other adds them to
 * its own as if they were one more input, and remembers where each thing went. */
#include "hpc/reduce.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hpc/pack.h"

#define MOST_STEPS 32 /* log2 of how many processes there can be */

/* Where the things of another process went in our tables. */
struct merged {
	unsigned rank;
	struct numbers at;
	size_t n_nodes, n_metrics, n_identities;
};

void numbers_release(struct numbers *n)
{
	free(n->nodes);
	free(n->metrics);
	free(n->identities);
	*n = (struct numbers){0};
}

/* --- tables as bytes --- */

static void pack_contexts(struct pack *p, const struct contexts *c)
{
	pack_number(p, c->modules.n);
	vec_each (m, &c->modules)
		pack_text(p, m->path);
	pack_number(p, c->files.n);
	vec_each (f, &c->files)
		pack_text(p, f->path);
	pack_array(p, c->sources.v, c->sources.n, sizeof(*c->sources.v));
	pack_number(p, c->functions.n);
	vec_each (f, &c->functions) {
		pack_bytes(p, f, sizeof(*f));
		pack_text(p, f->name);
	}
	pack_number(p, c->entries.n);
	vec_each (e, &c->entries) {
		pack_number(p, e->entryPoint);
		pack_text(p, e->prettyName);
	}
	pack_array(p, c->nodes.v, c->nodes.n, sizeof(*c->nodes.v));
}

/* The N elements of a table, each TYPE, in memory of MODEL. */
#define TABLE(model, type, n) ((type *)arena_alloc(&(model)->arena, ((n) + 1) * sizeof(type)))

static uint32_t *merge_contexts(struct contexts *c, struct unpack *u, size_t *ret_n)
{
	struct hpc_meta_model m = {0};
	struct file_source *sources;
	uint32_t *nodes;
	size_t n;

	m.n_modules = (uint32_t)unpack_number(u);
	m.modules = TABLE(&m, struct hpc_module, m.n_modules);
	for (uint32_t i = 0; i < m.n_modules; i++)
		m.modules[i].path = unpack_text(u);
	m.n_files = (uint32_t)unpack_number(u);
	m.files = TABLE(&m, struct hpc_file, m.n_files);
	for (uint32_t i = 0; i < m.n_files; i++)
		m.files[i].path = unpack_text(u);
	sources = unpack_array(u, &n, sizeof(*sources));
	m.n_functions = (uint32_t)unpack_number(u);
	m.functions = TABLE(&m, struct hpc_function, m.n_functions);
	for (uint32_t i = 0; i < m.n_functions; i++) {
		unpack_bytes(u, &m.functions[i], sizeof(*m.functions));
		m.functions[i].name = unpack_text(u);
	}
	m.n_entries = (uint32_t)unpack_number(u);
	m.entries = TABLE(&m, struct hpc_entry, m.n_entries);
	for (uint32_t i = 0; i < m.n_entries; i++) {
		m.entries[i].entryPoint = (uint16_t)unpack_number(u);
		m.entries[i].prettyName = unpack_text(u);
	}
	m.nodes = unpack_array(u, &n, sizeof(*m.nodes));
	m.n_nodes = (uint32_t)n;
	nodes = contexts_merge(c, &m, sources);
	free(sources);
	free(m.nodes);
	arena_release(&m.arena);
	*ret_n = n;
	return nodes;
}

static void pack_metrics(struct pack *p, const struct build_metrics *ms)
{
	pack_number(p, ms->n_scopes);
	for (unsigned i = 0; i < ms->n_scopes; i++)
		pack_text(p, ms->scopes[i]);
	pack_number(p, ms->v.n);
	vec_each (m, &ms->v) {
		pack_bytes(p, m, sizeof(*m));
		pack_text(p, m->name);
	}
}

/* Adds metrics to MS; *RET is where each is, NULL when they do not fit. */
static int merge_metrics(struct build_metrics *ms, struct unpack *u, uint32_t **ret, size_t *ret_n,
			 struct err *err)
{
	unsigned n_scopes = (unsigned)unpack_number(u), scope_of[BUILD_MAX_SCOPES];
	size_t n;

	for (unsigned i = 0; i < n_scopes; i++) {
		int s = build_metrics_scope(ms, unpack_text(u), err);

		if (s < 0)
			return s;
		scope_of[i] = (unsigned)s;
	}
	n = unpack_number(u);
	*ret = xcalloc(n + 1, sizeof(**ret));
	*ret_n = n;
	for (size_t i = 0; i < n; i++) {
		struct build_metric m;
		uint32_t scopes = 0;

		unpack_bytes(u, &m, sizeof(m));
		m.name = unpack_text(u);
		for (unsigned s = 0; s < n_scopes; s++)
			scopes |= build_metric_has(&m, s) ? 1u << scope_of[s] : 0;
		(*ret)[i] = build_metrics_add(ms, m.name, scopes, m.order);
		ms->v.v[(*ret)[i]].per = fmax(ms->v.v[(*ret)[i]].per, m.per);
		ms->v.v[(*ret)[i]].no_lex_aware |= m.no_lex_aware;
	}
	return 0;
}

static void pack_identities(struct pack *p, const struct identities *ids)
{
	pack_number(p, ids->hosts.n);
	vec_each (host, &ids->hosts)
		pack_text(p, *host);
	pack_array(p, ids->nodes.v, ids->nodes.n, sizeof(*ids->nodes.v));
	pack_array(p, ids->v.v, ids->v.n, sizeof(*ids->v.v));
}

static uint32_t *merge_identities(struct identities *ids, struct unpack *u, size_t *ret_n)
{
	size_t n_hosts = unpack_number(u), n;
	uint32_t *host = xcalloc(n_hosts + 1, sizeof(*host)), *ret;
	struct identity_node *nodes;
	struct identity *v;

	for (size_t i = 0; i < n_hosts; i++)
		host[i] = identities_host(ids, unpack_text(u));
	nodes = unpack_array(u, &n, sizeof(*nodes));
	for (size_t i = 0; i < n; i++)
		identities_add_node(ids, nodes[i].physicalId, nodes[i].logicalId, nodes[i].order);
	v = unpack_array(u, &n, sizeof(*v));
	ret = xcalloc(n + 1, sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		if (!v[i].db)
			v[i].host = host[v[i].host];
		ret[i] = identities_intern(ids, &v[i]);
	}
	free(host);
	free(nodes);
	free(v);
	*ret_n = n;
	return ret;
}

static void pack_rest(struct pack *p, const struct build *b)
{
	pack_number(p, b->texts.n);
	vec_each (text, &b->texts) {
		pack_number(p, text->number);
		pack_text(p, text->title);
		pack_text(p, text->text);
	}
	pack_array(p, b->extents.v, b->extents.n, sizeof(*b->extents.v));
	pack_number(p, b->has_traces);
}

static void merge_rest(struct build *b, struct unpack *u)
{
	struct build_extent *extents;
	size_t n;

	for (n = unpack_number(u); n > 0; n--) {
		struct build_text text = {.number = (uint32_t)unpack_number(u)};

		text.title = xstrdup(unpack_text(u));
		text.text = xstrdup(unpack_text(u));
		vec_push(&b->texts, text);
	}
	extents = unpack_array(u, &n, sizeof(*extents));
	for (size_t i = 0; i < n; i++)
		vec_push(&b->extents, extents[i]);
	free(extents);
	b->has_traces |= unpack_number(u);
}

/* --- up: everything to number 0 --- */

static int send_tables(const struct build *b, unsigned to, struct err *err)
{
	struct pack p = {0};
	int rc;

	pack_contexts(&p, &b->contexts);
	pack_metrics(&p, &b->metrics);
	pack_identities(&p, &b->identities);
	pack_rest(&p, b);
	rc = ranks_send(b->opts.ranks, to, p.bytes.v, p.bytes.n, err);
	vec_release(&p.bytes);
	return rc;
}

static int merge_tables(struct build *b, struct merged *m, struct err *err)
{
	struct unpack u;
	void *bytes;
	size_t n;
	int rc = ranks_receive(b->opts.ranks, m->rank, &bytes, &n, err);

	if (rc < 0)
		return rc;
	u.at = bytes;
	m->at.nodes = merge_contexts(&b->contexts, &u, &m->n_nodes);
	rc = merge_metrics(&b->metrics, &u, &m->at.metrics, &m->n_metrics, err);
	if (rc >= 0) {
		m->at.identities = merge_identities(&b->identities, &u, &m->n_identities);
		merge_rest(b, &u);
	}
	free(bytes);
	return rc;
}

/* --- down: what has become of it --- */

static void pack_moved(struct pack *p, const uint32_t *at, size_t n, const uint32_t *number)
{
	pack_number(p, n);
	for (size_t i = 0; i < n; i++)
		pack_bytes(p, &number[at[i]], sizeof(*number));
}

static int send_numbers(const struct build *b, const struct merged *m, const struct numbers *own,
			struct err *err)
{
	struct pack p = {0};
	int rc;

	pack_moved(&p, m->at.nodes, m->n_nodes, own->nodes);
	pack_moved(&p, m->at.metrics, m->n_metrics, own->metrics);
	pack_moved(&p, m->at.identities, m->n_identities, own->identities);
	rc = ranks_send(b->opts.ranks, m->rank, p.bytes.v, p.bytes.n, err);
	vec_release(&p.bytes);
	return rc;
}

static int receive_numbers(const struct build *b, unsigned from, struct numbers *ret,
			   struct err *err)
{
	struct unpack u;
	void *bytes;
	size_t n;
	int rc = ranks_receive(b->opts.ranks, from, &bytes, &n, err);

	if (rc < 0)
		return rc;
	u.at = bytes;
	ret->nodes = unpack_array(&u, &n, sizeof(*ret->nodes));
	ret->metrics = unpack_array(&u, &n, sizeof(*ret->metrics));
	ret->identities = unpack_array(&u, &n, sizeof(*ret->identities));
	free(bytes);
	return 0;
}

/* --- what everybody needs of the whole --- */

static void pack_whole(struct pack *p, const struct build *b, const struct ctx_tree *tree)
{
	const struct identities *ids = &b->identities;

	pack_array(p, tree->parent, tree->n, sizeof(*tree->parent));
	pack_array(p, tree->flags, tree->n, sizeof(*tree->flags));
	pack_metrics(p, &b->metrics);
	pack_identities(p, ids);
	pack_array(p, ids->host_ids, ids->hosts.n, sizeof(*ids->host_ids));
	pack_array(p, ids->threads, ids->v.n, sizeof(*ids->threads));
	pack_array(p, ids->ranks, ids->v.n, sizeof(*ids->ranks));
	pack_rest(p, b);
}

static int unpack_whole(struct build *b, struct ctx_tree *tree, struct unpack *u, struct err *err)
{
	struct identities *ids = &b->identities;
	uint32_t *moved = NULL;
	size_t n;
	int rc;

	tree->parent = unpack_array(u, &n, sizeof(*tree->parent));
	tree->flags = unpack_array(u, &n, sizeof(*tree->flags));
	tree->n = (uint32_t)n;
	build_metrics_release(&b->metrics);
	build_metrics_init(&b->metrics);
	rc = merge_metrics(&b->metrics, u, &moved, &n, err);
	free(moved);
	if (rc < 0)
		return rc;
	build_metrics_number(&b->metrics);
	identities_release(ids);
	free(merge_identities(ids, u, &n));
	ids->host_ids = unpack_array(u, &n, sizeof(*ids->host_ids));
	ids->threads = unpack_array(u, &n, sizeof(*ids->threads));
	ids->ranks = unpack_array(u, &n, sizeof(*ids->ranks));
	build_texts_release(b);
	merge_rest(b, u);
	return 0;
}

static int share_whole(struct build *b, struct ctx_tree *tree, struct err *err)
{
	const struct ranks *r = b->opts.ranks;
	struct pack p = {0};
	size_t n;
	int rc;

	if (r->rank == 0)
		pack_whole(&p, b, tree);
	n = p.bytes.n;
	rc = ranks_broadcast(r, 0, (void **)&p.bytes.v, &n, err);
	if (rc >= 0 && r->rank)
		rc = unpack_whole(b, tree, &(struct unpack){p.bytes.v}, err);
	vec_release(&p.bytes);
	return rc;
}

/* --- all of it --- */

static int by_number(const void *a, const void *b)
{
	const struct build_text *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* The root of the tree puts everything in order. */
static int order_all(struct build *b, struct numbers *ret, struct ctx_tree *tree, struct err *err)
{
	int rc;

	if (!b->contexts.nodes.n)
		return err_set(err, -ENODATA, "no samples");
	rc = build_metrics_finish(&b->metrics, &ret->metrics, err);
	if (rc < 0)
		return rc;
	vec_sort(&b->texts, by_number);
	ret->nodes = contexts_finish(&b->contexts);
	ret->identities = identities_finish(&b->identities);
	ctx_tree_init(tree, &b->contexts);
	return 0;
}

/* Merges what comes, sends it on, and is told the numbers, which it tells those it came from. */
static int reduce(struct build *b, struct merged *merged, struct numbers *ret,
		  struct ctx_tree *tree, struct err *err)
{
	const struct ranks *r = b->opts.ranks;
	unsigned n = 0, rank = r ? r->rank : 0, size = r ? r->size : 1, step = 1;
	int rc = 0;

	for (; step < size && !(rank & step) && rc >= 0; step <<= 1)
		if (rank + step < size) {
			merged[n].rank = rank + step;
			rc = merge_tables(b, &merged[n++], err);
		}
	if (rc >= 0 && rank)
		rc = send_tables(b, rank - step, err);
	if (rc >= 0)
		rc = rank ? receive_numbers(b, rank - step, ret, err)
			  : order_all(b, ret, tree, err);
	while (n > 0 && rc >= 0)
		rc = send_numbers(b, &merged[--n], ret, err);
	return rc;
}

int reduce_tables(struct build *b, struct numbers *ret, struct ctx_tree *tree,
		  struct totals *totals, struct err *err)
{
	struct merged merged[MOST_STEPS] = {0};
	int rc;

	*ret = (struct numbers){0};
	*tree = (struct ctx_tree){0};
	rc = reduce(b, merged, ret, tree, err);
	for (unsigned i = 0; i < MOST_STEPS; i++)
		numbers_release(&merged[i].at);
	if (rc >= 0 && b->opts.ranks)
		rc = share_whole(b, tree, err);
	if (rc < 0)
		return rc;
	*totals = (struct totals){.n_nodes = tree->n - 1, .has_traces = b->has_traces};
	vec_each (extent, &b->extents) {
		totals->n_ids += extent->n_ids;
		totals->n_unlisted += extent->n_unlisted;
	}
	return 0;
}
