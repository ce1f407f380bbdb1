/* SPDX-License-Identifier: BSD-2-Clause */
/* See fresh.h. */
#include "model/fresh.h"

#include <assert.h>

void profile_watch(struct profile *p)
{
	assert(!p->values.n && !p->fresh);
	p->fresh = xcalloc(1, sizeof(*p->fresh));
}

void fresh_grow(struct freshness *f, uint32_t i)
{
	vec_at(&f->fresh, i / 64);
	vec_at(&f->told, i / 64);
}

static void mark_sums(struct profile *p)
{
	struct freshness *f = p->fresh;

	f->events.n = f->losses.n = f->branches.n = f->accesses.n = f->moments.n = 0;
	vec_each (e, &p->events)
		vec_push(&f->events, *e);
	vec_each (l, &p->losses)
		vec_push(&f->losses, *l);
	vec_each (b, &p->branches)
		vec_push(&f->branches, *b);
	vec_each (a, &p->accesses)
		vec_push(&f->accesses, *a);
	vec_each (m, &p->moments)
		vec_push(&f->moments, *m);
}

void profile_mark(struct profile *p)
{
	struct freshness *f = p->fresh;

	profile_each_fresh (p, i) {
		*vec_at(&f->marked, i) =
			(struct value_sums){p->values.v[i].count, p->values.v[i].sum};
	}
	for (size_t w = 0; w < f->fresh.n; w++) {
		f->told.v[w] |= f->fresh.v[w];
		f->fresh.v[w] = 0;
	}
	mark_sums(p);
}

void fresh_reset(struct profile *p)
{
	struct freshness *f = p->fresh;

	profile_each_used (p, i) {
		if (i < f->marked.n)
			f->marked.v[i] = (struct value_sums){0};
		if (i < f->noted.n)
			f->noted.v[i] = 0;
	}
	for (size_t w = 0; w < f->fresh.n; w++)
		f->fresh.v[w] = f->told.v[w] = 0;
	mark_sums(p);
}

size_t fresh_bytes(const struct freshness *f)
{
	return vec_bytes(&f->fresh) + vec_bytes(&f->told) + vec_bytes(&f->noted) +
	       vec_bytes(&f->marked) + vec_bytes(&f->branches) + vec_bytes(&f->accesses) +
	       vec_bytes(&f->moments);
}

void fresh_release(struct profile *p)
{
	struct freshness *f = p->fresh;

	if (!f)
		return;
	vec_release(&f->fresh);
	vec_release(&f->told);
	vec_release(&f->marked);
	vec_release(&f->events);
	vec_release(&f->losses);
	vec_release(&f->branches);
	vec_release(&f->accesses);
	vec_release(&f->moments);
	vec_release(&f->noted);
	free(f);
	p->fresh = NULL;
}

/* The first set bit of A, or of B when there is one, from I on. */
static uint32_t next_bit(const value_bits *a, const value_bits *b, uint32_t i)
{
	for (size_t w = i / 64; w < a->n; w++, i = 0) {
		uint64_t bits = (a->v[w] | (b ? b->v[w] : 0)) >> i % 64 << i % 64;

		if (bits)
			return (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return UINT32_MAX;
}

uint32_t profile_next_used(const struct profile *p, uint32_t i)
{
	if (p->fresh)
		return next_bit(&p->fresh->fresh, &p->fresh->told, i);
	return i < p->values.n ? i : UINT32_MAX;
}

uint32_t profile_next_fresh(const struct profile *p, uint32_t i)
{
	if (p->fresh)
		return next_bit(&p->fresh->fresh, NULL, i);
	return i < p->values.n ? i : UINT32_MAX;
}

struct value profile_fresh(const struct profile *p, uint32_t i)
{
	struct value v = p->values.v[i];

	if (p->fresh && i < p->fresh->marked.n) {
		v.count -= p->fresh->marked.v[i].count;
		v.sum -= p->fresh->marked.v[i].sum;
	}
	return v;
}

struct event profile_fresh_event(const struct profile *p, event_id i)
{
	struct event e = p->events.v[i];
	const struct event *was;

	if (!p->fresh || i >= p->fresh->events.n)
		return e;
	was = &p->fresh->events.v[i];
	e.enabled_ns -= was->enabled_ns;
	e.running_ns -= was->running_ns;
	e.total -= was->total;
	e.n_reached -= was->n_reached;
	return e;
}

struct loss profile_fresh_loss(const struct profile *p, size_t i)
{
	struct loss l = p->losses.v[i];

	if (p->fresh && i < p->fresh->losses.n)
		l.n -= p->fresh->losses.v[i].n;
	return l;
}

struct branch profile_fresh_branch(const struct profile *p, size_t i)
{
	struct branch b = p->branches.v[i];
	const struct branch *was;

	if (!p->fresh || i >= p->fresh->branches.n)
		return b;
	was = &p->fresh->branches.v[i];
	b.count -= was->count;
	b.n_predicted -= was->n_predicted;
	b.n_mispredicted -= was->n_mispredicted;
	b.cycles -= was->cycles;
	b.n_cycles -= was->n_cycles;
	b.n_newest -= was->n_newest;
	b.n_oldest -= was->n_oldest;
	b.n_again -= was->n_again;
	return b;
}

struct access profile_fresh_access(const struct profile *p, size_t i)
{
	struct access a = p->accesses.v[i];

	if (p->fresh && i < p->fresh->accesses.n) {
		a.count -= p->fresh->accesses.v[i].count;
		a.latency -= p->fresh->accesses.v[i].latency;
	}
	return a;
}

struct moment profile_fresh_moment(const struct profile *p, size_t i)
{
	struct moment m = p->moments.v[i];

	if (p->fresh && i < p->fresh->moments.n)
		m.count -= p->fresh->moments.v[i].count;
	return m;
}
