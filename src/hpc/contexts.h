/* SPDX-License-Identifier: BSD-2-Clause */
/* The context tree of a database being built: modules, files, functions and contexts, each there
 * once.
 *
 *     contexts_init(&c);
 *     root = contexts_entry(&c, HPC_ENTRY_MAIN_THREAD);
 *     node = contexts_child(&c, root, &(struct lexical){...});          as often as there is one
 *     number = contexts_finish(&c);                                     now they have ctxIds
 *
 * Nodes are added in any order below a parent that is there.  In the end they are put in preorder,
 * brothers in the order they were added, and context number I of that order has ctxId I + 1: a
 * context's parents all have lower ids, which is what propagation lives on. */
#ifndef HPC_CONTEXTS_H
#define HPC_CONTEXTS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "formats/hpc/meta.h"

/* What a context is, apart from its parent.  Fields that its flags (HPC_HAS_...) leave out do not
 * count. */
struct lexical {
	uint64_t offset;
	uint32_t function, file, line, module;
	uint8_t relation, lexicalType, flags;
};

struct contexts {
	VEC(struct hpc_module) modules;
	VEC(struct hpc_file) files;
	VEC(struct hpc_function) functions;
	VEC(struct hpc_node) nodes;
	VEC(struct hpc_entry) entries;
	VEC(uint32_t) entry_nodes; /* by entry */
	struct index by_module, by_file, by_function, by_node;
	struct arena text;
};

void contexts_init(struct contexts *c);
void contexts_release(struct contexts *c);

/* Numbers of what is added or there already; texts are copied.  Two modules of one path are one. */
uint32_t contexts_module(struct contexts *c, const char *path);
uint32_t contexts_file(struct contexts *c, const char *path);
uint32_t contexts_function(struct contexts *c, const struct hpc_function *f);

/* The root of threads that began at POINT. */
uint32_t contexts_entry(struct contexts *c, enum hpc_entry_point point);

/* The child of node PARENT that is WHAT. */
uint32_t contexts_child(struct contexts *c, uint32_t parent, const struct lexical *what);

/* Puts the nodes in preorder and gives them their ctxIds.  Returns where each went, in fresh
 * memory: the node that was number I is now number RET[I].  Nothing can be added afterwards. */
uint32_t *contexts_finish(struct contexts *c);

#endif
