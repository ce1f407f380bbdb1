/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells in fields of samples: data sources, weights, branches, transactions. */
#include "formats/facts/precise.h"

#include "facts_t.h"
#include "t.h"

#define B(i) (1ull << (i))

/* union perf_mem_data_src */
#define OP(x)	   ((uint64_t)(x))
#define LVL(x)	   ((uint64_t)(x) << 5)
#define SNOOP(x)   ((uint64_t)(x) << 19)
#define LOCK(x)	   ((uint64_t)(x) << 24)
#define TLB(x)	   ((uint64_t)(x) << 26)
#define LVL_NUM(x) ((uint64_t)(x) << 33)
#define REMOTE	   (1ull << 37)
#define SNOOPX(x)  ((uint64_t)(x) << 38)
#define BLK(x)	   ((uint64_t)(x) << 40)
#define HOPS(x)	   ((uint64_t)(x) << 43)
#define LOAD	   OP(2)
#define LEVELS	   (B(FACT_L1HIT) | B(FACT_L2HIT) | B(FACT_L3HIT) | B(FACT_DRAM) | B(FACT_REMOTE))

static struct sample_facts settled(const struct precise_sample *s)
{
	struct sample_facts f;

	precise_facts(s, &f);
	facts_settle(&f);
	return f;
}

static struct sample_facts of(uint64_t data_src)
{
	return settled(&(struct precise_sample){
		.has = PRECISE_DATA_SRC, .x86 = true, .data_src = data_src});
}

TEST(nothing_is_told)
{
	struct sample_facts f = of(OP(1) | LVL(1) | SNOOP(1) | LOCK(1) | TLB(1));

	EXPECT(!f.known && !f.counters_known);
	f = of(0);
	EXPECT(!f.known);
	f = settled(&(struct precise_sample){.x86 = true, .exact = true});
	EXPECT_FACTS(&f, ~0ull, "retired");
	f = settled(
		&(struct precise_sample){.exact = true}); /* elsewhere it may have been killed */
	EXPECT(!f.known);
}

TEST(levels)
{
	static const struct {
		uint64_t d;
		const char *text;
	} cases[] = {
		{LVL(2 | 8), "l1hit !l2hit !l3hit !dram !remote"},
		{LVL(2 | 8) | LVL_NUM(1), "l1hit !l2hit !l3hit !dram !remote"},
		{LVL(2 | 0x20), "!l1hit l2hit !l3hit !dram !remote"},
		{LVL(2 | 0x40) | LVL_NUM(3), "!l1hit !l2hit l3hit !dram !remote"},
		{LVL(2 | 0x10) | LVL_NUM(0xc), "!l1hit !l2hit !l3hit !dram !remote"},
		{LVL(2 | 0x80), "!l1hit !l2hit !l3hit dram !remote"},
		{LVL(2 | 0x100) | LVL_NUM(0xd) | REMOTE, "!l1hit !l2hit !l3hit dram remote"},
		{LVL(2 | 0x400), "!l1hit !l2hit !l3hit !dram remote"},
		{LVL_NUM(0xb) | HOPS(1), "!l1hit !l2hit !l3hit !dram !remote"},
		{LVL_NUM(0xb) | HOPS(2), "!l1hit !l2hit !l3hit !dram remote"},
		{LVL_NUM(9), "!l1hit !l2hit !l3hit dram !remote"},
		{LVL(4 | 8), "!l1hit"}, /* a store's miss */
		{LVL(1) | LVL_NUM(0xf), ""},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		struct sample_facts f = of(LOAD | cases[i].d);

		EXPECT_FACTS(&f, LEVELS, cases[i].text);
	}
}

TEST(other_caches_and_locks)
{
	const uint64_t bits = B(FACT_SNOOPHIT) | B(FACT_SNOOPHITM) | B(FACT_LOCKED) |
			      B(FACT_LDSTORDER) | B(FACT_LOAD) | B(FACT_STORE) | B(FACT_SWPREFETCH);
	struct sample_facts f;

	f = of(LOAD | SNOOP(2));
	EXPECT_FACTS(&f, bits, "load !store !locked !snoophit !snoophitm !swprefetch");
	f = of(LOAD | SNOOP(4) | LOCK(2));
	EXPECT_FACTS(&f, bits, "load !store locked snoophit !snoophitm !swprefetch");
	f = of(OP(4) | SNOOP(0x10) | LOCK(1));
	EXPECT_FACTS(&f, bits, "!load store snoophit snoophitm !swprefetch");
	f = of(OP(8) | SNOOPX(2) | SNOOP(1) | LOCK(1) | BLK(2));
	EXPECT_FACTS(&f, bits, "ldstorder !load !store snoophit swprefetch");
}

TEST(translations)
{
	const uint64_t bits = B(FACT_L1TLBMISS) | B(FACT_L2TLBMISS);
	struct sample_facts f;

	f = of(LOAD | TLB(2 | 8 | 0x10));
	EXPECT_FACTS(&f, bits, "!l2tlbmiss");
	EXPECT_STR(facts_trap(&f), "unknown");
	EXPECT(f.known & B(FACT_DTB2MISS4) && !(f.known & B(FACT_DTBMISS)));
	f = of(LOAD | TLB(2 | 0x10));
	EXPECT_FACTS(&f, bits, "l1tlbmiss !l2tlbmiss");
	EXPECT_STR(facts_trap(&f), "dtbmiss");
	f = of(LOAD | TLB(4 | 0x10));
	EXPECT_FACTS(&f, bits, "l1tlbmiss l2tlbmiss");
	EXPECT_STR(facts_trap(&f), "dtb2miss4");
	f = of(LOAD | TLB(2 | 0x20));
	EXPECT_FACTS(&f, bits, "l1tlbmiss l2tlbmiss");
	f = of(LOAD | TLB(4 | 8));
	EXPECT_FACTS(&f, bits, "l1tlbmiss");
	/* Elsewhere tables may have any number of levels. */
	f = settled(&(struct precise_sample){.has = PRECISE_DATA_SRC,
					     .data_src = LOAD | TLB(4 | 0x10)});
	EXPECT_FACTS(&f, bits, "l1tlbmiss l2tlbmiss");
	EXPECT_STR(facts_trap(&f), "unknown");
}

TEST(weights)
{
	struct precise_sample s = {.has = PRECISE_WEIGHT_STRUCT,
				   .weight = 400ull | 30ull << 32 | 7ull << 48};
	struct sample_facts f = settled(&s);

	EXPECT_FACTS(&f, 0, "retdelay=7 inflight=30 latency=400");
	s.weight = 0;
	f = settled(&s);
	EXPECT_FACTS(&f, 0, "");
	s.retdelay = true; /* the event tells it: retired with the one before */
	f = settled(&s);
	EXPECT_FACTS(&f, 0, "retdelay=0");
	s = (struct precise_sample){
		.has = PRECISE_WEIGHT | PRECISE_DATA_SRC, .data_src = LOAD, .weight = 1ull << 40};
	f = settled(&s);
	EXPECT_FACTS(&f, 0, "latency=1099511627776 weight=1099511627776");
	s.data_src = OP(1);
	f = settled(&s);
	EXPECT_FACTS(&f, 0, "weight=1099511627776");
}

static struct sample_facts branch(uint64_t from, uint64_t flags)
{
	return settled(&(struct precise_sample){.has = PRECISE_BRANCH,
						.x86 = true,
						.ip = 0x1000,
						.branch_from = from,
						.branch_flags = flags});
}

TEST(branches)
{
	const uint64_t mispred = 1, predicted = 2, in_tx = 4, aborted = 8;
	const uint64_t cond = 1ull << 20, call = 4ull << 20, ind_call = 5ull << 20,
		       ret = 6ull << 20;
	struct sample_facts f;

	f = branch(0x1004, predicted | cond); /* not its own */
	EXPECT(!f.known);
	f = branch(0x1000, predicted | 12ull << 4);
	EXPECT_FACTS(&f, ~FACT_TRAPS,
		     "taken !cbrmispredict branch !mispredicted !intx brcycles=12");
	EXPECT_STR(facts_trap(&f), "unknown"); /* a branch by memory may miss the TLB */
	f = branch(0x1000, predicted | cond);
	EXPECT_FACTS(&f, ~FACT_TRAPS,
		     "taken !cbrmispredict branch cond !call !return !indirect !mispredicted "
		     "!intx");
	EXPECT_STR(facts_trap(&f), "notrap");
	f = branch(0x1000, mispred | cond);
	EXPECT_FACTS(&f, ~FACT_TRAPS,
		     "cbrmispredict !valid branch cond !call !return !indirect mispredicted !intx");
	EXPECT_STR(facts_trap(&f), "mispredict");
	f = branch(0x1000, mispred | ret | in_tx);
	EXPECT_FACTS(&f, ~FACT_TRAPS,
		     "!cbrmispredict !valid branch !cond !call return !indirect mispredicted intx");
	f = branch(0x1000, mispred); /* conditional or not */
	EXPECT(!(f.known & B(FACT_CBRMISPREDICT)));
	f = branch(0x1000, call | aborted);
	EXPECT_FACTS(&f, ~FACT_TRAPS, "branch !cond call !return !indirect !intx txabort");
	f = branch(0x1000, ind_call);
	EXPECT_FACTS(&f, ~FACT_TRAPS, "branch !cond call !return indirect !intx");
}

TEST(transactions_and_pages)
{
	struct precise_sample s = {.has = PRECISE_TRANSACTION | PRECISE_PAGE_SIZE,
				   .transaction = 2,
				   .data_page_size = 2 << 20};
	struct sample_facts f = settled(&s);

	EXPECT_FACTS(&f, ~0ull, "txabort page2m !page1g");
	s.data_page_size = 4096;
	s.transaction = 0; /* of an event that counts no aborts: nothing */
	f = settled(&s);
	EXPECT_FACTS(&f, ~0ull, "!page2m !page1g");
	s.data_page_size = 1 << 30;
	f = settled(&s);
	EXPECT_FACTS(&f, ~0ull, "!page2m page1g");
}
