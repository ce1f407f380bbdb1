/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry of fact.h, and what is derived from what a machine said.
 *
 * The columns of the table name fields as their makers do: OP_DATA and so on are the registers of
 * AMD's Instruction-Based Sampling (AMD64 Architecture Programmer's Manual 2, 13.3), `data_src`,
 * `weight` and `branch` the fields of perf's samples (perf_event_open(2)), `event`, `op` and `lat`
 * the packets of Arm's Statistical Profiling Extension (Arm ARM, D10.2). */
#include "model/fact.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"

#define N "none"

static_assert(FACT_USER_BIT == 54 && N_FACT_COUNTERS <= FACT_USER_COUNTER, "numbers are stored");

/* clang-format off */
const struct fact fact_table[] = {
	{FACT_BIT, FACT_RETIRED, "retired", "the instruction retired", "",
	 "always", N, "always", "event 1"},
	{FACT_BIT, FACT_TAKEN, "taken", "the conditional branch was taken", "",
	 "OP_DATA 35 of branches (37)", N, "its branch is the newest", "branch and not event 6"},
	{FACT_BIT, FACT_CBRMISPREDICT, "cbrmispredict", "the conditional branch was mispredicted", "",
	 "OP_DATA 36 of conditional branches", N, "branch mispred, type COND", "event 7 of conditional branches"},
	{FACT_BIT, FACT_VALID, "valid", "retired without a trap", "",
	 "retired^notrap", N, "retired^notrap", "retired^notrap"},
	{FACT_BIT, FACT_NYP, "nyp", "fetched when it was not in the instruction cache", "",
	 N, "FETCH_CTL 51", N, N},
	{FACT_BIT, FACT_LDSTORDER, "ldstorder", "a load was held up by an older store", "",
	 N, N, "data_src blk", N},
	{FACT_BIT, FACT_MAP_STALL, "map_stall", "waited between fetch and map", "",
	 N, N, N, N},
	{FACT_BIT, FACT_EARLY_KILL, "early_kill", "killed before it entered an issue queue", "",
	 N, "not FETCH_CTL 50", N, N},
	{FACT_BIT, FACT_LATE_KILL, "late_kill", "killed late in the pipeline", "",
	 N, N, N, N},
	{FACT_TRAP, FACT_NOTRAP, "notrap", "no trap, of those that the machine tells", "",
	 "none of the below", N, "none of the below, where branches and data_src tell", "none of the below"},
	{FACT_TRAP, FACT_MISPREDICT, "mispredict", "trap: a mispredicted branch", "",
	 "OP_DATA 36", N, "branch mispred", "event 7"},
	{FACT_TRAP, FACT_REPLAYS, "replays", "trap: a replay", "",
	 N, N, N, N},
	{FACT_TRAP, FACT_UNALIGNTRAP, "unaligntrap", "trap: an unaligned load or store", "",
	 "OP_DATA3 8", N, N, "event 11"},
	{FACT_TRAP, FACT_DTBMISS, "dtbmiss", "trap: missed the first data TLB, hit the second", "",
	 "OP_DATA3 2 and not 3", N, "data_src dtlb L2 hit", N},
	{FACT_TRAP, FACT_DTB2MISS3, "dtb2miss3", "trap: missed both data TLBs, tables of 3 levels", "",
	 N, N, N, N},
	{FACT_TRAP, FACT_DTB2MISS4, "dtb2miss4", "trap: missed both data TLBs, tables of 4 levels or more", "",
	 "OP_DATA3 3", N, "data_src dtlb miss", N},
	{FACT_TRAP, FACT_ITBMISS, "itbmiss", "trap: missed the instruction TLB", "",
	 N, "FETCH_CTL 55", N, N},
	{FACT_TRAP, FACT_ARITHTRAP, "arithtrap", "trap: arithmetic", "", N, N, N, N},
	{FACT_TRAP, FACT_FPDISABLEDTRAP, "fpdisabledtrap", "trap: floating point disabled", "", N, N, N, N},
	{FACT_TRAP, FACT_MT_FPCRTRAP, "MT_FPCRtrap", "trap: write of the floating point control register", "", N, N, N, N},
	{FACT_TRAP, FACT_DFAULTTRAP, "dfaulttrap", "trap: data access to what may not be accessed", "", N, N, N, N},
	{FACT_TRAP, FACT_IACVTRAP, "iacvtrap", "trap: fetched from where it may not", "", N, N, N, N},
	{FACT_TRAP, FACT_OPCDECTRAP, "OPCDECtrap", "trap: no such instruction", "", N, N, N, N},
	{FACT_TRAP, FACT_INTERRUPT, "interrupt", "trap: an interrupt came first", "", N, N, N, N},
	{FACT_TRAP, FACT_MCHKTRAP, "mchktrap", "trap: machine check", "", N, N, N, N},
	{FACT_BIT, FACT_LOAD, "load", "read memory", "",
	 "OP_DATA3 0", N, "data_src op LOAD", "op load, atomic"},
	{FACT_BIT, FACT_STORE, "store", "wrote memory", "",
	 "OP_DATA3 1", N, "data_src op STORE", "op store, atomic"},
	{FACT_BIT, FACT_L1HIT, "l1hit", "what it read came from the first cache", "",
	 "not OP_DATA3 7", "not FETCH_CTL 51", "data_src lvl", "event 2 and not 3; source L1D"},
	{FACT_BIT, FACT_L2HIT, "l2hit", "what it read came from the second cache", "",
	 "OP_DATA3 7 and not 20", "FETCH_CTL 51 and not 58", "data_src lvl", "source L2; event 19 and not 20"},
	{FACT_BIT, FACT_L3HIT, "l3hit", "what it read came from the last cache, or one of a core that shares it", "",
	 "OP_DATA2 source", "FETCH_CTL 58 and not 61", "data_src lvl", "source; event 8 and not 9"},
	{FACT_BIT, FACT_DRAM, "dram", "what it read came from memory", "",
	 "OP_DATA2 source", N, "data_src lvl", "source DRAM"},
	{FACT_BIT, FACT_REMOTE, "remote", "what it read came from another socket or node", "",
	 "OP_DATA2 4", N, "data_src remote", "event 10; source remote"},
	{FACT_BIT, FACT_L1TLBMISS, "l1tlbmiss", "missed the first data TLB", "",
	 "OP_DATA3 2", N, "data_src dtlb", N},
	{FACT_BIT, FACT_L2TLBMISS, "l2tlbmiss", "missed the last data TLB: tables were walked", "",
	 "OP_DATA3 3", N, "data_src dtlb", "event 5"},
	{FACT_BIT, FACT_LOCKED, "locked", "an atomic access", "",
	 "OP_DATA3 15", N, "data_src lock", "op atomic"},
	{FACT_BIT, FACT_SNOOPHIT, "snoophit", "another core's cache had the line", "",
	 "OP_DATA2 source: a cache of another core", N, "data_src snoop", "event 23; source a peer"},
	{FACT_BIT, FACT_SNOOPHITM, "snoophitm", "another core's cache had the line, changed", "",
	 "OP_DATA2 5 clear with such a source", N, "data_src snoop", N},
	{FACT_BIT, FACT_BRANCH, "branch", "a branch, call or return", "",
	 "OP_DATA 37", N, "its branch is the newest", "op branch"},
	{FACT_BIT, FACT_COND, "cond", "a conditional branch", "",
	 "not taken; else where it can be excluded", N, "branch type", "op branch 0"},
	{FACT_BIT, FACT_CALL, "call", "a call", "",
	 N, N, "branch type", "op branch, call"},
	{FACT_BIT, FACT_RETURN, "return", "a return", "",
	 "OP_DATA 34", N, "branch type", "op branch, return"},
	{FACT_BIT, FACT_INDIRECT, "indirect", "a branch to where a register or memory said", "",
	 N, N, "branch type", "op branch, indirect"},
	{FACT_BIT, FACT_MISPREDICTED, "mispredicted", "a mispredicted branch, whatever the trap bit says", "",
	 "OP_DATA 36", N, "branch mispred", "event 7"},
	{FACT_BIT, FACT_MISALIGNED, "misaligned", "an unaligned access, whatever the trap bit says", "",
	 "OP_DATA3 8", N, N, "event 11"},
	{FACT_BIT, FACT_EXCEPTION, "exception", "ended in an exception of any kind", "",
	 N, N, N, "event 0"},
	{FACT_BIT, FACT_FETCHCOMPLETE, "fetchcomplete", "the fetch delivered instructions", "",
	 N, "FETCH_CTL 50", N, N},
	{FACT_BIT, FACT_ICMISS, "icmiss", "the fetch missed the instruction cache", "",
	 N, "FETCH_CTL 51", N, N},
	{FACT_BIT, FACT_L1ITLBMISS, "l1itlbmiss", "the fetch missed the first instruction TLB", "",
	 N, "FETCH_CTL 55", N, N},
	{FACT_BIT, FACT_L2ITLBMISS, "l2itlbmiss", "the fetch missed the last instruction TLB", "",
	 N, "FETCH_CTL 56", N, N},
	{FACT_BIT, FACT_SWPREFETCH, "swprefetch", "a software prefetch", "",
	 "OP_DATA3 21", N, "data_src op PFETCH", N},
	{FACT_BIT, FACT_INTX, "intx", "in a memory transaction", "",
	 N, N, "branch in_tx; transaction", "event 16"},
	{FACT_BIT, FACT_TXABORT, "txabort", "a memory transaction ended without success", "",
	 N, N, "branch abort; transaction", N},
	{FACT_BIT, FACT_PAGE2M, "page2m", "its data is on a page of 2 MiB or more, but less than 1 GiB", "",
	 "OP_DATA3 4, 6", N, "data_page_size", N},
	{FACT_BIT, FACT_PAGE1G, "page1g", "its data is on a page of 1 GiB or more", "",
	 "OP_DATA3 5, 19", N, "data_page_size", N},

	{FACT_COUNTER, FACT_RETDELAY, "retdelay", "from the retirement of the instruction before to its own", "cycles",
	 N, N, "weight var3", N},
	{FACT_COUNTER, FACT_INFLIGHT, "inflight", "from when it was picked until it retired", "cycles",
	 "OP_DATA 31:16", N, "weight var2", "lat TOTAL"},
	{FACT_COUNTER, FACT_RETIRES, "retires", "instructions that retired meanwhile", "instructions", N, N, N, N},
	{FACT_COUNTER, FACT_BCMISSES, "bcmisses", "misses of the board cache meanwhile", "misses", N, N, N, N},
	{FACT_COUNTER, FACT_REPLAYS_COUNTER, "replays", "replay traps meanwhile", "traps", N, N, N, N},
	{FACT_COUNTER, FACT_LATENCY, "latency", "of its data", "cycles",
	 "OP_DATA3 47:32 of loads that missed", N, "weight var1", N},
	{FACT_COUNTER, FACT_TLBLATENCY, "tlblatency", "of the translation of its data's address", "cycles",
	 "OP_DATA3 63:48 of misses", N, N, "lat XLAT"},
	{FACT_COUNTER, FACT_FETCHLATENCY, "fetchlatency", "of its fetch", "cycles",
	 N, "FETCH_CTL 47:32", N, N},
	{FACT_COUNTER, FACT_ITLBLATENCY, "itlblatency", "of the translation of its own address", "cycles",
	 N, "EXTD_CTL 15:0 of misses", N, N},
	{FACT_COUNTER, FACT_WEIGHT, "weight", "as the event says: perf's sample weight", "", N, N, "weight", N},
	{FACT_COUNTER, FACT_COMPTORET, "comptoret", "from completion to retirement", "cycles",
	 "OP_DATA 15:0", N, N, N},
	{FACT_COUNTER, FACT_ISSUELATENCY, "issuelatency", "from dispatch to issue", "cycles",
	 N, N, N, "lat ISSUE"},
	{FACT_COUNTER, FACT_MEMREQS, "memreqs", "requests to memory then open, of a load that missed", "requests",
	 "OP_DATA3 31:26", N, N, N},
	{FACT_COUNTER, FACT_BRCYCLES, "brcycles", "since the branch before", "cycles", N, N, "branch cycles", N},
	{FACT_COUNTER, FACT_ACCESSBYTES, "accessbytes", "of its access to memory", "bytes",
	 "OP_DATA3 25:22", N, N, N},
};
/* clang-format on */

const size_t n_facts = n_elems(fact_table);

static int fact_find(const struct profile *p, bool counter, const char *name, size_t n)
{
	for (size_t i = 0; i < n_facts; i++) {
		const struct fact *f = &fact_table[i];

		if ((f->kind == FACT_COUNTER) == counter && strlen(f->name) == n &&
		    memcmp(f->name, name, n) == 0)
			return f->number;
	}
	for (size_t i = 0; p && i < p->user_facts.n; i++) {
		const struct user_fact *u = &p->user_facts.v[i];
		const char *s = profile_str(p, u->name);

		if (u->is_counter == counter && strlen(s) == n && memcmp(s, name, n) == 0)
			return u->number;
	}
	return -1;
}

int fact_find_bit(const struct profile *p, const char *name, size_t n)
{
	return fact_find(p, false, name, n);
}

int fact_find_counter(const struct profile *p, const char *name, size_t n)
{
	return fact_find(p, true, name, n);
}

static const char *name_of(const struct profile *p, bool counter, unsigned number)
{
	for (size_t i = 0; i < n_facts; i++)
		if ((fact_table[i].kind == FACT_COUNTER) == counter &&
		    fact_table[i].number == number)
			return fact_table[i].name;
	for (size_t i = 0; p && i < p->user_facts.n; i++)
		if (p->user_facts.v[i].is_counter == counter && p->user_facts.v[i].number == number)
			return profile_str(p, p->user_facts.v[i].name);
	return NULL;
}

const char *fact_bit_name(const struct profile *p, unsigned bit)
{
	return name_of(p, false, bit);
}

const char *fact_counter_name(const struct profile *p, unsigned counter)
{
	return name_of(p, true, counter);
}

/* Deriving. */

/* The order in which they would have stopped an instruction: its fetch, its decoding, the address
 * of its data, the access, its result; then what is not its own doing. */
static const uint8_t precedence[] = {
	FACT_IACVTRAP,	FACT_ITBMISS,	  FACT_OPCDECTRAP, FACT_FPDISABLEDTRAP, FACT_UNALIGNTRAP,
	FACT_DTB2MISS4, FACT_DTB2MISS3,	  FACT_DTBMISS,	   FACT_DFAULTTRAP,	FACT_REPLAYS,
	FACT_ARITHTRAP, FACT_MT_FPCRTRAP, FACT_MISPREDICT, FACT_MCHKTRAP,	FACT_INTERRUPT,
};

static void settle_traps(struct sample_facts *f)
{
	uint64_t set = f->value & FACT_TRAPS & ~FACT_MASK(FACT_NOTRAP);
	uint64_t first = 0;

	for (size_t i = 0; i < n_elems(precedence) && set && !first; i++)
		first = set & FACT_MASK(precedence[i]);
	if (!set && !facts_has(f, FACT_EXCEPTION))
		return;
	f->value = (f->value & ~FACT_TRAPS) | first;
	f->known |= FACT_MASK(FACT_NOTRAP);
}

static bool known_false(const struct sample_facts *f, unsigned bit)
{
	return f->known & ~f->value & FACT_MASK(bit);
}

static void settle_valid(struct sample_facts *f)
{
	const uint64_t both = FACT_MASK(FACT_RETIRED) | FACT_MASK(FACT_NOTRAP);

	if (known_false(f, FACT_RETIRED) || known_false(f, FACT_NOTRAP))
		facts_set(f, FACT_VALID, false);
	else if ((f->known & both) == both)
		facts_set(f, FACT_VALID, true);
}

void facts_settle(struct sample_facts *f)
{
	const uint64_t sure = FACT_MASK(FACT_EARLY_KILL) | FACT_MASK(FACT_FETCHCOMPLETE) |
			      FACT_MASK(FACT_VALID) | FACT_MASK(FACT_NOTRAP) |
			      FACT_MASK(FACT_MAP_STALL);

	f->value &= f->known;
	settle_traps(f);
	settle_valid(f);
	if (known_false(f, FACT_COND) || known_false(f, FACT_BRANCH) ||
	    facts_has(f, FACT_CBRMISPREDICT) || facts_has(f, FACT_MISPREDICTED) ||
	    facts_has(f, FACT_MISPREDICT))
		f->known &= ~FACT_MASK(FACT_TAKEN);
	if (facts_has(f, FACT_EARLY_KILL)) {
		f->known &= sure;
		f->counters_known = 0;
	}
	f->value &= f->known;
}

uint32_t facts_add(struct profile *p, owner_id owner, ctx_id ctx, event_id event,
		   const struct sample_facts *f, uint64_t count)
{
	struct vector vec = {.known = f->known, .value = f->value};
	struct value v = {.owner = owner,
			  .ctx = ctx,
			  .event = event,
			  .count = count,
			  .sum = count * f->weight};
	uint32_t first;

	assert(!(f->value & ~f->known));
	v.vector = profile_intern_vector(p, &vec);
	first = profile_add_value(p, &v);
	for (uint32_t left = f->counters_known; left; left &= left - 1) {
		vec.counter = (uint32_t)__builtin_ctz(left);
		v.vector = profile_intern_vector(p, &vec);
		v.sum = count * f->counters[vec.counter];
		profile_add_value(p, &v);
	}
	return first;
}
