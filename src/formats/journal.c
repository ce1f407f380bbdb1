/* SPDX-License-Identifier: BSD-2-Clause */
/* docs/formats/journal.md.  A record's checksum is seeded with the generation and the record's
 * offset, so that bytes left over from another journal, or moved, are never taken for a record. */
#include "formats/journal.h"

#include <errno.h>

#include "formats/segment_block.h"
#include "model/trace.h"

static uint64_t record_seed(uint64_t generation, uint64_t off)
{
	return hash_pair(generation, off);
}

static void set_le64(uint8_t *p, uint64_t x)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(x >> 8 * i);
}

/* Counts cannot tell time lines. */
static bool has_lines(const struct profile *p)
{
	vec_each (t, &p->traces)
		if (trace_says(p, t))
			return true;
	return false;
}

void journal_put_header(struct wr *out, uint64_t generation)
{
	size_t at = out->n;

	wr_bytes(out, JOURNAL_MAGIC, 8);
	wr_le16(out, JOURNAL_MAJOR);
	wr_le16(out, JOURNAL_MINOR);
	wr_le32(out, 0);
	wr_le64(out, generation);
	wr_le64(out, block_checksum(out->v + at, 24, 0));
}

static void set_le32(uint8_t *p, uint32_t x)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(x >> 8 * i);
}

int journal_put_record(struct journal_writer *w, struct wr *out, uint64_t generation, uint64_t off,
		       const struct seq_range *ranges, size_t n_ranges, const struct profile *p,
		       struct err *err)
{
	size_t at = out->n, body = at + JOURNAL_RECORD_SZ;
	enum journal_kind kind;
	int rc = 0;

	wr_le32(out, JOURNAL_RECORD_MAGIC);
	wr_le32(out, 0); /* length and checksum are filled in below */
	wr_le64(out, 0);
	wr_uleb(out, n_ranges);
	for (size_t i = 0; i < n_ranges; i++) {
		wr_uleb(out, ranges[i].cpu);
		wr_uleb(out, ranges[i].first_seq);
		wr_uleb(out, ranges[i].last_seq - ranges[i].first_seq);
	}
	kind = has_lines(p)		   ? JOURNAL_SEGMENT
	       : journal_needs_sections(p) ? JOURNAL_COUNTS_3
					   : JOURNAL_COUNTS;
	wr_u8(out, kind);
	if (kind == JOURNAL_SEGMENT)
		rc = segment_encode(out, p, err);
	else
		journal_put_counts(w, out, p, kind == JOURNAL_COUNTS_3);
	if (rc >= 0 && out->n - body > UINT32_MAX)
		rc = err_set(err, -E2BIG, "a journal record of %zu bytes", out->n - body);
	if (rc < 0) {
		out->n = at;
		return rc;
	}
	set_le32(out->v + at + 4, (uint32_t)(out->n - body));
	set_le64(out->v + at + 8,
		 block_checksum(out->v + body, out->n - body, record_seed(generation, off)));
	return 0;
}

int journal_read_begin(struct journal_reader *r, const uint8_t *bytes, size_t n, struct err *err)
{
	const uint8_t *magic;
	uint32_t flags;
	uint64_t checksum;

	*r = (struct journal_reader){.rd = rd_init(bytes, n), .n_left_to_skip = 64 * (uint64_t)n};
	if (n < JOURNAL_HEADER_SZ)
		return err_set(err, -ENODATA, "its header is torn");
	magic = rd_bytes(&r->rd, 8);
	r->major = rd_le16(&r->rd);
	rd_le16(&r->rd);
	flags = rd_le32(&r->rd);
	r->generation = rd_le64(&r->rd);
	checksum = rd_le64(&r->rd);
	if (memcmp(magic, JOURNAL_MAGIC, 8) != 0)
		return err_set(err, -EBADMSG, "not a dwell journal");
	if (checksum != block_checksum(bytes, 24, 0))
		return err_set(err, -EBADMSG, "the header's checksum does not match");
	if (r->major > JOURNAL_MAJOR || flags)
		return err_set(err, -EPROTONOSUPPORT,
			       "journal version %u (flags %#x) is newer than this program's (%u)",
			       r->major, flags, JOURNAL_MAJOR);
	r->n_whole = JOURNAL_HEADER_SZ;
	return 0;
}

static int read_ranges(struct journal_reader *r, struct rd *body)
{
	size_t n = rd_count(body, 3);

	r->ranges.n = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t cpu = rd_uleb(body), first = rd_uleb(body), more = rd_uleb(body);

		if (cpu > UINT32_MAX || first + more < first)
			return -EBADMSG;
		vec_push(&r->ranges, (struct seq_range){(uint32_t)cpu, first, first + more});
	}
	return body->bad ? -EBADMSG : 0;
}

int journal_next(struct journal_reader *r, struct journal_record *ret, struct err *err)
{
	size_t off = rd_off(&r->rd), n;
	struct rd rd = r->rd, body;
	uint32_t magic = rd_le32(&rd);
	uint64_t checksum;
	const uint8_t *p;

	n = rd_le32(&rd);
	checksum = rd_le64(&rd);
	p = rd_bytes(&rd, n);
	if (rd.bad || magic != JOURNAL_RECORD_MAGIC)
		return 0;
	if (block_checksum(p, n, record_seed(r->generation, off)) != checksum) {
		if (rd_le32(&rd) == JOURNAL_RECORD_MAGIC)
			return err_set(err, -EBADMSG, "record at +%#zx: checksum does not match",
				       off);
		return 0;
	}
	body = rd_init(p, n);
	if (read_ranges(r, &body) < 0)
		return err_set(err, -EBADMSG, "record at +%#zx: malformed ranges", off);
	r->rd = rd;
	r->n_whole = rd_off(&rd);
	*ret = (struct journal_record){.ranges = r->ranges.v, .n_ranges = r->ranges.n};
	/* Before version 2 each was a segment. */
	ret->kind = r->major < 2 ? JOURNAL_SEGMENT : (enum journal_kind)rd_u8(&body);
	ret->rest = rd_init(body.p, rd_left(&body));
	if (ret->kind > JOURNAL_COUNTS_3)
		return err_set(err, -EPROTONOSUPPORT,
			       "record at +%#zx: kind %u is newer than this program", off,
			       ret->kind);
	return 1;
}

bool journal_skip(struct journal_reader *r)
{
	struct rd rd = r->rd;

	/* No part of a record begins the next one: a byte further on is far enough. */
	while (rd_left(&rd) > JOURNAL_RECORD_SZ && r->n_left_to_skip) {
		struct rd at;
		uint64_t checksum;
		const uint8_t *p;
		size_t n;

		r->n_left_to_skip--;
		rd_u8(&rd);
		at = rd;
		if (rd_le32(&at) != JOURNAL_RECORD_MAGIC)
			continue;
		n = rd_le32(&at);
		if (n <= rd_left(&at))
			r->n_left_to_skip -= n < r->n_left_to_skip ? n : r->n_left_to_skip;
		checksum = rd_le64(&at);
		p = rd_bytes(&at, n);
		if (at.bad ||
		    block_checksum(p, n, record_seed(r->generation, rd_off(&rd))) != checksum)
			continue;
		r->rd = rd;
		return true;
	}
	return false;
}

int journal_load(const struct journal_record *rec, struct profile *into, struct value_sink *sink,
		 struct err *err)
{
	struct rd rest = rec->rest;

	if (rec->kind != JOURNAL_SEGMENT)
		return journal_get_counts(&rest, rec->kind == JOURNAL_COUNTS_3, into, sink, err);
	if (!into)
		return segment_check(rest.p, rd_left(&rest), err);
	return segment_decode(rest.p, rd_left(&rest), into, sink, err);
}

void journal_reader_release(struct journal_reader *r)
{
	vec_release(&r->ranges);
}

void journal_seal(uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	uint64_t generation;

	if (n < JOURNAL_HEADER_SZ)
		return;
	set_le64(bytes + 24, block_checksum(bytes, 24, 0));
	rd_bytes(&r, 16);
	generation = rd_le64(&r);
	rd_le64(&r);
	while (rd_left(&r) >= JOURNAL_RECORD_SZ) {
		size_t off = rd_off(&r), n_body;

		rd_le32(&r);
		n_body = rd_le32(&r);
		rd_le64(&r);
		if (!rd_bytes(&r, n_body))
			break;
		set_le64(bytes + off + 8, block_checksum(bytes + off + JOURNAL_RECORD_SZ, n_body,
							 record_seed(generation, off)));
	}
}
