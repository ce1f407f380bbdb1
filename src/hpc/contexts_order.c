/* SPDX-License-Identifier: BSD-2-Clause */
/* See contexts.h: the order all is put in at the end.  Names decide first, then numbers that names
 * have decided, so that it does not matter who added what, and when. */
#include <stdlib.h>
#include <string.h>

#include "hpc/contexts.h"

static int contexts_order_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Sorts the N elements of SIZE bytes at V.  Returns where each went. */
static uint32_t *sort_table(void *v, size_t n, size_t size,
			    int (*by)(const void *, const void *, void *))
{
	uint32_t *order = xcalloc(n + 1, sizeof(*order)), *number = xcalloc(n + 1, sizeof(*number));
	char *sorted = xcalloc(n + 1, size);

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by, v);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(sorted + i * size, (char *)v + order[i] * size, size);
		number[order[i]] = i;
	}
	if (n)
		memcpy(v, sorted, n * size);
	free(order);
	free(sorted);
	return number;
}

static int by_module(const void *a, const void *b, void *v)
{
	const struct hpc_module *modules = v;

	return strcmp(modules[*(const uint32_t *)a].path, modules[*(const uint32_t *)b].path);
}

static int by_file(const void *a, const void *b, void *v)
{
	const struct hpc_file *files = v;

	return strcmp(files[*(const uint32_t *)a].path, files[*(const uint32_t *)b].path);
}

static int by_function(const void *a, const void *b, void *v)
{
	const struct hpc_function *functions = v;
	const struct hpc_function *x = &functions[*(const uint32_t *)a],
				  *y = &functions[*(const uint32_t *)b];
	int d = strcmp(x->name, y->name);

	if (!d)
		d = contexts_order_compare(x->module, y->module);
	if (!d)
		d = contexts_order_compare(x->offset, y->offset);
	if (!d)
		d = contexts_order_compare(x->file, y->file);
	return d ? d : contexts_order_compare(x->line, y->line);
}

static uint32_t moved(const uint32_t *number, uint32_t i)
{
	return i == HPC_NONE ? HPC_NONE : number[i];
}

/* Modules, files and functions, and what refers to them. */
static void order_tables(struct contexts *c)
{
	uint32_t *modules =
		sort_table(c->modules.v, c->modules.n, sizeof(*c->modules.v), by_module);
	uint32_t *files = sort_table(c->files.v, c->files.n, sizeof(*c->files.v), by_file),
		 *functions;
	struct file_source *sources = xcalloc(c->sources.n + 1, sizeof(*sources));

	for (size_t i = 0; i < c->sources.n; i++)
		sources[files[i]] = c->sources.v[i];
	free(c->sources.v);
	c->sources.v = sources;
	c->sources.cap = c->sources.n + 1;
	vec_each (f, &c->functions) {
		f->module = moved(modules, f->module);
		f->file = moved(files, f->file);
	}
	functions =
		sort_table(c->functions.v, c->functions.n, sizeof(*c->functions.v), by_function);
	vec_each (n, &c->nodes) {
		n->module = moved(modules, n->module);
		n->file = moved(files, n->file);
		n->function = moved(functions, n->function);
	}
	free(modules);
	free(files);
	free(functions);
}

static int by_node(const void *a, const void *b, void *v)
{
	const struct hpc_node *nodes = v;
	const struct hpc_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
	int d = contexts_order_compare((uint64_t)x->function << 32 | x->file,
				       (uint64_t)y->function << 32 | y->file);

	if (!d)
		d = contexts_order_compare((uint64_t)x->line << 32 | x->module,
					   (uint64_t)y->line << 32 | y->module);
	if (!d)
		d = contexts_order_compare(x->offset, y->offset);
	return d ? d
		 : contexts_order_compare(
			   (uint32_t)x->flags << 16 | (uint32_t)x->relation << 8 | x->lexicalType,
			   (uint32_t)y->flags << 16 | (uint32_t)y->relation << 8 | y->lexicalType);
}

static int by_entry(const void *a, const void *b, void *v)
{
	const struct hpc_entry *entries = v;
	const struct hpc_entry *x = &entries[*(const uint32_t *)a],
			       *y = &entries[*(const uint32_t *)b];
	int d = contexts_order_compare(x->entryPoint, y->entryPoint);

	return d ? d : strcmp(x->prettyName, y->prettyName);
}

/* Entries by kind and name; RET are their nodes in that order. */
static void order_entries(struct contexts *c, uint32_t *ret)
{
	uint32_t *number = sort_table(c->entries.v, c->entries.n, sizeof(*c->entries.v), by_entry);

	for (uint32_t e = 0; e < c->entries.n; e++)
		ret[number[e]] = c->entry_nodes.v[e];
	memcpy(c->entry_nodes.v, ret, c->entries.n * sizeof(*ret));
	free(number);
}

/* The children of each node, sorted: those of node I are RET_LIST[RET_FIRST[I]] and on. */
static void sort_children(const struct contexts *c, uint32_t *first, uint32_t *list)
{
	uint32_t n = (uint32_t)c->nodes.n;

	for (uint32_t i = 0; i < n; i++)
		if (c->nodes.v[i].parent != HPC_NONE)
			first[c->nodes.v[i].parent + 2]++;
	for (uint32_t i = 0; i < n; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < n; i++)
		if (c->nodes.v[i].parent != HPC_NONE)
			list[first[c->nodes.v[i].parent + 1]++] = i;
	for (uint32_t i = 0; i < n; i++)
		if (first[i + 1] - first[i] > 1)
			qsort_r(list + first[i], first[i + 1] - first[i], sizeof(*list), by_node,
				c->nodes.v);
}

/* Numbers the nodes in preorder. */
static void number_nodes(struct contexts *c, const uint32_t *first, const uint32_t *list,
			 uint32_t *number)
{
	_vec_ VEC(uint32_t) todo = {0};
	uint32_t next = 0;

	for (size_t e = c->entries.n; e-- > 0;)
		vec_push(&todo, c->entry_nodes.v[e]);
	while (todo.n) {
		uint32_t i = todo.v[--todo.n];

		number[i] = next++;
		for (uint32_t k = first[i + 1]; k-- > first[i];)
			vec_push(&todo, list[k]);
	}
}

uint32_t *contexts_finish(struct contexts *c)
{
	uint32_t n = (uint32_t)c->nodes.n;
	uint32_t *number = xcalloc((size_t)n + 1, sizeof(*number));
	uint32_t *first = xcalloc((size_t)n + 2, sizeof(*first));
	uint32_t *list = xcalloc((size_t)n + 1, sizeof(*list));
	struct hpc_node *sorted = xcalloc((size_t)n + 1, sizeof(*sorted));

	order_tables(c);
	order_entries(c, list);
	sort_children(c, first, list);
	number_nodes(c, first, list, number);
	for (uint32_t i = 0; i < n; i++) {
		struct hpc_node *to = &sorted[number[i]];

		*to = c->nodes.v[i];
		to->parent = to->parent == HPC_NONE ? HPC_NONE : number[to->parent];
		to->ctxId = number[i] + 1;
	}
	free(c->nodes.v);
	c->nodes.v = sorted;
	c->nodes.cap = (size_t)n + 1;
	free(first);
	free(list);
	index_release(&c->by_node);
	return number;
}
