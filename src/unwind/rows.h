/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows in the making: what each kind of frame information gives, before the tables of table.h are
 * made of it.  Private to this folder. */
#ifndef UNWIND_ROWS_H
#define UNWIND_ROWS_H

#include "base/hash.h"
#include "base/vec.h"
#include "unwind/build.h"

/* Rules, each once.  Number 0 is UNWIND_NO_RULE. */
struct rule_set {
	VEC(struct unwind_rule) rules;
	struct index index;
};

struct frame_row {
	uint32_t off;  /* from rows.base */
	uint32_t rule; /* in rule_set */
};

/* Puts OFF bytes as words into *RET; false when a rule cannot say it. */
static inline bool rule_in_words(int64_t off, short *ret)
{
	if (off % 8 != 0 || off / 8 <= -UNWIND_LOST || off / 8 >= UNWIND_LOST)
		return false;
	*ret = (short)(off / 8);
	return true;
}

/* Ascending by offset, neighbours differ in their rule; a row holds until the next. */
struct frame_rows {
	const struct unwind_input *in;
	struct rule_set *rules;
	uint64_t base;
	size_t *left;  /* bytes that building may still take; rows and pieces behind that are
			  dropped */
	bool *ran_out; /* some were */
	VEC(struct frame_row) v;
	uint32_t n_fdes, n_too_complex, n_damaged;
};

/* The number of RULE; rules are compared by their bytes. */
uint32_t rule_set_intern(struct rule_set *s, const struct unwind_rule *rule);

/* Adds that from file offset OFF on RULE holds; offsets must not descend, and the last rule for one
 * offset counts. */
void rows_add(struct frame_rows *rows, uint64_t off, uint32_t rule);

/* Adds what section S says: .eh_frame when IS_EH, .debug_frame, .sframe, .gopclntab.  ROWS is empty
 * before. */
void rows_read_cfi(struct frame_rows *rows, const struct unwind_section *s, bool is_eh);
void rows_read_sframe(struct frame_rows *rows, const struct unwind_section *s);
void rows_read_go(struct frame_rows *rows, const struct unwind_section *s);

/* Adds what IN's read_code says of the code that ROWS leave out. */
void rows_read_code(struct frame_rows *rows);

/* A stretch of code that one entry of frame information speaks of. */
struct piece {
	uint64_t off, end; /* file offsets */
	uint32_t item;	   /* the entry's number */
};

/* A piece in 32 bits, relative to rows.base, because there are many: see build.c's MAX_SPAN. */
struct packed_piece {
	uint32_t off, end, item;
};

struct piece_list {
	struct packed_piece *v;
	size_t n, cap; /* as of a VEC */
};

/* Adds code [SVMA, SVMA + N_BYTES) as far as it is in a segment. */
void rows_add_piece(struct frame_rows *rows, struct piece_list *list, uint64_t svma,
		    uint64_t n_bytes, uint32_t item);

void piece_list_release(struct frame_rows *rows, struct piece_list *list);

/* Releases what ROWS has taken of memory. */
void row_list_release(struct frame_rows *rows);

/* Adds rows for PIECE, the first at its start and none at or behind its end. */
typedef void rows_piece_fn(void *owner, const struct piece *piece);

/* Calls RUN for the pieces of LIST by ascending offset, and adds the gaps between them; not at all
 * when memory ran out.  Where two
 * overlap, the one that starts later holds from its start on, as it would for a search by start
 * address (.eh_frame_hdr), and behind its end is a gap; of those with one start, the first item. */
void rows_run_pieces(struct frame_rows *rows, struct piece_list *list, rows_piece_fn *run,
		     void *owner);

/* Turns code [SVMA, SVMA + *N_BYTES) into a file offset and cuts *N_BYTES at the segment's end;
 * false when SVMA is in none. */
bool rows_find_off(const struct frame_rows *rows, uint64_t svma, uint64_t *n_bytes,
		   uint64_t *ret_off);

#endif
