/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip files in memory (RFC 1952), by zlib. */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/wr.h"

/* Whether the N bytes begin as a gzip file. */
bool gzip_probe(const uint8_t *bytes, size_t n);

/* Appends the N bytes, packed, to OUT.  The file has no name and no time: equal bytes give equal
 * files. */
void gzip_pack(struct str *out, const void *bytes, size_t n);

/* Packs parts of one file into OUT, without a copy of them: begin, add each, end, which frees the
 * packer.  OUT must not be touched before the end.  LEVEL: zlib's, 1 the fastest to 9. */
struct gzip_packer;
struct gzip_packer *gzip_begin(struct str *out, int level);
void gzip_add(struct gzip_packer *g, const void *bytes, size_t n);
void gzip_end(struct gzip_packer *g);

/* What may come out of a file: at most MOST bytes; when more than FREE came out, at most TIMES as
 * many as were read (TIMES 0: any number).  KNOWN, which may be NULL, is asked once, when
 * GZIP_KNOWN_AT bytes or more are there, whether they begin something that is wanted. */
struct gzip_limits {
	size_t most, free, times;
	bool (*known)(const uint8_t *bytes, size_t n);
};
#define GZIP_KNOWN_AT ((size_t)4 << 20)

/* Unpacks all members of the N bytes into RET, which the caller releases.  -E2BIG: more than LIMITS
 * allow come out; -EINVAL: it is not known; -EBADMSG: damaged; -ENODATA: it ends too early. */
int gzip_unpack(const uint8_t *bytes, size_t n, const struct gzip_limits *limits, struct wr *ret,
		struct err *err);

#endif
