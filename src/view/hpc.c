/* SPDX-License-Identifier: BSD-2-Clause */
/* See hpc.h. */
#include "view/hpc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "view/amounts.h"

static void json_recording(struct json *j, const struct hpc_query *q)
{
	const struct hpc_db *db = q->db;

	json_key(j, "recording");
	json_begin(j, '{');
	json_key(j, "format");
	json_str(j, "HPCToolkit");
	json_key(j, "layout");
	json_str(j, hpc_layout_name(db->meta.layout));
	json_key(j, "title");
	json_str(j, db->meta.title);
	json_key(j, "description");
	json_str(j, db->meta.description);
	json_key(j, "profiles");
	json_u64(j, db->profiles.nProfiles ? db->profiles.nProfiles - 1 : 0);
	json_key(j, "profiles_chosen");
	json_u64(j, q->n_threads);
	json_end(j, '}');
}

static void text_recording(struct emit *e, const struct hpc_query *q)
{
	uint32_t n = q->db->profiles.nProfiles ? q->db->profiles.nProfiles - 1 : 0;
	struct str line = {0};

	text_show(&line, q->db->meta.title);
	str_addf(&line, "%sHPCToolkit database of %" PRIu32 " thread%s", line.n ? ", " : "", n,
		 n == 1 ? "" : "s");
	if (!q->all_threads)
		str_addf(&line, ", %" PRIu32 " of them chosen", q->n_threads);
	emit_text(e, "%s\n", str_get(&line));
	str_release(&line);
}

/* Each total has its own unit, and so its own decimals. */
static const char *total_text(const struct column *c, struct arena *a)
{
	struct amounts one = {0};
	struct str s = {0};
	const char *kept;

	if (!isfinite(c->total))
		return NULL;
	amounts_note_one(&one, c->total);
	str_addf(&s, "%.*f", amounts_decimals(&one), c->total);
	kept = arena_strdup(a, str_get(&s));
	str_release(&s);
	return kept;
}

static void emit_metrics(struct emit *e, const struct hpc_query *q)
{
	static const struct emit_col cols[] = {
		{"name", "metric", EMIT_STR},
		{"stat", NULL, EMIT_STR, .in = EMIT_IN_JSON},
		{"total", NULL, EMIT_FIXED, .in = EMIT_IN_JSON},
		{"total_text", "total", EMIT_STR, .in = EMIT_IN_TABLE},
		{"derived", NULL, EMIT_U64, .in = EMIT_IN_JSON},
	};
	unsigned *order = xcalloc(q->cols.n + 1, sizeof(*order));
	unsigned n = cols_order(&q->columns, order);
	struct arena texts = {0};

	emit_table(e, "events", cols, n_elems(cols));
	for (unsigned i = 0; i < n; i++) {
		const struct column *c = &q->columns.cols.v[order[i]];
		const struct hpc_col *h = &q->cols.v[order[i]];

		emit_row(e, (struct emit_cell[]){
				    {.s = c->name},
				    {.s = h->metric ? hpc_stat_name(h->stat) : NULL},
				    {.d = c->total, .none = !isfinite(c->total)},
				    {.s = total_text(c, &texts)},
				    {.u = !h->metric},
			    });
	}
	emit_table_end(e);
	arena_release(&texts);
	free(order);
}

void hpc_recording_emit(struct emit *e, const struct hpc_query *q, bool quiet)
{
	struct json *j = emit_json(e);

	if (j)
		json_recording(j, q);
	else if (!quiet)
		text_recording(e, q);
}

void hpc_header_emit(struct emit *e, const struct hpc_query *q, bool quiet)
{
	hpc_recording_emit(e, q, quiet);
	if (emit_json(e) || !quiet)
		emit_metrics(e, q);
	if (!quiet && q->n_more)
		emit_text(e, "%u more metrics are not 0; --event and --all-metrics show them\n",
			  q->n_more);
	if (!quiet)
		emit_text(e, "\n");
}

static void emit_left_out(struct emit *e, const struct hpc_tree *t, const char *key,
			  const double *sums, const char *text)
{
	const struct columns *c = &t->q->columns;
	struct json *j = emit_json(e);
	double total = c->cols.n ? c->cols.v[c->hide].total : 0;

	if (j) {
		json_key(j, key);
		json_begin(j, '{');
		for (size_t i = 0; sums && i < c->cols.n; i++) {
			if (c->cols.v[i].hidden || c->cols.v[i].expr)
				continue;
			json_key(j, c->cols.v[i].name);
			json_double(j, sums[i]);
		}
		json_end(j, '}');
	} else if (text && sums && total != 0 && sums[c->hide] != 0) {
		emit_text(e, "%.2f %% %s\n", 100 * sums[c->hide] / total, text);
	}
}

void hpc_tree_emit(struct emit *e, struct hpc_tree *t, const struct tree_rows *rows,
		   const struct tree_emit_opts *o)
{
	size_t before;

	emit_begin(e);
	hpc_header_emit(e, t->q, o->no_header);
	tree_emit_form(e, o->form);
	before = e->out->n;
	emit_left_out(e, t, "ignored", t->left_out[0],
		      o->no_header ? NULL : "is left out by --ignore");
	emit_left_out(e, t, "not_in_focus", t->left_out[1],
		      o->no_header ? NULL : "is left out by --focus");
	if (e->out->n > before)
		emit_text(e, "\n");
	tree_rows_emit(e, &t->source, rows, o);
	emit_end(e);
}
