/* SPDX-License-Identifier: BSD-2-Clause */
/* See paths.h. */
#include "query/hpc/paths.h"

static bool same_id(const void *owner, uint32_t i, const void *key)
{
	const struct hpc_paths *p = owner;

	return p->ids.v[i] == *(const uint32_t *)key;
}

static void add_id(struct hpc_paths *p, uint32_t id, uint32_t frame)
{
	uint64_t hash = hash_u64(id);

	if (index_find(&p->index, hash, same_id, p, &id) != INDEX_NONE)
		return;
	index_add(&p->index, hash, (uint32_t)p->ids.n);
	vec_push(&p->ids, id);
	vec_push(&p->of_id, frame);
}

static int paths_take(struct hpc_paths *p, const struct hpc_ctx *ctx, uint32_t up, uint32_t *ret,
		      struct err *err)
{
	enum scope_kind kind = hpc_ctx_kind(ctx, SCOPE_PROCEDURE);
	struct hpc_path_frame f = {.caller = up,
				   .depth = up == HPC_NONE ? 1 : p->frames.v[up].depth + 1};
	uint32_t function = HPC_NONE;
	int rc;

	*ret = up;
	if (kind != SCOPE_PROCEDURE && kind != SCOPE_ENTRY)
		return 0;
	rc = hpc_scopes_find(&p->scopes, ctx, SCOPE_PROCEDURE, &function, &f.scope, err);
	if (rc < 0)
		return rc;
	*ret = (uint32_t)p->frames.n;
	vec_push(&p->frames, f);
	return 0;
}

int hpc_paths_init(struct hpc_paths *p, const struct hpc_db *db, struct err *err)
{
	VEC(uint32_t) stack = {0}; /* frames by depth */
	struct hpc_walk walk;
	struct hpc_ctx ctx;
	size_t depth;
	int rc;

	*p = (struct hpc_paths){0};
	rc = hpc_scopes_init(&p->scopes, db, NULL, NULL, err);
	if (rc < 0)
		return rc;
	vec_push(&stack, HPC_NONE);
	hpc_walk_begin(&walk, &db->meta);
	while ((rc = hpc_walk_next(&walk, &ctx, &depth, err)) > 0) {
		uint32_t frame;

		rc = paths_take(p, &ctx, stack.v[depth], &frame, err);
		if (rc < 0)
			break;
		add_id(p, ctx.ctxId, frame);
		stack.n = depth + 1;
		vec_push(&stack, frame);
	}
	hpc_walk_release(&walk);
	vec_release(&stack);
	if (rc < 0)
		hpc_paths_release(p);
	return rc;
}

void hpc_paths_release(struct hpc_paths *p)
{
	hpc_scopes_release(&p->scopes);
	vec_release(&p->frames);
	vec_release(&p->ids);
	vec_release(&p->of_id);
	index_release(&p->index);
}

uint32_t hpc_paths_find(const struct hpc_paths *p, uint32_t ctxId)
{
	uint32_t i = index_find(&p->index, hash_u64(ctxId), same_id, p, &ctxId);

	return i == INDEX_NONE ? HPC_NONE : p->of_id.v[i];
}

uint32_t hpc_paths_at_depth(const struct hpc_paths *p, uint32_t frame, uint32_t depth)
{
	while (depth && frame != HPC_NONE && p->frames.v[frame].depth > depth)
		frame = p->frames.v[frame].caller;
	return frame;
}

void hpc_paths_text(const struct hpc_paths *p, uint32_t frame, struct str *ret)
{
	const char *gap = "";

	for (; frame != HPC_NONE; frame = p->frames.v[frame].caller) {
		str_addf(ret, "%s%s", gap, hpc_frame_scope(p, frame)->name);
		gap = " < ";
	}
}
