/* SPDX-License-Identifier: BSD-2-Clause */
/* See topdown.h. */
#include "view/topdown.h"

#include "view/amounts.h"

static const struct emit_col cols[] = {
	{"retiring", NULL, EMIT_PERCENT},
	{"bad_speculation", "bad spec", EMIT_PERCENT},
	{"frontend", "front end", EMIT_PERCENT},
	{"backend", "back end", EMIT_PERCENT},
	{"smt", "other thread", EMIT_PERCENT},
	{"slots_percent", "of slots", EMIT_PERCENT, .hot = true},
	{"slots", NULL, EMIT_FIXED, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
	{"image", NULL, EMIT_STR, .cut = TEXT_PATH, .spare = 1},
};
enum { SMT_COL = 4 };

static void emit_one(struct emit *e, const struct topdown_rows *t, const struct topdown_row *r)
{
	const double *share = r->t.share;

	emit_row(e, (const struct emit_cell[]){
			    {.d = 100 * share[TOPDOWN_RETIRING]},
			    {.d = 100 * share[TOPDOWN_BAD_SPECULATION]},
			    {.d = 100 * share[TOPDOWN_FRONTEND]},
			    {.d = 100 * share[TOPDOWN_BACKEND]},
			    {.d = 100 * share[TOPDOWN_SMT],
			     .none = !topdown_tells(&t->events, TOPDOWN_SMT)},
			    percent_cell(r->t.slots, t->rows.v[0].t.slots),
			    {.d = r->t.slots},
			    {.s = r->procedure ? r->procedure : "[all]"},
			    {.s = r->image, .none = !r->image},
		    });
}

void topdown_emit(struct emit *e, const struct topdown_rows *t)
{
	struct emit_col shown[n_elems(cols)];

	if (emit_json(e))
		json_add_str(emit_json(e), "no_topdown", t->known ? NULL : str_get(&t->why_not));
	if (!t->known)
		emit_text(e, "\n%s\n", str_get(&t->why_not));
	if (!t->rows.n)
		return;
	memcpy(shown, cols, sizeof(cols));
	if (!topdown_tells(&t->events, TOPDOWN_SMT))
		shown[SMT_COL].in = EMIT_IN_JSON | EMIT_IN_CSV;
	emit_text(e, "\nwhere the pipeline's slots went, by %s (top-down level 1):\n",
		  topdown_formula(&t->events));
	emit_rows_by(e, "procedure");
	emit_table(e, "topdown", shown, n_elems(shown));
	vec_each (r, &t->rows)
		emit_one(e, t, r);
	emit_table_end(e);
}

void topdown_emit_line(struct emit *e, const struct topdown_events *t, const struct topdown *r)
{
	_str_ struct str line = {0};
	struct json *j = emit_json(e);

	if (j) {
		json_key(j, "topdown");
		json_begin(j, '{');
	}
	for (unsigned p = 0; p < TOPDOWN_N_PARTS; p++) {
		if (!topdown_tells(t, p))
			continue;
		if (j)
			json_add_double(j, topdown_keys[p], 100 * r->share[p]);
		str_addf(&line, "%s%s %.1f %%", line.n ? ", " : "", topdown_names[p],
			 100 * r->share[p]);
	}
	if (j)
		json_end(j, '}');
	emit_text(e, "\ntop-down by %s: %s\n", topdown_formula(t), str_get(&line));
}
