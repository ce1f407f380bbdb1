/* SPDX-License-Identifier: BSD-2-Clause */
/* See list_arrows.h. */
#include "view/list_arrows.h"

unsigned arrows_width(const struct arrows *a)
{
	return a->n_loops + (a->n_lanes ? a->n_lanes + 1 : 0);
}

/* Whether instruction K is in the loop that is number DEPTH of those around I. */
static bool same_loop(const struct listing *l, size_t i, size_t k, unsigned depth)
{
	return k < l->insns.n && l->insns.v[k].n_loops > depth &&
	       l->insns.v[k].loops[depth] == l->insns.v[i].loops[depth];
}

static void add_brackets(const struct arrows *a, uint32_t i, struct str *out)
{
	const struct listing *l = a->l;

	for (unsigned d = 0; d < a->n_loops; d++) {
		bool above, below;

		if (l->insns.v[i].n_loops <= d) {
			str_addc(out, ' ');
			continue;
		}
		above = i > 0 && same_loop(l, i, i - 1, d);
		below = same_loop(l, i, (size_t)i + 1, d);
		str_add(out, above && below ? "┃" : above ? "┗" : below ? "┏" : "╺");
	}
}

void arrows_add(const struct arrows *a, uint32_t i, struct str *out)
{
	const uint32_t to = a->l->insns.v[i].jumps_to;
	bool line = false, head = false;

	add_brackets(a, i, out);
	if (!a->n_lanes)
		return;
	for (unsigned lane = a->n_lanes; lane--;) {
		const struct arrow *at = arrow_over(a, lane, i);

		if (!at) {
			str_add(out, line ? "─" : " ");
		} else if (at->target != i && at->target != to) {
			str_add(out, line ? "┼" : "│");
		} else {
			str_add(out, at->lo == i   ? line ? "┬" : "┌"
				     : at->hi == i ? line ? "┴" : "└"
				     : line	   ? "┼"
						   : "├");
			line = true;
			head |= at->target == i;
		}
	}
	str_add(out, head ? "→" : a->l->insns.v[i].is_target && !line ? ":" : line ? "─" : " ");
}

void arrows_add_gap(const struct arrows *a, uint32_t i, uint32_t end, struct str *out)
{
	for (unsigned d = 0; d < a->n_loops; d++)
		str_addc(out, ' ');
	for (unsigned lane = a->n_lanes; lane--;) {
		const struct arrow *at = arrow_over(a, lane, i);

		str_add(out, at && at->lo < i && at->hi >= end ? "│" : " ");
	}
	if (a->n_lanes)
		str_addc(out, ' ');
}
