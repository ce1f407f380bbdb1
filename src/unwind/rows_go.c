/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of Go's own table (gopclntab.h): the canonical frame address is the stack pointer, the depth
 * that the table has for the instruction, and the return address.  A function with a frame keeps
 * its caller's frame pointer in the highest word of it (src/cmd/internal/obj/x86/obj6.go).
 *
 * For example, a function of depth 0, then 0x58: CFA is sp + 8, then sp + 0x60, and the caller's
 * frame pointer is at CFA - 16. */
#include <elf.h>
#include <string.h>

#include "unwind/gopclntab.h"
#include "unwind/rows.h"

struct go_rows {
	struct frame_rows *rows;
	struct go_table t;
	unsigned char why; /* of the function's rules */
};

enum go_kind { GO_USUAL, GO_OUTERMOST, GO_SIGNAL, GO_BEGIN, GO_STOPS };

/* Go's src/runtime/asm_amd64.s, rt0_linux_amd64.s, sys_linux_amd64.s. */
static enum go_kind kind_of(const struct go_func *f, enum go_layout layout)
{
	static const struct {
		const char *name;
		enum go_kind kind;
	} known[] = {
		{"runtime.goexit", GO_OUTERMOST},
		{"runtime.mstart", GO_OUTERMOST},
		{"runtime.rt0_go", GO_OUTERMOST},
		/* It never returns, and who called it has nothing to do with the goroutine
		 * that it finds. */
		{"runtime.schedule", GO_OUTERMOST},
		{"_rt0_amd64_linux", GO_OUTERMOST},
		/* It goes on with a goroutine, on whose stack nobody called it. */
		{"gogo", GO_OUTERMOST},
		{"runtime.sigreturn", GO_SIGNAL},
		/* Where C called Go back, what stands on the goroutine's stack as the caller is
		 * the beginning of this function, which calls nobody. */
		{"runtime.systemstack_switch", GO_BEGIN},
		{"runtime.sigreturn__sigaction", GO_SIGNAL},
		/* A signal's handler puts the address that the thread was stopped at on its stack,
		 * and sends it there (src/runtime/signal_amd64.go pushCall, preparePanic).  That
		 * may be a function's first instruction. */
		{"runtime.asyncPreempt", GO_STOPS},
		{"runtime.sigpanic", GO_STOPS},
		{"runtime.sigpanic0", GO_STOPS},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (go_func_is(f, known[i].name))
			return known[i].kind;
	/* Later it jumps to the one above, on its caller's stack. */
	return layout < GO_1_18 && go_func_is(f, "runtime.gogo") ? GO_OUTERMOST : GO_USUAL;
}

static void add_row(struct go_rows *g, uint64_t off, const struct unwind_rule *rule)
{
	rows_add(g->rows, off, rule_set_intern(g->rows->rules, rule));
}

/* The stack that the code at SVMA runs on instead of its caller's; NULL: it runs on that. */
static const struct unwind_switch *find_switch(const struct go_rows *g, uint64_t svma)
{
	for (uint32_t i = 0; i < g->rows->in->n_switches; i++) {
		const struct unwind_switch *s = &g->rows->in->switches[i];

		if (svma >= s->start && svma < s->end)
			return s;
	}
	return NULL;
}

static struct unwind_rule rule_of(const struct go_rows *g, const struct unwind_switch *s,
				  int32_t depth)
{
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_SP, .ra_at = -1, .bx_at = UNWIND_LOST, .why = g->why};

	if (s) {
		depth = s->depth;
		rule.cfa = UNWIND_CFA_GOROUTINE;
		rule.cfa_reg = s->how;
		rule.bx_at = s->goroutine_at;
	}
	if (depth < 0 || depth % 8)
		return (struct unwind_rule){.cfa = UNWIND_CFA_NONE, .why = UNWIND_TOO_COMPLEX};
	rule.cfa_off = depth + 8;
	if (depth)
		rule.fp_at = -2;
	return rule;
}

/* Adds the rows of [START, END), which is DEPTH deep, from where SVMA is at OFF. */
static void add_stretch(struct go_rows *g, const struct piece *piece, uint64_t svma,
			const struct go_value *v)
{
	const uint64_t off = piece->off - svma;
	uint64_t at = v->start;

	while (at < v->end) {
		const struct unwind_switch *s = find_switch(g, at);
		struct unwind_rule rule = rule_of(g, s, v->value);
		uint64_t end = s && s->end < v->end ? s->end : v->end;

		for (uint32_t i = 0; !s && i < g->rows->in->n_switches; i++) {
			const uint64_t next = g->rows->in->switches[i].start;

			if (next > at && next < end)
				end = next;
		}
		if (off + at < piece->end)
			add_row(g, off + at, &rule);
		at = end;
	}
}

static void run_func(void *owner, const struct piece *piece)
{
	static const struct unwind_rule damaged = {.cfa = UNWIND_CFA_NONE, .why = UNWIND_DAMAGED},
					outermost = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_NONE},
					signal = {.cfa = UNWIND_CFA_SIGNAL, .why = UNWIND_STOPS},
					begin = {.cfa = UNWIND_CFA_SP,
						 .cfa_off = 8,
						 .ra_at = -1,
						 .bx_at = UNWIND_LOST,
						 .why = UNWIND_BEGIN};
	struct go_rows *g = owner;
	struct go_func f;
	struct go_values values;
	struct go_value v = {0};

	g->rows->n_fdes++;
	if (!go_table_func(&g->t, piece->item, &f)) {
		g->rows->n_damaged++;
		add_row(g, piece->off, &damaged);
		return;
	}
	switch (kind_of(&f, g->t.layout)) {
	case GO_SIGNAL: /* nobody called it: a walk looks one byte before its address */
		add_row(g, piece->off - (piece->off > g->rows->base), &signal);
		return;
	case GO_BEGIN:
		add_row(g, piece->off - (piece->off > g->rows->base), &begin);
		return;
	case GO_OUTERMOST:
		add_row(g, piece->off, &outermost);
		return;
	case GO_STOPS:
	case GO_USUAL:
		break;
	}
	g->why = kind_of(&f, g->t.layout) == GO_STOPS ? UNWIND_STOPS : 0;
	values = go_values_begin(&g->t, &f, f.depths);
	add_row(g, piece->off, &damaged); /* unless there are values */
	while (go_values_next(&values, &v))
		add_stretch(g, piece, f.start, &v);
	if (v.end < f.end) {
		g->rows->n_damaged += f.depths != 0;
		if (v.end && piece->off + (v.end - f.start) < piece->end)
			add_row(g, piece->off + (v.end - f.start), &damaged);
	}
}

void rows_read_go(struct frame_rows *rows, const struct unwind_section *s)
{
	struct go_rows g = {.rows = rows};
	struct piece_list pieces = {0};

	if (rows->in->machine != EM_X86_64 ||
	    go_table_open(&g.t, s->bytes, s->n_bytes, rows->in->text_svma, NULL) < 0) {
		rows->n_damaged++;
		return;
	}
	for (uint32_t i = 0; i < g.t.n_funcs; i++) {
		struct go_func f;

		if (go_table_func(&g.t, i, &f))
			rows_add_piece(rows, &pieces, f.start, f.end - f.start, i);
	}
	rows_run_pieces(rows, &pieces, run_func, &g);
	piece_list_release(rows, &pieces);
}
