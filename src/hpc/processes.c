/* SPDX-License-Identifier: BSD-2-Clause */
/* See identity.h.  Profiles of one process are found by sorting, then the processes are put in
 * order: their inputs' own ranks, hosts, when they were met first, pids.  A number in that order is
 * the RANK; so ranks are dense, and an MPI program's are its own. */
#include <stdlib.h>

#include "hpc/identity.h"

struct process {
	struct identity id; /* of its first profile */
	uint64_t node;	    /* physically */
	uint32_t order;	    /* of the node */
	uint32_t profile;   /* while profiles are sorted: which one */
	uint32_t number;
	bool has_rank_alone;
	struct identity_rank rank;
};

static int processes_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Puts profiles of a process together. */
static int by_process(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	int d = processes_compare((uint64_t)x->id.db << 32 | x->id.rank,
				  (uint64_t)y->id.db << 32 | y->id.rank);

	if (!d)
		d = processes_compare(x->node, y->node);
	if (!d)
		d = processes_compare(x->id.host, y->id.host);
	if (!d)
		d = processes_compare(x->id.pid, y->id.pid);
	return d ? d : processes_compare(x->id.others, y->id.others);
}

static int by_rank(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	int d = processes_compare((uint64_t)x->id.rank << 32 | x->order,
				  (uint64_t)y->id.rank << 32 | y->order);

	if (!d)
		d = processes_compare(x->id.start_ns, y->id.start_ns);
	if (!d)
		d = processes_compare(x->id.pid, y->id.pid);
	return d ? d : by_process(a, b);
}

static int by_shown(const void *a, const void *b)
{
	const struct process *const *x = a, *const *y = b;
	int d = processes_compare((*x)->node, (*y)->node);

	return d ? d : processes_compare((*x)->rank.physicalId, (*y)->rank.physicalId);
}

/* What RANK says of P.  A number that is not physical stands there twice (docs/formats/
 * hpctoolkit.md, {Id}). */
static void name_process(struct process *p, uint32_t number, bool is_named)
{
	const struct identity *id = &p->id;
	uint64_t name = number;

	if (is_named && id->rank != NO_RANK && p->has_rank_alone)
		name = id->db ? id->rank_physicalId : id->rank;
	else if (is_named && id->pid)
		name = id->pid;
	p->rank = (struct identity_rank){number, name != number ? HPC_ID_IS_PHYSICAL : 0, name};
}

/* Names processes of a host that have one name (a pid that was used again, say) by their numbers.
 * Returns whether there were any. */
static bool number_same_names(struct process **shown, uint32_t n)
{
	bool any = false;
	uint32_t end;

	qsort(shown, n, sizeof(*shown), by_shown);
	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && by_shown(&shown[i], &shown[end]) == 0; end++)
			;
		any |= end - i > 1;
		for (uint32_t k = i; k < end && end - i > 1; k++)
			name_process(shown[k], shown[k]->rank.logicalId, false);
	}
	return any;
}

/* Readers take threads of one name for one.  A number may be another's name: that is looked at
 * again, and in the end numbers alone are names. */
static void keep_names_apart(struct process *ps, uint32_t n)
{
	struct process **shown = xcalloc((size_t)n + 1, sizeof(*shown));
	unsigned n_tries = 8;

	for (uint32_t i = 0; i < n; i++)
		shown[i] = &ps[i];
	while (number_same_names(shown, n))
		if (--n_tries == 0)
			for (uint32_t i = 0; i < n; i++)
				name_process(&ps[i], i, false);
	free(shown);
}

static void rank_processes(struct process *ps, uint32_t n)
{
	qsort(ps, n, sizeof(*ps), by_rank);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rank = ps[i].id.rank;

		ps[i].has_rank_alone = !(i > 0 && ps[i - 1].id.rank == rank) &&
				       !(i + 1 < n && ps[i + 1].id.rank == rank);
		name_process(&ps[i], i, true);
	}
	keep_names_apart(ps, n);
	/* A lone process needs no rank, unless it is one of an MPI program's. */
	if (n == 1 && ps[0].id.rank == NO_RANK)
		ps[0].rank.logicalId = NO_RANK;
}

void identities_rank(struct identities *ids)
{
	uint32_t n = (uint32_t)ids->v.n, n_processes = 0;
	struct process *all = xcalloc((size_t)n + 1, sizeof(*all));
	struct process *ps = xcalloc((size_t)n + 1, sizeof(*ps));
	uint32_t *of = xcalloc((size_t)n + 1, sizeof(*of));
	uint32_t *at = xcalloc((size_t)n + 1, sizeof(*at));

	for (uint32_t i = 0; i < n; i++) {
		const struct identity *id = &ids->v.v[i];

		all[i] = (struct process){.id = *id, .profile = i};
		all[i].node = id->db ? id->node : ids->host_ids[id->host];
	}
	qsort(all, n, sizeof(*all), by_process);
	for (uint32_t i = 0; i < n; i++) {
		struct process *last = &ps[n_processes - 1];

		if (i && by_process(&all[i - 1], &all[i]) == 0) {
			if (all[i].id.start_ns < last->id.start_ns)
				last->id.start_ns = all[i].id.start_ns;
		} else {
			ps[n_processes] = all[i];
			ps[n_processes].number = n_processes;
			ps[n_processes].order = identities_node(ids, all[i].node);
			n_processes++;
		}
		of[all[i].profile] = n_processes - 1;
	}
	rank_processes(ps, n_processes);
	for (uint32_t i = 0; i < n_processes; i++)
		at[ps[i].number] = i;
	ids->ranks = xcalloc((size_t)n + 1, sizeof(*ids->ranks));
	for (uint32_t i = 0; i < n; i++)
		ids->ranks[i] = ps[at[of[i]]].rank;
	free(all);
	free(ps);
	free(of);
	free(at);
}
