/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads' states as perf's records tell them: each nanosecond is told once. */
#include "collect/offcpu/ring_switches.h"

#include <string.h>

#include "base/vec.h"
#include "collect/bpf/record.h"
#include "t.h"

#define TASK(tid) LOG_TASK(100, tid, 7)

struct told {
	struct switch_sum sums[SWITCH_N_SUMS];
	struct switch_slot blocks[8];
	size_t n_blocks;
};

static void take_block(void *ctx, const struct switch_slot *s)
{
	struct told *t = ctx;

	if (t->n_blocks < n_elems(t->blocks))
		t->blocks[t->n_blocks++] = *s;
}

static void take_sums(void *ctx, const struct switch_told *told)
{
	struct told *t = ctx;

	for (unsigned i = 0; i < SWITCH_N_SUMS; i++) {
		t->sums[i].ns += told->sums[i].ns;
		t->sums[i].n += told->sums[i].n;
	}
}

static struct ring_switches *start(struct told *t)
{
	*t = (struct told){0};
	return ring_switches_new(100, &(struct ring_switches_to){take_block, take_sums, t});
}

static void comes(struct ring_switches *rs, uint32_t tid, uint64_t time_ns)
{
	ring_switches_apply(
		rs, &(struct perf_record){.kind = RECORD_SWITCH, .tid = tid, .time_ns = time_ns});
}

static void leaves(struct ring_switches *rs, uint32_t tid, uint64_t time_ns, bool preempted)
{
	ring_switches_apply(rs, &(struct perf_record){.kind = RECORD_SWITCH,
						      .leaves = true,
						      .preempted = preempted,
						      .tid = tid,
						      .time_ns = time_ns});
}

TEST(states)
{
	struct told t;
	struct ring_switches *rs = start(&t);

	ring_switches_begin(rs, TASK(101), 1000, true);
	comes(rs, 101, 1010); /* it had waited for a CPU */
	leaves(rs, 101, 1030, true);
	comes(rs, 101, 1050);
	leaves(rs, 101, 1100, false);
	comes(rs, 101, 1150); /* a short block */
	leaves(rs, 101, 1200, false);
	comes(rs, 101, 1500); /* a long one, of which no sample came */
	ring_switches_end(rs, 101, 1600);
	EXPECT_EQ(t.sums[SWITCH_RUNNING].ns, 20 + 50 + 50 + 100);
	EXPECT_EQ(t.sums[SWITCH_RUNNING].n, 4);
	EXPECT_EQ(t.sums[SWITCH_RUNNABLE].ns, 10 + 20);
	EXPECT_EQ(t.sums[SWITCH_SHORT].ns, 50);
	EXPECT_EQ(t.sums[SWITCH_MISSED].ns, 300);
	EXPECT_EQ(t.n_blocks, 0);
	EXPECT_EQ(ring_switches_lost(rs), 0);
	comes(rs, 101, 1700); /* nobody's any more */
	ring_switches_tell(rs);
	EXPECT_EQ(t.sums[SWITCH_MISSED].n, 1);
	ring_switches_free(rs);
}

TEST(a_block_has_the_sample_of_its_own_leaving)
{
	struct told t;
	struct ring_switches *rs = start(&t);

	ring_switches_begin(rs, TASK(101), 1000, true);
	ring_switches_sample(rs, 101, 1099, 0xabc);
	leaves(rs, 101, 1100, false);
	comes(rs, 101, 1300);
	leaves(rs, 101, 1400, false); /* without a sample: not the old one's path */
	comes(rs, 101, 1700);
	EXPECT_EQ(t.n_blocks, 1);
	EXPECT_EQ(t.blocks[0].ns, 200);
	EXPECT_EQ(t.blocks[0].since_ns, 1100);
	EXPECT_EQ(t.blocks[0].chain, 0xabc);
	EXPECT(t.blocks[0].task == TASK(101));
	ring_switches_tell(rs);
	EXPECT_EQ(t.sums[SWITCH_MISSED].ns, 300);
	ring_switches_free(rs);
}

TEST(what_is_there_at_start_and_end)
{
	struct told t;
	struct ring_switches *rs = start(&t);

	ring_switches_begin(rs, TASK(101), 1000, false); /* sleeps throughout */
	ring_switches_begin(rs, TASK(102), 1000, true);	 /* runs throughout */
	ring_switches_begin(rs, TASK(103), 1000, false); /* was woken before its first record */
	leaves(rs, 103, 1200, true);
	ring_switches_stop(rs, 2000);
	comes(rs, 103, 2100);
	ring_switches_begin(rs, TASK(104), 2100, true);
	ring_switches_end(rs, 102, 2100);
	ring_switches_settle(rs);
	EXPECT_EQ(t.sums[SWITCH_MISSED].ns, 1000);
	EXPECT_EQ(t.sums[SWITCH_RUNNING].ns, 1000 + 200);
	EXPECT_EQ(t.sums[SWITCH_RUNNABLE].ns, 800);
	ring_switches_free(rs);
}

TEST(records_that_are_missing_are_intervals_lost)
{
	struct told t;
	struct ring_switches *rs = start(&t);

	ring_switches_begin(rs, TASK(101), 1000, true);
	leaves(rs, 101, 1100, false);
	leaves(rs, 101, 1500, false);
	comes(rs, 101, 1900);
	comes(rs, 101, 2000);
	ring_switches_end(rs, 101, 2100);
	EXPECT_EQ(ring_switches_lost(rs), 2);
	EXPECT_EQ(t.sums[SWITCH_RUNNING].ns, 100 + 100);
	EXPECT_EQ(t.sums[SWITCH_MISSED].ns, 400);
	ring_switches_free(rs);
}

TEST(sums_are_told_once)
{
	struct told t;
	struct ring_switches *rs = start(&t);

	ring_switches_begin(rs, TASK(101), 1000, true);
	leaves(rs, 101, 1100, true);
	ring_switches_tell(rs);
	ring_switches_tell(rs);
	EXPECT_EQ(t.sums[SWITCH_RUNNING].ns, 100);
	ring_switches_begin(rs, TASK(101), 1200, true); /* the number again: the old one is gone */
	ring_switches_end(rs, 101, 1300);
	EXPECT_EQ(t.sums[SWITCH_RUNNING].ns, 200);
	ring_switches_free(rs);
}
