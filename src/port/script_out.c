/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as `perf script` prints them (docs/formats/perf-script.md): a block of lines for each,
 * its call path from the innermost place out.
 *
 * Where each sample of the column has its time, blocks are in order of time; else a call path's
 * blocks follow each other and have no time, as with `perf script -F -time`. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "port/exporters.h"

struct script_out {
	const struct stacks *s;
	struct out_stream *out;
	struct str path; /* of the node that was printed last */
	uint32_t node;
	struct str texts; /* of places */
	struct script_place {
		size_t at, n; /* in TEXTS; N 0: not made */
	} * of_place;
};

static void add_dso(struct str *to, const struct stacks *s, uint32_t image)
{
	const struct stack_image *im = image == STACK_NO_IMAGE ? NULL : &s->images.v[image];

	str_add(to, " (");
	text_add_line(to, !im			     ? "[unknown]"
			  : im->kind == IMAGE_KERNEL ? "[kernel.kallsyms]"
						     : im->path);
	str_add(to, ")\n");
}

static void add_place(struct script_out *o, const struct stack_place *pl)
{
	const struct stacks *s = o->s;

	for (uint32_t i = 0; i < pl->n_lines; i++) {
		const struct stack_function *f =
			&s->functions.v[s->lines.v[pl->first_line + i].function];
		const bool inlined = i + 1 < pl->n_lines;

		str_addf(&o->texts, "\t%16" PRIx64 " ", pl->svma);
		if (f->nameless && !f->is_mark)
			str_add(&o->texts, "[unknown]");
		else
			text_add_line(&o->texts, f->name);
		if (!inlined && !f->nameless && f->svma && pl->svma >= f->svma)
			str_addf(&o->texts, "+0x%" PRIx64, pl->svma - f->svma);
		if (inlined)
			str_add(&o->texts, " (inlined)\n");
		else
			add_dso(&o->texts, s, pl->image);
	}
}

/* The lines of a place are made once. */
static void put_place(struct script_out *o, uint32_t place)
{
	if (!o->of_place[place].n) {
		o->of_place[place].at = o->texts.n;
		add_place(o, &o->s->places.v[place]);
		o->of_place[place].n = o->texts.n - o->of_place[place].at;
	}
	str_addn(&o->path, o->texts.v + o->of_place[place].at, o->of_place[place].n);
}

static void find_path(struct script_out *o, uint32_t node)
{
	if (o->node == node)
		return;
	o->node = node;
	str_reset(&o->path);
	for (uint32_t n = node; n; n = o->s->nodes.v[n].parent)
		put_place(o, o->s->nodes.v[n].place);
}

static void put_sample(struct script_out *o, const struct stack_owner *w, uint32_t pid,
		       uint32_t tid, uint64_t time_ns, uint64_t weight, const char *event,
		       uint32_t node)
{
	struct str *to = &o->out->text;

	find_path(o, node);
	text_add_line(to, *w->comm ? w->comm : ":-1");
	str_addc(to, ' ');
	str_addu_wide(to, pid, 5, ' ');
	str_addc(to, '/');
	str_addu(to, tid);
	if (time_ns) {
		str_addc(to, ' ');
		str_addu_wide(to, time_ns / 1000000000, 5, ' ');
		str_addc(to, '.');
		str_addu_wide(to, time_ns / 1000 % 1000000, 6, '0');
		str_addc(to, ':');
	}
	str_addc(to, ' ');
	str_addu_wide(to, weight, 10, ' ');
	str_addc(to, ' ');
	text_add_line(to, event);
	str_add(to, ": \n");
	str_addn(to, str_get(&o->path), o->path.n);
	str_addc(to, '\n');
	out_stream_settle(o->out);
}

/* The samples of a value, one by one; together they weigh what it does. */
static void put_value(struct script_out *o, size_t value, unsigned c, unsigned weight)
{
	const struct stack_value *v = &o->s->values.v[value];
	const struct stack_owner *w = &o->s->owners.v[v->owner];
	const uint64_t *amounts = stacks_amounts(o->s, value);
	uint64_t n = amounts[c], left = amounts[weight];

	/* Values of other sources have no number of samples. */
	if (o->s->columns.v[c].amount == STACK_WEIGHT)
		n = left > 0;
	for (; n; n--) {
		put_sample(o, w, w->pid, w->tid, 0, left / n, o->s->columns.v[c].event, v->node);
		left -= left / n;
	}
}

/* Order of points in time. */
struct script_point {
	uint64_t time_ns;
	uint32_t thread, point;
};

static int compare_script_points(const void *a, const void *b)
{
	const struct script_point *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static void put_points(struct script_out *o)
{
	const struct stacks *s = o->s;
	VEC(struct script_point) order = {0};

	for (uint32_t t = 0; t < s->threads.n; t++)
		for (size_t i = 0; i < s->threads.v[t].n; i++) {
			const size_t at = s->threads.v[t].first + i;

			vec_push(&order,
				 (struct script_point){s->points.v[at].time_ns, t, (uint32_t)at});
		}
	vec_sort(&order, compare_script_points);
	vec_each (p, &order) {
		const struct stack_thread *t = &s->threads.v[p->thread];
		const struct stack_point *pt = &s->points.v[p->point];
		const struct stack_column *col = &s->columns.v[pt->column];

		put_sample(o, &s->owners.v[t->owner], t->pid, t->tid, p->time_ns,
			   col->period ? col->period : 1, col->event, pt->node);
	}
	vec_release(&order);
}

/* An event whose samples all have their times; NULL: none. */
static const char *timed_event(const struct stacks *s)
{
	for (size_t c = 0; c < s->columns.n; c++) {
		uint64_t n = 0;

		vec_each (pt, &s->points)
			n += pt->column == c;
		if (n && s->columns.v[c].amount == STACK_SAMPLES && n == s->columns.v[c].total)
			return s->columns.v[c].event;
	}
	return NULL;
}

/* Says why no sample has a time, where N_SAMPLES are written. */
static void note_times(const struct stacks *s, uint64_t n_samples, struct str *notes)
{
	const char *event = timed_event(s);

	if (!s->points.n) {
		str_add(notes, "samples have no times, without which FlameScope and speedscope "
			       "show none: `dwell record --trace` keeps them\n");
		return;
	}
	str_addf(notes, "%zu of %" PRIu64 " samples have a time: none is written", s->points.n,
		 n_samples);
	if (event)
		str_addf(notes, "; of `--event %s` all have one", event);
	str_addc(notes, '\n');
}

int script_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		     struct err *err)
{
	struct script_out o = {.s = s, .out = out};
	uint64_t n_samples = 0;

	(void)err;
	o.of_place = xcalloc(s->places.n + 1, sizeof(*o.of_place));
	vec_each (c, &s->columns)
		n_samples += c->amount == STACK_SAMPLES ? c->total : 0;
	if (s->points.n && s->points.n == n_samples) {
		put_points(&o);
	} else {
		note_times(s, n_samples, &ret->notes);
		for (size_t i = 0; i < s->values.n; i++)
			for (unsigned c = 0; c < s->columns.n; c++)
				if (c == 0 || s->columns.v[c].amount == STACK_SAMPLES ||
				    s->columns.v[c - 1].amount == STACK_WEIGHT)
					put_value(&o, i, c, c + !stacks_tells(s, c));
	}
	ret->n = n_samples;
	str_release(&o.path);
	str_release(&o.texts);
	free(o.of_place);
	return 0;
}
