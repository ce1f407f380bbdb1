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
 * Stacks of chosen kinds of jumps (perf record -j call) say nothing of straight runs. */
#include "port/perf_branch.h"

#include <inttypes.h>

#define N_SLOTS 65536
#define AHEAD	4 /* jumps whose slots are loaded before their turn */

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

/* Returns the end of the mappings that cover START without a hole, as far as UNTIL at least; START
 * when nothing is mapped there. */
static uint64_t mapped_until(const struct maps *maps, uint64_t start, uint64_t until)
{
	uint64_t end = start;

	for (const struct mapping *m = maps_find(maps, start); m; m = maps_find(maps, end)) {
		end = m->end;
		if (end > until)
			break;
	}
	return end;
}

/* Whose jumps are looked for. */
struct slot_key {
	uint64_t version, kernel_version, hash;
	owner_id owner;
	event_id event;
};

/* Where the jump B is kept, or what is there in its place. */
static struct perf_branch_slot *find_slot(const struct perf_world *w, const struct slot_key *k,
					  const struct perfdata_branch *b)
{
	return &w->branch_slots[hash_u64(b->from * 0x9e3779b97f4a7c15ULL + b->to + k->hash) %
				N_SLOTS];
}

static struct perf_branch_slot *slot_of(const struct perf_world *w, const struct slot_key *k,
					const struct perfdata_branch *b)
{
	struct perf_branch_slot *s = find_slot(w, k, b);

	if (s->version != k->version || s->kernel_version != k->kernel_version ||
	    s->owner != k->owner || s->event != k->event || s->from != b->from || s->to != b->to)
		*s = (struct perf_branch_slot){.version = k->version,
					       .kernel_version = k->kernel_version,
					       .owner = k->owner,
					       .event = k->event,
					       .from = b->from,
					       .to = b->to};
	return s;
}

/* What is wrong with the jump of S, or with the straight run from it to BY, the start of the jump
 * after it (0: there is none). */
static enum perf_odd_branch odd_branch(const struct maps *maps, struct perf_branch_slot *s,
				       uint64_t by)
{
	if (!s->branch) {
		if (!is_kernel(s->from) && mapped_until(maps, s->from, s->from) == s->from)
			return PERF_ODD_NOWHERE;
		s->to_end = is_kernel(s->to) ? UINT64_MAX : mapped_until(maps, s->to, s->to);
		if (s->to_end == s->to)
			return PERF_ODD_NOWHERE;
	}
	if (!by)
		return PERF_ODD_NONE;
	if (by < s->to)
		return PERF_ODD_BACKWARD;
	if (by >= s->to_end)
		s->to_end = mapped_until(maps, s->to, by);
	return by >= s->to_end || is_kernel(by) != is_kernel(s->to) ? PERF_ODD_HOLE : PERF_ODD_NONE;
}

/* Counts the jump B, which is S's. */
static void count_branch(struct perf_world *w, uint32_t proc, struct perf_branch_slot *s,
			 const struct perfdata_branch *b)
{
	struct branch k = {.owner = s->owner, .event = s->event, .count = 1}, *to;

	k.n_mispredicted = b->flags & 1;
	k.n_predicted = !k.n_mispredicted && b->flags & 2;
	k.cycles = b->flags >> 4 & 0xffff;
	k.n_cycles = k.cycles != 0;
	if (!s->branch) {
		k.from = end_of(w, proc, b->from);
		k.to = end_of(w, proc, b->to);
		s->branch = profile_add_branch(w->profile, &k) + 1;
		return;
	}
	to = &w->profile->branches.v[s->branch - 1];
	to->count++;
	to->n_predicted += k.n_predicted;
	to->n_mispredicted += k.n_mispredicted;
	to->cycles += k.cycles;
	to->n_cycles += k.n_cycles;
}

/* The jumps of R's stack; K's owner and event are set, ALL: no kind of jump is left out. */
static void count_stack(struct perf_world *w, uint32_t proc, const struct perfdata_record *r,
			struct slot_key *k, bool all)
{
	const uint32_t n = r->sample.branches.n / 3;
	uint64_t by = 0; /* the start of the jump after this one */

	k->version = w->procs.v[proc].version;
	k->kernel_version = w->kernel_version;
	k->hash = k->version << 24 ^ k->kernel_version << 48 ^ (uint64_t)k->owner << 4 ^ k->event;
	for (uint32_t i = 0; i < n; i++) {
		const struct perfdata_branch b = perfdata_branch(&r->sample, i);
		struct perf_branch_slot *s;
		enum perf_odd_branch odd;

		if (i + AHEAD < n) {
			const struct perfdata_branch later = perfdata_branch(&r->sample, i + AHEAD);

			__builtin_prefetch(find_slot(w, k, &later));
		}
		if (!b.from && !b.to) {
			by = 0;
			continue;
		}
		s = slot_of(w, k, &b);
		odd = odd_branch(w->procs.v[proc].maps, s, all ? by : 0);
		if (odd) {
			w->n_odd_branches[odd]++;
			w->n_older_branches += n - i;
			return;
		}
		count_branch(w, proc, s, &b);
		by = b.from;
	}
}

void perf_branches_add(struct perf_world *w, const struct perfdata_record *r, event_id event)
{
	const struct perfdata_attr *a = &w->pd->events.v[r->event].attr;
	const bool all = a->branch_sample_type & PERFDATA_B_ANY ||
			 !(a->branch_sample_type & PERFDATA_B_KINDS);
	struct slot_key k = {.event = event};
	struct perf_thread *t;

	if (a->branch_sample_type & PERFDATA_B_CALL_STACK)
		return;
	if (!w->branch_slots)
		w->branch_slots = xcalloc(N_SLOTS, sizeof(*w->branch_slots));
	w->chosen_branches |= !all;
	t = perf_world_thread(w, r->id.pid, r->id.tid);
	k.owner = perf_world_owner(w, t, r->sample.cgroup);
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
