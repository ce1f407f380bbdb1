/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of one program as gmon.out for gprof (docs/formats/gmon.md).
 *
 * A histogram has a bin for each two bytes, the smallest that gprof counts, so that it shares no
 * bin between procedures, and lies where samples are.  A bin has 16 bits: what does not fit goes
 * into another histogram of the same place, which gprof adds. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "formats/gmon.h"
#include "port/exporters.h"

#define BIN_BYTES 2
#define GAP_BYTES 256 /* a histogram ends where no sample is for so long */

struct gmon_spot {
	uint64_t svma, n;
};

struct gmon_call {
	uint64_t from, to, n;
};

struct gmon_out {
	const struct stacks *s;
	uint32_t image;
	unsigned column;
	VEC(struct gmon_spot) spots;
	VEC(struct gmon_call) calls;
	uint64_t n, n_elsewhere;
};

static int compare_gmon_spots(const void *a, const void *b)
{
	const struct gmon_spot *x = a, *y = b;

	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

static int compare_gmon_calls(const void *a, const void *b)
{
	const struct gmon_call *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* The entry of the procedure that the place of NODE is in; 0: not in the program. */
static uint64_t entry_of(const struct gmon_out *o, uint32_t node)
{
	const struct stack_place *pl = &o->s->places.v[o->s->nodes.v[node].place];
	const uint32_t outer = o->s->lines.v[pl->first_line + pl->n_lines - 1].function;

	return node && pl->image == o->image ? o->s->functions.v[outer].svma : 0;
}

static void collect_value(struct gmon_out *o, size_t value)
{
	const struct stacks *s = o->s;
	const uint64_t n = stacks_amounts(s, value)[o->column];
	uint32_t node = s->values.v[value].node;
	const struct stack_place *pl = &s->places.v[s->nodes.v[node].place];

	if (!n)
		return;
	if (pl->image == o->image) {
		vec_push(&o->spots, (struct gmon_spot){pl->svma, n});
		o->n += n;
	} else {
		o->n_elsewhere += n;
	}
	for (uint32_t caller; node; node = caller) {
		const uint64_t to = entry_of(o, node);

		caller = s->nodes.v[node].parent;
		if (to && entry_of(o, caller))
			vec_push(&o->calls,
				 (struct gmon_call){s->places.v[s->nodes.v[caller].place].svma, to,
						    n});
	}
}

/* Writes the spots [FIRST, END), which are near each other. */
static void put_spots(struct gmon_out *o, struct str *out, size_t first, size_t end,
		      const struct gmon_histogram *like)
{
	struct gmon_histogram h = *like;
	_mem_ uint16_t *bins = NULL;
	bool again;

	h.low = o->spots.v[first].svma & ~(uint64_t)1;
	h.high = (o->spots.v[end - 1].svma + 2) & ~(uint64_t)1;
	h.n = (h.high - h.low) / BIN_BYTES;
	bins = xmalloc(h.n * sizeof(*bins));
	do {
		again = false;
		memset(bins, 0, h.n * sizeof(*bins));
		for (size_t i = first; i < end; i++) {
			struct gmon_spot *spot = &o->spots.v[i];
			uint16_t *bin = &bins[(spot->svma - h.low) / BIN_BYTES];
			const uint64_t fits = spot->n < (uint64_t)UINT16_MAX - *bin
						      ? spot->n
						      : (uint64_t)UINT16_MAX - *bin;

			*bin = (uint16_t)(*bin + fits);
			spot->n -= fits;
			again |= spot->n > 0;
		}
		gmon_put_histogram(out, &h, bins);
	} while (again);
}

static void put_calls(struct gmon_out *o, struct str *out)
{
	vec_sort(&o->calls, compare_gmon_calls);
	for (size_t i = 0, next; i < o->calls.n; i = next) {
		struct gmon_call c = o->calls.v[i];

		for (next = i + 1;
		     next < o->calls.n && compare_gmon_calls(&c, &o->calls.v[next]) == 0; next++)
			c.n += o->calls.v[next].n;
		gmon_put_arc(out,
			     &(struct gmon_arc){c.from, c.to,
						c.n > UINT32_MAX ? UINT32_MAX : (uint32_t)c.n});
	}
}

int gmon_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		   struct err *err)
{
	struct gmon_out o = {
		.s = s, .image = (uint32_t)stacks_program(s), .column = s->main_column};
	const unsigned weight = stacks_main(s);
	const struct stack_column *col = &s->columns.v[weight];
	struct gmon_histogram like = {.rate = 1, .unit = "samples"};

	for (size_t i = 0; i < s->values.n; i++)
		collect_value(&o, i);
	if (!o.spots.n) {
		vec_release(&o.calls);
		return err_set(err, -ENOENT, "no sample is in %s itself; name another image",
			       o.image < s->images.n ? s->images.v[o.image].path : "a program");
	}
	if (strcmp(col->unit, "nanoseconds") == 0 && col->period > 1) {
		like.rate = (uint32_t)((1000000000 + col->period / 2) / col->period);
		like.rate += !like.rate;
		memcpy(like.unit, "seconds", sizeof("seconds"));
	}
	vec_sort(&o.spots, compare_gmon_spots);
	gmon_put_header(&out->text);
	for (size_t i = 0, next; i < o.spots.n; i = next) {
		for (next = i + 1; next < o.spots.n &&
				   o.spots.v[next].svma - o.spots.v[next - 1].svma < GAP_BYTES;)
			next++;
		put_spots(&o, &out->text, i, next, &like);
		out_stream_settle(out);
	}
	put_calls(&o, &out->text);
	if (o.n_elsewhere)
		str_addf(&ret->notes,
			 "%s: %" PRIu64 " of %" PRIu64
			 " samples are in other images and left out\n",
			 s->images.v[o.image].path, o.n_elsewhere, o.n + o.n_elsewhere);
	ret->n = o.n;
	vec_release(&o.spots);
	vec_release(&o.calls);
	return 0;
}
