/* SPDX-License-Identifier: BSD-2-Clause */
/* See contexts.h.  Each table is an array with an index over it; keys are what tells elements
 * apart, so that equal things of different inputs meet.  contexts_order.c puts them in order. */
#include "hpc/contexts.h"

#include <stdlib.h>
#include <string.h>

void contexts_init(struct contexts *c)
{
	*c = (struct contexts){0};
}

void contexts_release(struct contexts *c)
{
	vec_release(&c->modules);
	vec_release(&c->files);
	vec_release(&c->sources);
	vec_release(&c->functions);
	vec_release(&c->nodes);
	vec_release(&c->entries);
	vec_release(&c->entry_nodes);
	index_release(&c->by_module);
	index_release(&c->by_file);
	index_release(&c->by_function);
	index_release(&c->by_node);
	arena_release(&c->text);
	*c = (struct contexts){0};
}

/* --- tables --- */

static bool same_module(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct contexts *)owner)->modules.v[i].path, key) == 0;
}

uint32_t contexts_module(struct contexts *c, const char *path)
{
	uint64_t hash = hash_str(path);
	uint32_t i = index_find(&c->by_module, hash, same_module, c, path);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)c->modules.n;
	vec_push(&c->modules, (struct hpc_module){.path = arena_strdup(&c->text, path)});
	index_add(&c->by_module, hash, i);
	return i;
}

static bool same_file(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct contexts *)owner)->files.v[i].path, key) == 0;
}

uint32_t contexts_file_from(struct contexts *c, const char *path, const struct file_source *from)
{
	uint64_t hash = hash_str(path);
	uint32_t i = index_find(&c->by_file, hash, same_file, c, path);
	struct file_source *source;

	if (i == INDEX_NONE) {
		i = (uint32_t)c->files.n;
		vec_push(&c->files, (struct hpc_file){.path = arena_strdup(&c->text, path)});
		vec_push(&c->sources, (struct file_source){0});
		index_add(&c->by_file, hash, i);
	}
	source = &c->sources.v[i];
	source->local |= from->local;
	if (from->copy && (!source->copy || from->copy < source->copy))
		source->copy = from->copy;
	return i;
}

uint32_t contexts_file(struct contexts *c, const char *path)
{
	return contexts_file_from(c, path, &(struct file_source){.local = true});
}

static bool same_function(const void *owner, uint32_t i, const void *key)
{
	const struct hpc_function *a = &((const struct contexts *)owner)->functions.v[i], *b = key;

	return a->module == b->module && a->offset == b->offset && a->file == b->file &&
	       a->line == b->line && strcmp(a->name, b->name) == 0;
}

uint32_t contexts_function(struct contexts *c, const struct hpc_function *f)
{
	uint64_t hash = hash_pair(hash_str(f->name), f->offset);
	struct hpc_function *new;
	uint32_t i;

	hash = hash_pair(hash, (uint64_t)f->module << 32 | f->file);
	hash = hash_pair(hash, f->line);
	i = index_find(&c->by_function, hash, same_function, c, f);
	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)c->functions.n;
	new = vec_add(&c->functions);
	*new = *f;
	new->name = arena_strdup(&c->text, f->name);
	index_add(&c->by_function, hash, i);
	return i;
}

/* --- nodes --- */

static uint64_t node_hash(const struct hpc_node *n)
{
	uint64_t h = hash_pair((uint64_t)n->parent << 32 | (uint32_t)(n->relation << 16) |
				       (uint32_t)(n->lexicalType << 8) | n->flags,
			       n->offset);

	h = hash_pair(h, (uint64_t)n->function << 32 | n->file);
	return hash_pair(h, (uint64_t)n->line << 32 | n->module);
}

static bool same_node(const void *owner, uint32_t i, const void *key)
{
	const struct hpc_node *a = &((const struct contexts *)owner)->nodes.v[i], *b = key;

	return a->parent == b->parent && a->offset == b->offset && a->function == b->function &&
	       a->file == b->file && a->line == b->line && a->module == b->module &&
	       a->relation == b->relation && a->lexicalType == b->lexicalType &&
	       a->flags == b->flags;
}

uint32_t contexts_child(struct contexts *c, uint32_t parent, const struct lexical *what)
{
	bool point = what->flags & HPC_HAS_POINT, src = what->flags & HPC_HAS_SRC_LOC;
	const struct hpc_node key = {
		.parent = parent,
		.offset = point ? what->offset : 0,
		.module = point ? what->module : HPC_NONE,
		.file = src ? what->file : HPC_NONE,
		.line = src ? what->line : 0,
		.function = what->flags & HPC_HAS_FUNCTION ? what->function : HPC_NONE,
		.propagation = what->relation == HPC_LEXICAL ? HPC_PROPAGATE_FUNCTION : 0,
		.flags = what->flags,
		.relation = what->relation,
		.lexicalType = what->lexicalType,
	};
	uint64_t hash = node_hash(&key);
	uint32_t i = index_find(&c->by_node, hash, same_node, c, &key);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)c->nodes.n;
	vec_push(&c->nodes, key);
	index_add(&c->by_node, hash, i);
	return i;
}

/* As HPCToolkit calls them. */
static const char *const entry_names[] = {
	[HPC_ENTRY_UNKNOWN] = "unknown entry",
	[HPC_ENTRY_MAIN_THREAD] = "main thread",
	[HPC_ENTRY_THREAD] = "application thread",
};

uint32_t contexts_entry(struct contexts *c, unsigned point, const char *name)
{
	uint32_t i = (uint32_t)c->nodes.n;

	if (!name)
		name = entry_names[point];
	for (size_t e = 0; e < c->entries.n; e++)
		if (c->entries.v[e].entryPoint == point &&
		    strcmp(c->entries.v[e].prettyName, name) == 0)
			return c->entry_nodes.v[e];
	vec_push(&c->entries, (struct hpc_entry){arena_strdup(&c->text, name), (uint16_t)point});
	vec_push(&c->entry_nodes, i);
	vec_push(&c->nodes, (struct hpc_node){.parent = HPC_NONE,
					      .function = HPC_NONE,
					      .file = HPC_NONE,
					      .module = HPC_NONE,
					      .relation = HPC_CALL});
	return i;
}

/* --- instructions --- */

bool contexts_is_instruction(const struct hpc_node *n)
{
	return n->parent != HPC_NONE && n->relation == HPC_LEXICAL &&
	       n->lexicalType == HPC_INSTRUCTION;
}

struct hpc_node *contexts_listed(const struct contexts *c, uint32_t *n_nodes)
{
	struct hpc_node *listed = xcalloc(c->nodes.n + 1, sizeof(*listed));
	/* By node: which listed one it is, or is in.  A parent has its number
	 * before its children. */
	uint32_t *of = xcalloc(c->nodes.n + 1, sizeof(*of)), n = 0;

	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct hpc_node *node = &c->nodes.v[i];
		uint32_t parent = node->parent == HPC_NONE ? HPC_NONE : of[node->parent];

		if (contexts_is_instruction(node)) {
			of[i] = parent;
			continue;
		}
		of[i] = n;
		listed[n] = *node;
		listed[n++].parent = parent;
	}
	free(of);
	*n_nodes = n;
	return listed;
}

/* --- all of another tree --- */

struct merging {
	struct contexts *c;
	const struct hpc_meta_model *m;
	uint32_t *modules, *files, *functions; /* by number in M: which one it is */
};

static void merge_tables(struct merging *g, const struct file_source *sources)
{
	const struct hpc_meta_model *m = g->m;

	g->modules = xcalloc((size_t)m->n_modules + 1, sizeof(*g->modules));
	g->files = xcalloc((size_t)m->n_files + 1, sizeof(*g->files));
	g->functions = xcalloc((size_t)m->n_functions + 1, sizeof(*g->functions));
	for (uint32_t i = 0; i < m->n_modules; i++)
		g->modules[i] = contexts_module(g->c, m->modules[i].path);
	for (uint32_t i = 0; i < m->n_files; i++)
		g->files[i] = contexts_file_from(g->c, m->files[i].path, &sources[i]);
	for (uint32_t i = 0; i < m->n_functions; i++) {
		struct hpc_function f = m->functions[i];

		f.module = f.module == HPC_NONE ? HPC_NONE : g->modules[f.module];
		f.file = f.file == HPC_NONE ? HPC_NONE : g->files[f.file];
		f.flags = 0;
		g->functions[i] = contexts_function(g->c, &f);
	}
}

static uint32_t merge_node(const struct merging *g, uint32_t parent, const struct hpc_node *n)
{
	struct lexical what = {
		.relation = n->relation,
		.lexicalType = n->lexicalType,
		.flags = n->flags & (HPC_HAS_FUNCTION | HPC_HAS_SRC_LOC | HPC_HAS_POINT),
	};

	if (n->flags & HPC_HAS_FUNCTION)
		what.function = n->function == HPC_NONE ? HPC_NONE : g->functions[n->function];
	if (n->flags & HPC_HAS_SRC_LOC) {
		what.file = n->file == HPC_NONE ? HPC_NONE : g->files[n->file];
		what.line = n->line;
	}
	if (n->flags & HPC_HAS_POINT) {
		what.module = n->module == HPC_NONE ? HPC_NONE : g->modules[n->module];
		what.offset = n->offset;
	}
	return contexts_child(g->c, parent, &what);
}

uint32_t *contexts_merge(struct contexts *c, const struct hpc_meta_model *m,
			 const struct file_source *sources)
{
	struct merging g = {.c = c, .m = m};
	uint32_t *nodes = xcalloc((size_t)m->n_nodes + 1, sizeof(*nodes)), entry = 0;

	merge_tables(&g, sources);
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct hpc_node *n = &m->nodes[i];
		const struct hpc_entry *e;

		if (n->parent != HPC_NONE) {
			nodes[i] = merge_node(&g, nodes[n->parent], n);
			continue;
		}
		e = &m->entries[entry++];
		nodes[i] = contexts_entry(c, e->entryPoint, e->prettyName);
	}
	free(g.modules);
	free(g.files);
	free(g.functions);
	return nodes;
}
