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

/* Values of OWNER in column C: their paths, then their weights. */
static void put_samples(struct speedscope_out *o, unsigned c, uint32_t owner)
{
	const struct stacks *s = o->s;
	stack_frames frames = {0};

	json_key(&o->j, "samples");
	json_begin(&o->j, '[');
	for (size_t i = 0; i < s->values.n; i++) {
		if (s->values.v[i].owner != owner || !stacks_amounts(s, i)[c])
			continue;
		stacks_frames(s, s->values.v[i].node, &frames);
		json_begin(&o->j, '[');
		vec_each (l, &frames)
			json_u64(&o->j, s->lines.v[*l].function);
		json_end(&o->j, ']');
		out_stream_settle(o->out);
	}
	json_end(&o->j, ']');
	json_key(&o->j, "weights");
	json_begin(&o->j, '[');
	for (size_t i = 0; i < s->values.n; i++)
		if (s->values.v[i].owner == owner && stacks_amounts(s, i)[c])
			json_u64(&o->j, stacks_amounts(s, i)[c]);
	json_end(&o->j, ']');
	vec_release(&frames);
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
	return 0;
}
