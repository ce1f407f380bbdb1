/* SPDX-License-Identifier: BSD-2-Clause */
/* What calc.c and calc_causes.c share; not for other files. */
#ifndef QUERY_ROWS_CALC_IMPL_H
#define QUERY_ROWS_CALC_IMPL_H

#include "query/rows/calc.h"

typedef VEC(uint32_t) block_numbers;

struct calc_maker {
	const struct listing *l;
	const struct columns *columns;
	struct calc *ret;
	image_id image;
	uint16_t machine; /* elf.h */
	struct flow flow;
	uint8_t *code;	 /* [l->start, l->end) */
	unsigned column; /* whose samples are looked at */
	double scale;	 /* cycles that its amount stands for */
};

static inline const uint8_t *calc_bytes(const struct calc_maker *m, const struct calc_insn *in)
{
	return m->code + (in->insn->svma - m->l->start);
}

/* Finds who and what may have stalled each tallied instruction. */
void calc_find_causes(struct calc_maker *m);

#endif
