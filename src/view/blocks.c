/* SPDX-License-Identifier: BSD-2-Clause */
/* See blocks.h. */
#include "view/blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "view/about.h"
#include "view/amounts.h"
#include "view/list.h"

static const struct emit_col block_cols[] = {
	{"start", NULL, EMIT_HEX}, {"end", NULL, EMIT_HEX},	{"instructions", "insns", EMIT_U64},
	{"loops", NULL, EMIT_U64}, {"count", NULL, EMIT_FIXED}, {"confidence", NULL, EMIT_STR},
};

void blocks_emit_basis(struct emit *e, const struct blocks *b)
{
	struct json *j = emit_json(e);

	if (j) {
		json_add_str(j, "counts_are_of", b->basis_text);
		json_add_u64(j, "counted", b->n_basis);
		json_add_u64(j, "unknown_jumps", b->n_unknown_jumps);
		json_add_u64(j, "unknown_blocks", b->n_unknown);
	}
	switch (b->basis) {
	case BLOCKS_OF_BRANCHES:
		emit_text(e,
			  "counts are of branch stacks, %" PRIu64
			  " jumps: how often blocks ran beside each other\n",
			  b->n_basis);
		break;
	case BLOCKS_OF_RETIRED:
		emit_text(e,
			  "counts are executions, of %" PRIu64
			  " sample%s of retired instructions\n",
			  b->n_basis, plural_s(b->n_basis));
		break;
	case BLOCKS_OF_LINES:
		emit_text(e,
			  "counts are executions, of %" PRIu64 " source line%s that gcov counted\n",
			  b->n_basis, plural_s(b->n_basis));
		break;
	case BLOCKS_EXACT:
		emit_text(e, "counts are executions, of %" PRIu64 " instructions counted\n",
			  b->n_basis);
		break;
	}
	if (b->n_unknown_jumps)
		emit_text(e,
			  "%" PRIu32
			  " jump%s nobody knows where; blocks behind %s may be missing\n",
			  b->n_unknown_jumps, b->n_unknown_jumps == 1 ? " leads" : "s lead",
			  b->n_unknown_jumps == 1 ? "it" : "them");
	if (b->n_unknown)
		emit_text(e, "how often %" PRIu32 " block%s ran is not known\n", b->n_unknown,
			  plural_s(b->n_unknown));
	emit_text(e, "\n");
}

/* Columns of samples, with their percentages; returns how many. */
static unsigned make_sample_cols(const struct columns *columns, const struct blocks *b,
				 const unsigned *order, unsigned n, struct emit_col *ret)
{
	struct amounts *amounts = xcalloc(columns->cols.n + 1, sizeof(*amounts));
	unsigned n_cols = 0;

	vec_each (r, &b->v)
		amounts_note(amounts, columns, r->samples);
	for (unsigned i = 0; i < n; i++) {
		const struct column *c = &columns->cols.v[order[i]];

		ret[n_cols++] = amount_col(c, &amounts[order[i]], c->name, c->title, "counts", 0);
		ret[n_cols++] = (struct emit_col){"percent", "%", EMIT_PERCENT,
						  .in = c->adds_up ? EMIT_IN_TABLE : EMIT_IN_NONE,
						  .hot = true};
	}
	free(amounts);
	return n_cols;
}

static void emit_block(struct emit *e, const struct columns *columns, const struct listing *l,
		       const struct block_row *r, const unsigned *order, unsigned n,
		       struct emit_cell *cells)
{
	struct emit_cell *cell = cells;

	for (unsigned i = 0; i < n; i++) {
		const double samples = r->samples[order[i]];

		*cell++ = amount_cell(e, columns, order[i], r->samples);
		*cell = percent_cell(samples, l->total[order[i]]);
		cell++->none = samples == 0 || l->total[order[i]] == 0;
	}
	*cell++ = (struct emit_cell){.u = r->start};
	*cell++ = (struct emit_cell){.u = r->end};
	*cell++ = (struct emit_cell){.u = r->n_insns};
	*cell++ = (struct emit_cell){.u = r->n_loops};
	*cell++ = (struct emit_cell){.d = round(r->count.n * 100) / 100,
				     .none = r->count.confidence == COUNT_UNKNOWN};
	*cell = (struct emit_cell){.s = count_confidence_name(r->count.confidence)};
	emit_row(e, cells);
}

void blocks_emit(struct emit *e, struct source *s, const struct listing *l, const struct blocks *b,
		 bool no_header)
{
	const struct columns *columns = &s->columns;
	const size_t n_most = 2 * columns->cols.n + n_elems(block_cols);
	unsigned *order = xcalloc(columns->cols.n + 1, sizeof(*order));
	const unsigned n = cols_order(columns, order);
	struct emit_col *cols = xcalloc(n_most, sizeof(*cols));
	struct emit_cell *cells = xcalloc(n_most, sizeof(*cells));
	unsigned n_cols;

	emit_begin(e);
	about_emit(e, s, no_header);
	list_emit_procedure(e, columns, l, no_header);
	if (!no_header || e->format == EMIT_JSON)
		blocks_emit_basis(e, b);
	n_cols = make_sample_cols(columns, b, order, n, cols);
	memcpy(cols + n_cols, block_cols, sizeof(block_cols));
	n_cols += n_elems(block_cols);
	emit_rows_by(e, "block");
	emit_table(e, "rows", cols, n_cols);
	vec_each (r, &b->v)
		emit_block(e, columns, l, r, order, n, cells);
	emit_table_end(e);
	emit_end(e);
	free(order);
	free(cols);
	free(cells);
}
