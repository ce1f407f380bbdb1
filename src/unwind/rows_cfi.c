/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of .eh_frame and .debug_frame: the programs of their FDEs, run in the order of the code. */
#include "unwind/cfi.h"
#include "unwind/rows.h"

/* Nothing called the entry of a process or thread.  These are short, and written by hand; an FDE
 * that says so of more code has a damaged range, and would make roots of what lies there. */
#define MAX_ENTRY_BYTES 4096

struct reader {
	struct rows *rows;
	const struct cfi_frames *f;
	const struct cfi_fde *fde; /* the one that is run */
	const struct piece *piece;
	bool is_signal, is_too_complex;
};

static void take_row(void *owner, uint64_t start, uint64_t end, const struct cfi_state *s)
{
	struct reader *k = owner;
	uint64_t off = k->piece->off + (start - k->fde->svma);
	struct unwind_rule rule = {.cfa = UNWIND_CFA_NONE, .why = UNWIND_DAMAGED};

	if (off >= k->piece->end)
		return;
	if (s)
		rule = cfi_rule(s, k->f->in->machine, k->is_signal);
	if (rule.ra == UNWIND_RA_NONE && k->fde->n_bytes > MAX_ENTRY_BYTES)
		rule = (struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_DAMAGED};
	if (rule.cfa == UNWIND_CFA_NONE && rule.why == UNWIND_TOO_COMPLEX)
		k->is_too_complex = true;
	rows_add(k->rows, off, rule_set_intern(k->rows->rules, &rule));
}

static void run_fde(void *owner, const struct piece *piece)
{
	struct reader *k = owner;

	k->fde = &k->f->fdes.v[piece->item];
	k->piece = piece;
	k->is_signal = k->f->cies.v[k->fde->cie].is_signal;
	k->is_too_complex = false;
	k->rows->n_fdes++;
	k->rows->n_damaged += cfi_run(k->f, k->fde, take_row, k) < 0;
	k->rows->n_too_complex += k->is_too_complex;
}

void rows_read_cfi(struct rows *rows, const struct unwind_section *s, bool is_eh)
{
	struct piece_list pieces = {0};
	struct cfi_frames f;
	struct reader k = {.rows = rows, .f = &f};

	cfi_frames_read(&f, rows->in, s, is_eh);
	rows->n_damaged += f.n_damaged;
	for (size_t i = 0; i < f.fdes.n; i++)
		rows_add_piece(rows, &pieces, f.fdes.v[i].svma, f.fdes.v[i].n_bytes, (uint32_t)i);
	rows_run_pieces(rows, &pieces, run_fde, &k);
	vec_release(&pieces);
	cfi_frames_release(&f);
}
