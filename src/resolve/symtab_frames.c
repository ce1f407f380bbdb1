/* SPDX-License-Identifier: BSD-2-Clause */
/* Where procedures without a symbol are: from the unwind tables, which stripped programs keep
 * (symtab_elf_read_frames).
 *
 * .eh_frame is a list of records: CIEs, which say how addresses are written, and FDEs, one for each
 * procedure, with its start and size (LSB 5.0 "Exception Frames"; DWARF 4 section 7.6 for pointer
 * encodings).  Nothing else of them is used.  The section can have many megabytes, so it is read
 * through a window. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "base/rd.h"
#include "resolve/symtab_elf.h"

#define WINDOW	  65536u
#define MAX_CIE	  256u /* bytes of a CIE that are looked at */
#define FDE_BYTES 32u  /* and of an FDE */

/* LSB 5.0 "DWARF Exception Header Encoding" */
enum {
	PE_ABSPTR = 0,
	PE_UDATA4 = 3,
	PE_UDATA8 = 4,
	PE_SDATA4 = 0xb,
	PE_SDATA8 = 0xc,
	PE_PCREL = 0x10,
	PE_UNKNOWN = 0xff,
};

struct frame_reader {
	const struct elf_file *f;
	const struct elf_section *s;
	uint8_t *window;
	uint64_t off; /* in the section, of the window */
	size_t n;
	VEC(struct cie {
		uint64_t off;
		uint8_t encoding;
	})
	cies; /* ascending */
};

/* A cursor over up to N bytes at OFF of the section. */
static struct rd cursor(struct frame_reader *fr, uint64_t off, size_t n)
{
	if (n > fr->s->size - off)
		n = (size_t)(fr->s->size - off);
	if (off < fr->off || off + n > fr->off + fr->n) {
		uint64_t left = fr->s->size - off;

		fr->off = off;
		fr->n = elf_file_pread(fr->f, fr->s->off + off, fr->window,
				       left < WINDOW ? (size_t)left : WINDOW);
		if (n > fr->n)
			n = fr->n;
	}
	return rd_init(fr->window + (off - fr->off), n);
}

static uint64_t read_pointer(struct rd *r, uint8_t encoding, bool is_64, uint64_t svma)
{
	uint64_t base = encoding & 0x70 ? svma : 0;

	switch (encoding & 0xf) {
	case PE_ABSPTR:
		return base + (is_64 ? rd_le64(r) : rd_le32(r));
	case PE_UDATA4:
		return base + rd_le32(r);
	case PE_SDATA4:
		return base + (uint64_t)(int32_t)rd_le32(r);
	default:
		return base + rd_le64(r);
	}
}

static bool is_known(uint8_t encoding)
{
	uint8_t form = encoding & 0xf;

	return (encoding & 0xf0) <= PE_PCREL &&
	       (form == PE_ABSPTR || form == PE_UDATA4 || form == PE_UDATA8 || form == PE_SDATA4 ||
		form == PE_SDATA8);
}

/* The encoding of addresses in the FDEs of the CIE whose fields R is at. */
static uint8_t read_cie(struct rd *r, bool is_64)
{
	uint8_t version = rd_u8(r), encoding = PE_ABSPTR;
	const char *aug = (const char *)r->p;

	while (rd_u8(r))
		;
	if (r->bad || (version != 1 && version != 3))
		return PE_UNKNOWN;
	rd_uleb(r); /* code alignment */
	rd_uleb(r); /* data alignment, signed: of the same length */
	if (version == 1)
		rd_u8(r);
	else
		rd_uleb(r); /* return address register */
	if (*aug == '\0')
		return PE_ABSPTR;
	if (*aug != 'z')
		return PE_UNKNOWN;
	rd_uleb(r);
	for (aug++; *aug; aug++) {
		if (*aug == 'R') {
			encoding = rd_u8(r);
			break;
		}
		if (*aug == 'P') {
			uint8_t personality = rd_u8(r);

			if (!is_known(personality & 0x7f)) /* 80: indirect */
				return PE_UNKNOWN;
			read_pointer(r, personality, is_64, 0);
		} else if (*aug == 'L') {
			rd_u8(r);
		} else if (*aug != 'S' && *aug != 'B') {
			return PE_UNKNOWN;
		}
	}
	return r->bad || !is_known(encoding) ? PE_UNKNOWN : encoding;
}

static uint8_t find_encoding(const struct frame_reader *fr, uint64_t off)
{
	size_t lo = lower_bound(k, 0, fr->cies.n, fr->cies.v[k].off < off);

	return lo < fr->cies.n && fr->cies.v[lo].off == off ? fr->cies.v[lo].encoding : PE_UNKNOWN;
}

/* Reads the record at OFF; returns the offset of the next, or 0 at the end. */
static uint64_t read_record(struct frame_reader *fr, uint64_t off, struct symtab_builder *b)
{
	struct rd r = cursor(fr, off, 12);
	uint64_t length = rd_le32(&r), id_off = off + 4, start, size;
	uint32_t id;
	uint8_t encoding;

	if (length == 0xffffffff) {
		length = rd_le64(&r);
		id_off += 8;
	}
	if (r.bad || length < 4 || length > fr->s->size - id_off)
		return 0;
	r = cursor(fr, id_off, length < MAX_CIE ? (size_t)length : MAX_CIE);
	id = rd_le32(&r);
	if (id == 0) {
		vec_push(&fr->cies, (struct cie){off, read_cie(&r, fr->f->is_64)});
		return id_off + length;
	}
	encoding = id <= id_off ? find_encoding(fr, id_off - id) : PE_UNKNOWN;
	if (encoding == PE_UNKNOWN)
		return id_off + length;
	start = read_pointer(&r, encoding, fr->f->is_64, fr->s->svma + id_off + 4);
	size = read_pointer(&r, encoding & 0xf, fr->f->is_64, 0);
	if (!r.bad && start && size && size <= UINT32_MAX)
		symtab_builder_add(b, start, size, "", 0, PROC_UNNAMED);
	return id_off + length;
}

void symtab_elf_read_frames(struct elf_file *f, struct symtab_builder *b)
{
	struct frame_reader fr = {.f = f};
	uint64_t off = 0;

	if (f->type == ET_REL || elf_file_read_sections(f, NULL) < 0)
		return;
	fr.s = elf_file_find_section(f, ".eh_frame");
	if (!fr.s || fr.s->type == SHT_NOBITS || fr.s->off > f->size ||
	    fr.s->size > f->size - fr.s->off)
		return;
	fr.window = xmalloc(WINDOW);
	while (off + 8 <= fr.s->size) {
		off = read_record(&fr, off, b);
		if (off == 0)
			break;
	}
	vec_release(&fr.cies);
	free(fr.window);
}
