/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_branch.h.
 *
 * The low bits of a branch's flags (struct perf_branch_entry): bit 0 mispredicted, bit 1 predicted,
 * cycles since the branch before in 16 bits from bit 4, 0 when they are not known.
 *
 * A stack is read from the newest jump to the first that cannot be.  The processor may have been
 * asleep, or have run another process, and what it kept from before is of another time:
 *
 *     newest   401040 -> 401000    believed
 *              401080 -> 401008    believed: code runs straight from 401008 to 401040
 *              401090 -> 4010a0    not: nothing runs straight from 4010a0 back to 401080
 *     oldest   401050 -> 401088    left out with it
 *
 * Stacks of chosen kinds of jumps (perf record -j call) say nothing of straight runs.
 *
 * The same few jumps come again and again, millions of them, so they are counted in slots: pairs of
 * cache lines, found by a hash of the jump and of who makes it.  A third jump of one pair takes the
 * place of the one that came less often, whose counts go to the profile then; so do all at the
 * end. */
#include "port/perf_branch.h"

#include <inttypes.h>

#define PAIR_BITS 16
#define N_PAIRS	  (1u << PAIR_BITS)
#define MOST_WHOS 65536u
#define SOME	  32 /* jumps whose slots are loaded at once */

/* A branch does not say whose mode its ends are in: the kernel has the upper half. */
static place_id end_of(struct perf_world *w, uint32_t proc, uint64_t ip)
{
	unsigned mode = ip >> 63 ? PERFDATA_MODE_KERNEL : PERFDATA_MODE_USER;

	return perf_world_place(w, proc, mode, ip, 0);
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

/* Returns for how many bytes from START mappings follow without a hole, as far as UNTIL at least;
 * 0 when nothing is mapped there.  No code is 4 GiB long. */
static uint32_t mapped_bytes(const struct maps *maps, uint64_t start, uint64_t until)
{
	uint64_t end = start;

	if (is_kernel(start))
		return UINT32_MAX;
	for (const struct mapping *m = maps_find(maps, start); m; m = maps_find(maps, end)) {
		end = m->end;
		if (end > until)
			break;
	}
	return end - start < UINT32_MAX ? (uint32_t)(end - start) : UINT32_MAX;
}

/* --- slots --- */

/* Adds what S counted to the profile. */
static void slot_flush(struct perf_world *w, struct perf_branch_slot *s)
{
	struct branch *to = s->branch ? &w->profile->branches.v[s->branch - 1] : NULL;

	if (!to)
		return;
	to->count += s->count;
	to->n_predicted += s->n_predicted;
	to->n_mispredicted += s->n_mispredicted;
	to->cycles += s->cycles;
	to->n_cycles += s->n_cycles;
	to->n_newest += s->n_newest;
	to->n_oldest += s->n_oldest;
	to->n_again += s->n_again;
	s->count = s->n_predicted = s->n_mispredicted = s->n_cycles = 0;
	s->n_newest = s->n_oldest = s->n_again = 0;
	s->cycles = 0;
}

void perf_branches_flush(struct perf_world *w)
{
	for (size_t i = 0; w->branch_slots && i < 2 * (size_t)N_PAIRS; i++)
		slot_flush(w, &w->branch_slots[i]);
}

static void slots_make(struct perf_world *w)
{
	const size_t n_bytes = 2 * (size_t)N_PAIRS * sizeof(*w->branch_slots);

	_Static_assert(sizeof(*w->branch_slots) == 64, "a slot is a line of the cache");
	w->branch_slots = aligned_alloc(64, n_bytes);
	if (!w->branch_slots)
		alloc_fail();
	memset(w->branch_slots, 0, n_bytes);
}

static struct perf_branch_slot *pair_of(const struct perf_world *w, uint32_t who,
					const struct perfdata_branch *b)
{
	const uint64_t h =
		((b->from * 0x9e3779b97f4a7c15ULL + b->to) ^ who * 0xc4ceb9fe1a85ec53ULL) *
		0xff51afd7ed558ccdULL;

	return &w->branch_slots[2 * (h >> (64 - PAIR_BITS))];
}

static bool slot_is_of(const struct perf_branch_slot *s, uint32_t who,
		       const struct perfdata_branch *b)
{
	return s->from == b->from && s->to == b->to && s->who == who;
}

static struct perf_branch_slot *slot_of(struct perf_world *w, struct perf_branch_slot *pair,
					uint32_t who, const struct perfdata_branch *b)
{
	struct perf_branch_slot *s = pair;

	if (slot_is_of(s, who, b) || slot_is_of(++s, who, b))
		return s;
	s = pair[1].count < pair[0].count ? &pair[1] : &pair[0];
	slot_flush(w, s);
	*s = (struct perf_branch_slot){.from = b->from, .to = b->to, .who = who};
	return s;
}

static bool same_who(const void *owner, uint32_t i, const void *key)
{
	const struct perf_branch_who *a = &((const struct perf_world *)owner)->branch_whos.v[i],
				     *b = key;

	return a->version == b->version && a->kernel_version == b->kernel_version &&
	       a->owner == b->owner && a->event == b->event;
}

/* The number of K, + 1. */
static uint32_t who_of(struct perf_world *w, const struct perf_branch_who *k)
{
	const uint64_t h = hash_pair(k->version ^ k->kernel_version << 32,
				     (uint64_t)k->owner << 32 | k->event);

	if (w->branch_whos.n && same_who(w, w->branch_who, k))
		return w->branch_who + 1;
	w->branch_who = index_find(&w->branch_who_ix, h, same_who, w, k);
	if (w->branch_who != INDEX_NONE)
		return w->branch_who + 1;
	if (w->branch_whos.n == MOST_WHOS) { /* mappings that change all the time */
		perf_branches_flush(w);
		memset(w->branch_slots, 0, 2 * (size_t)N_PAIRS * sizeof(*w->branch_slots));
		index_clear(&w->branch_who_ix);
		w->branch_whos.n = 0;
	}
	w->branch_who = (uint32_t)w->branch_whos.n;
	vec_push(&w->branch_whos, *k);
	index_add(&w->branch_who_ix, h, w->branch_who);
	return w->branch_who + 1;
}

/* --- counting --- */

/* What is wrong with the jump of S, or with the straight run from it to BY, the start of the jump
 * after it (0: there is none). */
static enum perf_odd_branch odd_branch(const struct maps *maps, struct perf_branch_slot *s,
				       uint64_t by)
{
	if (!s->branch) {
		if (!mapped_bytes(maps, s->from, s->from))
			return PERF_ODD_NOWHERE;
		s->to_bytes = mapped_bytes(maps, s->to, s->to);
		if (!s->to_bytes)
			return PERF_ODD_NOWHERE;
	}
	if (!by)
		return PERF_ODD_NONE;
	if (by < s->to)
		return PERF_ODD_BACKWARD;
	if (by - s->to >= s->to_bytes)
		s->to_bytes = mapped_bytes(maps, s->to, by);
	return by - s->to >= s->to_bytes || is_kernel(by) != is_kernel(s->to) ? PERF_ODD_HOLE
									      : PERF_ODD_NONE;
}

/* Finds the profile's branch of S, which is K's. */
static void find_branch(struct perf_world *w, uint32_t proc, const struct perf_branch_who *k,
			struct perf_branch_slot *s)
{
	s->branch =
		profile_add_branch(w->profile, &(struct branch){.owner = k->owner,
								.event = k->event,
								.from = end_of(w, proc, s->from),
								.to = end_of(w, proc, s->to)}) +
		1;
}

static void count_branch(struct perf_branch_slot *s, uint64_t flags)
{
	const uint32_t cycles = flags >> 4 & 0xffff;

	s->count++;
	s->n_mispredicted += flags & 1;
	s->n_predicted += (flags & 3) == 2;
	s->cycles += cycles;
	s->n_cycles += cycles != 0;
}

/* The lower halves of targets, which are enough to tell them apart; 0: none.  A vector of GCC's. */
typedef uint32_t four_targets __attribute__((vector_size(16)));

/* Returns how many of the N targets TOS are TO. */
static uint32_t count_same(const four_targets *tos, uint32_t n, uint32_t to)
{
	const four_targets same = {to, to, to, to};
	four_targets sum = {0};

	for (uint32_t i = 0; i < n; i += 4)
		sum -= (four_targets)(tos[i / 4] == same);
	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* B, a jump that was counted, is the oldest of its stack. */
static void count_oldest(struct perf_world *w, uint32_t proc, uint32_t who,
			 const struct perf_branch_who *k, const struct perfdata_branch *b)
{
	struct perf_branch_slot *s = slot_of(w, pair_of(w, who, b), who, b);

	if (!s->branch) { /* another one took its slot */
		odd_branch(w->procs.v[proc].maps, s, 0);
		find_branch(w, proc, k, s);
	}
	s->n_oldest++;
}

/* The jumps of R's stack, which K makes; ALL: no kind of jump is left out. */
static void count_stack(struct perf_world *w, uint32_t proc, const struct perfdata_record *r,
			const struct perf_branch_who *k, bool all)
{
	const struct maps *maps = w->procs.v[proc].maps;
	const uint32_t n = r->sample.branches.n / 3, who = who_of(w, k);
	uint32_t some = 0;
	struct perfdata_branch v[SOME];
	struct perf_branch_slot *pairs[SOME];
	struct perfdata_branch last = {0}; /* the jump after this one; all 0: there is none */
	four_targets tos[SOME / 4];	   /* of V, but for the newest */

	for (uint32_t i = 0; i < n; i++) {
		const struct perfdata_branch *b = &v[i % SOME];
		struct perf_branch_slot *s;
		enum perf_odd_branch odd;

		if (i % SOME == 0) {
			some = perfdata_branches(&r->sample, i, SOME, v);
			memset(tos, 0, sizeof(tos));
			for (uint32_t m = 0; m < some; m++) {
				tos[m / 4][m % 4] = i + m ? (uint32_t)v[m].to : 0;
				pairs[m] = pair_of(w, who, &v[m]);
				__builtin_prefetch(pairs[m]);
				__builtin_prefetch(pairs[m] + 1);
			}
		}
		if (!b->from && !b->to) {
			if (last.from)
				count_oldest(w, proc, who, k, &last);
			last = *b;
			continue;
		}
		s = slot_of(w, pairs[i % SOME], who, b);
		odd = odd_branch(maps, s, all ? last.from : 0);
		if (odd) {
			w->n_odd_branches[odd]++;
			w->n_older_branches += n - i;
			break;
		}
		if (!s->branch)
			find_branch(w, proc, k, s);
		count_branch(s, b->flags);
		if (last.from)
			s->n_again += count_same(tos, some, (uint32_t)b->to) - 1;
		else
			s->n_newest++;
		if (s->count == UINT32_MAX / SOME)
			slot_flush(w, s);
		last = *b;
	}
	if (last.from)
		count_oldest(w, proc, who, k, &last);
}

void perf_branches_add(struct perf_world *w, const struct perfdata_record *r, event_id event)
{
	const struct perfdata_attr *a = &w->pd->events.v[r->event].attr;
	const bool all = a->branch_sample_type & PERFDATA_B_ANY ||
			 !(a->branch_sample_type & PERFDATA_B_KINDS);
	struct perf_branch_who k = {.event = event, .kernel_version = w->kernel_version};
	struct perf_thread *t;

	if (a->branch_sample_type & PERFDATA_B_CALL_STACK)
		return;
	if (!w->branch_slots)
		slots_make(w);
	w->chosen_branches |= !all;
	t = perf_world_thread(w, r->id.pid, r->id.tid);
	k.owner = perf_world_owner(w, t, r->sample.cgroup);
	k.version = w->procs.v[t->proc].version;
	count_stack(w, t->proc, r, &k, all);
}

void perf_branches_note(const struct perf_world *w, struct str *notes)
{
	static const char *const what[PERF_N_ODD_BRANCHES] = {
		[PERF_ODD_NOWHERE] = "jumps from or to where no code is mapped",
		[PERF_ODD_BACKWARD] = "straight runs that go backward",
		[PERF_ODD_HOLE] = "straight runs through what is not mapped",
	};
	const char *before = " of branch stacks are left out: they are behind ";

	if (w->chosen_branches)
		str_add(notes, "branch stacks have chosen kinds of jumps only: what is made of "
			       "them, as counts of blocks, is too low\n");
	if (!w->n_older_branches)
		return;
	str_addf(notes, "%" PRIu64 " jumps", w->n_older_branches);
	for (unsigned i = 0; i < PERF_N_ODD_BRANCHES; i++) {
		if (!w->n_odd_branches[i])
			continue;
		str_addf(notes, "%s%" PRIu64 " %s", before, w->n_odd_branches[i], what[i]);
		before = ", ";
	}
	str_addc(notes, '\n');
}
