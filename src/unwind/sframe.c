/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of .sframe, versions 1 and 2 (binutils, "The SFrame Format", sections 2 to 4; version 1 is
 * what binutils 2.40 writes, whose function entries lack the last three bytes of version 2's).
 *
 * SFrame says CFA, return address and frame pointer, which is all of a rule but rbx: that counts as
 * lost.  Entries' rows may be shared; a budget of the section's size keeps the work linear. */
#include <elf.h>

#include "base/rd.h"
#include "unwind/rows.h"

enum {
	MAGIC = 0xdee2,
	HEADER_BYTES = 28,
	F_FUNC_START_PCREL = 4, /* else starts count from the section's */
	ABI_AARCH64_LE = 2,
	ABI_AMD64_LE = 3,
};

struct sframe {
	struct frame_rows *rows;
	const struct unwind_section *s;
	uint16_t machine;
	uint8_t version, flags;
	int8_t fixed_fp, fixed_ra; /* bytes from the CFA; 0: not fixed */
	uint32_t n_fdes;
	struct rd fdes, fres;
	size_t budget; /* rows that may still be read */
};

struct fde {
	uint64_t svma;
	uint32_t n_bytes, fre_off, n_fres;
	uint8_t info, rep_bytes;
};

static bool read_header(struct sframe *f)
{
	struct rd r = rd_init(f->s->bytes, f->s->n_bytes);
	uint16_t magic = rd_le16(&r);
	uint32_t fde_off, fre_off, fre_bytes;
	uint8_t abi, n_aux;

	f->version = rd_u8(&r);
	f->flags = rd_u8(&r);
	abi = rd_u8(&r);
	f->fixed_fp = (int8_t)rd_u8(&r);
	f->fixed_ra = (int8_t)rd_u8(&r);
	n_aux = rd_u8(&r);
	f->n_fdes = rd_le32(&r);
	rd_le32(&r); /* number of rows */
	fre_bytes = rd_le32(&r);
	fde_off = rd_le32(&r);
	fre_off = rd_le32(&r);
	rd_bytes(&r, n_aux);
	if (r.bad || magic != MAGIC || (f->version != 1 && f->version != 2) ||
	    abi != (f->machine == EM_X86_64 ? ABI_AMD64_LE : ABI_AARCH64_LE))
		return false;
	f->fdes = f->fres = r;
	rd_bytes(&f->fdes, fde_off);
	rd_bytes(&f->fres, fre_off);
	if (f->fdes.bad || f->fres.bad || fre_bytes > rd_left(&f->fres))
		return false;
	f->fres = rd_init(f->fres.p, fre_bytes);
	return f->n_fdes <= rd_left(&f->fdes) / (f->version == 1 ? 17 : 20);
}

static struct fde read_fde(const struct sframe *f, uint32_t i)
{
	size_t n = f->version == 1 ? 17 : 20;
	struct rd r = rd_init(f->fdes.p + i * n, n);
	uint64_t base = f->s->svma;
	struct fde fde;

	if (f->flags & F_FUNC_START_PCREL)
		base += (uint64_t)(r.p - f->s->bytes);
	fde.svma = base + (uint64_t)(int32_t)rd_le32(&r);
	fde.n_bytes = rd_le32(&r);
	fde.fre_off = rd_le32(&r);
	fde.n_fres = rd_le32(&r);
	fde.info = rd_u8(&r);
	fde.rep_bytes = f->version == 1 ? 16 : rd_u8(&r);
	return fde;
}

static int32_t read_offset(struct rd *r, unsigned log2_bytes)
{
	switch (log2_bytes) {
	case 0:
		return (int8_t)rd_u8(r);
	case 1:
		return (int16_t)rd_le16(r);
	case 2:
		return (int32_t)rd_le32(r);
	default:
		r->bad = true;
		return 0;
	}
}

/* Reads one row: where it starts in its function, and its rule. */
static uint32_t read_fre(const struct sframe *f, struct rd *r, unsigned type,
			 struct unwind_rule *ret)
{
	uint32_t start = type == 0 ? rd_u8(r) : type == 1 ? rd_le16(r) : rd_le32(r);
	uint8_t info = rd_u8(r);
	unsigned n = info >> 1 & 15, size = info >> 5 & 3, k = 0;
	int32_t off[15], ra = f->fixed_ra, fp = f->fixed_fp;
	struct unwind_rule rule = {0};

	r->bad |= type > 2;
	for (unsigned i = 0; i < n; i++)
		off[i] = read_offset(r, size);
	if (n == 0) { /* the outermost frame */
		rule.cfa = UNWIND_CFA_SP;
		rule.ra = UNWIND_RA_NONE;
		*ret = rule;
		return start;
	}
	rule.cfa = info & 1 ? UNWIND_CFA_SP : UNWIND_CFA_FP;
	rule.cfa_off = off[k++];
	if (ra == 0 && k < n)
		ra = off[k++];
	if (fp == 0 && k < n)
		fp = off[k++];
	rule.ra = ra ? UNWIND_RA_SAVED : UNWIND_RA_REGISTER;
	if (!rule_in_words(ra, &rule.ra_at) || (ra == 0 && f->machine == EM_X86_64)) {
		*ret = (struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_TOO_COMPLEX};
		return start;
	}
	if (ra == 0)
		rule.ra_at = 30; /* DWARF for the Arm 64-bit architecture, 4.1: the link register */
	if (!rule_in_words(fp, &rule.fp_at))
		rule.fp_at = UNWIND_LOST;
	rule.bx_at = f->machine == EM_X86_64 ? UNWIND_LOST : UNWIND_SAME;
	rule.signed_ra = info >> 7;
	*ret = rule;
	return start;
}

/* Stubs of a procedure linkage table: rows repeat every rep_bytes.  Taken when they are those of
 * UNWIND_CFA_PLT: 16 bytes each, sp + 8 and from some byte on sp + 16. */
static bool read_plt(const struct sframe *f, struct rd *r, const struct fde *fde,
		     struct unwind_rule *ret)
{
	struct unwind_rule a, b;
	uint32_t a_at, b_at;

	if (f->machine != EM_X86_64 || fde->rep_bytes != 16 || fde->svma % 16 != 0 ||
	    fde->n_fres != 2)
		return false;
	a_at = read_fre(f, r, fde->info & 15, &a);
	b_at = read_fre(f, r, fde->info & 15, &b);
	if (r->bad || a_at != 0 || b_at == 0 || b_at > 15 || a.cfa != UNWIND_CFA_SP ||
	    b.cfa != UNWIND_CFA_SP || a.cfa_off != 8 || b.cfa_off != 16)
		return false;
	*ret = a;
	ret->cfa = UNWIND_CFA_PLT;
	ret->cfa_off = (int)b_at;
	return true;
}

static void add_row(struct sframe *f, uint64_t off, const struct unwind_rule *rule)
{
	rows_add(f->rows, off, rule_set_intern(f->rows->rules, rule));
}

static void run_fde(void *owner, const struct piece *piece)
{
	static const struct unwind_rule damaged = {.cfa = UNWIND_CFA_NONE, .why = UNWIND_DAMAGED};
	struct unwind_rule rule = {.cfa = UNWIND_CFA_NONE, .why = UNWIND_TOO_COMPLEX};
	struct sframe *f = owner;
	struct fde fde = read_fde(f, piece->item);
	struct rd r = f->fres;
	uint32_t last = 0;
	bool is_too_complex = false;

	f->rows->n_fdes++;
	rd_bytes(&r, fde.fre_off);
	if (fde.info & 16) { /* of masked addresses */
		f->rows->n_too_complex += !read_plt(f, &r, &fde, &rule);
		add_row(f, piece->off, &rule);
		return;
	}
	for (uint32_t i = 0; i < fde.n_fres; i++) {
		uint32_t start = read_fre(f, &r, fde.info & 15, &rule);

		if (r.bad || (i == 0 && start != 0) || start < last || f->budget == 0) {
			r.bad = true;
			break;
		}
		f->budget--;
		last = start;
		if (piece->off + start >= piece->end)
			break;
		is_too_complex |= rule.cfa == UNWIND_CFA_NONE;
		add_row(f, piece->off + start, &rule);
	}
	if (r.bad || fde.n_fres == 0) { /* also how far the last row reaches is not known then */
		f->rows->n_damaged++;
		if (piece->off + last < piece->end)
			add_row(f, piece->off + last, &damaged);
	}
	f->rows->n_too_complex += is_too_complex;
}

void rows_read_sframe(struct frame_rows *rows, const struct unwind_section *s)
{
	struct sframe f = {.rows = rows, .s = s, .machine = rows->in->machine};
	struct piece_list pieces = {0};

	if (!read_header(&f)) {
		rows->n_damaged++;
		return;
	}
	f.budget = s->n_bytes / 2; /* a row has two bytes at least */
	for (uint32_t i = 0; i < f.n_fdes; i++) {
		struct fde fde = read_fde(&f, i);

		rows_add_piece(rows, &pieces, fde.svma, fde.n_bytes, i);
	}
	rows_run_pieces(rows, &pieces, run_fde, &f);
	piece_list_release(rows, &pieces);
}
