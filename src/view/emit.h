/* SPDX-License-Identifier: BSD-2-Clause */
/* The emitter: a command describes its columns and rows once and they come out as an aligned table
 * for people, as JSON, or as CSV.
 *
 *     emit_begin(&e);
 *     emit_text(&e, "Samples of %s\n", name);             people only
 *     emit_table(&e, "rows", cols, n_elems(cols));
 *     while (...) emit_row(&e, cells);                    one cell per column
 *     emit_table_end(&e);
 *     emit_end(&e);
 *
 * The JSON output is one object; a table is an array of objects in it, under the table's key.  CSV
 * (RFC 4180, lines end in CR LF) is the table with the key "rows" only: heading, then rows.  In
 * tables and CSV, no byte of a name reaches a terminal raw (text.h); names of procedures are
 * shortened (text_name.h).  Where a width is known, on a screen, no line is longer than it: texts
 * are cut, columns left out (fit.h), prose folded.  Elsewhere all columns are there.  Nothing here
 * prints: text goes to a struct str. */
#ifndef VIEW_EMIT_H
#define VIEW_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/text.h"

/* The form of the JSON documents, their member "schema".  It grows when a member changes its
 * meaning or goes away. */
#define EMIT_SCHEMA 1

enum emit_format { EMIT_TABLE, EMIT_JSON, EMIT_CSV };

enum emit_type {
	EMIT_STR,     /* cell.s; NULL is nothing */
	EMIT_U64,     /* cell.u in decimal */
	EMIT_HEX,     /* cell.u with 0x; a string in JSON, whose numbers lose bits above 2^53 */
	EMIT_PERCENT, /* cell.d: 12.34%; a plain number in JSON and CSV */
	EMIT_REAL,    /* cell.d */
	EMIT_TIME,    /* cell.u in nanoseconds; seconds with the column's decimals in tables */
	EMIT_FIXED,   /* cell.d with the column's decimals; exact in JSON and CSV */
};

/* Formats a column appears in. */
enum { EMIT_IN_TABLE = 1, EMIT_IN_JSON = 2, EMIT_IN_CSV = 4, EMIT_IN_NONE = 8 };

#define EMIT_SPARE_UNSAID 3 /* a column that spare is left out without a word */

struct emit_col {
	const char *key;   /* JSON key and CSV heading */
	const char *title; /* table heading; NULL: the key */
	enum emit_type type;
	const char *group; /* columns of one group share a JSON object of this name */
	unsigned in;	   /* EMIT_IN_*; 0 is everywhere */
	enum text_cut cut; /* how a text is shortened on a terminal */
	bool hot;	   /* a percentage: coloured, the more the redder */
	uint8_t spare;	  /* left out of a screen that is too narrow, the highest first; 0: never */
	uint8_t decimals; /* EMIT_FIXED, EMIT_TIME */
};

struct emit_cell {
	union {
		const char *s; /* borrowed until emit_table_end */
		uint64_t u;
		double d;
	};
	bool none;    /* nothing known: blank, null, empty */
	char mark;    /* in tables: stands before the number, or in its place when there is none */
	bool is_path; /* a text in brackets that gives up its beginning, whatever its column does */
};

struct emit {
	struct str *out;
	enum emit_format format;
	bool terminal; /* the text ends on a screen WIDTH columns wide */
	bool colour;
	bool full_names;  /* names are neither shortened nor cut, and columns not left out */
	bool table_alone; /* nothing is said of columns that were left out */
	bool no_notes;	  /* tables have no lines below them that tell how to name images */
	unsigned width;
	/* Appends the text of a cell of a TEXT_FILL column, its number U, in ROOM columns at most
	 * (SIZE_MAX: whole).  Called in the order of rows. */
	void (*fill)(void *ctx, uint64_t u, size_t room, struct str *ret);
	void *fill_ctx;
	/* The answer: where in OUT the lines of the table "rows" begin and end; both 0: it has
	 * none. */
	size_t rows_at, rows_end;
	/* The rest is the emitter's own. */
	struct json json;
	const struct emit_col *cols;
	unsigned n_cols;
	bool is_rows; /* the open table is "rows" */
	bool skipped; /* the open table is not part of this format */
	VEC(struct emit_cell) cells;
	struct arena texts; /* of CELLS */
};

void emit_begin(struct emit *e);
void emit_end(struct emit *e); /* also frees what the emitter holds */

/* Adds whole lines for people, folded to the screen: pass names from outside through text_show
 * first. */
void emit_text(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends NAME, a procedure's, as tables show it: safe, and shortened unless names are full. */
void emit_add_name(const struct emit *e, struct str *out, const char *name);

/* The JSON writer, positioned in the document's object, for parts that are no table; NULL for the
 * other formats. */
struct json *emit_json(struct emit *e);

/* Says in JSON what each row is: a level of code, or keys of owners with commas between. */
void emit_rows_by(struct emit *e, const char *what);

/* COLS must live until emit_table_end. */
void emit_table(struct emit *e, const char *key, const struct emit_col *cols, unsigned n_cols);
void emit_row(struct emit *e, const struct emit_cell *cells);
void emit_table_end(struct emit *e); /* for people, a table without rows is nothing at all */

#endif
