/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading numbers in a file's own byte order; for perfdata_*.c. */
#ifndef FORMATS_PERFDATA_IMPL_H
#define FORMATS_PERFDATA_IMPL_H

#include "formats/perfdata.h"

static inline uint16_t rd_16(struct rd *r, bool big_endian)
{
	uint16_t v = rd_le16(r);

	return big_endian ? __builtin_bswap16(v) : v;
}

static inline uint32_t rd_32(struct rd *r, bool big_endian)
{
	uint32_t v = rd_le32(r);

	return big_endian ? __builtin_bswap32(v) : v;
}

static inline uint64_t rd_64(struct rd *r, bool big_endian)
{
	uint64_t v = rd_le64(r);

	return big_endian ? __builtin_bswap64(v) : v;
}

/* A NUL-terminated text, with its padding: up to the end of R.  "" when the NUL is missing. */
static inline const char *rd_text(struct rd *r)
{
	size_t n = rd_left(r);
	const uint8_t *p = rd_bytes(r, n);

	if (n && memchr(p, 0, n))
		return (const char *)p;
	r->bad = r->bad || n;
	return "";
}

/* N numbers of 64 bits. */
static inline struct perfdata_words rd_words(struct rd *r, uint64_t n, bool big_endian)
{
	if (n > rd_left(r) / 8) {
		r->bad = true;
		r->p = r->end;
		return (struct perfdata_words){.big_endian = big_endian};
	}
	return (struct perfdata_words){rd_bytes(r, n * 8), (uint32_t)n, big_endian};
}

static inline struct perfdata_bytes rd_piece(struct rd *r, uint64_t n)
{
	const uint8_t *p = n <= rd_left(r) ? rd_bytes(r, n) : NULL;

	if (!p)
		r->bad = true;
	return (struct perfdata_bytes){p, p ? (size_t)n : 0};
}

/* Decodes an attr of N bytes. */
void perfdata_read_attr(const uint8_t *bytes, size_t n, bool big_endian, struct perfdata_attr *ret);

uint32_t perfdata_add_event(struct perfdata *pd, const struct perfdata_attr *a);
void perfdata_add_id(struct perfdata *pd, uint64_t id, uint32_t event);

/* One struct perf_record_header_build_id at R, which is stepped over. */
int perfdata_read_build_id(struct perfdata *pd, struct rd *r, struct str *text, struct err *err);

/* Decodes a sample's body. */
int perfdata_read_sample(const struct perfdata *pd, struct rd *r, struct perfdata_record *ret);
struct perfdata_counts perfdata_read_counts(struct rd *r, uint64_t format, bool big_endian);

#endif
