/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of one program as BOLT's fdata (docs/formats/bolt.md): of branch stacks, each jump with how
 * often it was taken; without them ("no_lbr") each place with its samples. */
#include <errno.h>
#include <inttypes.h>

#include "port/exporters.h"

struct bolt_line {
	const char *from, *to; /* linked names; TO NULL: a place */
	uint64_t from_off, to_off, n, n_mispredicted;
};

struct bolt_out {
	const struct stacks *s;
	uint32_t image;
	VEC(struct bolt_line) lines;
	uint64_t n_elsewhere;
};

/* The procedure that place I is in, and how far; false: it is not in the program, or has no name. */
static bool bolt_place(const struct bolt_out *o, uint32_t i, const char **ret, uint64_t *ret_off)
{
	const struct stack_place *pl = &o->s->places.v[i];
	const struct stack_function *f =
		&o->s->functions.v[o->s->lines.v[pl->first_line + pl->n_lines - 1].function];

	if (pl->image != o->image || f->nameless || !f->svma || pl->svma < f->svma)
		return false;
	*ret = f->linked;
	*ret_off = pl->svma - f->svma;
	return true;
}

static int compare_bolt_lines(const void *a, const void *b)
{
	const struct bolt_line *x = a, *y = b;
	int d = strcmp(x->from, y->from);

	if (d == 0 && x->from_off != y->from_off)
		d = x->from_off < y->from_off ? -1 : 1;
	if (d == 0 && x->to)
		d = strcmp(x->to, y->to);
	if (d == 0 && x->to_off != y->to_off)
		d = x->to_off < y->to_off ? -1 : 1;
	return d;
}

static void add_jumps(struct bolt_out *o)
{
	vec_each (b, &o->s->branches) {
		struct bolt_line l = {.n = b->count, .n_mispredicted = b->n_mispredicted};

		if (bolt_place(o, b->from, &l.from, &l.from_off) &&
		    bolt_place(o, b->to, &l.to, &l.to_off))
			vec_push(&o->lines, l);
		else
			o->n_elsewhere += b->count;
	}
}

static void add_places(struct bolt_out *o)
{
	const struct stacks *s = o->s;

	for (size_t i = 0; i < s->values.n; i++) {
		struct bolt_line l = {.n = stacks_amounts(s, i)[s->main_column]};

		if (!l.n)
			continue;
		if (bolt_place(o, s->nodes.v[s->values.v[i].node].place, &l.from, &l.from_off))
			vec_push(&o->lines, l);
		else
			o->n_elsewhere += l.n;
	}
}

static void put_bolt_line(struct str *out, const struct bolt_line *l)
{
	str_addf(out, "1 %s %" PRIx64, l->from, l->from_off);
	if (l->to)
		str_addf(out, " 1 %s %" PRIx64 " %" PRIu64, l->to, l->to_off, l->n_mispredicted);
	str_addf(out, " %" PRIu64 "\n", l->n);
}

int bolt_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		   struct err *err)
{
	struct bolt_out o = {.s = s, .image = (uint32_t)stacks_program(s)};
	const char *path = o.image < s->images.n ? s->images.v[o.image].path : "";

	add_jumps(&o);
	if (!o.lines.n) {
		o.n_elsewhere = 0;
		add_places(&o);
		str_addf(&out->text, "no_lbr %s\n", s->columns.v[s->main_column].event);
	} else {
		ret->unit = "jumps";
	}
	vec_sort(&o.lines, compare_bolt_lines);
	for (size_t i = 0, next; i < o.lines.n; i = next) {
		struct bolt_line sum = o.lines.v[i];

		for (next = i + 1;
		     next < o.lines.n && compare_bolt_lines(&sum, &o.lines.v[next]) == 0; next++) {
			sum.n += o.lines.v[next].n;
			sum.n_mispredicted += o.lines.v[next].n_mispredicted;
		}
		put_bolt_line(&out->text, &sum);
		ret->n += sum.n;
		out_stream_settle(out);
	}
	vec_release(&o.lines);
	if (!ret->n)
		return err_set(err, -ENOENT, "no sample is in a procedure of %s", path);
	if (o.n_elsewhere)
		str_addf(&ret->notes,
			 "%s: %" PRIu64 " %s are in other images, or no procedure, and left out\n",
			 path, o.n_elsewhere, ret->unit);
	return 0;
}
