/* SPDX-License-Identifier: BSD-2-Clause */
/* See elf_unwind.h: finds what unwind/build.h wants to know in an ELF file.
 *
 * Sections are preferred because they say how long they are.  Without a section table the segments
 * say where .eh_frame_hdr is, and that where .eh_frame begins; it ends at its terminator.  The
 * header's table for binary search is not used: a walk over .eh_frame gives the same, and cannot
 * contradict it. */
#include "resolve/elf_unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/rd.h"
#include "base/sha256.h"
#include "resolve/code_frames.h"
#include "resolve/elf_digest.h"
#include "resolve/elf_file.h"
#include "resolve/go_switches.h"
#include "resolve/interpreter.h"

#define MAX_BYTES (256u << 20) /* of a section: ten times the largest seen */

#define MAX_VDSO 65536

/* The sections that are loaded, and what may still be. */
struct budget {
	size_t left; /* at least 1 */
	bool ran_out;
};

/* Takes N bytes of B; false when that is too much, for which there is no table. */
static bool elf_unwind_take(struct budget *b, uint64_t n)
{
	if (n >= b->left) {
		b->ran_out = true;
		return false;
	}
	b->left -= (size_t)n;
	return true;
}

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554 /* binutils, include/elf/common.h */
#endif

/* Unpacks the rest of R, a zlib stream of N bytes; NULL when it is damaged. */
static uint8_t *unzip(struct rd *r, uint64_t n, struct budget *b)
{
	uLongf n_out = (uLongf)n;
	uint8_t *out;

	/* deflate packs 1032 to 1 at most (zlib's "Technical Details"). */
	if (r->bad || n == 0 || n > MAX_BYTES || n / 1032 > rd_left(r) || !elf_unwind_take(b, n))
		return NULL;
	out = xmalloc((size_t)n);
	if (uncompress(out, &n_out, r->p, (uLong)rd_left(r)) == Z_OK && n_out == n)
		return out;
	free(out);
	return NULL;
}

/* gABI "Section Compression": Elf64_Chdr before the packed bytes. */
static uint8_t *load_compressed(const struct elf_file *f, const struct elf_section *s,
				struct budget *b, uint64_t *ret_n)
{
	_mem_ uint8_t *packed = elf_file_load(f, s->off, s->size);
	struct rd r = rd_init(packed, packed ? (size_t)s->size : 0);
	uint32_t type = rd_le32(&r);

	rd_le32(&r); /* ch_reserved */
	*ret_n = rd_le64(&r);
	rd_le64(&r); /* ch_addralign */
	return type == ELFCOMPRESS_ZLIB ? unzip(&r, *ret_n, b) : NULL;
}

/* The GNU form before that: "ZLIB" and the size with its high byte first. */
static uint8_t *load_zdebug(const struct elf_file *f, const struct elf_section *s, struct budget *b,
			    uint64_t *ret_n)
{
	_mem_ uint8_t *packed = elf_file_load(f, s->off, s->size);
	struct rd r = rd_init(packed, packed ? (size_t)s->size : 0);
	const uint8_t *magic = rd_bytes(&r, 4);

	if (!magic || memcmp(magic, "ZLIB", 4) != 0)
		return NULL;
	*ret_n = __builtin_bswap64(rd_le64(&r));
	return unzip(&r, *ret_n, b);
}

static void load_section(const struct elf_file *f, const char *name, struct budget *b,
			 struct unwind_section *ret)
{
	const struct elf_section *s = elf_file_find_section(f, name);
	uint64_t n = s ? s->size : 0;
	uint8_t *bytes;

	if (!s || s->size == 0 || s->size > MAX_BYTES || s->type == SHT_NOBITS ||
	    !elf_unwind_take(b, s->size))
		return;
	if (s->flags & SHF_COMPRESSED)
		bytes = load_compressed(f, s, b, &n);
	else if (strncmp(name, ".z", 2) == 0)
		bytes = load_zdebug(f, s, b, &n);
	else
		bytes = elf_file_load_section(f, s);
	*ret = (struct unwind_section){.bytes = bytes, .n_bytes = (size_t)n, .svma = s->svma};
}

static void load_sections(struct elf_file *f, struct unwind_input *in, struct budget *b)
{
	const struct elf_section *s;

	load_section(f, ".eh_frame", b, &in->eh_frame);
	load_section(f, ".debug_frame", b, &in->debug_frame);
	if (!in->debug_frame.bytes)
		load_section(f, ".zdebug_frame", b, &in->debug_frame);
	load_section(f, ".sframe", b, &in->sframe);
	load_section(f, ".gopclntab", b, &in->go);
	if (!in->go.bytes)
		load_section(f, ".data.rel.ro.gopclntab", b, &in->go);
	s = elf_file_find_section(f, ".text");
	in->text_svma = s ? s->svma : 0;
	s = elf_file_find_section(f, ".got");
	in->data_svma = s ? s->svma : 0;
}

static const struct elf_segment *find_segment(const struct elf_file *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->n_segments; i++)
		if (f->segments[i].type == type)
			return &f->segments[i];
	return NULL;
}

/* Loads from SVMA on to the end of the segment's bytes in the file. */
static void load_svma(const struct elf_file *f, uint64_t svma, struct budget *b,
		      struct unwind_section *ret)
{
	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t rel = svma - s->svma, n;

		if (s->type != PT_LOAD || rel >= s->filesz)
			continue;
		n = s->filesz - rel;
		if (n > MAX_BYTES)
			n = MAX_BYTES;
		if (!elf_unwind_take(b, n))
			return;
		*ret = (struct unwind_section){.bytes = elf_file_load(f, s->off + rel, n),
					       .n_bytes = (size_t)n,
					       .svma = svma};
		return;
	}
}

/* Cuts .eh_frame behind its terminator.  Only its start is known. */
static void cut_eh_frame(struct unwind_section *s)
{
	struct rd r = rd_init(s->bytes, s->n_bytes);

	while (!r.bad) {
		uint64_t length = rd_le32(&r);

		if (length == 0)
			break;
		if (length == 0xffffffff)
			length = rd_le64(&r);
		rd_bytes(&r, (size_t)length);
	}
	s->n_bytes = rd_off(&r);
}

static void load_by_header(const struct elf_file *f, struct unwind_input *in, struct budget *budget)
{
	uint64_t svma;

	if (!elf_find_eh_frame(f, &svma))
		return;
	load_svma(f, svma, budget, &in->eh_frame);
	if (in->eh_frame.bytes)
		cut_eh_frame(&in->eh_frame);
}

static void find_code(const struct elf_file *f, struct unwind_input *in)
{
	for (uint32_t i = 0; i < f->n_segments && in->n_segments < UNWIND_MAX_SEGMENTS; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t n = s->filesz;

		if (s->type != PT_LOAD || !(s->flags & PF_X) || s->off >= f->size)
			continue;
		if (n > f->size - s->off)
			n = f->size - s->off;
		in->segments[in->n_segments++] = (struct unwind_segment){s->svma, s->off, n};
	}
}

/* arm64's vdso returns from signals by code that says nothing of itself (Linux,
 * arch/arm64/kernel/vdso/sigreturn.S: unwinders are to know it by its instructions): mov x8, #139
 * (__NR_rt_sigreturn); svc #0. */
static void find_sigreturn(const struct elf_file *f, struct unwind_input *in)
{
	for (uint32_t i = 0; f->machine == EM_AARCH64 && i < in->n_segments; i++) {
		const struct unwind_segment *s = &in->segments[i];
		_mem_ uint8_t *code = NULL;
		struct rd r;

		if (s->n_bytes > MAX_VDSO)
			continue;
		code = elf_file_load(f, s->off, s->n_bytes);
		r = rd_init(code, code ? (size_t)s->n_bytes : 0);
		while (rd_left(&r) >= 8) {
			uint64_t off = rd_off(&r);

			if (rd_le32(&r) != 0xd2801168 || rd_le32(&r) != 0xd4000001)
				continue;
			in->sigreturn_svma = s->svma + off;
			return;
		}
	}
}

static void add_section(struct sha256 *h, const struct unwind_section *s)
{
	sha256_add_u64(h, s->svma);
	sha256_add_u64(h, s->n_bytes);
	if (s->bytes)
		sha256_add(h, s->bytes, s->n_bytes);
}

/* Hashes everything that unwind_build looks at, with what it looked at of the CODE, so that tables
 * of one key are equal. */
static void make_key(const struct unwind_input *in, struct code_frames *code,
		     uint8_t ret[UNWIND_KEY_BYTES])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_add_u64(&h, in->machine);
	sha256_add_u64(&h, in->text_svma);
	sha256_add_u64(&h, in->data_svma);
	sha256_add_u64(&h, in->sigreturn_svma);
	add_section(&h, &in->eh_frame);
	add_section(&h, &in->debug_frame);
	add_section(&h, &in->sframe);
	add_section(&h, &in->go);
	for (uint32_t i = 0; i < in->n_switches; i++) {
		sha256_add_u64(&h, in->switches[i].start);
		sha256_add_u64(&h, in->switches[i].end);
		sha256_add_u64(&h, in->switches[i].depth);
		sha256_add_u64(&h,
			       (uint64_t)in->switches[i].goroutine_at << 8 | in->switches[i].how);
	}
	sha256_add_u64(&h, in->interpreter.number);
	sha256_add_u64(&h, in->interpreter.version);
	sha256_add_u64(&h, in->interpreter.anchor);
	for (uint32_t i = 0; i < in->n_loops; i++) {
		sha256_add_u64(&h, in->loops[i].svma);
		sha256_add_u64(&h, in->loops[i].n_bytes);
	}
	for (uint32_t i = 0; i < in->n_segments; i++) {
		sha256_add_u64(&h, in->segments[i].svma);
		sha256_add_u64(&h, in->segments[i].off);
		sha256_add_u64(&h, in->segments[i].n_bytes);
	}
	sha256_add_u64(&h, sha256_end_u64(&code->seen));
	sha256_end(&h, ret, UNWIND_KEY_BYTES);
}

/* WITH_KEY: the table gets its key, for which all that was read is hashed. */
static int resolve_elf_unwind_load(struct elf_file *f, size_t most_bytes, bool with_key,
				   struct unwind_table *ret, struct err *err)
{
	struct unwind_input in = {.machine = f->machine};
	const struct elf_segment *s = find_segment(f, PT_GNU_SFRAME);
	struct budget b = {.left = most_bytes};
	struct code_frames code;
	int rc;

	if (!f->is_64)
		return err_set(err, -ENOTSUP, "unwind tables of 32-bit files");
	if (elf_file_read_sections(f, NULL) >= 0)
		load_sections(f, &in, &b);
	if (!in.eh_frame.bytes)
		load_by_header(f, &in, &b);
	if (!in.sframe.bytes && s)
		load_svma(f, s->svma, &b, &in.sframe);
	find_code(f, &in);
	find_sigreturn(f, &in);
	interpreter_find(f, &in);
	if (in.go.bytes) {
		go_switches_find(f, &in);
		interpreter_find_go(f, &in);
	}
	code_frames_offer(&code, f, &in);
	if (INTERPRETER_IS_V8(in.interpreter.number)) /* its builtins are known by frame pointers */
		in.read_code = NULL;
	in.most_bytes = b.left;
	if (b.ran_out)
		rc = err_set(err, -E2BIG, "frame information of more than %zu bytes", most_bytes);
	else
		rc = unwind_build(&in, ret, err);
	if (rc >= 0 && with_key)
		make_key(&in, &code, ret->key);
	code_frames_release(&code);
	free((void *)in.eh_frame.bytes);
	free((void *)in.debug_frame.bytes);
	free((void *)in.sframe.bytes);
	free((void *)in.go.bytes);
	return rc;
}

static int load_fd(int fd, size_t most_bytes, bool with_key, struct unwind_table *ret,
		   struct err *err)
{
	struct elf_file f;
	int rc = elf_file_open(&f, fd, err);

	if (rc >= 0) {
		rc = resolve_elf_unwind_load(&f, most_bytes, with_key, ret, err);
		elf_file_close(&f);
	}
	return rc;
}

int elf_unwind_load(int fd, struct unwind_table *ret, struct err *err)
{
	return load_fd(fd, SIZE_MAX, true, ret, err);
}

int elf_unwind_load_small(int fd, struct unwind_table *ret, struct err *err)
{
	return load_fd(fd, ELF_UNWIND_SMALL_BYTES, false, ret, err);
}

int elf_unwind_load_bytes(const uint8_t *bytes, size_t n, struct unwind_table *ret, struct err *err)
{
	struct elf_file f;
	int rc = elf_file_open_bytes(&f, bytes, n, err);

	if (rc >= 0) {
		rc = resolve_elf_unwind_load(&f, SIZE_MAX, true, ret, err);
		elf_file_close(&f);
	}
	return rc;
}
