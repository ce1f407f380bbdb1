/* SPDX-License-Identifier: BSD-2-Clause */
/* See ibs.h.  Fields are those of AMD64 Architecture Programmer's Manual volume 2, 13.3.3 and
 * 13.3.4, and the Processor Programming References of families 17h and 19h; which of them can be
 * trusted when is as Linux has it (arch/x86/events/amd/ibs.c, perf_ibs_get_data_src and those it
 * calls; tools/perf/util/amd-sample-raw.c), with the errata named below. */
#include "formats/facts/ibs.h"

#include <errno.h>

#include "base/rd.h"

static bool bit(uint64_t v, unsigned i)
{
	return v >> i & 1;
}

static uint64_t ibs_bits(uint64_t v, unsigned high, unsigned low)
{
	return v >> low & ((2ull << (high - low)) - 1);
}

/* perf_ibs_handle_irq: the registers in order, those that NEED a capability when it is there. */
static int read_registers(const uint8_t *raw, size_t n, const uint32_t *need, unsigned n_regs,
			  struct ibs_regs *ret)
{
	struct rd r = rd_init(raw, n);
	struct ibs_regs x = {.caps = rd_le32(&r)};

	for (unsigned i = 0; i < n_regs; i++)
		if (!need[i] || x.caps & need[i])
			x.reg[i] = rd_le64(&r);
	if (r.bad)
		return -EBADMSG;
	*ret = x;
	return 0;
}

int ibs_read_op(const uint8_t *raw, size_t n, struct ibs_regs *ret)
{
	static const uint32_t need[IBS_OP_N_REGS] = {
		[IBS_OP_BRTARGET] = IBS_CAP_BRNTRGT, [IBS_OP_DATA4] = IBS_CAP_OPDATA4};

	return read_registers(raw, n, need, IBS_OP_N_REGS, ret);
}

int ibs_read_fetch(const uint8_t *raw, size_t n, struct ibs_regs *ret)
{
	static const uint32_t need[IBS_FETCH_N_REGS] = {[IBS_FETCH_EXTD] = IBS_CAP_FETCHEXTD};

	return read_registers(raw, n, need, IBS_FETCH_N_REGS, ret);
}

/* Zen 3's server and workstation models, which most errata are about. */
static bool is_early_zen3(const struct ibs_machine *m)
{
	return m->family == 0x19 && m->model < 0x10;
}

static bool is_zen(const struct ibs_regs *r)
{
	return r->caps & IBS_CAP_FETCHEXTD;
}

/* Branches.  Which are conditional is not told; but only those can be not taken, and a return is
 * none. */
static void branch_facts(const struct ibs_regs *r, struct sample_facts *f)
{
	uint64_t data = r->reg[IBS_OP_DATA];
	bool branch = bit(data, 37), ret = branch && bit(data, 34);
	bool taken = branch && bit(data, 35), mispredicted = branch && bit(data, 36);

	facts_set(f, FACT_BRANCH, branch);
	facts_set(f, FACT_RETURN, ret);
	facts_set(f, FACT_MISPREDICTED, mispredicted);
	facts_set(f, FACT_MISPREDICT, mispredicted);
	if (branch)
		facts_set(f, FACT_TAKEN, taken);
	if (!branch || ret) {
		facts_set(f, FACT_COND, false);
		facts_set(f, FACT_CALL, false);
	} else if (!taken) {
		facts_set(f, FACT_COND, true);
		facts_set(f, FACT_CALL, false);
		facts_set(f, FACT_INDIRECT, false);
	}
	if (!branch)
		facts_set(f, FACT_INDIRECT, false);
	if (!mispredicted || (f->known & FACT_MASK(FACT_COND)))
		facts_set(f, FACT_CBRMISPREDICT, mispredicted && facts_has(f, FACT_COND));
}

static void set_levels(struct sample_facts *f, int level)
{
	static const uint8_t levels[] = {FACT_L1HIT, FACT_L2HIT, FACT_L3HIT, FACT_DRAM};

	for (size_t i = 0; i < sizeof(levels); i++)
		facts_set(f, levels[i], levels[i] == level);
}

/* Where the data came from, of a load that missed both caches (OP_DATA2).  The sources of Zen 4
 * (PPR 55898, IbsOpData2): 1 the CCX's L3, 2 a cache in a near CCX, 3 memory, 5 a cache in a far
 * one, 6 persistent memory, 7 devices, 8 CXL, 12 a peer's memory; before that: 2 a cache of the
 * CCX, 3 memory, 4 a cache of another, 7 devices. */
static void source_facts(const struct ibs_regs *r, const struct ibs_machine *m,
			 struct sample_facts *f)
{
	uint64_t data2 = r->reg[IBS_OP_DATA2];
	bool zen4 = r->caps & IBS_CAP_ZEN4, far = false, rmt_told = false, other_core = false;
	/* cache_hit_st says nothing there (perf_ibs_cache_hit_st_valid). */
	bool no_state =
		is_early_zen3(m) || (m->family == 0x19 && m->model >= 0x20 && m->model <= 0x5f);
	unsigned source = (unsigned)ibs_bits(data2, 2, 0);
	bool state_told = false;
	int level = -1;

	if (zen4)
		source |= (unsigned)ibs_bits(data2, 7, 6) << 3;
	switch (source) {
	case 1:
		if (!zen4)
			return;
		level = FACT_L3HIT;
		state_told = true;
		break;
	case 2:
		level = zen4 ? -1 : FACT_L3HIT;
		other_core = zen4;
		state_told = true;
		break;
	case 3:
		level = FACT_DRAM;
		rmt_told = true;
		break;
	case 4:
		if (zen4)
			return;
		other_core = rmt_told = true;
		break;
	case 5:
		if (!zen4)
			return;
		other_core = far = state_told = true;
		break;
	case 6:
	case 8:
		if (!zen4)
			return;
		level = FACT_DRAM;
		rmt_told = true;
		break;
	case 7:
		break;
	case 12:
		far = true;
		break;
	default:
		return; /* no valid status */
	}
	set_levels(f, level);
	facts_set(f, FACT_REMOTE, far || (rmt_told && bit(data2, 4)));
	facts_set(f, FACT_SNOOPHIT, other_core);
	if (!state_told)
		facts_set(f, FACT_SNOOPHITM, false);
	else if (!no_state)
		facts_set(f, FACT_SNOOPHITM, !bit(data2, 5));
}

static void cache_facts(const struct ibs_regs *r, const struct ibs_machine *m, bool load,
			struct sample_facts *f)
{
	uint64_t data3 = r->reg[IBS_OP_DATA3];
	bool miss = bit(data3, 7), prefetch = is_zen(r) && bit(data3, 21);
	/* Erratum 1293: then L2Miss, OpenMemReqs and OP_DATA2 are wrong. */
	bool doubtful = is_early_zen3(m) && (prefetch || bit(data3, 16));

	if (bit(data3, 14)) /* uncached: DcMiss, L2Miss, DataSrc and DcMissLat mean nothing */
		return;
	if (!miss) {
		set_levels(f, FACT_L1HIT);
	} else if (doubtful) {
		facts_set(f, FACT_L1HIT, false);
	} else if (is_zen(r) && !bit(data3, 20)) {
		set_levels(f, FACT_L2HIT);
	} else {
		facts_set(f, FACT_L1HIT, false);
		if (is_zen(r))
			facts_set(f, FACT_L2HIT, false);
		if (load)
			source_facts(r, m, f);
	}
	if (facts_has(f, FACT_L1HIT) || facts_has(f, FACT_L2HIT)) {
		facts_set(f, FACT_REMOTE, false);
		facts_set(f, FACT_SNOOPHIT, false);
		facts_set(f, FACT_SNOOPHITM, false);
	}
	if (load && miss && !prefetch)
		facts_set_counter(f, FACT_LATENCY, ibs_bits(data3, 47, 32));
	if (load && miss && is_zen(r) && !doubtful)
		facts_set_counter(f, FACT_MEMREQS, ibs_bits(data3, 31, 26));
}

static void tlb_facts(const struct ibs_regs *r, struct sample_facts *f)
{
	uint64_t data3 = r->reg[IBS_OP_DATA3];
	bool l1miss = bit(data3, 2), l2miss = l1miss && bit(data3, 3);
	bool on2m = l1miss ? bit(data3, 6) : bit(data3, 4);
	bool on1g = l1miss ? bit(data3, 19) : bit(data3, 5);

	if (!bit(data3, 17)) /* DcLinAddrValid */
		return;
	facts_set(f, FACT_L1TLBMISS, l1miss);
	facts_set(f, FACT_L2TLBMISS, l2miss);
	facts_set(f, FACT_DTBMISS, l1miss && !l2miss);
	facts_set(f, FACT_DTB2MISS4, l2miss); /* x86-64 has no tables of three levels */
	facts_set(f, FACT_DTB2MISS3, false);
	if (!l2miss && !(r->caps & IBS_CAP_DTLBPGSIZE)) {
		facts_set(f, FACT_PAGE2M, on2m);
		facts_set(f, FACT_PAGE1G, on1g);
	}
	if (is_zen(r) && l1miss)
		facts_set_counter(f, FACT_TLBLATENCY, ibs_bits(data3, 63, 48));
}

/* What does not touch memory misses nothing: of it these are known to be false. */
static const uint8_t memory_bits[] = {
	FACT_L1HIT,	  FACT_L2HIT,	  FACT_L3HIT,	  FACT_DRAM,	  FACT_REMOTE,
	FACT_L1TLBMISS,	  FACT_L2TLBMISS, FACT_LOCKED,	  FACT_SNOOPHIT,  FACT_SNOOPHITM,
	FACT_UNALIGNTRAP, FACT_DTBMISS,	  FACT_DTB2MISS3, FACT_DTB2MISS4, FACT_MISALIGNED,
	FACT_SWPREFETCH,  FACT_PAGE2M,	  FACT_PAGE1G,
};

static void memory_facts(const struct ibs_regs *r, const struct ibs_machine *m,
			 struct sample_facts *f)
{
	uint64_t data3 = r->reg[IBS_OP_DATA3];
	bool load = bit(data3, 0), store = bit(data3, 1);
	uint64_t width = ibs_bits(data3, 25, 22);

	facts_set(f, FACT_LOAD, load);
	facts_set(f, FACT_STORE, store);
	if (!load && !store) {
		for (size_t i = 0; i < sizeof(memory_bits); i++)
			facts_set(f, memory_bits[i], false);
		return;
	}
	facts_set(f, FACT_LOCKED, bit(data3, 15));
	facts_set(f, FACT_MISALIGNED, bit(data3, 8));
	facts_set(f, FACT_UNALIGNTRAP, bit(data3, 8));
	if (is_zen(r))
		facts_set(f, FACT_SWPREFETCH, bit(data3, 21));
	if (is_zen(r) && width)
		facts_set_counter(f, FACT_ACCESSBYTES, 1ull << (width - 1));
	tlb_facts(r, f);
	cache_facts(r, m, load, f);
}

bool ibs_op_facts(const struct ibs_regs *r, const struct ibs_machine *m, struct sample_facts *ret)
{
	uint64_t data = r->reg[IBS_OP_DATA];

	*ret = (struct sample_facts){0};
	if (r->caps & IBS_CAP_RIPINVALID && bit(data, 38))
		return false;
	facts_set(ret, FACT_RETIRED, true);
	facts_set(ret, FACT_NOTRAP, true);
	branch_facts(r, ret);
	memory_facts(r, m, ret);
	facts_set_counter(ret, FACT_INFLIGHT, ibs_bits(data, 31, 16));
	facts_set_counter(ret, FACT_COMPTORET, ibs_bits(data, 15, 0));
	return true;
}

bool ibs_fetch_facts(const struct ibs_regs *r, const struct ibs_machine *m,
		     struct sample_facts *ret)
{
	uint64_t ctl = r->reg[IBS_FETCH_CTL];
	bool complete = bit(ctl, 50), icmiss = bit(ctl, 51), l1miss = bit(ctl, 55);

	*ret = (struct sample_facts){0};
	facts_set(ret, FACT_FETCHCOMPLETE, complete);
	facts_set(ret, FACT_EARLY_KILL, !complete);
	if (!complete)
		facts_set(ret, FACT_RETIRED, false);
	facts_set(ret, FACT_L1ITLBMISS, l1miss);
	facts_set(ret, FACT_L2ITLBMISS, bit(ctl, 56));
	facts_set(ret, FACT_ITBMISS, l1miss);
	if (!is_early_zen3(m)) { /* erratum 1238: IbsIcMiss is wrong */
		facts_set(ret, FACT_ICMISS, icmiss);
		facts_set(ret, FACT_NYP, icmiss);
		facts_set(ret, FACT_L1HIT, !icmiss);
	}
	if (is_zen(r) && ret->known & FACT_MASK(FACT_L1HIT)) {
		bool l2miss = icmiss && bit(ctl, 58);

		facts_set(ret, FACT_L2HIT, icmiss && !l2miss);
		if (r->caps & IBS_CAP_ZEN4 || !l2miss)
			facts_set(ret, FACT_L3HIT, l2miss && !bit(ctl, 61));
	}
	facts_set_counter(ret, FACT_FETCHLATENCY, ibs_bits(ctl, 47, 32));
	if (r->caps & IBS_CAP_FETCHEXTD && l1miss)
		facts_set_counter(ret, FACT_ITLBLATENCY, ibs_bits(r->reg[IBS_FETCH_EXTD], 15, 0));
	return true;
}
