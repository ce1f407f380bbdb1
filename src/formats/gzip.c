/* SPDX-License-Identifier: BSD-2-Clause */
/* See gzip.h. */
#include "formats/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"

#define GZIP_BITS (15 + 16) /* zlib.h, inflateInit2: +16 is gzip, with no other format taken */
#define PART	  ((size_t)1 << 16)

bool gzip_probe(const uint8_t *bytes, size_t n)
{
	return n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

struct gzip_packer {
	z_stream z;
	struct str *out;
};

struct gzip_packer *gzip_begin(struct str *out, int level)
{
	struct gzip_packer *g = xcalloc(1, sizeof(*g));

	g->out = out;
	if (deflateInit2(&g->z, level, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		alloc_fail();
	return g;
}

/* Packs what is fed to G's stream. */
static void packer_run(struct gzip_packer *g, int flush)
{
	char part[PART];

	do {
		g->z.next_out = (Bytef *)part;
		g->z.avail_out = sizeof(part);
		deflate(&g->z, flush);
		str_addn(g->out, part, sizeof(part) - g->z.avail_out);
	} while (g->z.avail_out == 0);
}

void gzip_add(struct gzip_packer *g, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n) {
		const size_t feed = n < (size_t)1 << 30 ? n : (size_t)1 << 30;

		g->z.next_in = (Bytef *)p;
		g->z.avail_in = (uInt)feed;
		p += feed;
		n -= feed;
		packer_run(g, Z_NO_FLUSH);
	}
}

void gzip_end(struct gzip_packer *g)
{
	g->z.avail_in = 0;
	packer_run(g, Z_FINISH);
	deflateEnd(&g->z);
	free(g);
}

void gzip_pack(struct str *out, const void *bytes, size_t n)
{
	struct gzip_packer *g = gzip_begin(out, 1);

	gzip_add(g, bytes, n);
	gzip_end(g);
}

struct unpacking {
	z_stream z;
	const uint8_t *file;
	const struct gzip_limits *limits;
	struct wr *ret;
	bool known;
};

/* Whether what is there may be all of it, or more may come. */
static int check_limits(struct unpacking *u, struct err *err)
{
	const struct gzip_limits *l = u->limits;
	const size_t n = u->ret->n, n_read = (size_t)(u->z.next_in - u->file);

	if (n > l->most)
		return err_set(err, -E2BIG, "gzip: more than %zu bytes come out", l->most);
	if (l->times && n > l->free && n / l->times > n_read)
		return err_set(err, -E2BIG,
			       "gzip: its first %zu bytes become %zu, as of a bomb; if it is a "
			       "profile, unpack it (gunzip)",
			       n_read, n);
	if (l->known && !u->known && n >= GZIP_KNOWN_AT) {
		u->known = true;
		if (!l->known(u->ret->v, n))
			return err_set(err, -EINVAL, "gzip: no profile that dwell knows is in it");
	}
	return 0;
}

static int inflate_member(struct unpacking *u, struct err *err)
{
	z_stream *z = &u->z;
	struct wr *ret = u->ret;
	int rc, limited;

	do {
		size_t room = u->limits->most - ret->n + 1; /* one byte more than is allowed */

		if (room > 4 * PART)
			room = 4 * PART;
		vec_reserve(ret, room);
		z->next_out = ret->v + ret->n;
		z->avail_out = (uInt)room;
		rc = inflate(z, Z_NO_FLUSH);
		ret->n += room - z->avail_out;
		limited = check_limits(u, err);
		if (limited < 0)
			return limited;
		if (rc == Z_BUF_ERROR || (rc == Z_OK && !z->avail_in && z->avail_out))
			return err_set(err, -ENODATA, "gzip: the file ends too early");
		if (rc != Z_OK && rc != Z_STREAM_END)
			return err_set(err, -EBADMSG, "gzip: damaged: %s",
				       z->msg ? z->msg : "no such block");
	} while (rc != Z_STREAM_END);
	return 0;
}

int gzip_unpack(const uint8_t *bytes, size_t n, const struct gzip_limits *limits, struct wr *ret,
		struct err *err)
{
	struct unpacking u = {
		{.next_in = (Bytef *)bytes, .avail_in = (uInt)n}, bytes, limits, ret, false};
	int rc = 0;

	if (n > UINT_MAX)
		return err_set(err, -E2BIG, "gzip: files of 4 GiB and more are not read");
	if (inflateInit2(&u.z, GZIP_BITS) != Z_OK)
		return err_set(err, -ENOMEM, "gzip: no memory");
	do {
		rc = inflate_member(&u, err);
		if (rc >= 0 && u.z.avail_in && inflateReset(&u.z) != Z_OK)
			rc = err_set(err, -EBADMSG, "gzip: damaged");
	} while (rc >= 0 && u.z.avail_in);
	inflateEnd(&u.z);
	if (rc < 0)
		wr_release(ret);
	return rc;
}
