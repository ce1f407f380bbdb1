/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills a struct stacks from what another tool wrote: each distinct thing once, in whatever order
 * it comes. */
#ifndef PORT_STACKS_MAKE_H
#define PORT_STACKS_MAKE_H

#include "port/stacks.h"

struct stacks_maker {
	struct stacks *s;
	struct index images, functions, places, nodes, owners, values;
	struct str room; /* for texts that are put together */
	bool overflow;	 /* an amount does not fit 64 bits: importer_read refuses such files */
};

/* Begins to fill S, which is zeroed: its node, place and function 0 are there then. */
void stacks_make_begin(struct stacks_maker *m, struct stacks *s);

/* Sorts the values and adds them up; S is whole.  Frees what M holds. */
void stacks_make_end(struct stacks_maker *m);

/* All texts are copied; NULL counts as "". */
uint32_t stacks_make_column(struct stacks_maker *m, const char *event, const char *unit,
			    enum stack_amount amount, uint64_t period);
uint32_t stacks_make_image(struct stacks_maker *m, const struct stack_image *key);
uint32_t stacks_make_function(struct stacks_maker *m, const struct stack_function *key);

/* A place of N lines, innermost first: at SVMA of an image, or with STACK_NO_IMAGE known by its
 * lines alone. */
uint32_t stacks_make_place(struct stacks_maker *m, uint32_t image, uint64_t svma,
			   const struct stack_line *lines, uint32_t n);

/* The place of a function of which no more is known. */
uint32_t stacks_make_frame(struct stacks_maker *m, const char *name, const char *file,
			   uint32_t line, uint32_t image);
uint32_t stacks_make_node(struct stacks_maker *m, uint32_t parent, uint32_t place);
uint32_t stacks_make_owner(struct stacks_maker *m, const struct stack_owner *key);

/* The amounts of OWNER at NODE, one a column, to be added to; good until the next call. */
uint64_t *stacks_make_value(struct stacks_maker *m, uint32_t node, uint32_t owner);

/* Adds N, or N times EACH, to *AMOUNT, which is one of stacks_make_value's. */
static inline void stacks_make_add(struct stacks_maker *m, uint64_t *amount, uint64_t n)
{
	m->overflow |= __builtin_add_overflow(*amount, n, amount);
}

static inline void stacks_make_add_times(struct stacks_maker *m, uint64_t *amount, uint64_t n,
					 uint64_t each)
{
	m->overflow |= __builtin_mul_overflow(n, each, &n);
	stacks_make_add(m, amount, n);
}

/* The N bytes at TEXT as a text that lives as long as the stacks. */
const char *stacks_make_text(struct stacks_maker *m, const char *text, size_t n);

#endif
