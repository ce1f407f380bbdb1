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

struct lines_unit {
	Dwarf_Off die;		      /* of the unit, in .debug_info */
	bool is_read, has_decls;      /* what follows was filled (maybe with nothing) */
	VEC(struct lines_row) rows;   /* ascending, one for each address */
	VEC(struct lines_decl) decls; /* by file, then line */
};

/* Addresses a unit says are its own; `start` stands first, it is searched for. */
struct lines_span {
	uint64_t start, end, max_end; /* max_end: the highest end of this and all spans before */
	uint32_t unit;
};

struct lines {
	int fd;
	Elf *elf;
	Dwarf *dwarf, *alt; /* alt: the file of .gnu_debugaltlink, or NULL */
	int alt_fd;
	bool is_indexed;
	VEC(struct lines_unit) units;
	VEC(struct lines_span) spans; /* by start */
	VEC(const char *) files;
	struct index by_path; /* of files */
	struct arena text;
	size_t n_rows, n_libdw_rows;
	uint32_t last_unit; /* that answered, to begin with */
};

/* Whatever a file claims, we stop at these. */
#define LINES_MAX_UNITS	     (1u << 20)
#define LINES_MAX_SPANS	     (1u << 22)
#define LINES_MAX_DIES	     (1u << 22)	  /* walked in one unit for declarations */
#define LINES_MAX_UNIT_BYTES (16u << 20)  /* of one unit in .debug_line */
#define LINES_MAX_INFLATED   (2ull << 30) /* of all compressed sections together */
#define LINES_MAX_NAMES	     (256u << 20) /* of all file names of one unit, in bytes */

/* Finds out which unit covers which addresses (once). */
void lines_index(struct lines *l);

/* Decodes unit I's line table, or its declarations (once). */
void lines_read_unit(struct lines *l, uint32_t i);
void lines_read_decls(struct lines *l, uint32_t i);

/* Number of file PATH in l->files, added when it is new. */
uint32_t lines_intern(struct lines *l, const char *path);

/* Checks the unit at OFF of section .debug_line: that libdw can decode it within the limits above.
 * The other sections are .debug_line_str and .debug_str, maybe empty; N_COMP_DIR is the length of
 * the compilation directory's name. */
bool lines_check_unit(struct rd line, struct rd line_str, struct rd str, uint64_t off,
		      size_t n_comp_dir);

#endif
