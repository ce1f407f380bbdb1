/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of .eh_frame and .debug_frame: the programs of their FDEs, run in the order of the code. */
#include "unwind/cfi.h"
#include "unwind/rows.h"

/* Nothing called the entry of a process or thread.  These are short, and written by hand; an FDE
 * that says so of more code has a damaged range, and would make roots of what lies there. */
#define MAX_ENTRY_BYTES 4096

/* States that occur all the time, packed so that equal words are equal states, and the numbers of
 * their rules: 730 rules make up the half million rows of a compiler. */
#define MEMO_SLOTS 1024

struct memo {
	uint64_t packed; /* 0: none */
	uint32_t rule;
};

struct reader {
	struct frame_rows *rows;
	struct cfi_frames *f;
	struct piece_list pieces;
	struct cfi_fde fde; /* the one that is run */
	const struct piece *piece;
	bool is_signal, is_too_complex;
	struct memo memo[MEMO_SLOTS];
};

/* All of S that its rule depends on in a word, never 0; 0 where it does not fit: only a CFA by
 * register and registers saved by it, or not at all, do. */
static uint64_t pack_state(const struct cfi_state *s)
{
	uint64_t packed = 1;

	if (s->cfa.form != CFI_REG || s->cfa.reg > 31 || s->cfa.off < 0 || s->cfa.off > 0xffff ||
	    s->ra_reg > 31 || s->signed_ra)
		return 0;
	for (int i = 0; i < CFI_N_COLUMNS; i++) {
		const struct cfi_place *p = &s->columns[i];
		uint64_t off = (uint64_t)-p->at.off;

		if (p->how == CFI_AT) {
			if (p->at.form != CFI_CFA || off & 7 || off == 0 || off > 8 * 127)
				return 0;
			packed = packed << 8 | 128 | off / 8;
		} else if (p->how == CFI_UNSPECIFIED || p->how == CFI_SAME) {
			packed = packed << 8 | p->how;
		} else {
			return 0;
		}
	}
	_Static_assert(CFI_N_COLUMNS == 4, "eight bits each, with 26 others");
	return packed << 26 | (uint64_t)s->cfa.off << 10 | (uint64_t)s->cfa.reg << 5 | s->ra_reg;
}

/* The number of the rule for S. */
static uint32_t rule_of(struct reader *k, const struct cfi_state *s)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_NONE, .why = UNWIND_DAMAGED};
	uint64_t packed = s && !k->is_signal ? pack_state(s) : 0;
	struct memo *m = &k->memo[(packed * 0x9e3779b97f4a7c15ULL >> 40) % MEMO_SLOTS];
	bool is_too_complex;
	uint32_t n;

	if (packed && m->packed == packed)
		return m->rule;
	if (s)
		rule = cfi_rule(s, k->f->in->machine, k->is_signal);
	if (rule.ra == UNWIND_RA_NONE && k->fde.n_bytes > MAX_ENTRY_BYTES)
		rule = (struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_DAMAGED};
	is_too_complex = rule.cfa == UNWIND_CFA_NONE && rule.why == UNWIND_TOO_COMPLEX;
	n = rule_set_intern(k->rows->rules, &rule);
	if (is_too_complex)
		k->is_too_complex = true;
	else if (packed)
		*m = (struct memo){packed, n};
	return n;
}

static void take_row(void *owner, uint64_t start, uint64_t end, const struct cfi_state *s)
{
	struct reader *k = owner;
	uint64_t off = k->piece->off + (start - k->fde.svma);

	if (off < k->piece->end)
		rows_add(k->rows, off, rule_of(k, s));
}

static void run_fde(void *owner, const struct piece *piece)
{
	struct reader *k = owner;

	k->fde = cfi_frames_fde(k->f, piece->item);
	k->piece = piece;
	k->is_signal = k->f->cies.v[k->fde.cie].is_signal;
	k->is_too_complex = false;
	k->rows->n_fdes++;
	k->rows->n_damaged += cfi_run(k->f, &k->fde, take_row, k) < 0;
	k->rows->n_too_complex += k->is_too_complex;
}

/* What runs is read again: a piece is a third of what was read of its FDE. */
static void add_fde(void *owner, uint64_t off, const struct cfi_fde *fde)
{
	struct reader *k = owner;

	rows_add_piece(k->rows, &k->pieces, fde->svma, fde->n_bytes, (uint32_t)off);
}

void rows_read_cfi(struct frame_rows *rows, const struct unwind_section *s, bool is_eh)
{
	struct cfi_frames f;
	struct reader k = {.rows = rows, .f = &f};

	cfi_frames_read(&f, rows->in, s, is_eh);
	cfi_frames_each_fde(&f, add_fde, &k);
	rows->n_damaged += f.n_damaged;
	rows_run_pieces(rows, &k.pieces, run_fde, &k);
	piece_list_release(rows, &k.pieces);
	cfi_frames_release(&f);
}
