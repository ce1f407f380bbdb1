/* SPDX-License-Identifier: BSD-2-Clause */
/* The container of segments: blocks of columns, each compressed by itself, with checksums.  It does
 * not know what the columns mean. */
#ifndef FORMATS_SEGMENT_BLOCK_H
#define FORMATS_SEGMENT_BLOCK_H

#include <stdbool.h>

#include "base/rd.h"
#include "formats/segment.h"

#define BLOCK_MAX_COLUMNS      16
#define SEGMENT_BRANCH_COLUMNS 12

/* Columns of owners behind those of version 1. */
enum segment_owner_columns {
	SEGMENT_OWNER_JOB = 8, /* from here to thread_name: reserved */
	SEGMENT_OWNER_THREAD_NAME = 11,
	SEGMENT_OWNER_COLUMNS
};

/* Whether this program knows what blocks of TYPE mean. */
static inline bool block_type_known(unsigned type)
{
	return (type && type <= SEGMENT_BRANCHES) || type == SEGMENT_CONTAINERS ||
	       type == SEGMENT_MINUTES || type == SEGMENT_SCRIPTS || type == SEGMENT_ACCESSES;
}

/* XXH3-64 of N bytes; SEED 0 in segments. */
uint64_t block_checksum(const void *p, size_t n, uint64_t seed);

/* Writing: begin a segment, for each block fill columns and add it, end. */
struct block_writer {
	struct wr *out;
	size_t start; /* where the segment begins in OUT */
	bool plain;   /* compress nothing */
	uint32_t n_blocks;
	uint64_t expanded; /* bytes a reader needs, as SEGMENT_EXPANSION counts them */
	struct wr digest;  /* what the footer's digest covers */
	struct wr columns[BLOCK_MAX_COLUMNS];
	void *zstd;	   /* ZSTD_CCtx */
	struct wr scratch; /* compressed column */
};

void block_begin_segment(struct block_writer *w, struct wr *out, uint16_t major, uint16_t minor,
			 bool plain);

/* Appends a block made of the first N_COLUMNS of W's columns and empties them.  N_ITEMS 0 adds
 * nothing. -E2BIG when a column has 4 GiB or more. */
int block_add(struct block_writer *w, enum segment_block_type type, unsigned flags,
	      uint32_t n_items, unsigned n_columns, struct err *err);

/* Writes the footer and releases W, except for OUT. */
void block_end_segment(struct block_writer *w);
void block_writer_release(struct block_writer *w);

/* Reading. */
struct block {
	uint16_t type;
	uint8_t flags, n_columns;
	uint32_t n_items;
	size_t off;	 /* of the block in the segment, for messages */
	unsigned number; /* 0: the first */
	const uint8_t *stored;
	size_t n_stored;
};

struct block_list {
	VEC(struct block) blocks;
};

/* Checks header, footer, every checksum and every column's lengths; lists the blocks, which point
 * into BYTES.  Release with vec_release(&ret->blocks), after a failure too. */
int block_read_all(const uint8_t *bytes, size_t n, struct block_list *ret, struct err *err);

/* Lists the blocks of damaged bytes whose checksums hold, wherever they begin.  Release with
 * vec_release(&ret->blocks). */
void block_read_whole(const uint8_t *bytes, size_t n, struct block_list *ret);

/* One column being read: a cursor over its raw bytes, or endless zeros. */
struct block_column {
	struct rd rd;
	bool zero;	/* an empty or missing column stands for zeros */
	uint8_t *owned; /* decompressed bytes, else NULL */
};

/* Decompresses the columns of B into COLUMNS; those the block does not have are zeros, those beyond
 * N_COLUMNS are left out.  Release with columns_release, also after a failure. */
int block_columns(const struct block *b, struct block_column *columns, unsigned n_columns,
		  struct err *err);
void columns_release(struct block_column *columns, unsigned n_columns);

static inline uint64_t column_next(struct block_column *c)
{
	return c->zero ? 0 : rd_uleb(&c->rd);
}

/* Returns the next N bytes of a column of bytes, N being 32 or less; NULL when there are fewer. */
static inline const uint8_t *column_bytes(struct block_column *c, size_t n)
{
	static const uint8_t zeros[32];

	if (c->zero)
		return n <= sizeof(zeros) ? zeros : NULL;
	return rd_bytes(&c->rd, n);
}

/* Reads the next value of a column, which must fit 32 bits; a larger one makes the column bad. */
static inline uint32_t column_next_u32(struct block_column *c)
{
	uint64_t v = column_next(c);

	if (v > UINT32_MAX) {
		c->rd.bad = true;
		return 0;
	}
	return (uint32_t)v;
}

/* Reads a signed value, which is stored in zigzag.  The result counts modulo 2^64. */
static inline uint64_t column_next_signed(struct block_column *c)
{
	uint64_t z = column_next(c);

	return z >> 1 ^ -(z & 1);
}

/* "places block 4 at +0x120: " and the message into ERR; returns CODE. */
int block_err(struct err *err, int code, const struct block *b, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
