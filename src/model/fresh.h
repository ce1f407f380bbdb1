/* SPDX-License-Identifier: BSD-2-Clause */
/* The new part of a recorder's profile, so that storing takes time by what came, not by what was
 * ever seen.
 *
 * A watched profile knows two sets of values: the *used* ones grew since the last reset (a flush),
 * the *fresh* ones grew since the last mark (a journal record).  It also knows how large these, the
 * events' sums and the losses were at that mark.  Each value has a bit, so values are found in
 * order of their numbers; the contexts and places they lead to mostly stand in that order as
 * well. */
#ifndef MODEL_FRESH_H
#define MODEL_FRESH_H

#include "model/profile.h"

/* How large a value was. */
struct value_sums {
	uint64_t count, sum;
};

typedef VEC(uint64_t) value_bits; /* one for each value, as far as it was needed */

struct freshness {
	value_bits fresh, told;	       /* used values are in one of them, or in both */
	VEC(uint64_t) noted;	       /* by value: its count when minutes were noted last */
	VEC(struct value_sums) marked; /* by value, at the last mark, as far as it was needed */
	VEC(struct event) events;      /* at the last mark */
	VEC(struct loss) losses;
	VEC(struct branch) branches;
	VEC(struct access) accesses;
	VEC(struct moment) moments;
};

/* Watches P, which has no values yet, until profile_release. */
void profile_watch(struct profile *p);
void fresh_release(struct profile *p);
size_t fresh_bytes(const struct freshness *f);

void fresh_grow(struct freshness *f, uint32_t i);

/* Notes that value I of a watched profile grows.  profile_add_value and profile_grow call it. */
static inline void fresh_add(struct freshness *f, uint32_t i)
{
	if (i / 64 >= f->fresh.n)
		fresh_grow(f, i);
	f->fresh.v[i / 64] |= 1ull << i % 64;
}

/* Adds COUNT samples to value I. */
static inline void profile_grow(struct profile *p, uint32_t i, uint64_t count)
{
	if (p->fresh)
		fresh_add(p->fresh, i);
	p->values.v[i].count += count;
}

/* Notes that what P's values grew by since the last note came in MINUTE.  P is watched.  Call it at
 * the end of a minute, and before each mark and flush. */
void profile_note_minute(struct profile *p, uint32_t minute);

/* Moves what is noted of value I to value TO, which took I's samples. */
void fresh_move_noted(struct freshness *f, uint32_t i, uint32_t to);

/* Sets the mark: all has been stored, nothing is fresh. */
void profile_mark(struct profile *p);

/* Forgets marks.  Call it when the profile's values are reset. */
void fresh_reset(struct profile *p);

/* The number of the first used value, or of the first fresh one, from I on; UINT32_MAX when there
 * is none.  In a profile that is not watched all values are both. */
uint32_t profile_next_used(const struct profile *p, uint32_t i);
uint32_t profile_next_fresh(const struct profile *p, uint32_t i);

#define profile_each_used(p, i)                                                                    \
	for (uint32_t i = profile_next_used(p, 0); i != UINT32_MAX; i = profile_next_used(p, i + 1))
#define profile_each_fresh(p, i)                                                                   \
	for (uint32_t i = profile_next_fresh(p, 0); i != UINT32_MAX;                               \
	     i = profile_next_fresh(p, i + 1))

/* These return value, event, loss, branch, access or moment I with what it grew by since the last
 * mark. */
struct value profile_fresh(const struct profile *p, uint32_t i);
struct event profile_fresh_event(const struct profile *p, event_id i);
struct loss profile_fresh_loss(const struct profile *p, size_t i);
struct branch profile_fresh_branch(const struct profile *p, size_t i);
struct access profile_fresh_access(const struct profile *p, size_t i);
struct moment profile_fresh_moment(const struct profile *p, size_t i);

#endif
