/* SPDX-License-Identifier: BSD-2-Clause */
/* Which procedures the contexts of an HPCToolkit database are in: from a context's id, as a trace
 * has it, to its call path. */
#ifndef QUERY_HPC_PATHS_H
#define QUERY_HPC_PATHS_H

#include "query/hpc/scopes.h"

/* A procedure that was called (or inlined), or the entry of a thread. */
struct hpc_path_frame {
	scope_id scope;
	uint32_t caller; /* its frame; HPC_NONE: none */
	uint32_t depth;	 /* 1 for the outermost one */
};

struct hpc_paths {
	struct hpc_scopes scopes;
	VEC(struct hpc_path_frame) frames;
	VEC(uint32_t) ids, of_id; /* of contexts, and the frame each is in */
	struct index index;	  /* over ids */
};

/* Goes over all contexts of DB once.  -EBADMSG for a damaged file. */
int hpc_paths_init(struct hpc_paths *p, const struct hpc_db *db, struct err *err);
void hpc_paths_release(struct hpc_paths *p);

/* The frame context CTXID is in, HPC_NONE when it is not listed. */
uint32_t hpc_paths_find(const struct hpc_paths *p, uint32_t ctxId);

/* The frame at DEPTH on the way to FRAME (0, or deeper than it: FRAME itself). */
uint32_t hpc_paths_at_depth(const struct hpc_paths *p, uint32_t frame, uint32_t depth);

/* Appends "leaf < caller < ...", FRAME first. */
void hpc_paths_text(const struct hpc_paths *p, uint32_t frame, struct str *ret);

static inline const struct scope *hpc_frame_scope(const struct hpc_paths *p, uint32_t frame)
{
	return &p->scopes.scopes.scopes.v[p->frames.v[frame].scope];
}

#endif
