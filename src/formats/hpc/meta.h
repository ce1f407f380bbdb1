/* SPDX-License-Identifier: BSD-2-Clause */
/* meta.db of an HPCToolkit database: what was measured, which metrics there are, the names of
 * modules, files and functions, and the tree of calling contexts (docs/formats/hpctoolkit.md).
 *
 * Reading is lazy.  hpc_meta_open decodes the header and the small tables (general properties,
 * names of identifiers, metrics); modules, files, functions and contexts are decoded one by one
 * when asked for, so opening a file of 10^7 contexts costs the same as one of ten.  Strings are
 * borrowed from the file's bytes and live as long as these do.  Unknown minor versions, longer
 * structures and unknown values of enumerations are fine: what is known is used.
 *
 * Writing takes everything at once: a struct hpc_meta_model, which hpc_meta_load also makes. */
#ifndef FORMATS_HPC_META_H
#define FORMATS_HPC_META_H

#include "base/arena.h"
#include "base/err.h"
#include "formats/hpc/hpc.h"

/* A propagation scope. */
struct hpc_scope {
	const char *name;	  /* "point", "function", "lex_aware", "execution", ... */
	uint8_t type;		  /* enum hpc_scope_type; page layout: by name */
	uint8_t propagationIndex; /* bit of hpc_ctx.propagation, UINT8_MAX unless transitive */
};

/* A metric in one scope: its values have propMetricId in profile.db and cct.db. */
struct hpc_scope_inst {
	uint16_t scope; /* index of metrics.scopes */
	uint16_t propMetricId;
};

/* A statistic over all threads: its values have statMetricId in the summary profile. */
struct hpc_summary {
	uint16_t scope; /* index of metrics.scopes */
	uint16_t statMetricId;
	uint8_t combine;     /* enum hpc_combine */
	const char *formula; /* "1", "$$", "($$^2)" */
};

struct hpc_metric {
	const char *name;
	struct hpc_scope_inst *scopes;
	struct hpc_summary *summaries;
	uint32_t n_scopes, n_summaries;
};

/* The performance metrics section, of either layout. */
struct hpc_metrics {
	struct hpc_scope *scopes;
	struct hpc_metric *metrics;
	uint32_t n_scopes, n_metrics;
};

/* The metric and its scope instance that have PROPMETRICID; false when there is none. */
bool hpc_metrics_find_prop(const struct hpc_metrics *ms, uint16_t propMetricId,
			   const struct hpc_metric **ret_metric,
			   const struct hpc_scope_inst **ret_inst);

/* The instance of METRIC in the scope called NAME, or NULL. */
const struct hpc_scope_inst *hpc_metric_scope(const struct hpc_metrics *ms,
					      const struct hpc_metric *metric, const char *name);

/* The summary of METRIC in the scope called NAME with FORMULA and COMBINE, or NULL. */
const struct hpc_summary *hpc_metric_summary(const struct hpc_metrics *ms,
					     const struct hpc_metric *metric, const char *name,
					     const char *formula, enum hpc_combine combine);

/* Bit i of hpc_ctx.propagation: values of the transitive scope whose propagationIndex is i go from
 * this context to its parent.  HPCToolkit has one such scope, "function", whose bit is set exactly
 * when the relation is HPC_LEXICAL. */
enum { HPC_PROPAGATE_FUNCTION = 1u << 0 };

struct hpc_module {
	const char *path;
	uint32_t flags;
};

enum { HPC_FILE_COPIED = 1u << 0 }; /* the file stands in the database, below its directory */

struct hpc_file {
	const char *path;
	uint32_t flags;
};

struct hpc_function {
	const char *name; /* "" when it has none */
	uint64_t offset;  /* of the entry point in the module */
	uint32_t module;  /* index, or HPC_NONE */
	uint32_t file;	  /* index, or HPC_NONE */
	uint32_t line;
	uint32_t flags; /* reserved; arbitrary in real files */
};

/* Which fields of a context hold something. */
enum { HPC_HAS_FUNCTION = 1u << 0, HPC_HAS_SRC_LOC = 1u << 1, HPC_HAS_POINT = 1u << 2 };

/* The name of an entry that is nobody's, as HPCToolkit writes it. */
#define HPC_UNKNOWN_ENTRY "unknown entry"

/* One context, decoded.  A root is the entry point of a thread (isEntry): in the released layout it
 * has a name and nothing else, in the page layout it is also a function context and its name is the
 * function's. */
struct hpc_ctx {
	uint64_t szChildren, pChildren; /* of the file; iterate with hpc_ctxs_begin */
	uint64_t at;			/* offset of the structure in the file */
	uint64_t offset;		/* in module; HPC_HAS_POINT */
	const char *prettyName;		/* of an entry; else NULL */
	uint32_t ctxId;
	uint32_t function; /* HPC_NONE unless HPC_HAS_FUNCTION */
	uint32_t file;	   /* HPC_NONE unless HPC_HAS_SRC_LOC */
	uint32_t line;
	uint32_t module;      /* HPC_NONE unless HPC_HAS_POINT */
	uint16_t propagation; /* page layout: by relation */
	uint16_t entryPoint;  /* enum hpc_entry_point */
	uint8_t flags;
	uint8_t relation;    /* enum hpc_relation */
	uint8_t lexicalType; /* enum hpc_lexical_type */
	bool isEntry;
};

/* A section of the file. */
struct hpc_section {
	uint64_t p, sz;
	uint64_t text_end; /* behind the last NUL in it, p when there is none */
};

enum hpc_meta_section {
	HPC_META_GENERAL,
	HPC_META_ID_NAMES,
	HPC_META_METRICS,
	HPC_META_CONTEXT,
	HPC_META_STRINGS,
	HPC_META_MODULES,
	HPC_META_FILES,
	HPC_META_FUNCTIONS,
	HPC_META_N_SECTIONS
};

/* An array of structures of one size in the file. */
struct hpc_array {
	uint64_t p;	 /* of the first */
	uint32_t n;	 /* how many */
	uint32_t stride; /* bytes from one to the next */
};

struct hpc_meta {
	const uint8_t *bytes;
	size_t n_bytes;
	const char *name; /* for errors */
	enum hpc_layout layout;
	uint8_t majorVersion, minorVersion;
	const char *title, *description;
	const char **id_names; /* by kind */
	uint32_t n_id_names;
	struct hpc_metrics metrics;
	uint32_t n_modules, n_files, n_functions;

	/* where things are: for hpc_meta_* and checks */
	struct hpc_section sections[HPC_META_N_SECTIONS];
	struct hpc_array modules, files, functions;
	struct hpc_array entries; /* released layout */
	uint64_t pRoots, szRoots; /* page layout */
	struct arena arena;	  /* of the small tables */
};

/* Opens the N_BYTES of a meta.db, which must stay as they are until hpc_meta_release.  NAME is the
 * file's, for errors; it must live as long.  -EBADMSG for what is no meta.db or is damaged in its
 * header, footer or small tables, -ENODATA when it is too short, -EPROTONOSUPPORT for a larger
 * major version. */
int hpc_meta_open(struct hpc_meta *m, const void *bytes, size_t n_bytes, const char *name,
		  struct err *err);
void hpc_meta_release(struct hpc_meta *m);

/* The name of identifier KIND, "?" when the file names none. */
const char *hpc_meta_id_name(const struct hpc_meta *m, uint8_t kind);

/* Decode number I of a table.  -EBADMSG when it is damaged or there is no such number. */
int hpc_meta_module(const struct hpc_meta *m, uint32_t i, struct hpc_module *ret, struct err *err);
int hpc_meta_file(const struct hpc_meta *m, uint32_t i, struct hpc_file *ret, struct err *err);
int hpc_meta_function(const struct hpc_meta *m, uint32_t i, struct hpc_function *ret,
		      struct err *err);

/* The children of one context, or the roots. */
struct hpc_ctxs {
	const struct hpc_meta *meta;
	uint64_t at, end; /* next structure, end of the array */
	bool roots;
};

/* Starts at the first child of PARENT, or the first root when PARENT is NULL. */
int hpc_ctxs_begin(struct hpc_ctxs *it, const struct hpc_meta *m, const struct hpc_ctx *parent,
		   struct err *err);

/* Decodes the next one: 1, or 0 after the last, or -EBADMSG.  A child may be its own ancestor in a
 * damaged file: who descends without end uses hpc_walk. */
int hpc_ctxs_next(struct hpc_ctxs *it, struct hpc_ctx *ret, struct err *err);

/* All contexts below the roots, each before its children.  Ends in any file: contexts that come
 * twice are -EBADMSG. */
struct hpc_walk {
	const struct hpc_meta *meta;
	struct hpc_ctxs *stack;
	size_t depth, cap;
	uint64_t left; /* bytes of contexts that can still come */
	struct hpc_ctx last;
	bool begun, descend; /* clear descend to leave out the children of the last context */
};

void hpc_walk_begin(struct hpc_walk *w, const struct hpc_meta *m);

/* 1 and the next context with its DEPTH (roots have 0), 0 after the last, or -EBADMSG. */
int hpc_walk_next(struct hpc_walk *w, struct hpc_ctx *ret, size_t *ret_depth, struct err *err);
void hpc_walk_release(struct hpc_walk *w);

/* One context of a model: as struct hpc_ctx. */
struct hpc_node {
	uint64_t offset;
	uint32_t parent; /* index of an earlier node, HPC_NONE for a root */
	uint32_t ctxId;
	uint32_t function, file, line, module;
	uint16_t propagation;
	uint8_t flags, relation, lexicalType;
};

/* What a root is. */
struct hpc_entry {
	const char *prettyName;
	uint16_t entryPoint; /* enum hpc_entry_point */
};

/* A whole meta.db.  Whoever fills it owns what it points to; what hpc_meta_load filled is owned by
 * it and released by hpc_meta_model_release, but for strings, which the file's bytes hold. */
struct hpc_meta_model {
	const char *title, *description;
	const char **id_names;
	uint32_t n_id_names;
	struct hpc_metrics metrics;
	struct hpc_module *modules;
	struct hpc_file *files;
	struct hpc_function *functions;
	uint32_t n_modules, n_files, n_functions;
	struct hpc_node *nodes;	   /* each before its children, children together (preorder) */
	struct hpc_entry *entries; /* of the roots, in the order of the nodes */
	uint32_t n_nodes, n_entries;
	struct arena arena;
};

/* Loads all of an open meta.db. */
int hpc_meta_load(struct hpc_meta_model *model, const struct hpc_meta *m, struct err *err);
void hpc_meta_model_release(struct hpc_meta_model *model);

/* Writes MODEL as a meta.db to FD, an empty file open for writing, the footer last; syncs nothing.
 * Works in one pass over the nodes with 24 bytes for each.  NAME is for errors.
 *
 * The page layout has no scope types, no propagation and no entry points; roots without a function
 * get one called as the entry is.  The released layout keeps only the name of a root that is a
 * function.  -E2BIG for what readers cannot take: a section of 2 GB, more than 65535 scopes,
 * summaries of a metric or entries, more than 255 identifier names; -EINVAL for a model that breaks
 * the rules above. */
int hpc_meta_write(int fd, const char *name, const struct hpc_meta_model *model,
		   enum hpc_layout layout, struct err *err);

#endif
