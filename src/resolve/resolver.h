/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of addresses for readers: from (image, svma) to procedures.
 *
 * A resolver looks for an image's symbols where they can still be found: the database's cache, the
 * file itself if it is the one that was profiled, the paths the user names, build-id directories,
 * debuginfod; for the kernel /proc/kallsyms if the same kernel runs.  What it finds it keeps, and
 * hands out until it is freed. */
#ifndef RESOLVE_RESOLVER_H
#define RESOLVE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "model/image.h"
#include "resolve/symtab.h"

struct resolver_opts {
	const char *cache_dir;		/* the database's images/ directory; NULL: no cache */
	const char *const *more_caches; /* such directories of other databases, never written to */
	size_t n_more_caches;
	const char *const *paths; /* files or directories to look for images in (-p) */
	size_t n_paths;
	bool use_debuginfod; /* only has an effect when $DEBUGINFOD_URLS is set */
	bool no_save;	     /* do not write the cache (a database of somebody else) */
	bool no_rest;	     /* resolver_rest keeps cached symbols in memory: they are used often */
	bool kept_only;	     /* symbols of files come from the cache alone: others read the files */
	const char *debug_root; /* NULL: /usr/lib/debug */
	const char *proc_dir;	/* NULL: /proc */
	const char *sys_dir;	/* NULL: /sys */
	/* Whether somebody is about to put the symbols of IM into the cache, so that nobody else
	 * reads its file meanwhile: it has none, until resolver_look_again.  NULL: nobody is. */
	bool (*is_late)(void *ctx, const struct image *im);
	void *late_ctx;
};

enum resolve_status {
	RESOLVE_OK,
	RESOLVE_PARTIAL, /* exported symbols only: gaps between them are not known */
	RESOLVE_STALE,	 /* nothing cached, and the file at the image's path is another one now */
	RESOLVE_MISSING, /* nothing cached, no such file */
	RESOLVE_BARE,	 /* the file has no symbols */
	RESOLVE_HIDDEN,	 /* the kernel hides its addresses from this user (kptr_restrict) */
};

struct resolved {
	enum resolve_status status;
	const struct symtab *symtab; /* never NULL, maybe empty */
	const char *source; /* where the symbols came from: a path, "cache", ...; "" for none */
};

struct resolver;
struct flow;

/* Copies OPTS. */
struct resolver *resolver_new(const struct resolver_opts *opts);
void resolver_free(struct resolver *r);

/* Says what SVMA of script IM means: LINE (0: not known) of the function called NAME, or its first
 * line, as struct script has it.  For whoever has loaded a recording, before the first question
 * about IM. */
void resolver_add_script(struct resolver *r, const struct image *im, uint64_t svma,
			 const char *name, uint32_t line);

/* The line in which the function at SVMA of script IM begins; 0: not known. */
uint32_t resolver_script_first_line(struct resolver *r, const struct image *im, uint64_t svma);

/* Finds the symbols of IM; a second call returns at once.  Never fails: see `status`.  The result
 * lives as long as the resolver. */
const struct resolved *resolver_image(struct resolver *r, const struct image *im);

/* The symbols of IM, without reading its debug file where the database has some: for questions
 * that these answer, such as in what language a program is.  They last until any other question
 * about IM. */
const struct symtab *resolver_kept_symbols(struct resolver *r, const struct image *im);

/* Asks is_late anew of images whose symbols were late. */
void resolver_look_again(struct resolver *r);

/* Gives the memory of IM's DWARF and of its cached symbols back to the system; symbols are loaded
 * again when they are next looked at.  For callers that go through many images.  Pointers handed
 * out stay valid. */
void resolver_rest(struct resolver *r, const struct image *im);

/* As resolver_rest, and frees symbols of IM that were read from its file, so that none handed out
 * may be used any more.  For callers that look at each image once. */
void resolver_drop(struct resolver *r, const struct image *im);

/* Finds the first variable of IM in the N_BYTES from SVMA on, and its readable name; false when
 * none is known.  It may begin before SVMA.  RET->name lives as long as the resolver. */
bool resolver_find_data(struct resolver *r, const struct image *im, uint64_t svma, uint64_t n_bytes,
			struct procedure *ret);

/* Copies the bytes at SVMA of IM's code to RET, at most MAX.  Returns how many; 0 where they cannot
 * be had.  *RET_MACHINE: elf.h EM_*. */
size_t resolver_code_at(struct resolver *r, const struct image *im, uint64_t svma, uint8_t *ret,
			size_t max, uint16_t *ret_machine);

/* Keeps the names of IM's variables in the cache, for when its file, open at FD (borrowed), is
 * gone. */
int resolver_save_data(struct resolver *r, const struct image *im, int fd, struct err *err);

/* One line that says what is wrong with IM's symbols, for a reader to show once below its table;
 * NULL when nothing is. */
const char *resolver_note(struct resolver *r, const struct image *im);

/* Finds the procedure of IM that covers SVMA and its readable (demangled) name with arguments;
 * false when none is known.  RET->name lives as long as the resolver. */
bool resolver_find(struct resolver *r, const struct image *im, uint64_t svma,
		   struct procedure *ret);

/* One function that a place is in. */
struct resolved_frame {
	const char *name; /* readable; NULL: neither a symbol nor DWARF knows it */
	const char *file; /* where in it the place, or the call of the next function, is; NULL: not
			     known */
	uint32_t line;	  /* from 1; 0: not known */
	uint16_t column;  /* from 1; 0: not known */
	bool is_inlined;  /* into the one before it */
	uint32_t proc;	  /* of the first: the procedure's index in the symtab; else PROC_NONE */
};

/* No place has more frames than these. */
#define RESOLVER_MAX_FRAMES 64

/* Finds the functions that the place SVMA of IM is in: first the procedure, then the functions
 * inlined into it, the innermost last.  Returns how many there are, at least one; only the first
 * MAX (1 or more) are written to RET.  Names include the types of arguments when ARGS; equal names
 * of inlined functions are equal pointers.  Without DWARF there is only the procedure.  An image's
 * DWARF is opened at the first question; a place asked for before costs one look into a hash
 * table.  The texts live as long as the resolver. */
size_t resolver_frames(struct resolver *r, const struct image *im, uint64_t svma, bool args,
		       struct resolved_frame *ret, size_t max);

/* A function that a place is in, as compilers know it. */
struct resolved_site {
	const char *linked;	/* "?": DWARF does not say */
	uint32_t start_line;	/* where the function is defined; 0: not known */
	uint32_t line;		/* in it: the place, or the call of the next one; 0: not known */
	uint32_t discriminator; /* tells apart blocks of a line; 0: none */
};

/* Finds the functions that the place SVMA of IM is in as DWARF has them, the outermost first, at
 * most MAX; 0 where it knows none.  For profiles that compilers read.  The texts live until
 * resolver_rest. */
size_t resolver_sites(struct resolver *r, const struct image *im, uint64_t svma,
		      struct resolved_site *ret, size_t max);

/* Instructions that run one after the other: all of them as often as the first. */
struct resolved_block {
	uint64_t start, end; /* svma */
	uint32_t n_insns;
	bool is_entry; /* the procedure begins with it */
};
typedef VEC(struct resolved_block) resolved_blocks;

/* Puts the blocks of the procedure that covers SVMA, and of its cold parts, into RET, which is
 * empty, ascending; of a cold part those of the procedure it was moved away from.  0, or negative
 * where no procedure covers SVMA or its instructions are not there. */
int resolver_blocks(struct resolver *r, const struct image *im, uint64_t svma,
		    resolved_blocks *ret);

/* Follows the procedure that covers SVMA, with its cold parts, into RET (flow_release it); of a
 * cold part the procedure it was moved away from.  *RET_START: where that begins.  0, or negative
 * where no procedure covers SVMA, its instructions are not there, or they cannot be followed
 * (flow_init); RET is empty then. */
int resolver_flow(struct resolver *r, const struct image *im, uint64_t svma, struct flow *ret,
		  uint64_t *ret_start);

typedef VEC(uint64_t) resolved_starts;

/* Adds to RET the addresses of [START, END) where another line or block of a line begins, as DWARF
 * tells, ascending; always START itself. */
void resolver_line_starts(struct resolver *r, const struct image *im, uint64_t start, uint64_t end,
			  resolved_starts *ret);

enum code_scope_kind {
	CODE_FUNCTION, /* the procedure */
	CODE_LOOP,
	CODE_LINE,    /* the place's; before CODE_INLINED that of the call */
	CODE_INLINED, /* a function, inlined where the LINE before it says */
};

/* One thing in the source that a place is in. */
struct code_scope {
	enum code_scope_kind kind;
	bool irreducible; /* LOOP: it can be entered elsewhere than at its header */
	uint16_t column;  /* LOOP, LINE: from 1; 0: not known */
	uint32_t line;	  /* LOOP, LINE: from 1; 0: not known */
	const char *file; /* LOOP, LINE: NULL: not known */
	const char *name; /* FUNCTION, INLINED: readable; NULL: neither symbol nor DWARF knows it */
	uint32_t proc;	  /* FUNCTION: index in the symtab; PROC_NONE */
	uint64_t svma;	  /* LOOP: of its header, which tells the loops of an image apart */
};

/* Finds what the instruction at SVMA of IM is in, from outside to inside: the procedure, loops and
 * inlined functions as they are nested, and last the instruction's line.  For example
 *
 *     FUNCTION main | LOOP a.c:10 | LINE a.c:12 | INLINED sum | LOOP sum.h:3 | LINE sum.h:4
 *
 * for a loop in sum(), which line 12 of main() calls in a loop.  Returns how many there are, at
 * least two (FUNCTION and LINE, its line 0 when not known); only the first MAX are written to RET.
 *
 * Loops are found in the instructions, procedure by procedure when first asked for; without the
 * image's file there are none, without DWARF they have no line.  A loop stands at the same position
 * for all its places: instructions of a function that were moved into a loop of a function inlined
 * into it are in that loop.  NAMES are with types of arguments when ARGS.  Texts live as long as
 * the resolver; equal texts of files and inlined functions are equal pointers.  Like all of a
 * resolver this is for one thread at a time; threads have a resolver each. */
size_t resolver_scopes(struct resolver *r, const struct image *im, uint64_t svma, bool args,
		       struct code_scope *ret, size_t max);

/* Finds the names of the functions inlined at SVMA into its procedure, the outermost first: those
 * that resolver_frames returns after the first.  Returns how many there are, at most MAX.  For
 * callers that ask about each place once and want no lines: no line table is read, nothing is
 * remembered. */
size_t resolver_inlined(struct resolver *r, const struct image *im, uint64_t svma, bool args,
			const char **ret, size_t max);

/* Finds where the procedure of IM whose code begins at START is defined.  *RET_FILE lives until
 * resolver_rest.  False when DWARF does not say. */
bool resolver_declaration(struct resolver *r, const struct image *im, uint64_t start,
			  const char **ret_file, uint32_t *ret_line);

/* The readable name of procedure I of IM, with the types of its arguments or without. */
const char *resolver_name(struct resolver *r, const struct image *im, uint32_t i, bool args);

/* Opens a file that is IM, by identity, for its instructions; see debug_file_open_code for the
 * errors. RET_PATH, when not NULL, gets its path in fresh memory. */
int resolver_open_code(struct resolver *r, const struct image *im, char **ret_path,
		       struct err *err);

/* Opens the file that holds IM's DWARF: the separate debug file, else the image itself. */
int resolver_open_debug(struct resolver *r, const struct image *im, char **ret_path,
			struct err *err);

struct code_file;
struct lines;

/* Opens IM's instructions: its file, else what the cache keeps of its code.  RET lives no longer
 * than the resolver; code_file_close it.  Errors as resolver_open_code. */
int resolver_open_code_file(struct resolver *r, const struct image *im, struct code_file *ret,
			    struct err *err);

/* Opens IM's lines for somebody who outlives the resolver's: lines_close them.  NULL: none. */
struct lines *resolver_open_lines(struct resolver *r, const struct image *im, struct err *err);

/* Returns IM's lines: its DWARF, else those that the cache keeps.  They are the resolver's and stay
 * until they are dropped as often as they were held.  NULL: none, and nothing to drop; ERR says
 * why. */
struct lines *resolver_lines_hold(struct resolver *r, const struct image *im, struct err *err);
void resolver_lines_drop(struct resolver *r, const struct image *im);

/* Keeps IM's symbols in the cache, for when its file is gone; does nothing when they are there. FD:
 * the image's file, open (borrowed); -1 for the kernel, its modules and BPF programs, which are
 * read from kallsyms.  For the recorder, at flush. */
int resolver_save(struct resolver *r, const struct image *im, int fd, struct err *err);

/* Keeps the perf map of process PID as the symbols of its JIT code IM, while the process lives.
 * Once it has ended, keeps the map that was opened at FD before (borrowed; -1: none).  A later map
 * of the same image replaces the earlier.  -ENOENT when there is none. */
int resolver_save_jit(struct resolver *r, const struct image *im, pid_t pid, int fd,
		      struct err *err);

/* Keeps ST as the symbols of IM, in place of those kept before. */
int resolver_save_symtab(struct resolver *r, const struct image *im, const struct symtab *st,
			 struct err *err);

/* Makes ST, which R owns then, the symbols of IM for as long as R lives.  R must not have been
 * asked for IM before. */
void resolver_take_symtab(struct resolver *r, const struct image *im, const struct symtab *st);

/* Tells whether NAME is one of the procedures the kernel idles in (x86-64 and arm64). */
bool resolve_is_idle(const char *name);

#endif
