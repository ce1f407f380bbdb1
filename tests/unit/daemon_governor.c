/* SPDX-License-Identifier: BSD-2-Clause */
/* The rate that follows the cost, on a clock and a cost of the test's own. */
#include "daemon/governor.h"

#include "t.h"

#define SECOND 1000000000ull
#define MOST   0.01

static uint64_t now;
static unsigned n_up, n_down;

/* SECONDS of a machine on which the full rate costs FULL of the CPUs, and FIXED is what any rate
 * does, looked at every ten seconds; counts the steps, and checks each. */
static void run(struct governor *g, double full, double fixed, unsigned seconds)
{
	n_up = n_down = 0;
	for (unsigned t = 0; t < seconds; t += 10, now += 10 * SECOND) {
		double was = g->slower > 1 ? g->slower : 1, cost = fixed + full / was;
		double is = governor_step(g, cost, MOST, now);

		EXPECT(is >= 1 && is <= GOVERNOR_SLOWEST);
		EXPECT(is >= was / 2 - 1e-9);
		EXPECT(is == was || (is > was) == (cost > MOST));
		n_up += is < was;
		n_down += is > was;
	}
}

TEST(what_is_cheap_stays_as_it_is)
{
	struct governor g = {0};

	run(&g, 0.009, 0, 7200);
	EXPECT_EQ(n_up + n_down, 0);
	EXPECT(governor_step(&g, 0.0099, MOST, now) == 1);
}

TEST(what_is_dear_goes_down_at_once_and_stays)
{
	struct governor g = {0};

	run(&g, 0.05, 0, 10);
	EXPECT_EQ(n_down, 1);
	EXPECT(g.slower > 5 && g.slower < 6);
	run(&g, 0.05, 0, 36000); /* going up would cost too much: it does not try */
	EXPECT_EQ(n_up + n_down, 0);
}

TEST(it_goes_up_again_step_by_step)
{
	struct governor g = {0};

	run(&g, 0.05, 0, 100);
	EXPECT_EQ(n_down, 1);
	run(&g, 0.002, 0, 60);
	EXPECT_EQ(n_up, 0); /* not yet a minute */
	run(&g, 0.002, 0, 20);
	EXPECT_EQ(n_up, 1);
	EXPECT(g.slower > 2.7 && g.slower < 2.8);
	run(&g, 0.002, 0, 600);
	EXPECT_EQ(n_up, 2);
	EXPECT_EQ(n_down, 0);
	EXPECT(g.slower == 1); /* exactly as asked for, and never more */
	run(&g, 0, 0, 7200);
	EXPECT_EQ(n_up + n_down, 0);
}

/* Halfway: as often as it may be, with room for the next step or none. */
TEST(it_stops_where_the_next_step_would_be_too_much)
{
	struct governor g = {0};

	run(&g, 0.08, 0, 100);
	run(&g, 0.02, 0, 3600);
	EXPECT_EQ(n_up, 1);
	EXPECT(g.slower > 4.3 && g.slower < 4.5);
	EXPECT_EQ(n_down, 0);
}

/* A moment of quiet does not count, nor do many. */
TEST(a_cost_that_jumps_about)
{
	struct governor g = {0};
	unsigned n = 0;

	run(&g, 0.05, 0, 10);
	for (int i = 0; i < 100; i++) {
		run(&g, 0.001, 0, 50);
		n += n_up + n_down;
		run(&g, 0.05, 0, 10);
		n += n_up + n_down;
	}
	EXPECT_EQ(n, 0);
}

TEST(it_tries_more_rarely_where_that_was_wrong)
{
	struct governor g = {0};
	unsigned n = 0, n_hours = 48;

	/* Two minutes of quiet, two of work, for two days. */
	for (unsigned i = 0; i < n_hours * 15; i++) {
		run(&g, 0.05, 0, 120);
		n += n_up + n_down;
		run(&g, 0.001, 0, 120);
		n += n_up + n_down;
	}
	EXPECT(n > 2);
	EXPECT(n < 40);
}

TEST(what_is_not_the_rates_fault_has_an_end)
{
	struct governor g = {0};

	run(&g, 0.01, 0.02, 3600);
	EXPECT(g.slower == GOVERNOR_SLOWEST);
	EXPECT(n_down < 20);
	run(&g, 0.001, 0, 3600);
	EXPECT(g.slower == 1);
}

TEST(without_a_limit_nothing_is_done)
{
	struct governor g = {0};

	for (int i = 0; i < 100; i++)
		EXPECT(governor_step(&g, 1e3 * i, 0, now + (uint64_t)i * SECOND) == 1);
}
