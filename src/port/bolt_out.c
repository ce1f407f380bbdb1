/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of one program as BOLT's fdata (docs/formats/bolt.md): of branch stacks, each jump with
 * how often it was taken; without them ("no_lbr") each place with its samples.  And as what
 * perf2bolt reads when it need not ask perf ("pre-aggregated"): jumps, and the code that ran
 * between two of them.
 *
 * Jumps are kept as sums, so which jump ended the code that another one led to is not known.  In a
 * procedure each jump from somewhere ends what jumps before it led to, the nearest first: every
 * instruction then ran as often as in any other pairing.
 *
 * Example: 10 jumps to 0x100, 4 from 0x108, 3 to 0x110, 9 from 0x118:
 *     F 100 108 4
 *     F 110 118 3
 *     F 100 118 6 */
#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "port/exporters.h"

struct bolt_line {
	const char *from, *to;	       /* linked names; TO NULL: a place */
	uint32_t from_local, to_local; /* struct stack_function's */
	uint64_t from_off, to_off, n, n_mispredicted;
};

/* Where jumps go to, or come from. */
struct bolt_end {
	uint64_t svma, n;
	uint64_t procedure; /* its first instruction */
	bool is_from;
};

struct bolt_out {
	const struct stacks *s;
	uint32_t image;
	VEC(struct bolt_line) lines;
	VEC(struct bolt_end) ends;
	uint64_t n_elsewhere;
};

/* The procedure that place I is in, and how far; false: it is not in the program, or has no
 * name. */
static bool bolt_place(const struct bolt_out *o, uint32_t i, const char **ret, uint32_t *ret_local,
		       uint64_t *ret_off)
{
	const struct stack_place *pl = &o->s->places.v[i];
	const struct stack_function *f =
		&o->s->functions.v[o->s->lines.v[pl->first_line + pl->n_lines - 1].function];

	if (pl->image != o->image || f->nameless || !f->svma || pl->svma < f->svma)
		return false;
	*ret = f->linked;
	*ret_local = f->local;
	*ret_off = pl->svma - f->svma;
	return true;
}

static int compare_bolt_lines(const void *a, const void *b)
{
	const struct bolt_line *x = a, *y = b;
	int d = strcmp(x->from, y->from);

	if (d == 0 && x->from_local != y->from_local)
		d = x->from_local < y->from_local ? -1 : 1;
	if (d == 0 && x->from_off != y->from_off)
		d = x->from_off < y->from_off ? -1 : 1;
	if (d == 0 && x->to)
		d = strcmp(x->to, y->to);
	if (d == 0 && x->to_local != y->to_local)
		d = x->to_local < y->to_local ? -1 : 1;
	if (d == 0 && x->to_off != y->to_off)
		d = x->to_off < y->to_off ? -1 : 1;
	return d;
}

static void add_jumps(struct bolt_out *o)
{
	vec_each (b, &o->s->branches) {
		struct bolt_line l = {.n = b->count, .n_mispredicted = b->n_mispredicted};

		if (bolt_place(o, b->from, &l.from, &l.from_local, &l.from_off) &&
		    bolt_place(o, b->to, &l.to, &l.to_local, &l.to_off))
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
		if (bolt_place(o, s->nodes.v[s->values.v[i].node].place, &l.from, &l.from_local,
			       &l.from_off))
			vec_push(&o->lines, l);
		else
			o->n_elsewhere += l.n;
	}
}

/* BOLT numbers local symbols of one name by address, and calls them NAME/NUMBER
 * (bolt/lib/Rewrite/RewriteInstance.cpp, discoverFileObjects). */
static void put_bolt_place(struct str *out, const char *name, uint32_t local, uint64_t off)
{
	str_add(out, "1 ");
	text_add_line(out, name);
	if (local)
		str_addf(out, "/%" PRIu32, local);
	str_addf(out, " %" PRIx64, off);
}

static void put_bolt_line(struct str *out, const struct bolt_line *l)
{
	put_bolt_place(out, l->from, l->from_local, l->from_off);
	if (l->to) {
		str_addc(out, ' ');
		put_bolt_place(out, l->to, l->to_local, l->to_off);
		str_addf(out, " %" PRIu64, l->n_mispredicted);
	}
	str_addf(out, " %" PRIu64 "\n", l->n);
}

/* Makes one line of those of one kind, in their order. */
static void sum_bolt_lines(struct bolt_out *o)
{
	size_t n = 0;

	vec_sort(&o->lines, compare_bolt_lines);
	for (size_t i = 0; i < o->lines.n; i++) {
		const struct bolt_line l = o->lines.v[i];

		if (n && compare_bolt_lines(&o->lines.v[n - 1], &l) == 0) {
			o->lines.v[n - 1].n += l.n;
			o->lines.v[n - 1].n_mispredicted += l.n_mispredicted;
		} else {
			o->lines.v[n++] = l;
		}
	}
	o->lines.n = n;
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
		str_add(&out->text, "no_lbr ");
		text_add_line(&out->text, s->columns.v[s->main_column].event);
		str_addc(&out->text, '\n');
	} else {
		ret->unit = "jumps";
	}
	sum_bolt_lines(&o);
	vec_each (l, &o.lines) {
		put_bolt_line(&out->text, l);
		ret->n += l->n;
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

static int compare_bolt_ends(const void *a, const void *b)
{
	const struct bolt_end *x = a, *y = b;

	if (x->svma != y->svma)
		return x->svma < y->svma ? -1 : 1;
	return x->is_from - y->is_from; /* code of one instruction begins, then ends */
}

static void add_bolt_end(struct bolt_out *o, uint32_t place, uint64_t n, bool is_from)
{
	const char *name;
	uint32_t local;
	uint64_t off;

	if (bolt_place(o, place, &name, &local, &off)) {
		const uint64_t svma = o->s->places.v[place].svma;

		vec_push(&o->ends, (struct bolt_end){svma, n, svma - off, is_from});
	}
}

/* Adds the code between jumps as lines. */
static void add_bolt_ranges(struct bolt_out *o)
{
	VEC(struct bolt_end) open = {0};

	vec_sort(&o->ends, compare_bolt_ends);
	vec_each (e, &o->ends) {
		uint64_t left = e->is_from ? e->n : 0;

		if (open.n && open.v[0].procedure != e->procedure)
			open.n = 0;
		if (!e->is_from)
			vec_push(&open, *e);
		for (; left && open.n; open.n -= !open.v[open.n - 1].n) {
			struct bolt_end *to = &open.v[open.n - 1];
			const uint64_t n = to->n < left ? to->n : left;

			vec_push(&o->lines,
				 (struct bolt_line){"", "", 0, 0, to->svma, e->svma, n, 0});
			to->n -= n;
			left -= n;
		}
	}
	vec_release(&open);
}

static void add_bolt_pairs(struct bolt_out *o)
{
	vec_each (b, &o->s->branches) {
		const struct stack_place *from = &o->s->places.v[b->from],
					 *to = &o->s->places.v[b->to];

		if (from->image == o->image && to->image == o->image)
			vec_push(&o->lines, (struct bolt_line){"", "", 0, 0, from->svma, to->svma,
							       b->count, b->n_mispredicted});
		else
			o->n_elsewhere += b->count;
		add_bolt_end(o, b->from, b->count, true);
		add_bolt_end(o, b->to, b->count, false);
	}
}

int bolt_pre_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		       struct err *err)
{
	struct bolt_out o = {.s = s, .image = (uint32_t)stacks_program(s)};
	const char *path = o.image < s->images.n ? s->images.v[o.image].path : "";

	ret->unit = "jumps";
	add_bolt_pairs(&o);
	sum_bolt_lines(&o);
	vec_each (l, &o.lines) {
		str_addf(&out->text, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
			 l->from_off, l->to_off, l->n, l->n_mispredicted);
		ret->n += l->n;
		out_stream_settle(out);
	}
	o.lines.n = 0;
	add_bolt_ranges(&o);
	sum_bolt_lines(&o);
	vec_each (l, &o.lines) {
		str_addf(&out->text, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", l->from_off,
			 l->to_off, l->n);
		out_stream_settle(out);
	}
	vec_release(&o.lines);
	vec_release(&o.ends);
	if (!ret->n)
		return err_set(err, -ENOENT,
			       "no branch stack has a jump in %s; --bolt takes samples as well",
			       path);
	if (o.n_elsewhere)
		str_addf(&ret->notes,
			 "%s: %" PRIu64 " jumps from or to other images are left out\n", path,
			 o.n_elsewhere);
	return 0;
}
