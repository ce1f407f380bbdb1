/* SPDX-License-Identifier: BSD-2-Clause */
/* See symcache.h; the layout is docs/formats/symbols.md, section by section in the order written
 * here.
 *
 * Invariant after symcache_parse: the four tables lie inside the bytes and the pool ends in NUL;
 * so symtab_find needs no checks, and a name only the check of its offset.  That addresses ascend
 * is left to symcache_check: it would touch every entry, and a file that lies there only gets its
 * own names wrong. */
#include "resolve/symcache.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rd.h"

#define MAGIC	     "dwellsym"
#define MAJOR	     2 /* of images with a digest; those without are written as version 1 */
#define MINOR	     0
#define HEADER_BYTES 64
#define BLOCK_BYTES  65536u
#define SEEN_BYTES   ((size_t)1 << 20)

/* Told that the N bytes at P were looked at; NULL: nobody. */
typedef void seen_fn(const uint8_t *p, size_t n);

static inline uint64_t checksum_lane(uint64_t lane, const uint8_t *p, uint64_t k)
{
	uint64_t w;

	memcpy(&w, p, 8);
	w = (lane ^ le64toh(w)) * k;
	return w << 29 | w >> 35;
}

/* Four interleaved lanes of multiply and rotate, because one chain of multiplications would wait
 * for each other: some 10 GB/s.  Not for adversaries, only for damage. */
static uint64_t checksum_seen(const uint8_t *p, size_t n, seen_fn *seen)
{
	const uint64_t k = 0x9e3779b97f4a7c15ULL;
	uint64_t lane[4] = {n, n + k, n ^ k, n * k};
	size_t i = 0;

	for (; i + 32 <= n; i += 32) { /* a line each: so the lanes stay in registers */
		lane[0] = checksum_lane(lane[0], p + i, k);
		lane[1] = checksum_lane(lane[1], p + i + 8, k);
		lane[2] = checksum_lane(lane[2], p + i + 16, k);
		lane[3] = checksum_lane(lane[3], p + i + 24, k);
		if (seen && (i + 32) % SEEN_BYTES == 0)
			seen(p + i + 32 - SEEN_BYTES, SEEN_BYTES);
	}
	for (; i < n; i++)
		lane[i & 3] = (lane[i & 3] ^ p[i]) * k;
	return hash_pair(hash_pair(lane[0], lane[1]), hash_pair(lane[2], lane[3]));
}

static uint64_t checksum(const uint8_t *p, size_t n)
{
	return checksum_seen(p, n, NULL);
}

/* Gives back pages of a mapped file: of a large program's tables only a few are used again.  A page
 * at the end that is used again comes from the file again. */
static void give_back(const uint8_t *p, size_t n)
{
	const uintptr_t start = (uintptr_t)p & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);

	madvise((void *)start, (uintptr_t)p + n - start, MADV_DONTNEED);
}

static void put_string(struct wr *w, const char *s)
{
	wr_uleb(w, strlen(s));
	wr_bytes(w, s, strlen(s));
}

/* Both what RET holds before and the header are multiples of eight. */
static void pad_to_8(struct wr *w)
{
	while (w->n & 7)
		wr_u8(w, 0);
}

static bool has_identity(const struct symcache_info *info)
{
	return image_digest_known(info->layout.digest);
}

static void put_info(struct wr *w, const struct symcache_info *info)
{
	const struct image_layout *l = &info->layout;

	wr_u8(w, l->build_id.n_bytes);
	wr_bytes(w, l->build_id.bytes, l->build_id.n_bytes);
	wr_u8(w, l->hashed);
	wr_u8(w, (uint8_t)info->kind);
	wr_u8(w, (uint8_t)info->source);
	wr_uleb(w, l->machine);
	wr_uleb(w, l->text_start);
	wr_uleb(w, l->text_bytes);
	wr_uleb(w, l->n_loads);
	for (uint32_t i = 0; i < l->n_loads; i++) {
		wr_uleb(w, l->loads[i].off);
		wr_uleb(w, l->loads[i].svma);
		wr_uleb(w, l->loads[i].n_bytes);
	}
	put_string(w, info->path ? info->path : "");
	if (!has_identity(info))
		return;
	wr_bytes(w, l->digest, sizeof(l->digest));
	wr_bytes(w, info->content, sizeof(info->content));
	wr_u8(w, info->is_claimed);
}

static void put_le(uint8_t *at, uint64_t x, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		at[i] = (uint8_t)(x >> 8 * i);
}

void symcache_seal(uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	uint64_t n_body;

	rd_bytes(&r, 24);
	n_body = rd_le64(&r);
	if (n < HEADER_BYTES)
		return;
	if (n_body <= n - HEADER_BYTES)
		put_le(bytes + 32, checksum(bytes + HEADER_BYTES, (size_t)n_body), 8);
	put_le(bytes + 56, checksum(bytes, HEADER_BYTES - 8), 8);
}

void symcache_format(const struct symcache_info *info, const struct symtab *st, struct wr *ret)
{
	static const uint8_t zeros[HEADER_BYTES];
	size_t start = ret->n, n_info;

	vec_reserve(ret, (size_t)st->n * 17 + st->n_pool + st->n_pool / BLOCK_BYTES * 8 + 4096);
	wr_bytes(ret, zeros, HEADER_BYTES);
	put_info(ret, info);
	n_info = ret->n - start - HEADER_BYTES;
	pad_to_8(ret);
	for (uint32_t off = 0; off < st->n_pool;) {
		uint32_t left = st->n_pool - off, n = left < BLOCK_BYTES ? left : BLOCK_BYTES;

		wr_le64(ret, checksum((const uint8_t *)st->pool + off, n));
		off += n;
	}
	wr_bytes(ret, st->starts, (size_t)st->n * 8);
	wr_bytes(ret, st->sizes, (size_t)st->n * 4);
	wr_bytes(ret, st->names, (size_t)st->n * 4);
	wr_bytes(ret, st->flags, st->n);
	pad_to_8(ret);
	memcpy(ret->v + start, MAGIC, 8);
	put_le(ret->v + start + 8, has_identity(info) ? MAJOR : 1, 2);
	put_le(ret->v + start + 10, MINOR, 2);
	put_le(ret->v + start + 12, n_info, 4);
	put_le(ret->v + start + 16, st->n, 4);
	put_le(ret->v + start + 20, st->n_pool, 4);
	put_le(ret->v + start + 24, ret->n - start - HEADER_BYTES, 8);
	wr_bytes(ret, st->pool, st->n_pool);
	symcache_seal(ret->v + start, ret->n - start);
}

static bool check_block(struct symcache *c, uint32_t block)
{
	uint32_t off = block * BLOCK_BYTES, left = c->symtab.n_pool - off;

	if (c->checked[block] == 0) {
		uint64_t have = checksum((const uint8_t *)c->symtab.pool + off,
					 left < BLOCK_BYTES ? left : BLOCK_BYTES);
		struct rd r = rd_init(c->sums + (size_t)block * 8, 8);

		c->checked[block] = have == rd_le64(&r) ? 1 : 2;
	}
	return c->checked[block] == 1;
}

static bool check_pool(const struct symtab *st, uint32_t off, uint32_t n)
{
	uint32_t first = off / BLOCK_BYTES, last = (off + (n - 1)) / BLOCK_BYTES;

	for (uint32_t b = first; b <= last; b++)
		if (!check_block(st->checker, b))
			return false;
	return true;
}

static void get_bytes(struct rd *r, uint8_t *ret, size_t n)
{
	const uint8_t *p = rd_bytes(r, n);

	if (p)
		memcpy(ret, p, n);
}

static int parse_info(struct symcache *c, uint16_t major, const uint8_t *bytes, size_t n,
		      struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct image_layout *l = &c->info.layout;
	const uint8_t *id, *path;
	uint64_t machine, n_path;
	uint8_t kind, source;

	l->build_id.n_bytes = rd_u8(&r);
	if (l->build_id.n_bytes > BUILD_ID_MAX)
		return err_set(err, -EBADMSG, "symbol cache: build-id of %u bytes",
			       l->build_id.n_bytes);
	id = rd_bytes(&r, l->build_id.n_bytes);
	if (id)
		memcpy(l->build_id.bytes, id, l->build_id.n_bytes);
	l->hashed = rd_u8(&r) != 0;
	kind = rd_u8(&r);
	source = rd_u8(&r);
	machine = rd_uleb(&r);
	l->text_start = rd_uleb(&r);
	l->text_bytes = rd_uleb(&r);
	l->n_loads = (uint32_t)rd_count(&r, 3);
	if (l->n_loads > IMAGE_MAX_LOADS || kind >= N_IMAGE_KINDS || source > SYMTAB_FULL ||
	    machine > UINT16_MAX)
		return err_set(err, -EBADMSG, "symbol cache: bad description of the image");
	l->machine = (uint16_t)machine;
	c->info.kind = kind;
	c->info.source = source;
	for (uint32_t i = 0; i < l->n_loads; i++) {
		l->loads[i].off = rd_uleb(&r);
		l->loads[i].svma = rd_uleb(&r);
		l->loads[i].n_bytes = rd_uleb(&r);
	}
	n_path = rd_count(&r, 1);
	path = rd_bytes(&r, (size_t)n_path);
	if (major >= 2) {
		get_bytes(&r, l->digest, sizeof(l->digest));
		get_bytes(&r, c->info.content, sizeof(c->info.content));
		c->info.is_claimed = rd_u8(&r) != 0;
	}
	if (r.bad || !path)
		return err_set(err, -EBADMSG, "symbol cache: bad description of the image");
	c->path = xstrndup((const char *)path, (size_t)n_path);
	c->info.path = c->path;
	return 0;
}

/* Whether the header at BYTES had the checksum SUM with one of the versions that are known. */
static bool was_known(const uint8_t *bytes, uint64_t sum)
{
	uint8_t header[HEADER_BYTES - 8];

	memcpy(header, bytes, sizeof(header));
	for (unsigned major = 1; major <= MAJOR; major++) {
		put_le(header + 8, major, 2);
		if (checksum(header, sizeof(header)) == sum)
			return true;
	}
	return false;
}

static int parse(struct symcache *c, const uint8_t *bytes, size_t n, seen_fn *seen, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct symtab *st = &c->symtab;
	const uint8_t *magic = rd_bytes(&r, 8), *body;
	uint16_t major = rd_le16(&r), minor = rd_le16(&r);
	uint32_t n_info = rd_le32(&r), n_blocks;
	uint64_t n_body, sum, header_sum;
	size_t n_sums;
	int rc;

	(void)minor; /* newer minor versions only add to the info */
	*c = (struct symcache){0};
	st->n = rd_le32(&r);
	st->n_pool = rd_le32(&r);
	n_body = rd_le64(&r);
	sum = rd_le64(&r);
	rd_bytes(&r, 16);
	header_sum = rd_le64(&r);
	if (magic && memcmp(magic, MAGIC, 8) != 0)
		return err_set(err, -EBADMSG, "not a symbol cache file");
	if (r.bad)
		return err_set(err, -ENODATA, "symbol cache: truncated");
	if (major < 1 || major > MAJOR) { /* whose header may be another altogether */
		if (was_known(bytes, header_sum))
			return err_set(err, -EBADMSG, "symbol cache: damaged version");
		return err_set(err, -EPROTONOSUPPORT, "symbol cache: version %u", major);
	}
	if (header_sum != checksum(bytes, HEADER_BYTES - 8))
		return err_set(err, -EBADMSG, "symbol cache: damaged header");
	n_blocks = st->n_pool / BLOCK_BYTES + (st->n_pool % BLOCK_BYTES != 0);
	n_sums = ((size_t)n_info + 7) / 8 * 8; /* where the sums begin */
	if (n_body > rd_left(&r) || st->n_pool > rd_left(&r) - n_body ||
	    n_sums + (uint64_t)n_blocks * 8 + (uint64_t)st->n * 17 > n_body || st->n_pool == 0)
		return err_set(err, -ENODATA, "symbol cache: truncated");
	body = rd_bytes(&r, (size_t)n_body);
	if (checksum_seen(body, (size_t)n_body, seen) != sum)
		return err_set(err, -EBADMSG, "symbol cache: damaged tables");
	c->sums = body + n_sums;
	st->starts = c->sums + (size_t)n_blocks * 8;
	st->sizes = st->starts + (size_t)st->n * 8;
	st->names = st->sizes + (size_t)st->n * 4;
	st->flags = st->names + (size_t)st->n * 4;
	st->pool = (const char *)rd_bytes(&r, st->n_pool);
	if (st->pool[st->n_pool - 1] != '\0')
		return err_set(err, -EBADMSG, "symbol cache: names without an end");
	rc = parse_info(c, major, body, n_info, err);
	if (rc < 0) {
		*st = (struct symtab){0};
		return rc;
	}
	c->checked = xcalloc(n_blocks, 1);
	st->check_pool = check_pool;
	st->checker = c;
	return 0;
}

int symcache_parse(struct symcache *c, const uint8_t *bytes, size_t n, struct err *err)
{
	return parse(c, bytes, n, NULL, err);
}

int symcache_parse_map(struct symcache *c, const struct file_map *map, struct err *err)
{
	return parse(c, map->bytes, map->n_bytes, give_back, err);
}

static int check_ascending(const struct symtab *st, struct err *err)
{
	struct rd r = rd_init(st->starts, (size_t)st->n * 8);
	uint64_t last = 0;

	for (uint32_t i = 0; i < st->n; i++) {
		uint64_t start = rd_le64(&r);

		if (start < last)
			return err_set(err, -EBADMSG, "symbol cache: addresses not ascending");
		last = start;
	}
	return 0;
}

int symcache_check(struct symcache *c, struct err *err)
{
	int rc = check_ascending(&c->symtab, err);

	if (rc < 0)
		return rc;
	for (uint32_t off = 0; off < c->symtab.n_pool;) {
		if (!check_block(c, off / BLOCK_BYTES))
			return err_set(err, -EBADMSG, "%s: damaged names at %#x", c->path, off);
		if (c->symtab.n_pool - off <= BLOCK_BYTES)
			break;
		off += BLOCK_BYTES;
	}
	return 0;
}

void symcache_rest(const struct symcache *c)
{
	if (c->map.bytes)
		madvise((void *)c->map.bytes, c->map.n_bytes, MADV_DONTNEED);
}

void symcache_close(struct symcache *c)
{
	free(c->checked);
	free(c->path);
	file_map_close(&c->map);
	*c = (struct symcache){0};
}
