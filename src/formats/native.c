/* SPDX-License-Identifier: BSD-2-Clause */
/* See native.h. */
#include "formats/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define MOST_COLUMNS 64

/* Bytes of a value of TYPE; 0: a text, or no type that is known here. */
static unsigned type_width(const char *type)
{
	static const struct {
		const char *type;
		unsigned width;
	} widths[] = {{"UInt8", 1}, {"UInt16", 2},	    {"UInt32", 4}, {"UInt64", 8},
		      {"Date", 2},  {"DateTime('UTC')", 4}, {"Float64", 8}};

	for (size_t i = 0; i < n_elems(widths); i++)
		if (strcmp(type, widths[i].type) == 0)
			return widths[i].width;
	return 0;
}

static bool is_list(const char *type)
{
	return strcmp(type, "Array(UInt64)") == 0;
}

void native_init(struct native_block *b, const struct native_col *cols, size_t n)
{
	*b = (struct native_block){.cols = cols, .n_cols = n};
	b->parts = xcalloc(n, sizeof(*b->parts));
}

void native_reset(struct native_block *b)
{
	for (size_t i = 0; i < b->n_cols; i++)
		b->parts[i].values.n = b->parts[i].ends.n = b->parts[i].n_elements = 0;
	b->n_rows = b->n_bytes = 0;
}

void native_release(struct native_block *b)
{
	for (size_t i = 0; i < b->n_cols && b->parts; i++) {
		wr_release(&b->parts[i].values);
		wr_release(&b->parts[i].ends);
	}
	free(b->parts);
	*b = (struct native_block){0};
}

void native_add_u64(struct native_block *b, size_t col, uint64_t x)
{
	const unsigned width = type_width(b->cols[col].type);

	for (unsigned i = 0; i < width; i++)
		wr_u8(&b->parts[col].values, (uint8_t)(x >> 8 * i));
	b->n_bytes += width;
}

void native_add_text(struct native_block *b, size_t col, const char *text)
{
	const size_t n = strlen(text);

	wr_uleb(&b->parts[col].values, n);
	wr_bytes(&b->parts[col].values, text, n);
	b->n_bytes += n + 1;
}

void native_add_list(struct native_block *b, size_t col, const uint64_t *v, size_t n)
{
	struct native_part *p = &b->parts[col];

	p->n_elements += n;
	wr_le64(&p->ends, p->n_elements);
	for (size_t i = 0; i < n; i++)
		wr_le64(&p->values, v[i]);
	b->n_bytes += 8 * (n + 1);
}

void native_end_row(struct native_block *b)
{
	b->n_rows++;
}

static void write_text(struct wr *out, const char *text)
{
	wr_uleb(out, strlen(text));
	wr_bytes(out, text, strlen(text));
}

void native_pack(const struct native_block *b, struct gzip_packer *g)
{
	struct wr head = {0};

	wr_uleb(&head, b->n_cols);
	wr_uleb(&head, b->n_rows);
	for (size_t i = 0; i < b->n_cols; i++) {
		write_text(&head, b->cols[i].name);
		write_text(&head, b->cols[i].type);
		gzip_add(g, head.v, head.n);
		gzip_add(g, b->parts[i].ends.v, b->parts[i].ends.n);
		gzip_add(g, b->parts[i].values.v, b->parts[i].values.n);
		head.n = 0;
	}
	wr_release(&head);
}

/* A column of a block that is read: a cursor at the next row's value. */
struct native_cursor {
	unsigned width; /* of its type; 0: a text or a list */
	bool is_list;
	const uint8_t *p;
	struct rd ends; /* of a list's rows */
	uint64_t at;
};

static bool text_is(struct rd *r, const char *expected)
{
	const size_t n = rd_count(r, 1);
	const uint8_t *p = rd_bytes(r, n);

	return p && n == strlen(expected) && memcmp(p, expected, n) == 0;
}

/* Steps over the column's N_ROWS values, all checked. */
static bool read_column(struct rd *r, const char *type, size_t n_rows, struct native_cursor *ret)
{
	const unsigned width = type_width(type);

	ret->width = width;
	ret->is_list = is_list(type);
	if (width) {
		ret->p = n_rows <= rd_left(r) / width ? rd_bytes(r, n_rows * width) : NULL;
		return ret->p;
	}
	if (ret->is_list) {
		const uint8_t *ends = n_rows <= rd_left(r) / 8 ? rd_bytes(r, n_rows * 8) : NULL;
		uint64_t last = 0;
		struct rd each;

		if (!ends)
			return false;
		each = ret->ends = rd_init(ends, n_rows * 8);
		for (size_t i = 0; i < n_rows; i++) {
			const uint64_t end = rd_le64(&each);

			if (end < last)
				return false;
			last = end;
		}
		ret->p = last <= rd_left(r) / 8 ? rd_bytes(r, (size_t)last * 8) : NULL;
		return ret->p;
	}
	ret->p = r->p;
	for (size_t i = 0; i < n_rows && !r->bad; i++)
		rd_bytes(r, rd_count(r, 1));
	return !r->bad;
}

static struct native_value next_value(struct native_cursor *c, const uint8_t *end)
{
	struct native_value v = {0};
	struct rd r;

	if (c->width) {
		for (unsigned i = 0; i < c->width; i++)
			v.u |= (uint64_t)c->p[i] << 8 * i;
		c->p += c->width;
	} else if (c->is_list) {
		const uint64_t to = rd_le64(&c->ends);

		v.list = c->p;
		v.n = (size_t)(to - c->at);
		c->p += v.n * 8;
		c->at = to;
	} else {
		r = rd_init(c->p, (size_t)(end - c->p));
		v.n = rd_count(&r, 1);
		v.text = (const char *)rd_bytes(&r, v.n);
		c->p = r.p;
	}
	return v;
}

static int read_block(struct rd *r, const struct native_col *cols, size_t n_cols, native_row_fn *fn,
		      void *ctx, struct err *err)
{
	struct native_cursor cursors[MOST_COLUMNS] = {0};
	struct native_value row[MOST_COLUMNS];
	const uint64_t have = rd_uleb(r), n_rows = rd_uleb(r);
	int rc = 0;

	if (!r->bad && have != n_cols)
		return err_set(err, -EPROTONOSUPPORT, "%lu columns instead of %zu",
			       (unsigned long)have, n_cols);
	if (n_rows > rd_left(r)) /* each row has a byte of each column at least */
		return err_set(err, -ENODATA, "the answer ends within a block");
	for (size_t i = 0; i < n_cols; i++) {
		const bool same = text_is(r, cols[i].name) && text_is(r, cols[i].type);

		if (!same && !r->bad)
			return err_set(err, -EPROTONOSUPPORT, "column %zu is not %s of type %s",
				       i + 1, cols[i].name, cols[i].type);
		if (!same || !read_column(r, cols[i].type, (size_t)n_rows, &cursors[i]))
			return err_set(err, -ENODATA, "the answer ends within column %s",
				       cols[i].name);
	}
	for (size_t k = 0; k < n_rows && rc >= 0; k++) {
		for (size_t i = 0; i < n_cols; i++)
			row[i] = next_value(&cursors[i], r->end);
		rc = fn(ctx, row, err);
	}
	return rc;
}

int native_read(const uint8_t *bytes, size_t n, const struct native_col *cols, size_t n_cols,
		native_row_fn *fn, void *ctx, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	int rc = 0;

	if (!n_cols || n_cols > MOST_COLUMNS)
		return err_set(err, -E2BIG, "more than %u columns", MOST_COLUMNS);
	while (rc >= 0 && rd_left(&r))
		rc = read_block(&r, cols, n_cols, fn, ctx, err);
	return rc;
}
