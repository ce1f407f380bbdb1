/* SPDX-License-Identifier: BSD-2-Clause */
/* The container of segments: docs/formats/segment.md "File", "Block", "Column", "Footer".
 *
 * Each column is compressed by itself, because zstd shares one Huffman table among 128 KiB of
 * neighbouring bytes, and columns of different meaning have different statistics.  A block's
 * checksum covers all of the block behind it; the footer's digest covers the file header, all block
 * checksums and the footer's own fields: whatever is changed, cut, swapped or doubled is noticed
 * before a byte is interpreted. */
#include "formats/segment_block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#define ZSTD_LEVEL 3

static const char *const type_names[] = {
	[SEGMENT_STRINGS] = "strings",	     [SEGMENT_META] = "meta",
	[SEGMENT_EVENTS] = "events",	     [SEGMENT_IMAGES] = "images",
	[SEGMENT_PLACES] = "places",	     [SEGMENT_OWNERS] = "owners",
	[SEGMENT_VECTORS] = "vectors",	     [SEGMENT_CONTEXTS] = "contexts",
	[SEGMENT_LOSSES] = "losses",	     [SEGMENT_VALUES] = "values",
	[SEGMENT_TRACES] = "traces",	     [SEGMENT_POINTS] = "points",
	[SEGMENT_BRANCHES] = "branches",     [SEGMENT_MINUTES] = "minutes",
	[SEGMENT_CONTAINERS] = "containers", [SEGMENT_SCRIPTS] = "script places",
	[SEGMENT_ACCESSES] = "accesses",
};

uint64_t block_checksum(const void *p, size_t n, uint64_t seed)
{
	return XXH3_64bits_withSeed(p, n, seed);
}

int block_err(struct err *err, int code, const struct block *b, const char *fmt, ...)
{
	char msg[300];
	va_list ap;
	bool known = b->type < n_elems(type_names) && type_names[b->type];

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return err_set(err, code, "block %u (%s %u) at +%#zx: %s", b->number,
		       known ? type_names[b->type] : "type", b->type, b->off, msg);
}

/* Writing. */

static void put_le64(uint8_t *p, uint64_t x)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(x >> 8 * i);
}

static void put_le32(uint8_t *p, uint32_t x)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(x >> 8 * i);
}

void block_begin_segment(struct block_writer *w, struct wr *out, uint16_t major, uint16_t minor,
			 bool plain)
{
	*w = (struct block_writer){.out = out, .start = out->n, .plain = plain};
	w->zstd = ZSTD_createCCtx();
	wr_bytes(out, SEGMENT_MAGIC, 8);
	wr_le16(out, major);
	wr_le16(out, minor);
	wr_le32(out, 0);
	wr_bytes(&w->digest, out->v + w->start, SEGMENT_HEADER_SZ);
}

static bool all_zero(const struct wr *c)
{
	return c->n == 0 || (c->v[0] == 0 && memcmp(c->v, c->v + 1, c->n - 1) == 0);
}

/* Writes column C: empty when it is all zeros, else compressed when that is smaller. */
static void add_column(struct block_writer *w, struct wr *c, uint32_t n_items)
{
	size_t n = SIZE_MAX;

	if (c->n == n_items && all_zero(c)) {
		c->n = 0;
	} else if (!w->plain && w->zstd && c->n >= 32) {
		w->scratch.n = 0;
		vec_reserve(&w->scratch, ZSTD_compressBound(c->n));
		n = ZSTD_compressCCtx(w->zstd, w->scratch.v, w->scratch.cap, c->v, c->n,
				      ZSTD_LEVEL);
	}
	w->expanded += c->n;
	if (!ZSTD_isError(n) && n < c->n) {
		wr_u8(w->out, SEGMENT_ZSTD);
		wr_uleb(w->out, c->n);
		wr_uleb(w->out, n);
		wr_bytes(w->out, w->scratch.v, n);
	} else {
		wr_u8(w->out, SEGMENT_RAW);
		wr_uleb(w->out, c->n);
		wr_bytes(w->out, c->v, c->n);
	}
	c->n = 0;
}

int block_add(struct block_writer *w, enum segment_block_type type, unsigned flags,
	      uint32_t n_items, unsigned n_columns, struct err *err)
{
	size_t at = w->out->n, n_stored;

	if (n_items == 0)
		return 0;
	wr_le64(w->out, 0); /* checksum and length are filled in below */
	wr_le16(w->out, (uint16_t)type);
	wr_u8(w->out, (uint8_t)flags);
	wr_u8(w->out, (uint8_t)n_columns);
	wr_le32(w->out, n_items);
	wr_le32(w->out, 0);
	for (unsigned i = 0; i < n_columns; i++)
		add_column(w, &w->columns[i], n_items);
	n_stored = w->out->n - at - SEGMENT_BLOCK_SZ;
	if (n_stored > UINT32_MAX)
		return err_set(err, -E2BIG, "a %s block of %zu bytes", type_names[type], n_stored);
	w->expanded += n_items;
	put_le32(w->out->v + at + 16, (uint32_t)n_stored);
	put_le64(w->out->v + at, block_checksum(w->out->v + at + 8, w->out->n - at - 8, 0));
	wr_bytes(&w->digest, w->out->v + at, 8);
	w->n_blocks++;
	return 0;
}

void block_writer_release(struct block_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	w->zstd = NULL;
	wr_release(&w->digest);
	wr_release(&w->scratch);
	for (unsigned i = 0; i < BLOCK_MAX_COLUMNS; i++)
		wr_release(&w->columns[i]);
}

void block_end_segment(struct block_writer *w)
{
	size_t at = w->out->n;

	wr_le64(w->out, at + SEGMENT_FOOTER_SZ - w->start);
	wr_le32(w->out, w->n_blocks);
	wr_le32(w->out, SEGMENT_FOOTER_MAGIC);
	wr_bytes(&w->digest, w->out->v + at, 16);
	wr_le64(w->out, block_checksum(w->digest.v, w->digest.n, 0));
	block_writer_release(w);
}

/* Reading. */

static int check_header(struct rd *r, struct err *err)
{
	const uint8_t *magic = rd_bytes(r, 8);
	uint16_t major = rd_le16(r);
	uint32_t flags;

	rd_le16(r); /* minor: older readers read newer minor versions */
	flags = rd_le32(r);
	if (magic && memcmp(magic, SEGMENT_MAGIC, 8) != 0)
		return err_set(err, -EBADMSG, "not a dwell segment");
	if (r->bad)
		return err_set(err, -ENODATA, "truncated in the file header");
	if (major > SEGMENT_MAJOR)
		return err_set(err, -EPROTONOSUPPORT,
			       "segment version %u is newer than this program's (%u)", major,
			       SEGMENT_MAJOR);
	if (major == 0)
		return err_set(err, -EBADMSG, "segment version 0");
	if (flags)
		return err_set(err, -EPROTONOSUPPORT,
			       "segment flags %#x are newer than this program", flags);
	return 0;
}

static int read_block_header(struct rd *r, struct block *b, struct err *err)
{
	uint64_t checksum;
	const uint8_t *covered;

	b->off = rd_off(r);
	checksum = rd_le64(r);
	covered = r->p;
	b->type = rd_le16(r);
	b->flags = rd_u8(r);
	b->n_columns = rd_u8(r);
	b->n_items = rd_le32(r);
	b->n_stored = rd_le32(r);
	b->stored = rd_bytes(r, b->n_stored);
	if (r->bad)
		return block_err(err, -EBADMSG, b, "its length reaches past the end of the blocks");
	if (block_checksum(covered, (size_t)(r->p - covered), 0) != checksum)
		return block_err(err, -EBADMSG, b, "checksum does not match");
	return 0;
}

struct column_header {
	uint8_t codec;
	uint64_t n_raw, n_stored;
	const uint8_t *stored;
};

static int read_column_header(struct rd *r, const struct block *b, unsigned i,
			      struct column_header *c, struct err *err)
{
	c->codec = rd_u8(r);
	c->n_raw = rd_uleb(r);
	c->n_stored = c->codec == SEGMENT_RAW ? c->n_raw : rd_uleb(r);
	if (!r->bad && c->codec > SEGMENT_ZSTD)
		return block_err(err, -EPROTONOSUPPORT, b, "column %u has unknown codec %u", i,
				 c->codec);
	c->stored = c->n_stored <= rd_left(r) ? rd_bytes(r, (size_t)c->n_stored) : NULL;
	if (r->bad || !c->stored)
		return block_err(err, -EBADMSG, b, "column %u does not fit the block", i);
	return 0;
}

/* Adds what block B expands to to *EXPANDED; its columns must fill it exactly. */
static int check_columns(const struct block *b, uint64_t limit, uint64_t *expanded, struct err *err)
{
	struct rd r = rd_init(b->stored, b->n_stored);

	*expanded += b->n_items;
	for (unsigned i = 0; i < b->n_columns; i++) {
		struct column_header c;
		int rc = read_column_header(&r, b, i, &c, err);

		if (rc < 0)
			return rc;
		if (c.n_raw > limit)
			return block_err(err, -E2BIG, b, "column %u expands to %" PRIu64 " bytes",
					 i, c.n_raw);
		*expanded += c.n_raw;
	}
	if (rd_left(&r))
		return block_err(err, -EBADMSG, b, "%zu bytes behind its columns", rd_left(&r));
	if (*expanded > limit)
		return block_err(err, -E2BIG, b,
				 "the segment expands to more than %" PRIu64 " bytes", limit);
	return 0;
}

/* Tells whether a block that is worth a checksum may begin at AT, by its header. */
static bool may_begin_at(const uint8_t *bytes, size_t n, size_t at)
{
	struct rd r = rd_init(bytes + at, n - at);
	uint16_t type;
	uint8_t n_columns;
	uint32_t n_items, n_stored;

	rd_le64(&r);
	type = rd_le16(&r);
	rd_u8(&r);
	n_columns = rd_u8(&r);
	n_items = rd_le32(&r);
	n_stored = rd_le32(&r);
	return block_type_known(type) && n_columns && n_columns <= BLOCK_MAX_COLUMNS && n_items &&
	       !r.bad && n_stored <= rd_left(&r);
}

void block_read_whole(const uint8_t *bytes, size_t n, struct block_list *ret)
{
	const uint64_t limit = (uint64_t)n * SEGMENT_EXPANSION + SEGMENT_FREE_BYTES;
	uint64_t budget = 64 * (uint64_t)n, expanded = 0; /* bytes to look through for beginnings */

	*ret = (struct block_list){0};
	for (size_t at = SEGMENT_HEADER_SZ; at + SEGMENT_BLOCK_SZ <= n && budget;) {
		struct rd r = rd_init(bytes + at, n - at);
		struct block b = {.number = (unsigned)ret->blocks.n};
		size_t cost = 1;

		if (may_begin_at(bytes, n, at) && read_block_header(&r, &b, NULL) >= 0 &&
		    check_columns(&b, limit, &expanded, NULL) >= 0) {
			b.off = at;
			vec_push(&ret->blocks, b);
			at += SEGMENT_BLOCK_SZ + b.n_stored;
			continue;
		}
		if (b.n_stored <= n)
			cost += b.n_stored;
		budget = budget > cost ? budget - cost : 0;
		at++;
	}
}

/* Computes the digest the footer of BYTES should have. */
static uint64_t digest_of(const uint8_t *bytes, size_t n, const struct block_list *l)
{
	struct wr d = {0};
	uint64_t x;

	wr_bytes(&d, bytes, SEGMENT_HEADER_SZ);
	vec_each (b, &l->blocks)
		wr_bytes(&d, bytes + b->off, 8);
	wr_bytes(&d, bytes + n - SEGMENT_FOOTER_SZ, 16);
	x = block_checksum(d.v, d.n, 0);
	wr_release(&d);
	return x;
}

int block_read_all(const uint8_t *bytes, size_t n, struct block_list *ret, struct err *err)
{
	struct rd r = rd_init(bytes, n), foot;
	uint64_t limit = (uint64_t)n * SEGMENT_EXPANSION + SEGMENT_FREE_BYTES, expanded = 0;
	uint64_t n_bytes, digest;
	uint32_t n_blocks, magic;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = check_header(&r, err);
	if (rc < 0)
		return rc;
	if (rd_left(&r) < SEGMENT_FOOTER_SZ)
		return err_set(err, -ENODATA, "truncated: no footer");
	foot = rd_init(bytes + n - SEGMENT_FOOTER_SZ, SEGMENT_FOOTER_SZ);
	n_bytes = rd_le64(&foot);
	n_blocks = rd_le32(&foot);
	magic = rd_le32(&foot);
	digest = rd_le64(&foot);
	if (magic != SEGMENT_FOOTER_MAGIC)
		return err_set(err, -ENODATA, "truncated: no footer at +%#zx",
			       n - SEGMENT_FOOTER_SZ);
	if (n_bytes != n)
		return err_set(err, -EBADMSG, "%zu bytes, but its footer says %" PRIu64, n,
			       n_bytes);
	r.end -= SEGMENT_FOOTER_SZ;
	while (rd_left(&r)) {
		struct block b = {.number = (unsigned)ret->blocks.n};

		rc = read_block_header(&r, &b, err);
		if (rc >= 0)
			rc = check_columns(&b, limit, &expanded, err);
		if (rc < 0)
			return rc;
		vec_push(&ret->blocks, b);
	}
	if (ret->blocks.n != n_blocks || digest_of(bytes, n, ret) != digest)
		return err_set(err, -EBADMSG, "footer at +%#zx does not match the blocks",
			       n - SEGMENT_FOOTER_SZ);
	return 0;
}

int block_columns(const struct block *b, struct block_column *columns, unsigned n_columns,
		  struct err *err)
{
	struct rd r = rd_init(b->stored, b->n_stored);

	memset(columns, 0, n_columns * sizeof(*columns));
	for (unsigned i = 0; i < n_columns; i++)
		columns[i].zero = true;
	for (unsigned i = 0; i < n_columns && i < b->n_columns; i++) {
		struct column_header h;
		struct block_column *c = &columns[i];
		int rc = read_column_header(&r, b, i, &h, err);

		if (rc < 0)
			return rc;
		c->zero = h.n_raw == 0;
		if (h.codec == SEGMENT_RAW) {
			c->rd = rd_init(h.stored, (size_t)h.n_raw);
			continue;
		}
		c->owned = xmalloc((size_t)h.n_raw + 1);
		c->rd = rd_init(c->owned, (size_t)h.n_raw);
		if (ZSTD_decompress(c->owned, (size_t)h.n_raw, h.stored, (size_t)h.n_stored) !=
		    h.n_raw)
			return block_err(err, -EBADMSG, b, "column %u does not decompress", i);
	}
	return 0;
}

void columns_release(struct block_column *columns, unsigned n_columns)
{
	for (unsigned i = 0; i < n_columns; i++) {
		free(columns[i].owned);
		columns[i].owned = NULL;
	}
}

uint64_t segment_digest(const uint8_t *bytes, size_t n)
{
	struct rd r;

	if (n < SEGMENT_HEADER_SZ + SEGMENT_FOOTER_SZ)
		return 0;
	r = rd_init(bytes + n - 8, 8);
	return rd_le64(&r);
}

void segment_seal(uint8_t *bytes, size_t n)
{
	struct block_list l = {0};
	struct rd r = rd_init(bytes, n);
	uint8_t *foot;

	if (n < SEGMENT_HEADER_SZ + SEGMENT_FOOTER_SZ)
		return;
	foot = bytes + n - SEGMENT_FOOTER_SZ;
	rd_bytes(&r, SEGMENT_HEADER_SZ);
	r.end -= SEGMENT_FOOTER_SZ;
	while (rd_left(&r) >= SEGMENT_BLOCK_SZ) {
		struct block b = {.off = rd_off(&r)};
		struct rd h = rd_init(bytes + b.off + 16, 4);
		uint32_t n_stored = rd_le32(&h);

		if (n_stored > rd_left(&r) - SEGMENT_BLOCK_SZ)
			break;
		rd_bytes(&r, SEGMENT_BLOCK_SZ + (size_t)n_stored);
		put_le64(bytes + b.off,
			 block_checksum(bytes + b.off + 8, SEGMENT_BLOCK_SZ - 8 + n_stored, 0));
		vec_push(&l.blocks, b);
	}
	put_le64(foot, n);
	put_le32(foot + 8, (uint32_t)l.blocks.n);
	put_le32(foot + 12, SEGMENT_FOOTER_MAGIC);
	put_le64(foot + 16, digest_of(bytes, n, &l));
	vec_release(&l.blocks);
}
