/* SPDX-License-Identifier: BSD-2-Clause */
/* The procedures of one image, sorted by address.
 *
 * A symtab is four parallel arrays of little-endian numbers and a pool of names, the same in memory
 * as in the cache file (docs/formats/symbols.md), so a cached one is used where it is mapped.
 * Procedures do not overlap, except that names of one start address stand together: the last of
 * them is the procedure's name, those before it are aliases (PROC_ALIAS). */
#ifndef RESOLVE_SYMTAB_H
#define RESOLVE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

enum proc_flags {
	PROC_ALIAS = 1u << 0, /* another name of the procedure that follows */
	PROC_LOCAL = 1u << 1,
	PROC_WEAK = 1u << 2,
	PROC_PLT = 1u << 3,	/* a stub, named name@plt */
	PROC_FILLED = 1u << 4,	/* the symbol had no size; the end is where the next thing begins */
	PROC_REST = 1u << 5,	/* what follows a procedure nested in this one */
	PROC_UNNAMED = 1u << 6, /* has no symbol, only an unwind table; its name reads as "" */
};

struct procedure {
	uint32_t index;	     /* in the symtab */
	uint32_t flags;	     /* enum proc_flags */
	uint64_t start, end; /* svma */
	const char *name;    /* as linked (mangled); lives as long as the symtab */
};

#define PROC_NONE UINT32_MAX

#define SYMTAB_MAX_NAME 32768u /* bytes; longer names are cut */

/* What readers call a procedure without a symbol: this and its start in hex. */
#define SYMTAB_UNNAMED "sub_"

struct symtab {
	uint32_t n;	       /* entries, aliases included */
	const uint8_t *starts; /* n le64 */
	const uint8_t *sizes;  /* n le32 */
	const uint8_t *names;  /* n le32, offsets into pool */
	const uint8_t *flags;  /* n */
	const char *pool;      /* NUL-terminated names; the last byte is NUL */
	uint32_t n_pool;
	/* Called before names in [off, off + n) of the pool are looked at for the first time; false
	 * when they are damaged.  NULL: nothing to check. */
	bool (*check_pool)(const struct symtab *st, uint32_t off, uint32_t n);
	void *checker; /* for check_pool's own use */
	void *owned;   /* freed by symtab_release */
};

/* Returns the entry of the procedure that covers SVMA, or PROC_NONE.  O(log n), no allocation. */
uint32_t symtab_find(const struct symtab *st, uint64_t svma);

/* Returns the entry of the first procedure with an address in the N_BYTES from SVMA on, or
 * PROC_NONE. */
uint32_t symtab_find_first(const struct symtab *st, uint64_t svma, uint64_t n_bytes);

/* Reads entry I (below n).  A name that is damaged in the cache reads as "?". */
struct procedure symtab_get(const struct symtab *st, uint32_t i);

typedef VEC(uint32_t) proc_list;

/* Appends to RET every procedure called NAME (no aliases or rests; each once), in order of address.
 * NAME may be the linked name, the demangled name with its arguments, or without; an alias counts
 * as a name of its procedure; one without a symbol is called SYMTAB_UNNAMED and its start. */
void symtab_find_name(const struct symtab *st, const char *name, proc_list *ret);

/* Appends to RET every procedure that somebody who types NAME may mean: those that symtab_find_name
 * finds, and those whose last parts are NAME (proc_name.h). */
void symtab_find_meant(const struct symtab *st, const char *name, proc_list *ret);

void symtab_release(struct symtab *st);

struct symbol {
	uint64_t svma;
	uint32_t size; /* larger ones are cut */
	uint32_t name; /* offset into the builder's pool */
	uint32_t rank; /* of the names at one address the lowest wins */
	uint32_t flags;
};

struct symbol_range {
	uint64_t start, end;
};

/* Collects symbols and settles them into a symtab.  A zeroed builder is empty. */
struct symtab_builder {
	VEC(struct symbol) symbols;
	VEC(struct symbol_range) ranges;
	VEC(char) pool;
	uint64_t most_names; /* bytes that the pool may have; 0: 4 GiB */
	bool full;	     /* some symbols were left out: the pool of names reached its limit */
};

/* A name in the builder's pool, which symbols may share. */
struct symbol_name {
	uint32_t off, n;
};

/* Adds a symbol of N_NAME bytes of name.  SIZE 0: not known.  FLAGS: PROC_LOCAL, PROC_WEAK,
 * PROC_PLT, or PROC_UNNAMED with the name "". */
void symtab_builder_add(struct symtab_builder *b, uint64_t svma, uint64_t size, const char *name,
			size_t n_name, uint32_t flags);

/* Adds a name alone; false when there is no room for it.  Several symbols with one long name take
 * the memory of one name so, whatever a file says of them. */
bool symtab_builder_name(struct symtab_builder *b, const char *name, size_t n_name,
			 struct symbol_name *ret);

/* Adds a symbol whose name is in the pool. */
void symtab_builder_add_named(struct symtab_builder *b, uint64_t svma, uint64_t size,
			      const struct symbol_name *name, uint32_t flags);

/* Adds the symbols of a symtab that was settled before. */
void symtab_builder_add_symtab(struct symtab_builder *b, const struct symtab *st);

/* Adds all names of ST, each once: *RET is where they are.  False when there is no room. */
bool symtab_builder_add_names(struct symtab_builder *b, const struct symtab *st, uint32_t *ret);

/* Adds entry P of ST, whose names are at NAMES, as one that begins at SVMA. */
void symtab_builder_add_entry(struct symtab_builder *b, const struct symtab *st, uint32_t names,
			      const struct procedure *p, uint64_t svma);

/* Says that code lies in [START, END): symbols without a size end where their range does, and are
 * dropped outside of all ranges. */
void symtab_builder_add_range(struct symtab_builder *b, uint64_t start, uint64_t end);

/* Makes the symtab and empties the builder.  Rules:
 *  - of several symbols at one address the name is that of the one with a size, then of the global
 *    over weak over local one, then with fewer leading underscores, then the shorter, then the
 *    first by strcmp; the others become aliases; the size is the largest;
 *  - a symbol without a size that lies inside a sized one is dropped (a label), else it ends at the
 *    next symbol or the end of its range;
 *  - a sized one that begins inside another takes its addresses from it;
 *  - one without a name counts only outside of all those with one, and inside the ranges. */
void symtab_builder_finish(struct symtab_builder *b, struct symtab *ret);
void symtab_builder_release(struct symtab_builder *b);

#endif
