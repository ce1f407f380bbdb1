/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole meta.db in memory.  Tables become arrays of the model's arena, contexts an array in which
 * each stands before its children; strings stay in the file's bytes. */
#include <errno.h>

#include "base/vec.h"
#include "formats/hpc/meta_impl.h"

static int load_tables(struct hpc_meta_model *model, const struct hpc_meta *m, struct err *err)
{
	struct arena *a = &model->arena;
	int rc = hpc_meta_read_metrics(m, a, &model->metrics, err);

	model->id_names = arena_alloc(a, m->n_id_names * sizeof(*model->id_names));
	for (uint32_t i = 0; i < m->n_id_names; i++)
		model->id_names[i] = m->id_names[i];
	model->n_id_names = m->n_id_names;
	model->modules = arena_alloc(a, m->n_modules * sizeof(*model->modules));
	model->files = arena_alloc(a, m->n_files * sizeof(*model->files));
	model->functions = arena_alloc(a, m->n_functions * sizeof(*model->functions));
	for (; model->n_modules < m->n_modules && rc == 0; model->n_modules++)
		rc = hpc_meta_module(m, model->n_modules, &model->modules[model->n_modules], err);
	for (; model->n_files < m->n_files && rc == 0; model->n_files++)
		rc = hpc_meta_file(m, model->n_files, &model->files[model->n_files], err);
	for (; model->n_functions < m->n_functions && rc == 0; model->n_functions++)
		rc = hpc_meta_function(m, model->n_functions, &model->functions[model->n_functions],
				       err);
	return rc;
}

static struct hpc_node node_of(const struct hpc_ctx *c, uint32_t parent)
{
	return (struct hpc_node){
		.parent = parent,
		.ctxId = c->ctxId,
		.flags = c->flags,
		.relation = c->relation,
		.lexicalType = c->lexicalType,
		.propagation = c->propagation,
		.function = c->function,
		.file = c->file,
		.line = c->line,
		.module = c->module,
		.offset = c->offset,
	};
}

static int load_contexts(struct hpc_meta_model *model, const struct hpc_meta *m, struct err *err)
{
	VEC(struct hpc_node) nodes = {0};
	VEC(struct hpc_entry) entries = {0};
	VEC(uint32_t) path = {0}; /* the last node of each depth */
	struct hpc_walk w;
	struct hpc_ctx c;
	size_t depth;
	int rc;

	hpc_walk_begin(&w, m);
	while ((rc = hpc_walk_next(&w, &c, &depth, err)) > 0) {
		if (nodes.n == HPC_NONE) {
			rc = err_set(err, -E2BIG, "%s: more than 2^32 contexts", m->name);
			break;
		}
		if (!depth)
			vec_push(&entries, (struct hpc_entry){c.prettyName, c.entryPoint});
		path.n = depth;
		vec_push(&path, (uint32_t)nodes.n);
		vec_push(&nodes, node_of(&c, depth ? path.v[depth - 1] : HPC_NONE));
	}
	hpc_walk_release(&w);
	vec_release(&path);
	model->nodes = nodes.v;
	model->n_nodes = (uint32_t)nodes.n;
	model->entries = entries.v;
	model->n_entries = (uint32_t)entries.n;
	return rc;
}

int hpc_meta_load(struct hpc_meta_model *model, const struct hpc_meta *m, struct err *err)
{
	int rc;

	*model = (struct hpc_meta_model){.title = m->title, .description = m->description};
	rc = load_tables(model, m, err);
	if (rc == 0)
		rc = load_contexts(model, m, err);
	if (rc != 0)
		hpc_meta_model_release(model);
	return rc;
}

void hpc_meta_model_release(struct hpc_meta_model *model)
{
	free(model->nodes);
	free(model->entries);
	arena_release(&model->arena);
	*model = (struct hpc_meta_model){0};
}
