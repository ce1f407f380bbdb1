/* SPDX-License-Identifier: BSD-2-Clause */
/* See elf_digest.h.
 *
 * These go into SHA-256, each number as eight little-endian bytes; the first 16 bytes of the hash
 * are the digest:
 *
 *     "dwell image 1"                                     13 bytes
 *     e_machine, 1 for a file of 64 bits or 0
 *     of each executable PT_LOAD: p_flags, p_offset, p_vaddr, p_filesz, p_memsz
 *     0xffffffffffffffff
 *     of the first PT_GNU_EH_FRAME: p_vaddr, its bytes, their number
 *     .eh_frame: its svma, its bytes with the terminator, their number
 *
 * The digest with the code hashes "dwell image 2", these 16 bytes, and of each executable PT_LOAD
 * its bytes from 64 on in the file, and their number.
 *
 * Each of the last two is left out when there is none.  .eh_frame's length stands nowhere but in a
 * section header, so its records are stepped over until the terminator or the segment's end. */
#include "resolve/elf_digest.h"

#include <elf.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/rd.h"
#include "base/sha256.h"

/* No more of either is hashed: five times the largest seen.  It bounds the time that a sparse file
 * can cost. */
#define MAX_BYTES (64u << 20)

/* No more code is hashed: four times the largest program seen. */
#define MAX_CODE_BYTES (1ull << 30)

/* The ELF header names the section table, which strip moves. */
#define HEADER_BYTES 64

#define PIECE_BYTES (64u << 10)

static const struct elf_segment *find_header(const struct elf_file *f)
{
	for (uint32_t i = 0; i < f->n_segments; i++)
		if (f->segments[i].type == PT_GNU_EH_FRAME)
			return &f->segments[i];
	return NULL;
}

/* LSB 5.0 "The .eh_frame_hdr section": version 1, three encodings, the pointer to .eh_frame, which
 * linkers write as four bytes relative to themselves. */
bool elf_find_eh_frame(const struct elf_file *f, uint64_t *ret_svma)
{
	const struct elf_segment *s = find_header(f);
	uint8_t b[8];
	struct rd r;

	if (!s || elf_file_pread(f, s->off, b, sizeof(b)) != sizeof(b))
		return false;
	r = rd_init(b, sizeof(b));
	if (rd_le16(&r) != (1 | 0x1b << 8)) /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
		return false;
	rd_le16(&r);
	*ret_svma = s->svma + 4 + (uint64_t)(int32_t)rd_le32(&r);
	return true;
}

/* The bytes of a file from OFF on, a piece at a time. */
struct pieces {
	const struct elf_file *f;
	uint64_t off, left; /* behind the piece */
	uint8_t *v;
	size_t n;
};

static bool next_piece(struct pieces *p)
{
	size_t want = p->left < PIECE_BYTES ? (size_t)p->left : PIECE_BYTES;

	p->n = elf_file_pread(p->f, p->off, p->v, want);
	p->off += p->n;
	p->left -= p->n;
	return p->n > 0;
}

static void add_bytes(struct sha256 *h, struct pieces *p)
{
	uint64_t n = 0;

	while (next_piece(p)) {
		sha256_add(h, p->v, p->n);
		n += p->n;
	}
	sha256_add_u64(h, n);
}

/* Steps over the records of .eh_frame.  Each begins with its length in four bytes, or in eight
 * behind ff ff ff ff. */
struct records {
	uint64_t skip;	   /* bytes until the next length */
	uint64_t length;   /* as far as it was read */
	unsigned n_length; /* bytes of it that were read */
	bool is_wide, ended;
};

/* Returns how many of the N bytes at P belong to the records: all, or those
 * up to the terminator. */
static size_t elf_digest_step(struct records *s, const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i < n && !s->ended) {
		unsigned shift = 8 * (s->is_wide ? s->n_length - 4 : s->n_length);

		if (s->skip) {
			size_t k = s->skip < n - i ? (size_t)s->skip : n - i;

			s->skip -= k;
			i += k;
			continue;
		}
		s->length |= (uint64_t)p[i++] << shift;
		if (++s->n_length == 4 && s->length == 0xffffffff) {
			s->is_wide = true;
			s->length = 0;
		} else if (s->n_length == (s->is_wide ? 12 : 4)) {
			s->ended = s->length == 0;
			*s = (struct records){.skip = s->length, .ended = s->ended};
		}
	}
	return i;
}

static void add_records(struct sha256 *h, struct pieces *p)
{
	struct records s = {0};
	uint64_t n = 0;

	while (!s.ended && next_piece(p)) {
		size_t k = elf_digest_step(&s, p->v, p->n);

		sha256_add(h, p->v, k);
		n += k;
	}
	sha256_add_u64(h, n);
}

static void add_eh_frame(struct sha256 *h, const struct elf_file *f, struct pieces *p)
{
	uint64_t svma;

	if (!elf_find_eh_frame(f, &svma))
		return;
	sha256_add_u64(h, svma);
	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t rel = svma - s->svma, left;

		if (s->type != PT_LOAD || rel >= s->filesz)
			continue;
		left = s->filesz - rel;
		p->off = s->off + rel;
		p->left = left < MAX_BYTES ? left : MAX_BYTES;
		add_records(h, p);
		return;
	}
}

void elf_digest(const struct elf_file *f, uint8_t ret[IMAGE_DIGEST_BYTES])
{
	static const char tag[] = "dwell image 1";
	const struct elf_segment *header = find_header(f);
	_mem_ uint8_t *piece = xmalloc(PIECE_BYTES);
	struct pieces p = {.f = f, .v = piece};
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, tag, sizeof(tag) - 1);
	sha256_add_u64(&h, f->machine);
	sha256_add_u64(&h, f->is_64);
	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X))
			continue;
		sha256_add_u64(&h, s->flags);
		sha256_add_u64(&h, s->off);
		sha256_add_u64(&h, s->svma);
		sha256_add_u64(&h, s->filesz);
		sha256_add_u64(&h, s->memsz);
	}
	sha256_add_u64(&h, UINT64_MAX);
	if (header) {
		sha256_add_u64(&h, header->svma);
		p.off = header->off;
		p.left = header->filesz < MAX_BYTES ? header->filesz : MAX_BYTES;
		add_bytes(&h, &p);
		add_eh_frame(&h, f, &p);
	}
	sha256_end(&h, ret, IMAGE_DIGEST_BYTES);
	ret[0] += !image_digest_known(ret); /* one in 2^128 */
}

void elf_digest_code(const struct elf_file *f, uint8_t ret[IMAGE_DIGEST_BYTES])
{
	static const char tag[] = "dwell image 2";
	_mem_ uint8_t *piece = xmalloc(PIECE_BYTES);
	uint8_t base[IMAGE_DIGEST_BYTES];
	uint64_t left = MAX_CODE_BYTES;
	struct sha256 h;

	elf_digest(f, base);
	sha256_begin(&h);
	sha256_add(&h, tag, sizeof(tag) - 1);
	sha256_add(&h, base, sizeof(base));
	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t skip = s->off < HEADER_BYTES ? HEADER_BYTES - s->off : 0;
		struct pieces p = {.f = f, .off = s->off + skip, .v = piece};

		if (s->type != PT_LOAD || !(s->flags & PF_X) || s->filesz <= skip)
			continue;
		p.left = s->filesz - skip < left ? s->filesz - skip : left;
		left -= p.left;
		add_bytes(&h, &p);
	}
	sha256_end(&h, ret, IMAGE_DIGEST_BYTES);
	ret[0] += !image_digest_known(ret); /* one in 2^128 */
}
