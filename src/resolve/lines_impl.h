/* SPDX-License-Identifier: BSD-2-Clause */
/* What the lines*.c files share; not for other folders. */
#ifndef RESOLVE_LINES_IMPL_H
#define RESOLVE_LINES_IMPL_H

#include <elfutils/libdw.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/rd.h"
#include "base/vec.h"
#include "resolve/lines.h"
#include "unwind/gopclntab.h"

struct lines_row {
	uint64_t svma; /* first: searched for */
	uint32_t file; /* in lines.files */
	uint32_t line, discriminator;
	uint16_t column;
	bool end; /* of a sequence: nothing is known from here on */
};

/* A procedure's declaration. */
struct lines_decl {
	uint64_t svma; /* of its code; 0: inlined everywhere */
	uint32_t file, line;
};

/* A procedure's code, or the code of one call inlined into it. */
struct lines_scope {
	Dwarf_Off die;
	uint32_t parent;	 /* the scope it was inlined into; LINES_NO_SCOPE: a procedure */
	bool is_named, has_call; /* what follows was filled, when it was first asked for */
	uint32_t name;		 /* as linked, in lines.texts; LINES_NO_TEXT: it has none */
	uint16_t column;
	uint32_t line, file;	/* of the call; 0 and LINES_NO_TEXT: not known */
	uint32_t discriminator; /* of the call; 0: none */
	uint32_t decl_line;	/* where the function is defined; 0: not known */
};

#define LINES_NO_SCOPE UINT32_MAX
#define LINES_NO_TEXT  UINT32_MAX

/* From here on the innermost scope is this one; `svma` stands first, it is searched for. */
struct lines_scope_start {
	uint64_t svma;
	uint32_t scope; /* LINES_NO_SCOPE: none */
};

struct lines_unit {
	Dwarf_Off die;		   /* of the unit, in .debug_info */
	uint32_t generation;	   /* of lines.dwarf, when libdw decoded the line table */
	bool is_read, has_decls;   /* what follows was filled (maybe with nothing) */
	bool has_scopes;	   /* the same */
	bool is_checked, is_sound; /* the line table is within the limits, when checked */
	/* In lines.texts, + 1, by number in the line table; 0: not met yet.  A unit names hundreds
	 * of headers and has code from few. */
	VEC(uint32_t) file_numbers;
	VEC(struct lines_row) rows;		    /* ascending, one for each address */
	VEC(struct lines_decl) decls;		    /* by file, then line */
	VEC(struct lines_scope) scopes;		    /* as they stand in DWARF: parents first */
	VEC(struct lines_scope_start) scope_starts; /* ascending */
};

/* Addresses a unit says are its own; `start` stands first, it is searched for. */
struct lines_span {
	uint64_t start, end, max_end; /* max_end: the highest end of this and all spans before */
	uint32_t unit;
};

struct lines {
	int fd;
	Elf *elf, *alt_elf;
	struct lines_image {
		char *bytes;	 /* of the file, by lines_open_alone; else NULL */
		size_t n_mapped; /* 0: they are in memory of their own */
	} image, alt_image;
	Dwarf *dwarf, *alt;  /* alt: the file of .gnu_debugaltlink, or NULL */
	struct lines_go *go; /* instead of DWARF; NULL: DWARF */
	int alt_fd;
	bool is_indexed;
	VEC(struct lines_unit) units;
	VEC(struct lines_span) spans; /* by start */
	VEC(const char *) texts;      /* paths of files, names of inlined functions */
	struct index by_text;	      /* of texts */
	struct arena text;
	size_t n_rows, n_libdw_rows;
	uint32_t generation;	/* how often DWARF was opened again */
	uint64_t n_scope_steps; /* entries and ranges looked at for scopes, in all units */
	uint64_t n_name_bytes;	/* of names of scopes */
};

/* Whatever a file claims, we stop at these. */
#define LINES_MAX_UNITS	     (1u << 20)
#define LINES_MAX_SPANS	     (1u << 22)
#define LINES_MAX_DIES	     (1u << 22)	  /* walked in one unit for declarations */
#define LINES_MAX_UNIT_BYTES (16u << 20)  /* of one unit in .debug_line */
#define LINES_MAX_INFLATED   (2ull << 30) /* of all compressed sections together */
#define LINES_MAX_NAMES	     (256u << 20) /* of all file names of one unit, in bytes */
#define LINES_MAX_STEPS	     (1u << 28)	  /* DWARF entries read for scopes, in all units */
#define LINES_MAX_RANGES     (1u << 22)	  /* of the scopes of one unit */

/* Finds out which unit covers which addresses (once). */
void lines_index(struct lines *l);

/* Decodes unit I's line table, or its declarations (once). */
void lines_read_unit(struct lines *l, uint32_t i);
void lines_read_decls(struct lines *l, uint32_t i);

/* Finds out which scopes unit I has (once); inlines_read.c. */
void lines_read_scopes(struct lines *l, uint32_t i);

/* Goes through the spans that cover SVMA, from the narrowest: begin with a zeroed cursor; NULL when
 * there are no more.  At most a few dozen are looked at. */
struct lines_cursor {
	bool is_set;
	unsigned n_steps;
	size_t i; /* the span found last */
};
const struct lines_span *lines_covering(struct lines *l, uint64_t svma, struct lines_cursor *c);

/* Opens the table of Go's functions of the file at FD, borrowed; NULL: it has none. */
struct lines_go *lines_go_open(int fd);
void lines_go_close(struct lines_go *g);

/* What the functions of these names do, of a file with such a table. */
void lines_go_index(struct lines *l);
void lines_go_read_unit(struct lines *l, uint32_t i);
void lines_go_read_decls(struct lines *l, uint32_t i);
void lines_go_read_scopes(struct lines *l, uint32_t i);

/* Counts those of the N ascending elements of N_BYTES at V that begin at or below SVMA; an
 * element's first member is its address. */
size_t lines_search(const void *v, size_t n, size_t n_bytes, uint64_t svma);

/* Number of TEXT in l->texts, added when it is new. */
uint32_t lines_intern(struct lines *l, const char *text);

/* Bytes of debug section NAME (less ".debug_") as libdw sees them, inflated; none when absent. */
struct rd lines_section(struct lines *l, const char *name);

/* Closes libdw's copies of what was decoded when they are many.  Entries found before are void. */
void lines_renew(struct lines *l);

/* Finds the path of the file that ATTR, an attribute of DW_AT_decl_file's kind, names; false when
 * it names none. */
bool lines_attr_file(struct lines *l, struct lines_unit *u, Dwarf_Attribute *attr, uint32_t *ret);

/* Checks the unit at OFF of section .debug_line: that libdw can decode it within the limits above.
 * The other sections are .debug_line_str and .debug_str, maybe empty; N_COMP_DIR is the length of
 * the compilation directory's name. */
bool lines_check_unit(struct rd line, struct rd line_str, struct rd str, uint64_t off,
		      size_t n_comp_dir);

#endif
