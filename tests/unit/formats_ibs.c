/* SPDX-License-Identifier: BSD-2-Clause */
/* AMD's Instruction-Based Sampling: registers of all shapes, and what they tell. */
#include "formats/facts/ibs.h"

#include "base/wr.h"
#include "facts_t.h"
#include "t.h"

#define B(i) (1ull << (i))

static const struct ibs_machine zen2 = {0x17, 0x31}, zen3 = {0x19, 0x01}, zen4 = {0x19, 0x11};

#define ZEN  (0x3ffu)
#define ZEN4 (0xbffu)

static const uint64_t LEVELS = B(FACT_L1HIT) | B(FACT_L2HIT) | B(FACT_L3HIT) | B(FACT_DRAM) |
			       B(FACT_REMOTE) | B(FACT_SNOOPHIT) | B(FACT_SNOOPHITM);
static const uint64_t BRANCHES = B(FACT_BRANCH) | B(FACT_COND) | B(FACT_RETURN) | B(FACT_TAKEN) |
				 B(FACT_CBRMISPREDICT) | B(FACT_MISPREDICTED);

static struct sample_facts op(uint32_t caps, const struct ibs_machine *m, uint64_t data,
			      uint64_t data2, uint64_t data3)
{
	struct ibs_regs r = {.caps = caps};
	struct sample_facts f;

	r.reg[IBS_OP_DATA] = data;
	r.reg[IBS_OP_DATA2] = data2;
	r.reg[IBS_OP_DATA3] = data3;
	ibs_op_facts(&r, m, &f);
	facts_settle(&f);
	f.counters_known &= ~(B(FACT_INFLIGHT) | B(FACT_COMPTORET));
	return f;
}

static struct sample_facts fetch(uint32_t caps, const struct ibs_machine *m, uint64_t ctl,
				 uint64_t extd)
{
	struct ibs_regs r = {.caps = caps};
	struct sample_facts f;

	r.reg[IBS_FETCH_CTL] = ctl;
	r.reg[IBS_FETCH_EXTD] = extd;
	ibs_fetch_facts(&r, m, &f);
	facts_settle(&f);
	return f;
}

TEST(registers_are_where_the_capabilities_say)
{
	for (unsigned caps = 0; caps < 4; caps++) {
		uint32_t c = (caps & 1 ? IBS_CAP_BRNTRGT : 0) | (caps & 2 ? IBS_CAP_OPDATA4 : 0);
		unsigned n = 7 + (caps & 1) + (caps >> 1);
		struct ibs_regs r;
		struct wr w = {0};

		wr_le32(&w, c);
		for (unsigned i = 0; i < n; i++)
			wr_le64(&w, 0x1111111111111111ull * (i + 1));
		EXPECT_EQ(ibs_read_op(w.v, w.n, &r), 0);
		EXPECT_EQ(r.caps, c);
		EXPECT_EQ(r.reg[IBS_OP_DATA3], 0x5555555555555555ull);
		EXPECT_EQ(r.reg[IBS_OP_BRTARGET], caps & 1 ? 0x8888888888888888ull : 0);
		EXPECT_EQ(r.reg[IBS_OP_DATA4], caps & 2 ? 0x1111111111111111ull * n : 0);
		for (size_t short_of = 0; short_of < w.n; short_of++)
			EXPECT(ibs_read_op(w.v, short_of, &r) < 0);
		wr_release(&w);
	}
}

TEST(registers_of_fetches)
{
	struct ibs_regs r;
	struct wr w = {0};

	wr_le32(&w, IBS_CAP_FETCHEXTD);
	for (unsigned i = 0; i < 4; i++)
		wr_le64(&w, i + 1);
	EXPECT_EQ(ibs_read_fetch(w.v, w.n, &r), 0);
	EXPECT_EQ(r.reg[IBS_FETCH_LINADDR], 2);
	EXPECT_EQ(r.reg[IBS_FETCH_EXTD], 4);
	EXPECT(ibs_read_fetch(w.v, w.n - 1, &r) < 0);
	w.v[1] = 0; /* without the fourth */
	EXPECT_EQ(ibs_read_fetch(w.v, w.n - 8, &r), 0);
	EXPECT_EQ(r.reg[IBS_FETCH_EXTD], 0);
	wr_release(&w);
}

TEST(what_is_no_branch_and_no_access)
{
	struct sample_facts f = op(ZEN4, &zen4, 0, 0, 0);

	EXPECT_STR(facts_trap(&f), "notrap");
	EXPECT_FACTS(&f,
		     B(FACT_RETIRED) | B(FACT_VALID) | B(FACT_NYP) | B(FACT_REPLAYS) |
			     B(FACT_MAP_STALL) | B(FACT_LATE_KILL) | B(FACT_LDSTORDER),
		     "retired valid");
	EXPECT_FACTS(&f, LEVELS, "!l1hit !l2hit !l3hit !dram !remote !snoophit !snoophitm");
	EXPECT_FACTS(&f, BRANCHES, "!cbrmispredict !branch !cond !return !mispredicted");
}

TEST(branches)
{
	const uint64_t branch = B(37), taken = B(35), mispredicted = B(36), ret = B(34);
	struct sample_facts f;

	f = op(ZEN, &zen2, branch, 0, 0);
	EXPECT_FACTS(&f, BRANCHES, "!taken !cbrmispredict branch cond !return !mispredicted");
	f = op(ZEN, &zen2, branch | taken, 0, 0); /* conditional or not */
	EXPECT_FACTS(&f, BRANCHES, "taken !cbrmispredict branch !return !mispredicted");
	f = op(ZEN, &zen2, branch | taken | ret, 0, 0);
	EXPECT_FACTS(&f, BRANCHES, "!cbrmispredict branch !cond return !mispredicted");
	f = op(ZEN, &zen2, branch | mispredicted, 0, 0);
	EXPECT_FACTS(&f, BRANCHES, "cbrmispredict branch cond !return mispredicted");
	EXPECT_STR(facts_trap(&f), "mispredict");
	EXPECT(!facts_has(&f, FACT_VALID) && facts_has(&f, FACT_RETIRED));
	f = op(ZEN, &zen2, branch | taken | mispredicted, 0, 0);
	EXPECT_FACTS(&f, BRANCHES, "branch !return mispredicted");
	f = op(ZEN, &zen2, branch | taken | ret | mispredicted, 0, 0);
	EXPECT_FACTS(&f, BRANCHES, "!cbrmispredict branch !cond return mispredicted");
	f = op(ZEN, &zen2, taken | mispredicted | ret, 0, 0); /* bit 37 gates them */
	EXPECT_FACTS(&f, BRANCHES, "!cbrmispredict !branch !cond !return !mispredicted");
}

TEST(where_loads_got_their_data)
{
	const uint64_t load = B(0) | B(17), miss = B(7), l2miss = B(20);
	static const struct {
		uint32_t caps;
		uint64_t data2, data3;
		const char *levels;
	} cases[] = {
		{ZEN, 0, 0, "l1hit !l2hit !l3hit !dram !remote !snoophit !snoophitm"},
		{ZEN, 0, B(7), "!l1hit l2hit !l3hit !dram !remote !snoophit !snoophitm"},
		{ZEN, 0, B(7) | B(20), "!l1hit !l2hit"},
		{ZEN, 2, B(7) | B(20), "!l1hit !l2hit l3hit !dram !remote !snoophit snoophitm"},
		{ZEN, 2 | B(5), B(7) | B(20),
		 "!l1hit !l2hit l3hit !dram !remote !snoophit !snoophitm"},
		{ZEN, 3, B(7) | B(20), "!l1hit !l2hit !l3hit dram !remote !snoophit !snoophitm"},
		{ZEN, 3 | B(4), B(7) | B(20),
		 "!l1hit !l2hit !l3hit dram remote !snoophit !snoophitm"},
		{ZEN, 4, B(7) | B(20), "!l1hit !l2hit !l3hit !dram !remote snoophit !snoophitm"},
		{ZEN, 5, B(7) | B(20), "!l1hit !l2hit"},
		{ZEN4, 1, B(7) | B(20), "!l1hit !l2hit l3hit !dram !remote !snoophit snoophitm"},
		{ZEN4, 2, B(7) | B(20), "!l1hit !l2hit !l3hit !dram !remote snoophit snoophitm"},
		{ZEN4, 5, B(7) | B(20), "!l1hit !l2hit !l3hit !dram remote snoophit snoophitm"},
		{ZEN4, 6, B(7) | B(20), "!l1hit !l2hit !l3hit dram !remote !snoophit !snoophitm"},
		{ZEN4, 0 | B(6), B(7) | B(20), /* 8: CXL */
		 "!l1hit !l2hit !l3hit dram !remote !snoophit !snoophitm"},
		{ZEN4, 4 | B(6), B(7) | B(20), /* 12 */
		 "!l1hit !l2hit !l3hit !dram remote !snoophit !snoophitm"},
		{ZEN4, 3, B(7) | B(20) | B(14), ""}, /* uncached */
	};
	struct sample_facts f;

	for (size_t i = 0; i < n_elems(cases); i++) {
		f = op(cases[i].caps, &zen4, 0, cases[i].data2, cases[i].data3 | load);
		f.counters_known = 0;
		EXPECT_FACTS(&f, LEVELS, cases[i].levels);
	}
	/* OP_DATA2 says nothing of stores. */
	f = op(ZEN4, &zen4, 0, 3, B(1) | B(17) | miss | l2miss);
	f.counters_known = 0;
	EXPECT_FACTS(&f, LEVELS, "!l1hit !l2hit");
	/* Before Zen there is no bit for the second cache. */
	f = op(0xff, &(struct ibs_machine){0x15, 2}, 0, 0, load | miss);
	EXPECT_FACTS(&f, LEVELS, "!l1hit latency=0");
}

TEST(latencies_are_of_loads_that_missed)
{
	const uint64_t d = 300ull << 32 | 44ull << 48 | 9ull << 26 | 4ull << 22 | B(17);
	struct sample_facts f;

	f = op(ZEN4, &zen4, 0, 0, d | B(0) | B(7) | B(2));
	EXPECT_FACTS(&f, 0, "latency=300 tlblatency=44 memreqs=9 accessbytes=8");
	f = op(ZEN4, &zen4, 0, 0, d | B(0) | B(2));
	EXPECT_FACTS(&f, 0, "tlblatency=44 accessbytes=8");
	f = op(ZEN4, &zen4, 0, 0, d | B(1) | B(7));
	EXPECT_FACTS(&f, 0, "accessbytes=8");
	f = op(ZEN4, &zen4, 0, 0, d | B(0) | B(7) | B(21)); /* a prefetch waits for nothing */
	EXPECT_FACTS(&f, B(FACT_SWPREFETCH), "swprefetch memreqs=9 accessbytes=8");
	f = op(ZEN4, &zen4, 0, 0, d);
	EXPECT_FACTS(&f, 0, "");
}

TEST(translations)
{
	const uint64_t load = B(0) | B(17);
	const uint64_t bits =
		B(FACT_L1TLBMISS) | B(FACT_L2TLBMISS) | B(FACT_PAGE2M) | B(FACT_PAGE1G);
	struct sample_facts f;

	f = op(0xff, &zen4, 0, 0, load | B(4));
	EXPECT_FACTS(&f, bits, "!l1tlbmiss !l2tlbmiss page2m !page1g");
	EXPECT_STR(facts_trap(&f), "notrap");
	f = op(0xff, &zen4, 0, 0, load | B(2) | B(19));
	EXPECT_FACTS(&f, bits, "l1tlbmiss !l2tlbmiss !page2m page1g");
	EXPECT_STR(facts_trap(&f), "dtbmiss");
	f = op(0xff, &zen4, 0, 0, load | B(2) | B(3));
	EXPECT_FACTS(&f, bits, "l1tlbmiss l2tlbmiss");
	EXPECT_STR(facts_trap(&f), "dtb2miss4");
	f = op(0xff, &zen4, 0, 0, B(0) | B(2) | B(3)); /* no linear address: not told */
	EXPECT_FACTS(&f, bits, "");
	f = op(0xff | IBS_CAP_DTLBPGSIZE, &zen4, 0, 0, load | B(4));
	EXPECT_FACTS(&f, bits, "!l1tlbmiss !l2tlbmiss");
}

TEST(one_op_can_have_all_of_it)
{
	struct sample_facts f =
		op(ZEN4, &zen4, B(37) | B(36) | B(35), 0, B(0) | B(17) | B(2) | B(8) | B(15));

	EXPECT_STR(facts_trap(&f), "unaligntrap");
	EXPECT_FACTS(&f,
		     B(FACT_MISALIGNED) | B(FACT_MISPREDICTED) | B(FACT_L1TLBMISS) | B(FACT_LOCKED),
		     "l1tlbmiss locked mispredicted misaligned tlblatency=0");
}

TEST(errata)
{
	const uint64_t miss = B(0) | B(17) | B(7);
	struct sample_facts f;

	/* 1293: L2Miss, OpenMemReqs and OP_DATA2 with a prefetch or no miss buffer. */
	f = op(ZEN, &zen3, 0, 3, miss | B(20) | B(16));
	EXPECT_FACTS(&f, LEVELS, "!l1hit latency=0");
	f = op(ZEN, &zen3, 0, 3, miss | B(21));
	EXPECT_FACTS(&f, LEVELS, "!l1hit");
	f = op(ZEN, &zen2, 0, 3, miss | B(20) | B(16));
	EXPECT(facts_has(&f, FACT_DRAM) && f.counters_known);
	/* The state of the line is not told by Zen 3. */
	f = op(ZEN, &zen3, 0, 2, miss | B(20));
	EXPECT(facts_has(&f, FACT_L3HIT) && !(f.known & B(FACT_SNOOPHITM)));
	/* 1238: IbsIcMiss. */
	f = fetch(ZEN, &zen3, B(50) | B(51), 0);
	EXPECT(!(f.known & (B(FACT_ICMISS) | B(FACT_NYP) | B(FACT_L1HIT))));
}

TEST(an_op_without_its_address)
{
	struct ibs_regs r = {.caps = ZEN};
	struct sample_facts f;

	r.reg[IBS_OP_DATA] = B(38) | B(37);
	EXPECT(!ibs_op_facts(&r, &zen2, &f));
	EXPECT(!f.known && !f.counters_known);
	r.caps &= ~(uint32_t)IBS_CAP_RIPINVALID; /* then the bit means nothing */
	EXPECT(ibs_op_facts(&r, &zen2, &f));
}

TEST(fetches)
{
	const uint64_t bits = B(FACT_FETCHCOMPLETE) | B(FACT_EARLY_KILL) | B(FACT_NYP) |
			      B(FACT_ICMISS) | B(FACT_L1ITLBMISS) | B(FACT_L2ITLBMISS) | LEVELS;
	const uint64_t ctl = 77ull << 32 | B(48) | B(49);
	struct sample_facts f;

	f = fetch(ZEN4, &zen4, ctl | B(50), 5);
	EXPECT_FACTS(&f, bits,
		     "!nyp !early_kill l1hit !l2hit !l3hit fetchcomplete !icmiss !l1itlbmiss "
		     "!l2itlbmiss fetchlatency=77");
	EXPECT(!(f.known & (B(FACT_RETIRED) | B(FACT_VALID) | B(FACT_NOTRAP))));
	f = fetch(ZEN4, &zen4, ctl | B(50) | B(51) | B(55) | B(56) | B(58), 5);
	EXPECT_FACTS(&f, bits,
		     "nyp !early_kill !l1hit !l2hit l3hit fetchcomplete icmiss l1itlbmiss "
		     "l2itlbmiss fetchlatency=77 itlblatency=5");
	EXPECT_STR(facts_trap(&f), "itbmiss");
	f = fetch(ZEN, &zen2, ctl | B(50) | B(51) | B(58), 5);
	EXPECT(!(f.known & B(FACT_L3HIT)));
	/* Given up: nothing else of it is reliable. */
	f = fetch(ZEN4, &zen4, ctl | B(51) | B(55), 5);
	EXPECT_FACTS(&f, ~0ull, "!valid early_kill !notrap !fetchcomplete");
}
