/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as speedscope's JSON (docs/formats/speedscope.md): a profile of type "sampled" for each
 * event and owner, which hold each call path once with its whole weight. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "port/exporters.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope_out {
	const struct stacks *s;
	struct out_stream *out;
	struct json j;
	uint64_t *sums; /* by owner, of the column being written */
	struct stacks_owned owned;
	struct str texts;
	VEC(size_t) text_at; /* by place: where its text begins, and where the last one ends */
	VEC(uint32_t) path;  /* places, innermost first */
};

static void put_frames(struct speedscope_out *o)
{
	json_key(&o->j, "shared");
	json_begin(&o->j, '{');
	json_key(&o->j, "frames");
	json_begin(&o->j, '[');
	vec_each (f, &o->s->functions) {
		json_begin(&o->j, '{');
		json_key(&o->j, "name");
		json_str(&o->j, f->name);
		if (*f->file) {
			json_key(&o->j, "file");
			json_str(&o->j, f->file);
		}
		if (f->line) {
			json_key(&o->j, "line");
			json_u64(&o->j, f->line);
		}
		json_end(&o->j, '}');
		out_stream_settle(o->out);
	}
	json_end(&o->j, ']');
	json_end(&o->j, '}');
}

/* "3, 7, ": the functions of each place, outermost first. */
static void make_place_texts(struct speedscope_out *o)
{
	const struct stacks *s = o->s;

	vec_each (pl, &s->places) {
		vec_push(&o->text_at, o->texts.n);
		for (uint32_t i = pl->n_lines; i--;) {
			str_addu(&o->texts, s->lines.v[pl->first_line + i].function);
			str_add(&o->texts, ", ");
		}
	}
	vec_push(&o->text_at, o->texts.n);
}

static void put_path(struct speedscope_out *o, uint32_t node)
{
	struct str *to = o->j.out;

	o->path.n = 0;
	for (; node; node = o->s->nodes.v[node].parent)
		vec_push(&o->path, o->s->nodes.v[node].place);
	json_begin(&o->j, '[');
	for (size_t i = o->path.n; i--;) {
		const size_t *at = o->text_at.v + o->path.v[i];

		str_addn(to, o->texts.v + at[0], at[1] - at[0]);
	}
	if (o->path.n)
		to->n -= 2; /* the last ", " */
	json_end(&o->j, ']');
	out_stream_settle(o->out);
}

/* Values of OWNER in column C: their paths, then their weights. */
static void put_samples(struct speedscope_out *o, unsigned c, uint32_t owner)
{
	const struct stacks *s = o->s;
	const size_t first = o->owned.first[owner], end = o->owned.first[owner + 1];

	json_key(&o->j, "samples");
	json_begin(&o->j, '[');
	for (size_t i = first; i < end; i++)
		if (stacks_amounts(s, o->owned.order[i])[c])
			put_path(o, s->values.v[o->owned.order[i]].node);
	json_end(&o->j, ']');
	json_key(&o->j, "weights");
	json_begin(&o->j, '[');
	for (size_t i = first; i < end; i++) {
		const uint64_t n = stacks_amounts(s, o->owned.order[i])[c];

		if (n)
			json_u64(&o->j, n);
	}
	json_end(&o->j, ']');
}

static void put_profile(struct speedscope_out *o, unsigned c, uint32_t owner, bool name_event)
{
	const struct stack_column *col = &o->s->columns.v[c];
	struct str name = {0};

	stacks_name_owner(&o->s->owners.v[owner], &name);
	if (name_event)
		str_addf(&name, ": %s", col->event);
	json_begin(&o->j, '{');
	json_key(&o->j, "type");
	json_str(&o->j, "sampled");
	json_key(&o->j, "name");
	json_str(&o->j, name.v);
	json_key(&o->j, "unit");
	json_str(&o->j, strcmp(col->unit, "count") == 0 ? "none" : col->unit);
	json_key(&o->j, "startValue");
	json_u64(&o->j, 0);
	json_key(&o->j, "endValue");
	json_u64(&o->j, o->sums[owner]);
	put_samples(o, c, owner);
	json_end(&o->j, '}');
	str_release(&name);
}

static void put_column(struct speedscope_out *o, unsigned c, bool name_event)
{
	const struct stacks *s = o->s;

	memset(o->sums, 0, s->owners.n * sizeof(*o->sums));
	for (size_t i = 0; i < s->values.n; i++)
		o->sums[s->values.v[i].owner] += stacks_amounts(s, i)[c];
	for (uint32_t w = 0; w < s->owners.n; w++)
		if (o->sums[w])
			put_profile(o, c, w, name_event);
}

int speedscope_out_write(const struct stacks *s, struct out_stream *out,
			 struct exporter_result *ret, struct err *err)
{
	struct speedscope_out o = {.s = s, .out = out, .j = json_init(&out->text, 0)};
	const unsigned first = stacks_main(s);
	unsigned n_told = 0;

	(void)err;
	o.sums = xcalloc(s->owners.n + 1, sizeof(*o.sums));
	o.owned = stacks_by_owner(s);
	make_place_texts(&o);
	for (unsigned c = 0; c < s->columns.n; c++)
		n_told += stacks_tells(s, c);
	json_begin(&o.j, '{');
	json_key(&o.j, "$schema");
	json_str(&o.j, SCHEMA);
	json_key(&o.j, "name");
	json_str(&o.j, *s->command ? s->command : s->input);
	json_key(&o.j, "exporter");
	json_str(&o.j, "dwell");
	json_key(&o.j, "activeProfileIndex");
	json_u64(&o.j, 0);
	put_frames(&o);
	json_key(&o.j, "profiles");
	json_begin(&o.j, '[');
	put_column(&o, first, n_told > 1);
	for (unsigned c = 0; c < s->columns.n; c++)
		if (c != first && stacks_tells(s, c))
			put_column(&o, c, true);
	json_end(&o.j, ']');
	json_end(&o.j, '}');
	str_addc(&out->text, '\n');
	ret->n = s->columns.v[s->main_column].total;
	free(o.sums);
	stacks_owned_release(&o.owned);
	str_release(&o.texts);
	vec_release(&o.text_at);
	vec_release(&o.path);
	return 0;
}
