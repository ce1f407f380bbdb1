/* SPDX-License-Identifier: BSD-2-Clause */
/* See stacks_in.h. */
#include "port/stacks_in.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sha256.h"

#define FIRST_SVMA    0x1000
#define ALIGN	      16
#define DERIVED_BYTES 16

struct stacks_reader {
	const struct stacks *s;
	const struct stacks_in_opts *o;
	struct profile *p;
	image_id *image_of; /* by image; the last is of functions without one */
	uint64_t *start_of; /* by function */
	uint32_t *order;    /* by line: its number among those of its function */
	uint32_t *n_lines;  /* by function */
	ctx_id *ctx_of;	    /* by node */
	bool has_inlined, has_lines;
};

/* The image of function F as a number of image_of. */
static size_t image_at(const struct stacks_reader *r, const struct stack_function *f)
{
	return f->image == STACK_NO_IMAGE ? r->s->images.n : f->image;
}

/* Whether code has only an address. */
static bool is_bare(const struct stacks *s, const struct stack_place *pl)
{
	return pl->n_lines == 1 && pl->image != STACK_NO_IMAGE &&
	       s->functions.v[s->lines.v[pl->first_line].function].nameless;
}

/* Numbers the lines of each function that places use. */
static void number_lines(struct stacks_reader *r)
{
	const struct stacks *s = r->s;

	vec_each (pl, &s->places) {
		if (!pl->is_used || is_bare(s, pl))
			continue;
		for (uint32_t k = 0; k < pl->n_lines; k++) {
			const struct stack_line *l = &s->lines.v[pl->first_line + k];

			r->order[pl->first_line + k] = r->n_lines[l->function]++;
			r->has_lines |= l->line || *s->functions.v[l->function].file;
		}
		r->has_inlined |= pl->n_lines > 1;
	}
}

/* Makes image I of its functions: they stand one behind the other. */
static void read_image(struct stacks_reader *r, size_t i, stacks_symbol_list *ret)
{
	const struct stacks *s = r->s;
	const struct stack_image *from = i < s->images.n ? &s->images.v[i] : NULL;
	struct image im = {.kind = from ? from->kind : IMAGE_FILE,
			   .flags = IMAGE_HASHED,
			   .path = from ? from->path : r->o->name};
	struct stacks_symbols new = {0};
	struct symtab_builder b = {0};
	struct sha256 sum;
	uint64_t at = FIRST_SVMA;

	sha256_begin(&sum);
	sha256_add(&sum, im.path, strlen(im.path) + 1);
	for (size_t f = 0; f < s->functions.n; f++) {
		const struct stack_function *fn = &s->functions.v[f];

		if (!r->n_lines[f] || image_at(r, fn) != i || fn->is_mark)
			continue;
		r->start_of[f] = at;
		symtab_builder_add(&b, at, r->n_lines[f], fn->linked, strlen(fn->linked), 0);
		sha256_add(&sum, fn->linked, strlen(fn->linked) + 1);
		sha256_add_u64(&sum, r->n_lines[f]);
		at = (at + r->n_lines[f] + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
	}
	im.build_id.n_bytes = DERIVED_BYTES;
	sha256_end(&sum, im.build_id.bytes, DERIVED_BYTES);
	if (at == FIRST_SVMA)
		return;
	im.text_start = FIRST_SVMA;
	im.text_bytes = at - FIRST_SVMA;
	symtab_builder_add_range(&b, FIRST_SVMA, at);
	symtab_builder_finish(&b, &new.symtab);
	r->image_of[i] = new.image = profile_intern_image(r->p, &im);
	vec_push(ret, new);
}

/* Code with an address and no name stays in its own image: its file may be found. */
static place_id read_bare(struct stacks_reader *r, const struct stack_place *pl)
{
	const struct stack_image *from = &r->s->images.v[pl->image];
	struct image im = {.kind = from->kind,
			   .flags = from->by_offset ? IMAGE_OFFSETS : 0,
			   .path = from->path};

	if (build_id_parse(from->build_id, &im.build_id) < 0)
		im.build_id.n_bytes = 0;
	return profile_intern_place(r->p, profile_intern_image(r->p, &im), pl->svma, 0);
}

static ctx_id read_line(struct stacks_reader *r, ctx_id parent, uint32_t line)
{
	const struct stack_line *l = &r->s->lines.v[line];
	const struct stack_function *f = &r->s->functions.v[l->function];

	if (f->is_mark && !parent)
		return profile_mark_ctx(r->p, f->name);
	if (f->is_mark)
		return parent;
	return profile_intern_ctx(r->p, parent,
				  profile_intern_place(r->p, r->image_of[image_at(r, f)],
						       r->start_of[l->function] + r->order[line],
						       0));
}

static void read_nodes(struct stacks_reader *r)
{
	const struct stacks *s = r->s;

	for (size_t i = 1; i < s->nodes.n; i++) {
		const struct stack_node *n = &s->nodes.v[i];
		const struct stack_place *pl = &s->places.v[n->place];
		ctx_id ctx = r->ctx_of[n->parent];

		if (is_bare(s, pl)) {
			r->ctx_of[i] = profile_intern_ctx(r->p, ctx, read_bare(r, pl));
			continue;
		}
		for (uint32_t k = pl->n_lines; k--;)
			ctx = read_line(r, ctx, pl->first_line + k);
		r->ctx_of[i] = ctx;
	}
}

static owner_id read_owner(struct stacks_reader *r, const struct stack_owner *w)
{
	struct profile *p = r->p;
	const struct owner o = {
		.exe = profile_intern_str(p, w->exe),
		.comm = profile_intern_str(p, w->comm),
		.cgroup = profile_intern_str(p, w->cgroup),
		.label = profile_intern_str(p, r->o->label ? r->o->label : w->label),
		.uid = w->uid < 0 ? OWNER_UID_UNKNOWN : (uint32_t)w->uid,
		.pid = r->o->keep_pids ? w->pid : 0,
		.tid = r->o->keep_tids ? w->tid : 0,
	};

	return profile_intern_owner(p, &o);
}

/* An event is a column, or one of samples and the one of their weights behind it. */
struct read_event {
	event_id id;
	unsigned samples, weight; /* columns; NO_COLUMN */
};
#define NO_COLUMN UINT32_MAX

static struct read_event read_event(struct stacks_reader *r, unsigned c, uint64_t n_values)
{
	const struct stacks *s = r->s;
	const bool both = !stacks_tells(s, c);
	const struct stack_column *samples = &s->columns.v[c], *w = &s->columns.v[c + both];
	const bool is_ns = strcmp(w->unit, "nanoseconds") == 0;
	struct read_event ret = {.samples = c, .weight = both ? c + 1 : NO_COLUMN};
	struct event e = {
		.name = profile_intern_str(r->p, w->event),
		.unit = profile_intern_str(r->p, is_ns				 ? "ns"
						 : strcmp(w->unit, "count") == 0 ? ""
										 : w->unit),
		.period = 1,
		.n_reached = samples->total,
	};

	if (both) {
		e.period = w->period ? w->period : samples->total ? w->total / samples->total : 1;
		e.period += !e.period;
		if (e.period > 1 || !is_ns)
			e.flags |= w->total == samples->total * e.period ? 0 : EVENT_WEIGHTED;
	} else if (is_ns) { /* time without samples: each value is an interval */
		ret = (struct read_event){.samples = NO_COLUMN, .weight = c};
		e.n_reached = n_values;
	}
	ret.id = profile_intern_event(r->p, &e);
	return ret;
}

static void read_values(struct stacks_reader *r)
{
	const struct stacks *s = r->s;
	_mem_ owner_id *owner_of = xcalloc(s->owners.n + 1, sizeof(*owner_of));

	for (size_t i = 0; i < s->owners.n; i++)
		owner_of[i] = read_owner(r, &s->owners.v[i]);
	for (unsigned c = 0; c < s->columns.n; c++) {
		uint64_t n_values = 0;
		struct read_event e;

		for (size_t i = 0; i < s->values.n; i++)
			n_values += stacks_amounts(s, i)[c] > 0;
		e = read_event(r, c, n_values);
		for (size_t i = 0; i < s->values.n; i++) {
			const struct stack_value *v = &s->values.v[i];
			const uint64_t *n = stacks_amounts(s, i);
			const struct value new = {
				.owner = owner_of[v->owner],
				.ctx = r->ctx_of[v->node],
				.event = e.id,
				.count = e.samples == NO_COLUMN ? n[e.weight] > 0 : n[e.samples],
				.sum = e.weight == NO_COLUMN ? 0 : n[e.weight],
			};

			if (new.ctx && value_counts(&new))
				profile_add_value(r->p, &new);
		}
		c += e.samples != NO_COLUMN && e.weight != NO_COLUMN;
	}
}

void stacks_to_profile(const struct stacks *s, const struct stacks_in_opts *o, struct profile *p,
		       stacks_symbol_list *ret, struct str *notes)
{
	struct stacks_reader r = {.s = s, .o = o, .p = p};

	r.image_of = xcalloc(s->images.n + 1, sizeof(*r.image_of));
	r.start_of = xcalloc(s->functions.n + 1, sizeof(*r.start_of));
	r.n_lines = xcalloc(s->functions.n + 1, sizeof(*r.n_lines));
	r.order = xcalloc(s->lines.n + 1, sizeof(*r.order));
	r.ctx_of = xcalloc(s->nodes.n + 1, sizeof(*r.ctx_of));
	number_lines(&r);
	for (size_t i = 0; i <= s->images.n; i++)
		read_image(&r, i, ret);
	read_nodes(&r);
	read_values(&r);
	p->meta.host = profile_intern_str(p, s->host);
	p->meta.command = profile_intern_str(p, s->command);
	p->meta.kernel = profile_intern_str(p, s->kernel);
	p->meta.start_wall_ns = s->start_ns;
	p->meta.end_wall_ns = s->end_ns;
	vec_each (l, &s->losses)
		for (event_id e = 0; e < p->events.n; e++)
			if (strcmp(profile_str(p, p->events.v[e].name), l->event) == 0)
				profile_add_loss(p, l->name, e, l->n);
	if (r.has_lines)
		str_add(notes, "source files and lines are left out\n");
	if (r.has_inlined)
		str_add(notes, "inlined calls are calls like others\n");
	free(r.image_of);
	free(r.start_of);
	free(r.n_lines);
	free(r.order);
	free(r.ctx_of);
}

void stacks_symbols_release(stacks_symbol_list *l)
{
	vec_each (s, l)
		symtab_release(&s->symtab);
	vec_release(l);
}
