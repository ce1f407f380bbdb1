/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_branch.h.
 *
 * The low bits of a branch's flags (struct perf_branch_entry): bit 0 mispredicted, bit 1 predicted,
 * cycles since the branch before in 16 bits from bit 4, 0 when they are not known. */
#include "port/perf_branch.h"

/* A branch does not say whose mode its ends are in: the kernel has the upper half. */
static place_id end_of(struct perf_world *w, uint32_t proc, uint64_t ip)
{
	unsigned mode = ip >> 63 ? PERFDATA_MODE_KERNEL : PERFDATA_MODE_USER;

	return perf_world_place(w, proc, mode, ip, 0);
}

void perf_branches_add(struct perf_world *w, const struct perfdata_record *r, event_id event)
{
	const struct perfdata_attr *a = &w->pd->events.v[r->event].attr;
	struct perf_thread *t;
	owner_id owner;
	uint32_t proc;

	if (a->branch_sample_type & PERFDATA_B_CALL_STACK)
		return;
	t = perf_world_thread(w, r->id.pid, r->id.tid);
	proc = t->proc;
	owner = perf_world_owner(w, t, r->sample.cgroup);
	for (uint32_t i = 0; i < r->sample.branches.n / 3; i++) {
		const struct perfdata_branch b = perfdata_branch(&r->sample, i);
		struct branch k = {.owner = owner, .event = event, .count = 1};

		if (!b.from && !b.to)
			continue;
		k.from = end_of(w, proc, b.from);
		k.to = end_of(w, proc, b.to);
		k.n_mispredicted = b.flags & 1;
		k.n_predicted = !k.n_mispredicted && b.flags & 2;
		k.cycles = b.flags >> 4 & 0xffff;
		k.n_cycles = k.cycles != 0;
		profile_add_branch(w->profile, &k);
	}
}
