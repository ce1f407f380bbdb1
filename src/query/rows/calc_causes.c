/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what may have stalled an instruction, by elimination (see calc.h).
 *
 * An instruction waits for itself, for those of its block that make what it reads, or, when it is
 * the first of a block, for the jump that leads there.  Each of these may suffer from the causes
 * that its kind can have: only what reads memory misses the cache.  Where the hardware looked at
 * that very instruction ENOUGH times or more, it decides: a cause that it saw is measured, one
 * that it did not see is ruled out.  Where it did not look, causes of the model remain; others
 * are none. */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "model/fact.h"
#include "query/rows/calc_impl.h"
#include "query/samples/branch_rows.h"
#include "resolve/insn_uses.h"

/* Fewer samples tell nothing, and a cause of a smaller share is none. */
#define ENOUGH	   8.0
#define RARE_SHARE 0.01

/* What a mispredicted jump and a miss of all caches cost at most on any CPU of today, in cycles.
 * */
#define MISPREDICT_CYCLES 60.0
#define MISS_CYCLES	  1000.0

#define LINE_BYTES 64u /* of the instruction cache, on x86-64 and nearly all arm64 */

#define B(name) FACT_MASK(FACT_##name)

const struct calc_cause_info calc_causes[CALC_N_CAUSES] = {
	[CALC_ICACHE] = {"I-cache miss", 'i'},	[CALC_ITLB] = {"ITB miss", 'I'},
	[CALC_DCACHE] = {"D-cache miss", 'd'},	[CALC_DTLB] = {"DTB miss", 'D'},
	[CALC_SHARED] = {"Shared line", 'h'},	[CALC_FORWARDING] = {"Store forwarding", 'f'},
	[CALC_SPLIT] = {"Split access", 'u'},	[CALC_STORES] = {"Write buffer", 'w'},
	[CALC_SYNC] = {"Synchronization", 's'}, [CALC_BRANCH] = {"Branch mispredict", 'p'},
	[CALC_REPLAY] = {"Replay", 'r'},	[CALC_DIVIDER] = {"Divider busy", 'v'},
};

/* Facts of a sample that say that it suffered from a cause; one of them known: it would have
 * said. */
static const uint64_t told_by[CALC_N_CAUSES] = {
	[CALC_ICACHE] = B(NYP) | B(ICMISS),
	[CALC_ITLB] = B(ITBMISS) | B(L1ITLBMISS) | B(L2ITLBMISS),
	[CALC_DCACHE] = B(L2HIT) | B(L3HIT) | B(DRAM) | B(REMOTE),
	[CALC_DTLB] = B(L1TLBMISS) | B(L2TLBMISS) | B(DTBMISS) | B(DTB2MISS3) | B(DTB2MISS4),
	[CALC_SHARED] = B(SNOOPHITM),
	[CALC_FORWARDING] = B(LDSTORDER),
	[CALC_SPLIT] = B(UNALIGNTRAP) | B(MISALIGNED),
	[CALC_SYNC] = B(LOCKED),
	[CALC_BRANCH] = B(CBRMISPREDICT) | B(MISPREDICT) | B(MISPREDICTED),
	[CALC_REPLAY] = B(REPLAYS),
};

struct calc_facts {
	double known[CALC_N_CAUSES], seen[CALC_N_CAUSES]; /* samples */
};

struct cause_finder {
	struct calc_maker *m;
	struct calc_facts *facts; /* of each instruction */
	struct insn_uses *uses;	  /* of each instruction */
	uint32_t *first_in, *in;  /* blocks that lead to block I: in[first_in[I]] .. */
};

static size_t insn_at(const struct calc *c, uint64_t svma)
{
	const size_t i = lower_bound(k, 0, c->insns.n, c->insns.v[k].insn->svma <= svma);

	return i && svma < c->insns.v[i - 1].insn->svma + c->insns.v[i - 1].insn->n_bytes
		       ? i - 1
		       : SIZE_MAX;
}

/* --- what the hardware told --- */

static void gather_facts(struct cause_finder *f)
{
	const struct query *q = f->m->l->code.q;
	const struct profile *p = q->profile;

	vec_each (v, &p->values) {
		const struct vector *k = &p->vectors.v[v->vector];
		const struct place *pl;
		size_t i;

		if (!k->known || !value_is_samples(p, v) || (q->wanted && !q->wanted[v->owner]))
			continue;
		pl = &p->places.v[p->ctxs.v[v->ctx].place];
		i = pl->image == f->m->image ? insn_at(f->m->ret, pl->svma) : SIZE_MAX;
		if (i == SIZE_MAX)
			continue;
		for (unsigned c = 0; c < CALC_N_CAUSES; c++) {
			f->facts[i].known[c] += k->known & told_by[c] ? (double)v->count : 0;
			f->facts[i].seen[c] +=
				k->known & k->value & told_by[c] ? (double)v->count : 0;
		}
		f->m->ret->has_facts = true;
	}
}

/* Branch stacks tell which jumps were foreseen. */
static void gather_branches(struct cause_finder *f)
{
	const struct query *q = f->m->l->code.q;
	const struct profile *p = q->profile;
	_vec_ branch_rows rows = {0};
	image_ids images = {0};

	vec_push(&images, f->m->image);
	branch_rows_gather(q, &images, &rows);
	vec_release(&images);
	vec_each (b, &rows) {
		const struct place *from = &p->places.v[b->from];
		const size_t i =
			from->image == f->m->image ? insn_at(f->m->ret, from->svma) : SIZE_MAX;

		if (i == SIZE_MAX)
			continue;
		f->facts[i].known[CALC_BRANCH] += (double)(b->n_predicted + b->n_mispredicted);
		f->facts[i].seen[CALC_BRANCH] += (double)b->n_mispredicted;
	}
}

/* --- elimination --- */

enum verdict { RULED_OUT, NOT_LOOKED_AT, SEEN };

static enum verdict ask_hardware(const struct cause_finder *f, size_t i, enum calc_cause c)
{
	const struct calc_facts *facts = &f->facts[i];

	if (facts->known[c] < ENOUGH)
		return NOT_LOOKED_AT;
	return facts->seen[c] >= RARE_SHARE * facts->known[c] ? SEEN : RULED_OUT;
}

/* Whether instruction I is of a kind that can suffer from C at all, and whether that alone makes
 * C a candidate where nobody measured. */
static bool can_suffer(const struct cause_finder *f, size_t i, enum calc_cause c, bool *ret_model)
{
	const struct insn_uses *u = &f->uses[i];

	*ret_model = true;
	switch (c) {
	case CALC_DCACHE:
		return u->loads;
	case CALC_DTLB:
		return u->loads || u->stores;
	case CALC_STORES:
		return u->stores;
	case CALC_SYNC:
		return u->locks;
	case CALC_DIVIDER:
		return u->divides;
	case CALC_FORWARDING:
	case CALC_SHARED:
	case CALC_SPLIT:
	case CALC_REPLAY:
		*ret_model = false;
		return !u->is_known || u->loads || u->stores;
	default:
		return false;
	}
}

/* Adds C to the candidates of instruction AT, if what instruction SUSPECT is and did allows it. */
static void consider(struct cause_finder *f, size_t at, size_t suspect, enum calc_cause c,
		     bool model)
{
	struct calc_insn *in = &f->m->ret->insns.v[at];
	const enum verdict v = ask_hardware(f, suspect, c);

	if (v == RULED_OUT || (v == NOT_LOOKED_AT && !model))
		return;
	/* The first suspect is blamed, and who was seen before who was only suspected. */
	if (in->culprit == INSN_NONE || (v == SEEN && !(in->measured)))
		in->culprit = (uint32_t)suspect;
	in->causes |= 1u << c;
	in->measured |= v == SEEN ? 1u << c : 0;
}

static void consider_all(struct cause_finder *f, size_t at, size_t suspect)
{
	for (unsigned c = 0; c < CALC_N_CAUSES; c++) {
		bool model;

		if (can_suffer(f, suspect, (enum calc_cause)c, &model))
			consider(f, at, suspect, (enum calc_cause)c, model);
	}
}

/* The instructions of AT's block that make what AT reads. */
static void consider_producers(struct cause_finder *f, size_t at)
{
	const struct calc *c = f->m->ret;
	const struct calc_block *b = &c->blocks.v[c->insns.v[at].block];
	uint64_t wanted = f->uses[at].is_known ? f->uses[at].reads : 0;

	for (size_t i = at; wanted && i-- > b->first;) {
		if (!f->uses[i].is_known || !(f->uses[i].writes & wanted))
			continue;
		wanted &= ~f->uses[i].writes;
		consider_all(f, at, i);
	}
	/* In a loop of one block those of the run before. */
	for (size_t i = b->first + b->n_insns; b->repeats && wanted && i-- > at;) {
		if (!f->uses[i].is_known || !(f->uses[i].writes & wanted))
			continue;
		wanted &= ~f->uses[i].writes;
		if (i != at)
			consider_all(f, at, i);
	}
}

/* Whether a cause that comes N times, and costs EACH cycles at most, can explain what stalled IN.
 * */
static bool can_explain(const struct calc_insn *in, double n, double each)
{
	return isnan(n) || n * each >= RARE_SHARE * in->stall;
}

/* How often the jump that ends block B goes the way it goes less often, at most: no predictor is
 * worse than one that foresees the other way, but for what it has to learn. */
static double surprises_of(const struct cause_finder *f, uint32_t b)
{
	const struct calc *c = f->m->ret;
	double n = c->blocks.v[b].executions;

	if (f->m->flow.blocks.v[b].how != FLOW_BRANCHES)
		return n;
	for (uint32_t s = f->m->flow.first[b]; s < f->m->flow.first[b + 1]; s++)
		n = fmin(n, c->blocks.v[f->m->flow.succ[s]].executions);
	return 2 * n;
}

/* The way into the block that AT begins: jumps that were not foreseen, code that was not there. */
static void consider_entry(struct cause_finder *f, size_t at)
{
	const struct calc *c = f->m->ret;
	const struct calc_insn *in = &c->insns.v[at];
	const bool is_start = c->blocks.v[in->block].start == f->m->l->start;
	double from_afar = is_start ? c->blocks.v[in->block].executions : 0;

	for (uint32_t i = f->first_in[in->block]; i < f->first_in[in->block + 1]; i++) {
		const uint32_t b = f->in[i];
		const struct flow_block *k = &f->m->flow.blocks.v[b];
		const size_t jump = insn_at(c, k->last);

		/* Both ways of a jump may lead here. */
		if (jump == SIZE_MAX || (i > f->first_in[in->block] && f->in[i - 1] == b))
			continue;
		/* What a block that repeats has just run is still there. */
		if (b != in->block && k->last / LINE_BYTES != in->insn->svma / LINE_BYTES)
			from_afar += c->blocks.v[b].executions;
		if ((k->how == FLOW_BRANCHES || k->how == FLOW_TABLE || k->how == FLOW_UNKNOWN) &&
		    can_explain(in, surprises_of(f, b), MISPREDICT_CYCLES))
			consider(f, at, jump, CALC_BRANCH, true);
	}
	if (can_explain(in, from_afar, MISS_CYCLES)) {
		consider(f, at, at, CALC_ICACHE, from_afar > 0);
		consider(f, at, at, CALC_ITLB, false);
	}
}

/* Turns the edges between blocks round. */
static void find_ways_in(struct cause_finder *f)
{
	const struct flow *w = &f->m->flow;
	const size_t n = w->blocks.n;
	_mem_ uint32_t *next = xcalloc(n + 1, sizeof(*next));

	f->first_in = xcalloc(n + 2, sizeof(*f->first_in));
	f->in = xcalloc(w->first[n] + 1, sizeof(*f->in));
	for (uint32_t s = 0; s < w->first[n]; s++)
		f->first_in[w->succ[s] + 1]++;
	for (size_t b = 0; b < n; b++)
		f->first_in[b + 1] += f->first_in[b];
	for (size_t b = 0; b < n; b++)
		next[b] = f->first_in[b];
	for (uint32_t b = 0; b < n; b++)
		for (uint32_t s = w->first[b]; s < w->first[b + 1]; s++)
			f->in[next[w->succ[s]]++] = b;
}

void calc_find_causes(struct calc_maker *m)
{
	struct calc *c = m->ret;
	struct cause_finder f = {.m = m,
				 .facts = xcalloc(c->insns.n + 1, sizeof(*f.facts)),
				 .uses = xcalloc(c->insns.n + 1, sizeof(*f.uses))};

	for (size_t i = 0; i < c->insns.n; i++)
		f.uses[i] = insn_uses_of(m->machine, calc_bytes(m, &c->insns.v[i]),
					 c->insns.v[i].insn->n_bytes);
	find_ways_in(&f);
	gather_facts(&f);
	gather_branches(&f);
	for (size_t i = 0; i < c->insns.n; i++) {
		const struct calc_insn *in = &c->insns.v[i];

		if (!in->is_tallied || in->stall <= 0)
			continue;
		consider_all(&f, i, i);
		consider_producers(&f, i);
		if (i == c->blocks.v[in->block].first)
			consider_entry(&f, i);
	}
	free(f.facts);
	free(f.uses);
	free(f.first_in);
	free(f.in);
}
