/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of one program as gmon.out for gprof (docs/formats/gmon.md).
 *
 * A histogram has a bin for each two bytes, the smallest that gprof counts, so that it shares no
 * bin between procedures, and lies where samples are.  A bin has 16 bits.  One that holds more has
 * a histogram of its own, which is repeated until all is written: gprof adds those of one place. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "formats/gmon.h"
#include "port/exporters.h"

#define BIN_BYTES 2
#define GAP_BYTES 256	  /* a histogram ends where no sample is for so long */
#define MOST_BINS 1000000 /* that are repeats: of 43 bytes each */

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

/* Sorts the spots by bin, and makes one of those that share a bin. */
static void merge_spots(struct gmon_out *o)
{
	size_t n = 0;

	vec_sort(&o->spots, compare_gmon_spots);
	for (size_t i = 0; i < o->spots.n; i++) {
		const struct gmon_spot spot = {o->spots.v[i].svma & ~(uint64_t)(BIN_BYTES - 1),
					       o->spots.v[i].n};

		if (n && o->spots.v[n - 1].svma == spot.svma)
			o->spots.v[n - 1].n += spot.n;
		else
			o->spots.v[n++] = spot;
	}
	o->spots.n = n;
}

/* Whether the spots fit: a damaged recording has any numbers. */
static int check_spots(const struct gmon_out *o, struct err *err)
{
	uint64_t n = 0;

	vec_each (spot, &o->spots) {
		n += spot->n / UINT16_MAX;
		if (n > MOST_BINS)
			return err_set(err, -E2BIG,
				       "counts of 16 bits cannot hold so many samples: take fewer "
				       "epochs, or another format");
	}
	return 0;
}

/* Writes the spots [FIRST, END), which are near each other and fit. */
static void put_spots(struct gmon_out *o, struct str *out, size_t first, size_t end,
		      const struct gmon_histogram *like)
{
	struct gmon_histogram h = *like;
	_mem_ uint16_t *bins = NULL;

	h.low = o->spots.v[first].svma;
	h.high = o->spots.v[end - 1].svma + BIN_BYTES;
	h.n = (h.high - h.low) / BIN_BYTES;
	bins = xcalloc(h.n, sizeof(*bins));
	for (size_t i = first; i < end; i++)
		bins[(o->spots.v[i].svma - h.low) / BIN_BYTES] = (uint16_t)o->spots.v[i].n;
	gmon_put_histogram(out, &h, bins);
}

/* Writes a spot that one bin does not hold. */
static void put_large_spot(struct str *out, struct gmon_spot spot,
			   const struct gmon_histogram *like)
{
	struct gmon_histogram h = *like;

	h.low = spot.svma;
	h.high = spot.svma + BIN_BYTES;
	h.n = 1;
	while (spot.n) {
		const uint16_t bin = (uint16_t)(spot.n < UINT16_MAX ? spot.n : UINT16_MAX);

		gmon_put_histogram(out, &h, &bin);
		spot.n -= bin;
	}
}

/* The end of the spots that share a histogram with FIRST. */
static size_t spots_end(const struct gmon_out *o, size_t first)
{
	size_t end = first + 1;

	while (end < o->spots.n && o->spots.v[end].n <= UINT16_MAX &&
	       o->spots.v[end].svma - o->spots.v[end - 1].svma < GAP_BYTES)
		end++;
	return end;
}

static void put_histograms(struct gmon_out *o, struct out_stream *out,
			   const struct gmon_histogram *like)
{
	for (size_t i = 0, next; i < o->spots.n; i = next) {
		next = i + 1;
		if (o->spots.v[i].n > UINT16_MAX) {
			put_large_spot(&out->text, o->spots.v[i], like);
		} else {
			next = spots_end(o, i);
			put_spots(o, &out->text, i, next, like);
		}
		out_stream_settle(out);
	}
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
	int rc;

	for (size_t i = 0; i < s->values.n; i++)
		collect_value(&o, i);
	merge_spots(&o);
	rc = check_spots(&o, err);
	if (!o.spots.n)
		rc = err_set(err, -ENOENT, "no sample is in %s itself; name another image",
			     o.image < s->images.n ? s->images.v[o.image].path : "a program");
	if (rc < 0) {
		vec_release(&o.spots);
		vec_release(&o.calls);
		return rc;
	}
	if (strcmp(col->unit, "nanoseconds") == 0 && col->period > 1) {
		like.rate = (uint32_t)((1000000000 + col->period / 2) / col->period);
		like.rate += !like.rate;
		memcpy(like.unit, "seconds", sizeof("seconds"));
	}
	gmon_put_header(&out->text);
	put_histograms(&o, out, &like);
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
