/* SPDX-License-Identifier: BSD-2-Clause */
/* See gmon.h. */
#include "formats/gmon.h"

#include <errno.h>

#include "base/rd.h"
#include "base/wr.h"

#define MAGIC	    "gmon"
#define VERSION	    1
#define SPARE_BYTES 12

enum gmon_tag { TAG_HISTOGRAM = 0, TAG_ARC = 1, TAG_BLOCKS = 2 };

#define UNIT_BYTES 15 /* of the dimension's name; the last byte of the 16 is its abbreviation */

bool gmon_probe(const uint8_t *bytes, size_t n)
{
	return n >= sizeof(MAGIC) - 1 && memcmp(bytes, MAGIC, sizeof(MAGIC) - 1) == 0;
}

static void put_bytes(struct str *out, const struct wr *w)
{
	str_addn(out, (const char *)w->v, w->n);
}

void gmon_put_header(struct str *out)
{
	const uint8_t spare[SPARE_BYTES] = {0};
	struct wr w = {0};

	wr_bytes(&w, MAGIC, sizeof(MAGIC) - 1);
	wr_le32(&w, VERSION);
	wr_bytes(&w, spare, sizeof(spare));
	put_bytes(out, &w);
	wr_release(&w);
}

void gmon_put_histogram(struct str *out, const struct gmon_histogram *h, const uint16_t *bins)
{
	char unit[UNIT_BYTES] = {0};
	struct wr w = {0};

	for (size_t i = 0; i < sizeof(unit) && h->unit[i]; i++)
		unit[i] = h->unit[i];
	wr_u8(&w, TAG_HISTOGRAM);
	wr_le64(&w, h->low);
	wr_le64(&w, h->high);
	wr_le32(&w, (uint32_t)h->n);
	wr_le32(&w, h->rate);
	wr_bytes(&w, unit, sizeof(unit));
	wr_u8(&w, (uint8_t)unit[0]);
	for (size_t i = 0; i < h->n; i++)
		wr_le16(&w, bins[i]);
	put_bytes(out, &w);
	wr_release(&w);
}

void gmon_put_arc(struct str *out, const struct gmon_arc *a)
{
	struct wr w = {0};

	wr_u8(&w, TAG_ARC);
	wr_le64(&w, a->from);
	wr_le64(&w, a->to);
	wr_le32(&w, a->n);
	put_bytes(out, &w);
	wr_release(&w);
}

static int read_histogram(struct rd *r, struct gmon *ret, struct err *err)
{
	struct gmon_histogram h = {.low = rd_le64(r), .high = rd_le64(r)};
	const uint8_t *unit;

	h.n = rd_le32(r);
	h.rate = rd_le32(r);
	unit = rd_bytes(r, UNIT_BYTES);
	rd_u8(r);
	if (unit)
		memcpy(h.unit, unit, UNIT_BYTES);
	if (r->bad || h.n > rd_left(r) / 2)
		return err_set(err, -ENODATA, "it ends within a histogram, at byte %zu", rd_off(r));
	if (h.n && h.high <= h.low)
		return err_set(err, -EBADMSG, "a histogram ends before it begins, at byte %zu",
			       rd_off(r));
	h.first = ret->bins.n;
	for (size_t i = 0; i < h.n; i++)
		vec_push(&ret->bins, rd_le16(r));
	vec_push(&ret->histograms, h);
	return 0;
}

static int read_record(struct rd *r, struct gmon *ret, struct err *err)
{
	const uint8_t tag = rd_u8(r);
	uint32_t n;

	switch (tag) {
	case TAG_HISTOGRAM:
		return read_histogram(r, ret, err);
	case TAG_ARC: {
		const struct gmon_arc a = {rd_le64(r), rd_le64(r), rd_le32(r)};

		vec_push(&ret->arcs, a);
		break;
	}
	case TAG_BLOCKS: /* counts of basic blocks, which nobody writes today */
		n = rd_le32(r);
		if (!rd_bytes(r, (size_t)n * 16))
			r->bad = true;
		break;
	default:
		return err_set(err, -EBADMSG, "no record begins with %u, at byte %zu", tag,
			       rd_off(r) - 1);
	}
	return r->bad ? err_set(err, -ENODATA, "it ends within a record") : 0;
}

int gmon_parse(const uint8_t *bytes, size_t n, struct gmon *ret, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	uint32_t version;
	int rc = 0;

	*ret = (struct gmon){0};
	if (!gmon_probe(bytes, n))
		return err_set(err, -EBADMSG, "does not begin with \"gmon\"");
	rd_bytes(&r, sizeof(MAGIC) - 1);
	version = rd_le32(&r);
	rd_bytes(&r, SPARE_BYTES);
	if (r.bad)
		return err_set(err, -ENODATA, "it ends within the header");
	if (version != VERSION)
		return err_set(err, -EPROTONOSUPPORT,
			       "version %u, or another byte order; %u is read", version, VERSION);
	while (rc >= 0 && rd_left(&r))
		rc = read_record(&r, ret, err);
	return rc;
}

void gmon_release(struct gmon *g)
{
	vec_release(&g->histograms);
	vec_release(&g->bins);
	vec_release(&g->arcs);
}
