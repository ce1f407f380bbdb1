/* SPDX-License-Identifier: BSD-2-Clause */
/* See precise.h.  The fields are those of linux/perf_event.h (union perf_mem_data_src, union
 * perf_sample_weight, struct perf_branch_entry, PERF_TXN_*); what Intel's kernel code puts there is
 * in arch/x86/events/intel/ds.c.  Fields that were added later are 0 in what older kernels wrote:
 * 0 says nothing in any of them. */
#include "formats/facts/precise.h"

/* union perf_mem_data_src: where each field begins. */
enum {
	AT_OP = 0,
	AT_LVL = 5,
	AT_SNOOP = 19,
	AT_LOCK = 24,
	AT_DTLB = 26,
	AT_LVL_NUM = 33,
	AT_REMOTE = 37,
	AT_SNOOPX = 38,
	AT_BLK = 40,
	AT_HOPS = 43,
};

#define FIELD(v, at, n_bits) ((unsigned)((v) >> (at)) & ((1u << (n_bits)) - 1))

/* PERF_MEM_OP_*, _LVL_*, _LVLNUM_*, _SNOOP_*, _LOCK_*, _TLB_*, _BLK_*. */
enum {
	OP_NA = 1,
	OP_LOAD = 2,
	OP_STORE = 4,
	OP_PREFETCH = 8,
	LVL_HIT = 2,
	LVL_MISS = 4,
	LVL_L1 = 8,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_RAM = 0x80 | 0x100 | 0x200,
	LVL_REMOTE_RAM = 0x100 | 0x200,
	LVL_REMOTE_CACHE = 0x400 | 0x800,
	LVL_UNCACHED = 0x1000 | 0x2000, /* I/O, uncached memory */
	NUM_L1 = 1,
	NUM_L2 = 2,
	NUM_L3 = 3,
	NUM_CXL = 9,
	NUM_UNCACHED = 8,
	NUM_IO = 0xa,
	NUM_ANY_CACHE = 0xb,
	NUM_LFB = 0xc,
	NUM_RAM = 0xd,
	NUM_PMEM = 0xe,
	SNOOP_NONE = 2,
	SNOOP_HIT = 4,
	SNOOP_MISS = 8,
	SNOOP_HITM = 0x10,
	LOCK_NA = 1,
	LOCK_LOCKED = 2,
	TLB_HIT = 2,
	TLB_MISS = 4,
	TLB_L1 = 8,
	TLB_L2 = 0x10,
	TLB_WALK = 0x20 | 0x40,
	BLK_BLOCKED = 2 | 4,
	SNOOPX_PEER = 2,
};

/* The bit of the level that had it, 0 when it was none of those (a buffer, a device, a cache of
 * another core); -1 when it is not told. */
static int level_of(uint64_t d)
{
	unsigned lvl = FIELD(d, AT_LVL, 14), num = FIELD(d, AT_LVL_NUM, 4);

	if (lvl & LVL_HIT || !(lvl & LVL_MISS))
		switch (num) {
		case NUM_L1:
			return FACT_L1HIT;
		case NUM_L2:
			return FACT_L2HIT;
		case NUM_L3:
			return FACT_L3HIT;
		case NUM_RAM:
		case NUM_PMEM:
		case NUM_CXL:
			return FACT_DRAM;
		case NUM_ANY_CACHE:
		case NUM_LFB:
			return 0;
		default:
			break;
		}
	if (!(lvl & LVL_HIT))
		return -1;
	return lvl & LVL_L1    ? FACT_L1HIT
	       : lvl & LVL_L2  ? FACT_L2HIT
	       : lvl & LVL_L3  ? FACT_L3HIT
	       : lvl & LVL_RAM ? FACT_DRAM
			       : 0;
}

enum access_source precise_source(uint64_t d)
{
	const unsigned lvl = FIELD(d, AT_LVL, 14), num = FIELD(d, AT_LVL_NUM, 4);

	if (level_of(d) > 0)
		return ACCESS_AS_TOLD;
	if (lvl & LVL_LFB || num == NUM_LFB)
		return ACCESS_BUFFER;
	return lvl & LVL_UNCACHED || num == NUM_UNCACHED || num == NUM_IO ? ACCESS_UNCACHED
									  : ACCESS_AS_TOLD;
}

static void level_facts(uint64_t d, struct sample_facts *f)
{
	static const uint8_t levels[] = {FACT_L1HIT, FACT_L2HIT, FACT_L3HIT, FACT_DRAM};
	unsigned lvl = FIELD(d, AT_LVL, 14);
	int level = level_of(d);

	if (level < 0) {
		if (lvl & LVL_MISS && lvl & (LVL_L1 | LVL_L2 | LVL_L3))
			facts_set(f, FACT_L1HIT, false);
		return;
	}
	for (size_t i = 0; i < sizeof(levels); i++)
		facts_set(f, levels[i], levels[i] == level);
	facts_set(f, FACT_REMOTE,
		  FIELD(d, AT_REMOTE, 1) || FIELD(d, AT_HOPS, 3) > 1 ||
			  lvl & (LVL_REMOTE_RAM | LVL_REMOTE_CACHE));
}

static void snoop_facts(uint64_t d, struct sample_facts *f)
{
	unsigned snoop = FIELD(d, AT_SNOOP, 5);
	bool peer = FIELD(d, AT_SNOOPX, 2) & SNOOPX_PEER;

	if (!(snoop & (SNOOP_NONE | SNOOP_HIT | SNOOP_MISS | SNOOP_HITM)) && !peer)
		return;
	facts_set(f, FACT_SNOOPHIT, peer || snoop & (SNOOP_HIT | SNOOP_HITM));
	if (snoop & (SNOOP_NONE | SNOOP_HIT | SNOOP_MISS | SNOOP_HITM))
		facts_set(f, FACT_SNOOPHITM, snoop & SNOOP_HITM);
}

/* "Hit, first or second level" is all that Intel tells of a hit. */
static void tlb_facts(uint64_t d, bool x86, struct sample_facts *f)
{
	unsigned tlb = FIELD(d, AT_DTLB, 7), levels = tlb & (TLB_L1 | TLB_L2);
	bool walked = tlb & TLB_WALK || (tlb & TLB_MISS && tlb & TLB_L2);

	if (walked) {
		facts_set(f, FACT_L1TLBMISS, true);
		facts_set(f, FACT_L2TLBMISS, true);
	} else if (tlb & TLB_MISS) {
		facts_set(f, FACT_L1TLBMISS, true);
	} else if (tlb & TLB_HIT && levels) {
		facts_set(f, FACT_L2TLBMISS, false);
		if (levels != (TLB_L1 | TLB_L2))
			facts_set(f, FACT_L1TLBMISS, levels == TLB_L2);
	}
	if (!x86 || !(f->known & FACT_MASK(FACT_L2TLBMISS)))
		return;
	/* x86-64 has no tables of three levels. */
	facts_set(f, FACT_DTB2MISS4, facts_has(f, FACT_L2TLBMISS));
	facts_set(f, FACT_DTB2MISS3, false);
	if (walked || f->known & FACT_MASK(FACT_L1TLBMISS))
		facts_set(f, FACT_DTBMISS, !walked && facts_has(f, FACT_L1TLBMISS));
}

static void data_src_facts(uint64_t d, bool x86, struct sample_facts *f)
{
	unsigned op = FIELD(d, AT_OP, 5), lock = FIELD(d, AT_LOCK, 2);

	if (!op || op & OP_NA)
		return;
	facts_set(f, FACT_LOAD, op & OP_LOAD);
	facts_set(f, FACT_STORE, op & OP_STORE);
	facts_set(f, FACT_SWPREFETCH, op & OP_PREFETCH);
	level_facts(d, f);
	snoop_facts(d, f);
	tlb_facts(d, x86, f);
	if (!(lock & LOCK_NA))
		facts_set(f, FACT_LOCKED, lock & LOCK_LOCKED);
	if (FIELD(d, AT_BLK, 3) & BLK_BLOCKED)
		facts_set(f, FACT_LDSTORDER, true);
}

/* A latency of 0 is one that was not measured.  Several instructions may retire in one cycle: there
 * 0 is a value, where the machine tells it at all. */
void precise_weight(const struct precise_sample *s, struct sample_facts *ret)
{
	struct sample_facts *f = ret;
	uint64_t w = s->weight;

	if (s->has & PRECISE_WEIGHT_STRUCT) {
		uint64_t latency = w & 0xffffffff, inflight = w >> 32 & 0xffff, retdelay = w >> 48;

		if (latency)
			facts_set_counter(f, FACT_LATENCY, latency);
		if (inflight)
			facts_set_counter(f, FACT_INFLIGHT, inflight);
		if (retdelay || s->retdelay)
			facts_set_counter(f, FACT_RETDELAY, retdelay);
	} else if (w) {
		facts_set_counter(f, FACT_WEIGHT, w);
		if (facts_has(f, FACT_LOAD))
			facts_set_counter(f, FACT_LATENCY, w);
	}
}

/* PERF_BR_*. */
enum {
	BR_COND = 1,
	BR_IND = 3,
	BR_CALL = 4,
	BR_IND_CALL = 5,
	BR_RET = 6,
	BR_COND_CALL = 9,
	BR_COND_RET = 10,
	BR_EXTENDED = 15,
};

/* Only branches that were taken are in the list. */
static void branch_facts(uint64_t flags, struct sample_facts *f)
{
	bool mispred = flags & 1, predicted = flags & 2;
	unsigned cycles = FIELD(flags, 4, 16), type = FIELD(flags, 20, 4);

	facts_set(f, FACT_BRANCH, true);
	facts_set(f, FACT_TAKEN, true);
	if (type && type != BR_EXTENDED) {
		facts_set(f, FACT_COND,
			  type == BR_COND || type == BR_COND_CALL || type == BR_COND_RET);
		facts_set(f, FACT_CALL,
			  type == BR_CALL || type == BR_IND_CALL || type == BR_COND_CALL);
		facts_set(f, FACT_RETURN, type == BR_RET || type == BR_COND_RET);
		facts_set(f, FACT_INDIRECT, type == BR_IND || type == BR_IND_CALL);
	}
	if (mispred || predicted) {
		facts_set(f, FACT_MISPREDICTED, mispred);
		facts_set(f, FACT_MISPREDICT, mispred);
		if (!mispred || f->known & FACT_MASK(FACT_COND))
			facts_set(f, FACT_CBRMISPREDICT, mispred && facts_has(f, FACT_COND));
	}
	facts_set(f, FACT_INTX, flags & 4);
	if (flags & 8)
		facts_set(f, FACT_TXABORT, true);
	if (cycles)
		facts_set_counter(f, FACT_BRCYCLES, cycles);
}

void precise_facts(const struct precise_sample *s, struct sample_facts *ret)
{
	struct sample_facts *f = ret;

	*f = (struct sample_facts){0};
	if (s->exact && s->x86) /* PEBS and IBS write a record when the instruction retires */
		facts_set(f, FACT_RETIRED, true);
	if (s->has & PRECISE_DATA_SRC)
		data_src_facts(s->data_src, s->x86, f);
	if (s->has & (PRECISE_WEIGHT | PRECISE_WEIGHT_STRUCT))
		precise_weight(s, f);
	if (s->has & PRECISE_BRANCH && s->branch_from == s->ip)
		branch_facts(s->branch_flags, f);
	if (s->has & PRECISE_TRANSACTION && s->transaction)
		facts_set(f, FACT_TXABORT, true);
	if (s->has & PRECISE_PAGE_SIZE && s->data_page_size) {
		facts_set(f, FACT_PAGE2M,
			  s->data_page_size >= 2ull << 20 && s->data_page_size < 1ull << 30);
		facts_set(f, FACT_PAGE1G, s->data_page_size >= 1ull << 30);
	}
	/* A conditional branch has no data; of others it must be told. */
	if (f->known & FACT_MASK(FACT_MISPREDICT) &&
	    (facts_has(f, FACT_COND) || f->known & FACT_MASK(FACT_L2TLBMISS)))
		facts_set(f, FACT_NOTRAP, true);
}
