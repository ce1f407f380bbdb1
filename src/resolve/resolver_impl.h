/* SPDX-License-Identifier: BSD-2-Clause */
/* What resolver.c and resolver_scopes.c share; not for other files. */
#ifndef RESOLVE_RESOLVER_IMPL_H
#define RESOLVE_RESOLVER_IMPL_H

#include "base/arena.h"
#include "base/hash.h"
#include "resolve/data_symbols.h"
#include "resolve/frames.h"
#include "resolve/kept_dir.h"
#include "resolve/image_symbols.h"
#include "resolve/procedure_loops.h"
#include "resolve/resolver.h"

/* The loops of procedures that were asked for; all are forgotten when they are many. */
struct loop_cache {
	VEC(struct loop_cache_entry {
		const void *image;
		uint32_t proc;
		struct procedure_loops *loops; /* of a cold part: NULL, ask for `whole` */
		uint32_t whole;
	})
	v;
	struct index by_proc;
	size_t n_bytes;
};

void loop_cache_release(struct loop_cache *c);

struct resolver_entry {
	struct resolved result;
	struct image_symbols symbols;
	bool is_kept_only;   /* a debug file may have more symbols: resolver_kept_symbols */
	unsigned late_since; /* number of the look at which they were late; 0: they are not */
	enum image_kind kind;
	bool by_offset; /* IMAGE_OFFSETS */
	struct build_id build_id;
	uint8_t digest[IMAGE_DIGEST_BYTES];
	char *path, *note;
	const char **names[2]; /* by args: readable names asked for so far; NULL before the first */
	struct data_symbols data;
	bool data_tried;
	struct lines *lines; /* its DWARF, while open; NULL: none, or not looked for */
	bool lines_tried;
	bool scopes_only;	/* LINES have none */
	unsigned n_lines_held;	/* LINES must stay open while it is not 0 */
	struct code_file *code; /* its instructions, while open; NULL: none, or not looked for */
	bool code_tried;
	struct kept_code kept; /* of it, no procedures: nothing, or not looked for */
	bool kept_tried;
	struct lines *kept_scopes; /* made of KEPT, while open; NULL: not asked for */
	/* What a script has: */
	VEC(struct script_line {
		uint64_t svma;
		uint32_t line;
	})
	scripts; /* by svma, once they are settled */
	struct symtab_builder script_names;
	bool scripts_changed;
};

struct resolver {
	char *cache_dir, *proc_dir, *sys_dir, *debug_root;
	char **paths, **more_caches;
	struct symbol_sources sources; /* borrows the strings above */
	VEC(struct resolver_entry *) entries;
	struct index by_identity;
	bool no_rest; /* resolver_opts */
	bool (*is_late)(void *ctx, const struct image *im);
	void *late_ctx;
	unsigned n_looks;   /* resolver_look_again's */
	struct arena arena; /* readable names */
	struct frames frames;
	struct loop_cache loops;
};

struct resolver_entry *resolver_entry_find(struct resolver *r, const struct image *im);

/* That without settling what was added of a script. */
struct resolver_entry *resolver_entry_get(struct resolver *r, const struct image *im);

/* Makes symbols of what was added to E. */
void resolver_settle_scripts(struct resolver_entry *e);

/* The line of SVMA in E, a script; 0: not known. */
uint32_t resolver_script_line(const struct resolver_entry *e, uint64_t svma);

/* The frames of SVMA in IM, whose entry is E, as frames_find gives them. */
size_t resolver_entry_frames(struct resolver *r, struct resolver_entry *e, const struct image *im,
			     uint64_t svma, const struct frame **ret);

/* The DWARF of E, which is IM's; NULL: none. */
struct lines *resolver_entry_lines(struct resolver *r, struct resolver_entry *e,
				   const struct image *im);

/* What a database keeps of the code of E, which is IM's; NULL: nothing. */
const struct kept_code *resolver_entry_kept(struct resolver *r, struct resolver_entry *e,
					    const struct image *im);

/* The instructions of E, which is IM's; NULL: they are not there. */
struct code_file *resolver_entry_code(struct resolver *r, struct resolver_entry *e,
				      const struct image *im);

/* Closes its instructions, which may be opened again. */
void resolver_entry_close_code(struct resolver_entry *e);

/* The name of the first frame: the symbol's; DWARF's where there is no symbol. */
void resolver_name_procedure(struct resolver *r, struct resolver_entry *e, uint64_t svma, bool args,
			     const struct frame *frame, struct resolved_frame *ret);

#endif
