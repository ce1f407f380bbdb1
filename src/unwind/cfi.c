/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of .eh_frame and .debug_frame: CIEs, which hold what many procedures share, and FDEs,
 * one for each stretch of code (DWARF 5 section 6.4.1; LSB 5.0 "Exception Frames" for .eh_frame).
 *
 * The section is walked once by its records' lengths.  An FDE counts only with a CIE that was met
 * as a record: a hostile section cannot have the same bytes read again and again as ever other
 * CIEs, so the work stays linear.  What follows a damaged length is lost; a record whose inside is
 * damaged is left out and counted. */
#include "unwind/cfi.h"
#include "base/lower_bound.h"

#include <string.h>

#define MAX_CIES (1u << 18) /* one a compilation unit at most, in practice */

/* LSB 5.0 "DWARF Exception Header Encoding"; DW_EH_PE_aligned: observed in GCC's unwind-pe.h. */
enum {
	PE_ABSPTR = 0,
	PE_ULEB128 = 1,
	PE_UDATA2 = 2,
	PE_UDATA4 = 3,
	PE_UDATA8 = 4,
	PE_SIGNED = 8,
	PE_SLEB128 = 9,
	PE_SDATA2 = 0xa,
	PE_SDATA4 = 0xb,
	PE_SDATA8 = 0xc,
	PE_PCREL = 0x10,
	PE_TEXTREL = 0x20,
	PE_DATAREL = 0x30,
	PE_FUNCREL = 0x40,
	PE_ALIGNED = 0x50,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

static uint64_t read_value(struct rd *r, uint8_t form)
{
	switch (form) {
	case PE_ABSPTR:
	case PE_SIGNED:
	case PE_UDATA8:
	case PE_SDATA8:
		return rd_le64(r);
	case PE_ULEB128:
		return rd_uleb(r);
	case PE_SLEB128:
		return (uint64_t)cfi_read_sleb(r);
	case PE_UDATA2:
		return rd_le16(r);
	case PE_SDATA2:
		return (uint64_t)(int16_t)rd_le16(r);
	case PE_UDATA4:
		return rd_le32(r);
	case PE_SDATA4:
		return (uint64_t)(int32_t)rd_le32(r);
	default:
		r->bad = true;
		return 0;
	}
}

uint64_t cfi_read_pointer(struct rd *r, uint8_t encoding, const struct unwind_input *in,
			  uint64_t field_svma)
{
	uint64_t base = 0, v;

	switch (encoding & 0x70) {
	case PE_ABSPTR:
		break;
	case PE_PCREL:
		base = field_svma;
		break;
	case PE_TEXTREL:
		base = in->text_svma;
		break;
	case PE_DATAREL:
		base = in->data_svma;
		break;
	case PE_ALIGNED:
		rd_bytes(r, -field_svma & 7);
		break;
	default: /* relative to the procedure, which is just what is asked */
		r->bad = true;
		return 0;
	}
	if (encoding & PE_INDIRECT) /* a word of the running program's memory */
		r->bad = true;
	v = read_value(r, encoding & 0xf);
	return r->bad || v == 0 ? 0 : base + v;
}

/* Steps over a pointer whose value does not matter, which may be an indirect one. */
static void skip_pointer(struct rd *r, uint8_t encoding, uint64_t field_svma)
{
	if (encoding == PE_OMIT)
		return;
	if ((encoding & 0x70) == PE_ALIGNED)
		rd_bytes(r, -field_svma & 7);
	read_value(r, encoding & 0xf);
}

static uint64_t svma_of(const struct cfi_frames *f, const struct rd *r)
{
	return f->section->svma + (uint64_t)(r->p - f->section->bytes);
}

/* The augmentation's data; R ends at its end. */
static void read_augmentation(const struct cfi_frames *f, struct cfi_cie *c, const char *letters,
			      struct rd *r)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'L': /* encoding of the LSDA pointer */
			rd_u8(r);
			break;
		case 'P': { /* personality routine */
			uint8_t encoding = rd_u8(r);

			if (!r->bad)
				skip_pointer(r, encoding, svma_of(f, r));
			break;
		}
		case 'R':
			c->encoding = rd_u8(r);
			break;
		case 'S':
			c->is_signal = true;
			break;
		case 'B': /* the other key of AArch64's pointer authentication */
		case 'G': /* AArch64's tagged stack */
			break;
		default: /* what follows it cannot be told; its length can */
			return;
		}
	}
}

/* Returns whether C holds a CIE then. */
static bool read_cie(const struct cfi_frames *f, struct rd *r, struct cfi_cie *c)
{
	uint8_t version = rd_u8(r);
	const char *augmentation = (const char *)r->p;
	uint64_t ra;

	while (rd_u8(r))
		;
	if (r->bad || (version != 1 && version != 3 && version != 4))
		return false;
	if (version >= 4) {
		if (rd_u8(r) != 8) /* address_size */
			return false;
		c->n_segment_bytes = rd_u8(r);
	}
	c->code_align = rd_uleb(r);
	c->data_align = cfi_read_sleb(r);
	ra = version == 1 ? rd_u8(r) : rd_uleb(r);
	if (augmentation[0] == 'z') {
		size_t n = rd_count(r, 1);
		struct rd data = rd_init(r->p, n);

		c->has_data = true;
		read_augmentation(f, c, augmentation + 1, &data);
		r->bad |= data.bad;
		rd_bytes(r, n);
	} else if (augmentation[0]) { /* of no known length */
		return false;
	}
	if (r->bad || ra > 255)
		return false;
	c->start.ra_reg = (uint8_t)ra;
	c->program = r->p;
	c->n_program = (uint32_t)rd_left(r);
	return cfi_run_start(f, c) >= 0;
}

static void add_cie(struct cfi_frames *f, uint64_t off, struct rd *r)
{
	struct cfi_cie c = {.off = off};

	if (f->cies.n < MAX_CIES && read_cie(f, r, &c))
		vec_push(&f->cies, c);
	else
		f->n_damaged++;
}

/* The number of the CIE at OFF; UINT32_MAX when there is none. */
static uint32_t find_cie(struct cfi_frames *f, uint64_t off)
{
	size_t lo;

	if (f->last_cie < f->cies.n && f->cies.v[f->last_cie].off == off)
		return f->last_cie;
	lo = lower_bound(k, 0, f->cies.n, f->cies.v[k].off < off);
	if (lo == f->cies.n || f->cies.v[lo].off != off)
		return UINT32_MAX;
	return f->last_cie = (uint32_t)lo;
}

/* A record's bytes behind its length. */
struct record {
	uint64_t off;	     /* of its length field, in the section */
	uint64_t id, id_off; /* CIE's mark or FDE's pointer to its CIE, and where it is */
	bool is_cie;
	struct rd r; /* what follows */
};

/* Reads the record at R's cursor and steps over it; false at the section's end.  A length of 0 ends
 * a list of records, but linkers put lists behind each other. */
static bool next_record(const struct cfi_frames *f, struct rd *r, struct record *ret)
{
	uint64_t length;
	bool is_64;

	do {
		ret->off = rd_off(r);
		length = rd_le32(r);
	} while (length == 0 && !r->bad);
	is_64 = length == 0xffffffff;
	if (is_64)
		length = rd_le64(r);
	else if (length >= 0xfffffff0) /* DWARF 5 section 7.2.2: reserved */
		r->bad = true;
	if (r->bad || length > rd_left(r) || length > UINT32_MAX) {
		r->bad = true;
		return false;
	}
	ret->id_off = rd_off(r);
	ret->r = rd_init(r->p, (size_t)length);
	rd_bytes(r, (size_t)length);
	if (f->is_eh) { /* LSB: of 4 bytes with either length */
		ret->id = rd_le32(&ret->r);
		ret->is_cie = ret->id == 0;
	} else {
		ret->id = is_64 ? rd_le64(&ret->r) : rd_le32(&ret->r);
		ret->is_cie = ret->id == (is_64 ? UINT64_MAX : UINT32_MAX);
	}
	return true;
}

/* Reads the FDE that RECORD is; false when it is damaged. */
static bool read_fde(struct cfi_frames *f, struct record *record, struct cfi_fde *ret)
{
	struct rd *r = &record->r;
	const struct cfi_cie *c;

	ret->cie = find_cie(f, f->is_eh ? record->id_off - record->id : record->id);
	if (ret->cie == UINT32_MAX)
		return false;
	c = &f->cies.v[ret->cie];
	rd_bytes(r, c->n_segment_bytes);
	ret->svma = cfi_read_pointer(r, c->encoding, f->in, svma_of(f, r));
	ret->n_bytes = read_value(r, c->encoding & 0xf);
	if (c->has_data)
		rd_bytes(r, rd_count(r, 1));
	ret->program = r->p;
	ret->n_program = (uint32_t)rd_left(r);
	return !r->bad;
}

/* Two passes, as an FDE of .debug_frame may come before its CIE: this is the first. */
void cfi_frames_read(struct cfi_frames *f, const struct unwind_input *in,
		     const struct unwind_section *s, bool is_eh)
{
	struct record record;
	struct rd r;

	*f = (struct cfi_frames){.in = in, .section = s, .is_eh = is_eh};
	r = rd_init(s->bytes, s->n_bytes);
	while (rd_left(&r) && next_record(f, &r, &record))
		if (record.is_cie)
			add_cie(f, record.off, &record.r);
	f->n_damaged += r.bad && rd_left(&r);
}

void cfi_frames_each_fde(struct cfi_frames *f, cfi_fde_fn *fn, void *owner)
{
	struct rd r = rd_init(f->section->bytes, f->section->n_bytes);
	struct record record;
	struct cfi_fde fde;

	while (rd_left(&r) && next_record(f, &r, &record)) {
		if (record.is_cie)
			continue;
		if (!read_fde(f, &record, &fde))
			f->n_damaged++;
		/* Code that the linker threw away has address or size 0, and a range that wraps
		 * is none. */
		else if (fde.svma != 0 && fde.n_bytes != 0 && fde.svma + fde.n_bytes >= fde.svma)
			fn(owner, record.off, &fde);
	}
}

struct cfi_fde cfi_frames_fde(struct cfi_frames *f, uint64_t off)
{
	struct rd r = rd_init(f->section->bytes, f->section->n_bytes);
	struct cfi_fde fde = {0};
	struct record record;

	rd_bytes(&r, (size_t)off);
	if (next_record(f, &r, &record))
		read_fde(f, &record, &fde);
	return fde;
}

void cfi_frames_release(struct cfi_frames *f)
{
	vec_release(&f->cies);
}
