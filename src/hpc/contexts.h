/* SPDX-License-Identifier: BSD-2-Clause */
/* The context tree of a database being built: modules, files, functions and contexts, each there
 * once.
 *
 *     contexts_init(&c);
 *     root = contexts_entry(&c, HPC_ENTRY_MAIN_THREAD, NULL);
 *     node = contexts_child(&c, root, &(struct lexical){...});          as often as there is one
 *     number = contexts_finish(&c);                                     now they have ctxIds
 *
 * Nodes are added in any order below a parent that is there.  In the end all is put in an order
 * that depends on nothing but itself: tables by name, nodes in preorder with brothers by what they
 * are.  Context number I of that order has ctxId I + 1: a context's parents all have lower ids,
 * which is what propagation lives on. */
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

/* Where the text of a source file may be copied from. */
struct file_source {
	bool local;    /* this machine: a recording names it */
	uint32_t copy; /* number of an input that is a database and has a copy, plus 1; else 0 */
};

struct contexts {
	VEC(struct hpc_module) modules;
	VEC(struct hpc_file) files;
	VEC(struct file_source) sources; /* by file */
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
uint32_t contexts_file_from(struct contexts *c, const char *path, const struct file_source *from);
uint32_t contexts_function(struct contexts *c, const struct hpc_function *f);

/* The root of threads that began at POINT and is called NAME (NULL: as HPCToolkit calls it). */
uint32_t contexts_entry(struct contexts *c, unsigned point, const char *name);

/* The child of node PARENT that is WHAT. */
uint32_t contexts_child(struct contexts *c, uint32_t parent, const struct lexical *what);

/* Whether N is an instruction inside of something else.  The released layout leaves these out of
 * meta.db unless asked for them, as hpcprof does (HPCToolkit, MetaDB::elide): what they called
 * stands below what is around them, and their values stay. */
bool contexts_is_instruction(const struct hpc_node *n);

/* The nodes of C, which are in order, without such instructions, in fresh memory; N_NODES how many
 * these are.  Their parents are numbers in this array; ctxIds stay. */
struct hpc_node *contexts_listed(const struct contexts *c, uint32_t *n_nodes);

/* Adds all of M, whose files come from SOURCES.  Each of its nodes must stand behind its parent,
 * and what it refers to must be there.  Returns by node of M which one it is, in fresh memory. */
uint32_t *contexts_merge(struct contexts *c, const struct hpc_meta_model *m,
			 const struct file_source *sources);

/* Puts all in order and gives the nodes their ctxIds.  Returns where each went, in fresh
 * memory: the node that was number I is now number RET[I].  Nothing can be added afterwards. */
uint32_t *contexts_finish(struct contexts *c);

#endif
