/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of frame information made byte for byte, and rules as text. */
#ifndef TESTS_UNIT_UNWIND_T_H
#define TESTS_UNIT_UNWIND_T_H

#include <elf.h>
#include <stdio.h>

#include "base/wr.h"
#include "unwind/build.h"

#define TEXT_SVMA 0x401000 /* the only segment */
#define TEXT_OFF  0x1000
#define TEXT_SIZE 0x10000
#define EH_SVMA	  0x500000 /* .eh_frame */

#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Fills in the length of the record that began at AT, padded with DW_CFA_nop. */
static inline void end_record(struct wr *w, size_t at)
{
	uint32_t n;

	while (w->n % 8)
		wr_u8(w, 0);
	n = (uint32_t)(w->n - at - 4);
	for (int i = 0; i < 4; i++)
		w->v[at + (size_t)i] = (uint8_t)(n >> 8 * i);
}

/* A CIE of .eh_frame whose addresses are 4 bytes relative to themselves; code alignment 1, data
 * alignment -8.  MORE: letters of the augmentation behind "zR".  Returns its offset. */
static inline size_t put_cie(struct wr *w, uint16_t machine, const char *more,
			     const uint8_t *program, size_t n)
{
	size_t at = w->n;

	wr_le32(w, 0);
	wr_le32(w, 0);
	wr_u8(w, 1);
	wr_bytes(w, "zR", 2);
	wr_bytes(w, more, strlen(more) + 1);
	wr_u8(w, 1);
	wr_u8(w, 0x78);
	wr_u8(w, machine == EM_AARCH64 ? 30 : 16);
	wr_u8(w, 1);
	wr_u8(w, 0x1b);
	wr_bytes(w, program, n);
	end_record(w, at);
	return at;
}

/* The CIE that compilers write. */
static inline size_t put_plain_cie(struct wr *w, uint16_t machine)
{
	if (machine == EM_AARCH64)
		return put_cie(w, machine, "", PROGRAM(0x0c, 31, 0));
	return put_cie(w, machine, "", PROGRAM(0x0c, 7, 8, 0x90, 1));
}

/* An FDE of the CIE at offset CIE; code of SIZE bytes at SVMA. */
static inline void put_fde(struct wr *w, size_t cie, uint64_t svma, uint32_t size,
			   const uint8_t *program, size_t n)
{
	size_t at = w->n;

	wr_le32(w, 0);
	wr_le32(w, (uint32_t)(w->n - cie));
	wr_le32(w, (uint32_t)(svma - (EH_SVMA + w->n)));
	wr_le32(w, size);
	wr_u8(w, 0);
	wr_bytes(w, program, n);
	end_record(w, at);
}

static inline struct unwind_input input_of(uint16_t machine, const struct wr *eh_frame)
{
	struct unwind_input in = {.machine = machine, .n_segments = 1};

	in.eh_frame = (struct unwind_section){eh_frame->v, eh_frame->n, EH_SVMA};
	in.segments[0] = (struct unwind_segment){TEXT_SVMA, TEXT_OFF, TEXT_SIZE};
	return in;
}

/* What table.h promises; NULL when T keeps it, else what is wrong. */
static inline const char *table_fault(const struct unwind_table *t)
{
	uint32_t last_rule = UINT32_MAX;

	if (t->first_off % UNWIND_BLOCK || t->n_rows == 0 || t->n_blocks == 0)
		return "empty, or does not begin at a block";
	if (t->blocks[0] != 0 || t->blocks[t->n_blocks] != t->n_rows)
		return "the index does not cover the rows";
	if ((uint64_t)t->rows[0].start != (t->first_off & 0xffff))
		return "row 0 is not at the beginning";
	for (uint32_t b = 0; b < t->n_blocks; b++) {
		uint16_t base = (uint16_t)(t->first_off + (uint64_t)b * UNWIND_BLOCK);

		if (t->blocks[b] > t->blocks[b + 1])
			return "the index descends";
		for (uint32_t i = t->blocks[b]; i < t->blocks[b + 1]; i++) {
			const struct unwind_row *r = &t->rows[i];

			if ((uint16_t)(r->start - base) >= UNWIND_BLOCK)
				return "a row in another's block";
			if (i > t->blocks[b] && r->start <= r[-1].start)
				return "rows descend";
			if (r->rule >= t->n_rules)
				return "a rule that is not there";
			if (r->rule == last_rule)
				return "two rows for one";
			last_rule = r->rule;
		}
	}
	return NULL;
}

/* A rule as "sp+16 ra@-1 fp@-2"; registers that are kept are not named.  Lives until the next but
 * seven. */
static inline const char *rule_text(const struct unwind_rule *r)
{
	static const char *const cfa[] = {"none", "sp", "fp", "reg", "[fp", "[sp", "plt", "signal"};
	static const char *const why[] = {"no fde", "too complex", "damaged"};
	static char texts[8][96];
	static unsigned next;
	char *t = texts[next++ % 8];
	size_t n = 96, at;
	const short saved[] = {r->fp_at, r->bx_at};

	if (r->cfa == UNWIND_CFA_NONE || r->cfa == UNWIND_CFA_SIGNAL) {
		snprintf(t, n, "%s", r->cfa == UNWIND_CFA_NONE ? why[r->why] : "signal");
		return t;
	}
	if (r->ra == UNWIND_RA_NONE) {
		snprintf(t, n, "end");
		return t;
	}
	at = (size_t)snprintf(t, n, "%s", cfa[r->cfa]);
	if (r->cfa == UNWIND_CFA_REG)
		at += (size_t)snprintf(t + at, n - at, "%u", r->cfa_reg);
	at += (size_t)snprintf(t + at, n - at, "%+d", r->cfa_off);
	if (r->cfa == UNWIND_CFA_FP_DEREF || r->cfa == UNWIND_CFA_SP_DEREF)
		at += (size_t)snprintf(t + at, n - at, "]+%u", r->cfa_add);
	if (r->ra == UNWIND_RA_REGISTER && r->ra_at == 30)
		at += (size_t)snprintf(t + at, n - at, " lr");
	else if (r->ra == UNWIND_RA_REGISTER)
		at += (size_t)snprintf(t + at, n - at, " ra=r%d", r->ra_at);
	else
		at += (size_t)snprintf(t + at, n - at, " ra@%d", r->ra_at);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "bx" : "fp";

		if (r->by_fp & 1 << i)
			at += (size_t)snprintf(t + at, n - at, " %s@fp%+d", name, saved[i]);
		else if (saved[i] == UNWIND_LOST)
			at += (size_t)snprintf(t + at, n - at, " %s?", name);
		else if (saved[i] != UNWIND_SAME)
			at += (size_t)snprintf(t + at, n - at, " %s@%d", name, saved[i]);
	}
	if (r->signed_ra)
		snprintf(t + at, n - at, " signed");
	return t;
}

/* The rule at SVMA of the only segment. */
static inline const char *rule_at(const struct unwind_table *t, uint64_t svma)
{
	return rule_text(unwind_table_find(t, svma - TEXT_SVMA + TEXT_OFF));
}

#endif
