/* SPDX-License-Identifier: BSD-2-Clause */
/* See about.h. */
#include "view/about.h"

#include <math.h>
#include <stdlib.h>

#include "view/amounts.h"
#include "view/header.h"

static void json_facts(struct json *j, const struct source_about *about)
{
	json_key(j, "recording");
	json_begin(j, '{');
	for (unsigned i = 0; i < about->n_facts; i++) {
		json_key(j, about->facts[i].key);
		if (about->facts[i].text)
			json_str(j, about->facts[i].text);
		else
			json_u64(j, about->facts[i].n);
	}
	json_end(j, '}');
}

/* Each total has its own unit, and so its own decimals. */
static const char *total_text(const struct column *c, struct arena *a)
{
	struct amounts one = {0};
	_str_ struct str s = {0};

	if (!isfinite(c->total))
		return NULL;
	amounts_note_one(&one, c->total);
	str_addf(&s, "%.*f", amounts_decimals(&one), c->total);
	return arena_strdup(a, str_get(&s));
}

static void emit_metrics(struct emit *e, const struct columns *columns)
{
	static const struct emit_col cols[] = {
		{"name", "metric", EMIT_STR},
		{"stat", NULL, EMIT_STR, .in = EMIT_IN_JSON},
		{"total", NULL, EMIT_FIXED, .in = EMIT_IN_JSON},
		{"total_text", "total", EMIT_STR, .in = EMIT_IN_TABLE},
		{"derived", NULL, EMIT_U64, .in = EMIT_IN_JSON},
	};
	unsigned *order = xcalloc(columns->cols.n + 1, sizeof(*order));
	unsigned n = cols_order(columns, order);
	struct arena texts = {0};

	emit_table(e, "events", cols, n_elems(cols));
	for (unsigned i = 0; i < n; i++) {
		const struct column *c = &columns->cols.v[order[i]];

		emit_row(e, (struct emit_cell[]){
				    {.s = c->name},
				    {.s = c->stat},
				    {.d = c->total, .none = !isfinite(c->total)},
				    {.s = total_text(c, &texts)},
				    {.u = !c->stat},
			    });
	}
	emit_table_end(e);
	arena_release(&texts);
	free(order);
}

static void emit_source(struct emit *e, const struct source_about *about, bool quiet)
{
	struct json *j = emit_json(e);
	_str_ struct str line = {0};

	if (j) {
		json_facts(j, about);
	} else if (!quiet) {
		text_show(&line, about->line);
		emit_text(e, "%s\n", str_get(&line));
	}
}

void about_source_emit(struct emit *e, struct source *s, bool quiet)
{
	struct source_about about = {0};

	if (s->query) {
		header_emit(e, s->query, quiet);
		return;
	}
	s->ops->about(s, &about);
	emit_source(e, &about, quiet);
}

void about_emit(struct emit *e, struct source *s, bool quiet)
{
	struct source_about about = {0};

	if (s->query) {
		header_emit(e, s->query, quiet);
		return;
	}
	s->ops->about(s, &about);
	emit_source(e, &about, quiet);
	if (emit_json(e) || !quiet)
		emit_metrics(e, &s->columns);
	if (!quiet && about.more)
		emit_text(e, "%s\n", about.more);
	if (!quiet)
		emit_text(e, "\n");
}

static struct source_about about_of(struct source *s)
{
	struct source_about about = {0};

	s->ops->about(s, &about);
	return about;
}

void about_add_recording(struct str *line, struct source *s)
{
	if (s->query)
		header_add_recording(line, s->query->profile);
	else
		text_show(line, about_of(s).line);
}

void about_json_recording(struct json *j, struct source *s)
{
	const struct source_about about = s->query ? (struct source_about){0} : about_of(s);

	if (s->query)
		header_json_recording(j, s->query->profile);
	else
		json_facts(j, &about);
}

void about_images_emit(struct emit *e, struct source *s, const image_id *images, size_t n)
{
	image_ids ids = {0};

	if (e->no_notes || !s->query)
		return;
	for (size_t i = 0; i < n; i++)
		vec_push(&ids, images[i]);
	notes_emit(e, s->query, &ids);
	vec_release(&ids);
}
