/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as pprof's profiles (docs/formats/pprof.md).  A place is a location, an image a mapping.
 * Addresses are the ones that the image's file states, which mappings say by where they lie. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/pprof.h"
#include "port/exporters.h"

struct pprof_out {
	const struct stacks *s;
	struct pprof_writer w;
	uint32_t *mapping_of, *function_of, *location_of;
	VEC(uint32_t) path;
	VEC(int64_t) numbers;
	VEC(struct pprof_label) labels; /* of all owners */
	VEC(size_t) of_owner;		/* by owner: its first label, and behind the last */
	struct arena arena;
};

static void put_mappings(struct pprof_out *o)
{
	const struct stacks *s = o->s;
	const size_t first = stacks_program(s);

	for (size_t at = 0; at < s->images.n; at++) {
		const size_t i = at == 0 ? first : at <= first ? at - 1 : at;
		const struct stack_image *im = &s->images.v[i];
		struct pprof_mapping m = {
			.start = im->start,
			.limit = im->end,
			.file = pprof_put_string(&o->w, im->path),
			.build_id = pprof_put_string(&o->w, im->build_id),
			.has_functions = true,
			.has_files = true,
			.has_lines = true,
			.has_inlines = true,
		};

		if (im->is_used)
			o->mapping_of[i] = pprof_put_mapping(&o->w, &m);
	}
}

static uint32_t put_function(struct pprof_out *o, uint32_t i)
{
	const struct stack_function *f = &o->s->functions.v[i];

	if (o->function_of[i] == PPROF_NONE)
		o->function_of[i] = pprof_put_function(
			&o->w, &(struct pprof_function){pprof_put_string(&o->w, f->name),
							pprof_put_string(&o->w, f->linked),
							pprof_put_string(&o->w, f->file), f->line});
	return o->function_of[i];
}

static void put_locations(struct pprof_out *o)
{
	const struct stacks *s = o->s;
	_vec_ VEC(struct pprof_line) lines = {0};

	for (size_t i = 1; i < s->places.n; i++) {
		const struct stack_place *pl = &s->places.v[i];

		if (!pl->is_used)
			continue;
		lines.n = 0;
		for (uint32_t k = 0; k < pl->n_lines; k++) {
			const struct stack_line *l = &s->lines.v[pl->first_line + k];

			vec_push(&lines,
				 (struct pprof_line){put_function(o, l->function), l->line});
		}
		o->location_of[i] = pprof_put_location(
			&o->w, pl->image == STACK_NO_IMAGE ? PPROF_NONE : o->mapping_of[pl->image],
			pl->svma, lines.v, lines.n);
	}
}

static void add_text_label(struct pprof_out *o, const char *key, const char *text)
{
	if (text && *text)
		vec_push(&o->labels, (struct pprof_label){pprof_put_string(&o->w, key),
							  pprof_put_string(&o->w, text), 0, 0});
}

static void add_number_label(struct pprof_out *o, const char *key, int64_t n)
{
	if (n > 0)
		vec_push(&o->labels, (struct pprof_label){pprof_put_string(&o->w, key), 0, 0, n});
}

/* Labels are put together once for each owner. */
static void find_labels(struct pprof_out *o)
{
	static const char *const keys[CONTAINER_N_TEXTS] = {
		[CONTAINER_NAME] = "container",	 [CONTAINER_IMAGE] = "image-tag",
		[CONTAINER_POD] = "pod",	 [CONTAINER_NAMESPACE] = "namespace",
		[CONTAINER_VERSION] = "version", [CONTAINER_TENANT] = "tenant"};

	vec_each (w, &o->s->owners) {
		vec_push(&o->of_owner, o->labels.n);
		add_text_label(o, "comm", w->comm);
		add_text_label(o, "exe", w->exe);
		add_text_label(o, "cgroup", w->cgroup);
		add_text_label(o, "label", w->label);
		add_text_label(o, "host", o->s->host);
		for (size_t i = CONTAINER_NAME; i < CONTAINER_N_TEXTS; i++)
			add_text_label(o, keys[i], w->container[i]);
		add_number_label(o, "pid", w->pid);
		add_number_label(o, "tid", w->tid);
		add_number_label(o, "uid", w->uid);
	}
	vec_push(&o->of_owner, o->labels.n);
}

static void put_samples(struct pprof_out *o)
{
	const struct stacks *s = o->s;

	for (size_t i = 0; i < s->values.n; i++) {
		const struct stack_value *v = &s->values.v[i];
		const uint64_t *amounts = stacks_amounts(s, i);
		const size_t first = o->of_owner.v[v->owner];

		o->path.n = o->numbers.n = 0;
		for (uint32_t n = v->node; n; n = s->nodes.v[n].parent)
			vec_push(&o->path, o->location_of[s->nodes.v[n].place]);
		for (size_t c = 0; c < s->columns.n; c++)
			vec_push(&o->numbers,
				 amounts[c] > INT64_MAX ? INT64_MAX : (int64_t)amounts[c]);
		pprof_put_sample(&o->w, o->path.v, o->path.n, o->numbers.v, o->labels.v + first,
				 o->of_owner.v[v->owner + 1] - first);
	}
}

/* Comments are what the format has for all else. */
static void put_comments(struct pprof_out *o)
{
	const struct stacks *s = o->s;

	if (*s->host)
		pprof_put_comment(&o->w, s->host);
	if (*s->command)
		pprof_put_comment(&o->w, s->command);
	vec_each (l, &s->losses) {
		_str_ struct str text = {0};

		str_addf(&text, "lost: %" PRIu64 " samples of %s, %s", l->n, l->event, l->name);
		pprof_put_comment(&o->w, arena_strdup(&o->arena, text.v));
	}
}

static uint32_t *new_numbers(size_t n)
{
	uint32_t *v = xmalloc((n + 1) * sizeof(*v));

	memset(v, 0xff, (n + 1) * sizeof(*v));
	return v;
}

/* The first type with a weight, else the first. */
static unsigned default_column(const struct stacks *s)
{
	const unsigned c = s->main_column;

	return c + 1 < s->columns.n && s->columns.v[c + 1].amount == STACK_WEIGHT &&
			       s->columns.v[c].amount == STACK_SAMPLES
		       ? c + 1
		       : c;
}

int pprof_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		    struct err *err)
{
	struct pprof_out o = {.s = s};
	struct pprof_type type = {0};

	(void)err;
	o.mapping_of = new_numbers(s->images.n);
	o.function_of = new_numbers(s->functions.n);
	o.location_of = new_numbers(s->places.n);
	pprof_writer_init(&o.w);
	for (size_t c = 0; c < s->columns.n; c++) {
		const struct stack_column *col = &s->columns.v[c];

		type = (struct pprof_type){pprof_put_string(&o.w, col->name),
					   pprof_put_string(&o.w, col->unit)};
		pprof_put_type(&o.w, &type);
	}
	put_mappings(&o);
	put_locations(&o);
	find_labels(&o);
	put_samples(&o);
	pprof_put_times(&o.w, s->start_ns, s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0);
	if (s->columns.n) {
		const struct stack_column *col = &s->columns.v[default_column(s)];

		type = (struct pprof_type){pprof_put_string(&o.w, col->name),
					   pprof_put_string(&o.w, col->unit)};
		if (col->period)
			pprof_put_period(&o.w, &type, col->period);
		pprof_put_default_type(&o.w, type.type);
		ret->n = s->columns.v[s->main_column].total;
	}
	put_comments(&o);
	pprof_writer_finish(&o.w, &out->text);
	free(o.mapping_of);
	free(o.function_of);
	free(o.location_of);
	vec_release(&o.path);
	vec_release(&o.numbers);
	vec_release(&o.labels);
	vec_release(&o.of_owner);
	arena_release(&o.arena);
	return 0;
}
