/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows as ClickHouse's format Native has them: blocks of columns, each with its name and type.
 * Source: ClickHouse's documentation, "Formats", Native; observed with 18.16 over HTTP, whose
 * blocks have no further header.
 *
 *     block    uleb columns, uleb rows, then each column: text name, text type, values
 *     text     uleb length, bytes
 *     UIntN    N/8 bytes of each row, the lowest first; Date is a UInt16 of days since 1970,
 *              DateTime a UInt32 of seconds, Float64 its bits
 *     String   a text of each row
 *     Array(T) a UInt64 of each row, where its elements end; then the elements of all rows
 *
 * A message is blocks one behind another, to its end. */
#ifndef FORMATS_NATIVE_H
#define FORMATS_NATIVE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/rd.h"
#include "base/wr.h"
#include "formats/gzip.h"

/* A column as both sides must call it.  Types: UInt8, UInt16, UInt32, UInt64, Date,
 * DateTime('UTC'), Float64, String, Array(UInt64). */
struct native_col {
	const char *name, *type;
};

struct native_part {
	struct wr values, ends;
	uint64_t n_elements; /* of an array's rows so far */
};

/* One block being made. */
struct native_block {
	const struct native_col *cols;
	struct native_part *parts;
	size_t n_cols, n_rows, n_bytes;
};

/* An empty block of N columns COLS, which must outlive it. */
void native_init(struct native_block *b, const struct native_col *cols, size_t n);
void native_release(struct native_block *b);

/* Empties B and keeps its columns. */
void native_reset(struct native_block *b);

/* Puts the value of column COL into the row being made: each column once, then native_end_row.  A
 * number's upper bytes that its type has no room for are dropped. */
void native_add_u64(struct native_block *b, size_t col, uint64_t x);
void native_add_text(struct native_block *b, size_t col, const char *text);
void native_add_list(struct native_block *b, size_t col, const uint64_t *v, size_t n);
void native_end_row(struct native_block *b);

/* Adds B to what G packs, without a copy of it. */
void native_pack(const struct native_block *b, struct gzip_packer *g);

/* A value of a row that was read.  Which of them counts, the column's type says. */
struct native_value {
	uint64_t u;
	const char *text;    /* N bytes, not ended by NUL */
	const uint8_t *list; /* N le64 */
	size_t n;
};

/* Told each row; its values live until it returns.  Returns 0, or -errno to end reading. */
typedef int native_row_fn(void *ctx, const struct native_value *row, struct err *err);

/* Reads the N bytes, whose blocks must have the columns COLS.  A block is checked whole before FN
 * sees its rows.  -ENODATA: cut; -EBADMSG: malformed; -EPROTONOSUPPORT: other columns. */
int native_read(const uint8_t *bytes, size_t n, const struct native_col *cols, size_t n_cols,
		native_row_fn *fn, void *ctx, struct err *err);

#endif
