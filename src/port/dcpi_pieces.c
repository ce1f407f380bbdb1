/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_pieces.h.  Pieces are sorted so that those of one set come together, first which files
 * there are, then address by address; a group is then gone through once. */
#include "port/dcpi_pieces.h"

#include "model/fact.h"

enum piece_kind {
	PIECE_FILE, /* ctx 0: there is a file of this counter (n 1: of measured ones) */
	PIECE_SAMPLES,
	PIECE_MEASURED,
	PIECE_TOTAL,
};

struct dcpi_piece {
	uint64_t known, value; /* the set */
	uint64_t n;
	owner_id owner;
	image_id image;
	event_id event;
	ctx_id ctx;
	uint8_t counter;
	uint8_t kind;
};

static struct dcpi_piece *port_dcpi_pieces_add(dcpi_pieces *v, owner_id owner, image_id image,
					       event_id event, const struct dcpi_pm *pm)
{
	vec_push(v, (struct dcpi_piece){.known = pm->vector.known,
					.value = pm->vector.value,
					.owner = owner,
					.image = image,
					.event = event,
					.counter = (uint8_t)pm->vector.counter});
	return &v->v[v->n - 1];
}

void dcpi_pieces_add_file(dcpi_pieces *v, owner_id owner, image_id image, event_id event,
			  const struct dcpi_pm *pm)
{
	struct dcpi_piece *piece;

	if (!pm->vector.counter)
		return;
	piece = port_dcpi_pieces_add(v, owner, image, event, pm);
	piece->kind = PIECE_FILE;
	piece->n = pm->measured;
}

void dcpi_pieces_add(dcpi_pieces *v, owner_id owner, image_id image, event_id event,
		     const struct dcpi_pm *pm, ctx_id ctx, uint64_t n)
{
	struct dcpi_piece *piece = port_dcpi_pieces_add(v, owner, image, event, pm);

	piece->kind = !pm->vector.counter ? PIECE_SAMPLES
		      : pm->measured	  ? PIECE_MEASURED
					  : PIECE_TOTAL;
	piece->ctx = ctx;
	piece->n = n;
}

#define ORDER(a, b)                                                                                \
	if ((a) != (b))                                                                            \
	return (a) < (b) ? -1 : 1

static int by_set(const struct dcpi_piece *a, const struct dcpi_piece *b)
{
	ORDER(a->image, b->image);
	ORDER(a->owner, b->owner);
	ORDER(a->event, b->event);
	ORDER(a->known, b->known);
	ORDER(a->value, b->value);
	return 0;
}

static int by_place(const void *x, const void *y)
{
	const struct dcpi_piece *a = x, *b = y;
	int c = by_set(a, b);

	if (c != 0)
		return c;
	ORDER(a->ctx, b->ctx);
	return 0;
}

/* What the pieces of one place say. */
struct sums {
	uint64_t n_samples, measured[FACT_MAX_COUNTERS], total[FACT_MAX_COUNTERS];
};

static void add_values(struct profile *p, const struct dcpi_piece *at, uint32_t counters,
		       uint32_t measured, const struct sums *s)
{
	struct value v = {.owner = at->owner, .ctx = at->ctx, .event = at->event};
	struct vector vec = {.known = at->known, .value = at->value};

	for (; counters; counters &= counters - 1) {
		vec.counter = (uint32_t)__builtin_ctz(counters);
		v.count = measured >> vec.counter & 1 ? s->measured[vec.counter] : s->n_samples;
		v.sum = s->total[vec.counter];
		if (!value_counts(&v))
			continue;
		v.vector = profile_intern_vector(p, &vec);
		profile_add_value(p, &v);
	}
}

/* Pieces [START, END) are those of one set. */
static void settle_set(const dcpi_pieces *v, size_t start, size_t end, struct profile *p)
{
	uint32_t counters = 0, measured = 0;
	size_t i = start, next;

	for (; i < end && v->v[i].kind == PIECE_FILE; i++) {
		counters |= 1u << v->v[i].counter;
		if (v->v[i].n)
			measured |= 1u << v->v[i].counter;
	}
	for (; i < end; i = next) {
		struct sums s = {0};

		for (next = i; next < end && v->v[next].ctx == v->v[i].ctx; next++) {
			const struct dcpi_piece *x = &v->v[next];

			if (x->kind == PIECE_SAMPLES)
				s.n_samples += x->n;
			else if (x->kind == PIECE_MEASURED)
				s.measured[x->counter] += x->n;
			else
				s.total[x->counter] += x->n;
		}
		add_values(p, &v->v[i], counters, measured, &s);
	}
}

void dcpi_pieces_settle(dcpi_pieces *v, struct profile *p)
{
	size_t end;

	vec_sort(v, by_place);
	for (size_t i = 0; i < v->n; i = end) {
		for (end = i; end < v->n && by_set(&v->v[i], &v->v[end]) == 0; end++)
			;
		settle_set(v, i, end, p);
	}
	v->n = 0;
}

void dcpi_pieces_release(dcpi_pieces *v)
{
	vec_release(v);
}
