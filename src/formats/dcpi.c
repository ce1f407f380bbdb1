/* SPDX-License-Identifier: BSD-2-Clause */
/* The binary part of a DCPI profile file, and the file as a whole.
 *
 *     <samples> : <chunk>* <footer>          all values unsigned, 32 bits, little-endian
 *     <chunk>   : offset, number, number x count
 *     <footer>  : total_offsets (addresses with a count), total_samples (sum of all counts)
 *
 * dcpiformat(4) gives no number of chunks: the last eight bytes of the file are the footer,
 * whatever is before is chunks.  A chunk of no counts is refused (the page has <count>+), so every
 * chunk is at least twelve bytes and no size taken from a file is larger than the file. */
#include "formats/dcpi.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/rd.h"
#include "base/str.h"

#define FOOTER_BYTES 8
#define CHUNK_BYTES  8 /* before its counts */

/* A new chunk costs as much as this many zero counts. */
#define MAX_GAP (CHUNK_BYTES / 4)

static int check_version(const struct dcpi_file *f, struct err *err)
{
	if (f->major == 0 && (f->minor == 6 || f->minor == 7))
		return 0;
	return err_set(err, -EPROTONOSUPPORT,
		       "version %u.%02u: the binary part of this version was never published; only "
		       "0.06 and "
		       "0.07 can be read%s",
		       f->major, f->minor,
		       f->major ? " (print it with DCPI's own dcpicat, whose text can be read)"
				: "");
}

static int settle_stride(struct dcpi_file *f, unsigned stride, struct err *err)
{
	const char *said = dcpi_find(f, "dwell-stride");
	unsigned own = 0;

	if (said) {
		if (strcmp(said, "1") != 0 && strcmp(said, "4") != 0)
			return err_set(err, -EBADMSG, "`dwell-stride` is \"%.20s\", not 1 or 4",
				       said);
		own = *said == '1' ? 1 : 4;
	}
	if (own && stride && own != stride)
		return err_set(err, -EINVAL, "the file says it has one count for %u byte%s, not %u",
			       own, own == 1 ? "" : "s", stride);
	f->stride = own ? own : stride ? stride : 1;
	return 0;
}

/* Reads one chunk; START is the smallest offset it may have.  AT is its place in the file. */
static int read_chunk(struct dcpi_file *f, struct rd *r, size_t at, uint64_t start, struct err *err)
{
	struct dcpi_chunk c = {.first = f->counts.n};

	c.off = rd_le32(r);
	c.n = rd_le32(r);
	if (r->bad)
		return err_set(err, -ENODATA, "the chunk at byte %zu is cut short", at);
	if (c.n == 0)
		return err_set(err, -EBADMSG, "the chunk at byte %zu has no counts", at);
	if (rd_left(r) < FOOTER_BYTES || c.n > (rd_left(r) - FOOTER_BYTES) / 4)
		return err_set(err, -ENODATA,
			       "the chunk at byte %zu says it has %u counts, but the file ends "
			       "before: it was cut "
			       "short",
			       at, c.n);
	if (c.off < start)
		return err_set(err, -EBADMSG,
			       "the chunk at byte %zu begins at offset %#x, below the end %#" PRIx64
			       " of the one before%s",
			       at, c.off, start,
			       f->stride > 1 ? " (was it written with one count a byte?)" : "");
	if (f->stride > 1 && c.off % f->stride)
		return err_set(
			err, -EBADMSG,
			"the chunk at byte %zu begins at offset %#x, which is no multiple of %u",
			at, c.off, f->stride);
	if (c.off + (uint64_t)c.n * f->stride > (uint64_t)UINT32_MAX + 1 ||
	    f->tstart > UINT64_MAX - c.off - (uint64_t)c.n * f->stride)
		return err_set(err, -EBADMSG,
			       "the chunk at byte %zu reaches beyond the address space", at);
	vec_reserve(&f->counts, c.n);
	for (uint32_t i = 0; i < c.n; i++)
		vec_push(&f->counts, rd_le32(r));
	vec_push(&f->chunks, c);
	return 0;
}

static int check_footer(const struct dcpi_file *f, struct rd *r, struct err *err)
{
	uint32_t total_offsets = rd_le32(r), total_samples = rd_le32(r);
	uint64_t sum = 0;

	if (r->bad || rd_left(r))
		return err_set(err, -ENODATA, "the file ends inside its footer: it was cut short");
	vec_each (c, &f->chunks) {
		for (uint32_t i = 0; i < c->n; i++) {
			sum += f->counts.v[c->first + i];
			if (sum > UINT32_MAX)
				return err_set(err, -E2BIG,
					       "at address %#" PRIx64
					       " the sum of the counts passes 32 bits, which no "
					       "footer can hold",
					       f->tstart + c->off + (uint64_t)i * f->stride);
		}
	}
	if (total_offsets != dcpi_n_addresses(f) || total_samples != sum)
		return err_set(
			err, -EBADMSG,
			"the footer says %u samples at %u addresses, the chunks hold %" PRIu64
			" at %" PRIu64 ": the file was damaged",
			total_samples, total_offsets, sum, dcpi_n_addresses(f));
	return 0;
}

static int read_counts(struct dcpi_file *f, const uint8_t *bytes, size_t n_bytes, size_t body,
		       struct err *err)
{
	struct rd r = rd_init(bytes + body, n_bytes - body);
	uint64_t start = 0;
	int e;

	while (rd_left(&r) > FOOTER_BYTES) {
		const struct dcpi_chunk *c;

		e = read_chunk(f, &r, body + rd_off(&r), start, err);
		if (e < 0)
			return e;
		c = &f->chunks.v[f->chunks.n - 1];
		start = c->off + (uint64_t)c->n * f->stride;
	}
	return check_footer(f, &r, err);
}

int dcpi_read(struct dcpi_file *f, const void *bytes, size_t n_bytes, unsigned stride,
	      struct err *err)
{
	size_t body = 0;
	int r;

	assert(stride == 0 || stride == 1 || stride == 4);
	r = dcpi_read_header(f, bytes, n_bytes, &body, err);
	if (r < 0)
		return r;
	r = check_version(f, err);
	if (r >= 0)
		r = settle_stride(f, stride, err);
	if (r >= 0)
		r = read_counts(f, bytes, n_bytes, body, err);
	if (r < 0)
		dcpi_release(f);
	return r;
}

uint64_t dcpi_n_samples(const struct dcpi_file *f)
{
	uint64_t sum = 0;

	vec_each (n, &f->counts)
		sum += *n;
	return sum;
}

uint64_t dcpi_n_addresses(const struct dcpi_file *f)
{
	uint64_t n_set = 0;

	vec_each (n, &f->counts)
		n_set += *n != 0;
	return n_set;
}

/* Appends COUNT at OFF: to the chunk that ends at END when the gap is cheap, else as a new one. */
static void put_count(struct dcpi_file *f, uint32_t off, uint32_t count, uint64_t end)
{
	uint64_t gap = (off - end) / f->stride;

	if (f->chunks.n && gap <= MAX_GAP) {
		struct dcpi_chunk *c = &f->chunks.v[f->chunks.n - 1];

		for (; gap; gap--, c->n++)
			vec_push(&f->counts, 0);
		c->n++;
	} else {
		vec_push(&f->chunks, (struct dcpi_chunk){.off = off, .n = 1, .first = f->counts.n});
	}
	vec_push(&f->counts, count);
}

static int add_counts(struct dcpi_file *f, const struct dcpi_count *v, size_t n, struct err *err)
{
	uint64_t sum = 0, end = 0; /* end: offset behind the last count */

	for (size_t i = 0; i < n; i++) {
		uint64_t off = v[i].svma - f->tstart;

		if (!v[i].n)
			continue;
		if (v[i].svma < f->tstart || off > UINT32_MAX)
			return err_set(err, -E2BIG,
				       "address %#" PRIx64
				       " is not within 32 bits above the text start %#" PRIx64,
				       v[i].svma, f->tstart);
		if (off % f->stride)
			return err_set(err, -EINVAL,
				       "address %#" PRIx64
				       " is not a multiple of %u above the text start; use a "
				       "stride of 1",
				       v[i].svma, f->stride);
		if (v[i].n > UINT32_MAX)
			return err_set(err, -E2BIG,
				       "address %#" PRIx64 " has %" PRIu64
				       " samples, and a count holds 32 bits",
				       v[i].svma, v[i].n);
		sum += v[i].n;
		if (sum > UINT32_MAX)
			return err_set(err, -E2BIG,
				       "at address %#" PRIx64 " the sum of the counts passes 32 "
				       "bits, which is all a footer holds",
				       v[i].svma);
		assert(!f->chunks.n || off >= end);
		put_count(f, (uint32_t)off, (uint32_t)v[i].n, end);
		end = off + f->stride;
	}
	return 0;
}

int dcpi_add_counts(struct dcpi_file *f, const struct dcpi_count *v, size_t n, struct err *err)
{
	int r;

	assert(!f->chunks.n);
	r = add_counts(f, v, n, err);
	if (r < 0)
		f->chunks.n = f->counts.n = 0;
	return r;
}

/* "the length of the ASCII header should be made a multiple of four (by adding extra whitespace at
 * the end of the last line of the ASCII header)" - dcpiformat(4); the last line is `samples`. */
static void write_header(const struct dcpi_file *f, struct wr *out)
{
	size_t start = out->n;

	vec_each (line, &f->lines) {
		wr_bytes(out, line->text, line->n);
		wr_u8(out, '\n');
	}
	wr_bytes(out, "samples", 7);
	if (f->keep_pad)
		wr_bytes(out, f->pad, f->n_pad);
	else
		while ((out->n - start + 1) % 4)
			wr_u8(out, ' ');
	wr_u8(out, '\n');
}

void dcpi_write(const struct dcpi_file *f, struct wr *out)
{
	write_header(f, out);
	vec_each (c, &f->chunks) {
		wr_le32(out, c->off);
		wr_le32(out, c->n);
		for (uint32_t i = 0; i < c->n; i++)
			wr_le32(out, f->counts.v[c->first + i]);
	}
	wr_le32(out, (uint32_t)dcpi_n_addresses(f));
	wr_le32(out, (uint32_t)dcpi_n_samples(f));
}

void dcpi_release(struct dcpi_file *f)
{
	arena_release(&f->arena);
	vec_release(&f->lines);
	vec_release(&f->chunks);
	vec_release(&f->counts);
	memset(f, 0, sizeof(*f));
}
