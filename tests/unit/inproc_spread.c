/* SPDX-License-Identifier: BSD-2-Clause */
/* Time of signals spread over their neighbours: the sum is exact, and threads that share a CPU are
 * shown as they are. */
#include <stdio.h>

#include "inproc/spread.h"
#include "t.h"

TEST(first_signal_gets_its_time)
{
	struct time_spread s = {0};

	spread_add(&s, 1, 4000);
	EXPECT_EQ(s.given_ns, 4000);
	EXPECT_EQ(s.held_ns, 0);
}

/* Behind 16 signals one of 1600 ns comes.  A sixteenth of what is held goes to it. */
TEST(late_signals_share)
{
	struct time_spread s = {0};
	uint64_t given;

	for (uint64_t i = 0; i < 16; i++)
		spread_add(&s, i, 100);
	EXPECT_EQ(s.given_ns + s.held_ns, 1600);
	given = s.given_ns;
	spread_add(&s, 16, 1600);
	EXPECT_EQ(s.given_ns + s.held_ns, 3200);
	EXPECT_EQ(s.given_ns - given, (3200 - given) / 16);
}

/* What is held goes to the last sixteen places, oldest first, and nothing is left. */
TEST(end_gives_the_rest)
{
	struct time_spread s = {0};
	uint64_t pc, n = 0, before;

	for (uint64_t i = 0; i < 20; i++)
		spread_add(&s, i, i == 19 ? 16000 : 0);
	before = s.given_ns;
	spread_end(&s, 16160);
	while (spread_next(&s, &pc)) {
		EXPECT_EQ(pc, 4 + n++);
		EXPECT(s.given_ns - before >= 900 && s.given_ns - before <= 1000);
		before = s.given_ns;
	}
	EXPECT_EQ(n, 16);
	EXPECT_EQ(s.given_ns, 16160);
	EXPECT_EQ(s.held_ns, 0);
}

TEST(few_signals_and_none)
{
	struct time_spread s = {0};
	uint64_t pc;

	spread_end(&s, 5000);
	EXPECT(!spread_next(&s, &pc));
	s = (struct time_spread){0};
	spread_add(&s, 7, 10);
	spread_end(&s, 9);
	EXPECT(spread_next(&s, &pc));
	EXPECT_EQ(pc, 7);
	EXPECT_EQ(s.given_ns, 10);
	EXPECT(!spread_next(&s, &pc));
}

static uint64_t random_below(uint64_t n)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* A thread: which of three procedures it is in, and for how long still. */
struct thread {
	unsigned in;
	uint64_t left, unseen; /* UNSEEN: since the last signal */
	uint64_t seen[3];      /* time that signals stood for, each with all before it */
	struct time_spread spread;
	uint64_t given[3];
};

static void meet_tick(struct thread *t)
{
	const uint64_t before = t->spread.given_ns;

	t->seen[t->in] += t->unseen;
	spread_add(&t->spread, t->in, t->unseen);
	t->given[t->in] += t->spread.given_ns - before;
	t->unseen = 0;
}

/* Two threads share a CPU whose tick comes each 4 ms.  They read the clock when a procedure ends,
 * and are switched there when they have run for long enough. */
TEST(threads_that_are_switched_where_they_read_the_clock)
{
	static const uint64_t usual[3] = {1100000, 733000, 367000};
	struct thread t[2] = {{.left = 1000}, {.left = 1000}};
	uint64_t spent[3] = {0}, all = 0, seen = 0, given = 0, slice = 0, to_tick = 4000000;
	unsigned on = 0;

	while (all < 400000000000) {
		struct thread *now = &t[on];
		const uint64_t step = now->left < to_tick ? now->left : to_tick;

		spent[now->in] += step;
		now->unseen += step;
		now->left -= step;
		to_tick -= step;
		slice += step;
		all += step;
		if (!to_tick) {
			meet_tick(now);
			to_tick = 4000000;
		}
		if (now->left)
			continue;
		now->in = (now->in + 1) % 3;
		now->left = usual[now->in] / 2 + random_below(usual[now->in]);
		if (slice >= 1400000) {
			slice = 0;
			on = !on;
		}
	}
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 3; k++) {
			seen += k == 0 ? t[i].seen[k] : 0;
			given += k == 0 ? t[i].given[k] : 0;
		}
	printf("# spent %.4f, each signal with its time %.4f, spread %.4f\n",
	       (double)spent[0] / (double)all, (double)seen / (double)all,
	       (double)given / (double)all);
	/* one standard deviation of 100,000 signals is 0.16 % */
	EXPECT(given * 1000 / all + 12 > spent[0] * 1000 / all);
	EXPECT(given * 1000 / all < spent[0] * 1000 / all + 12);
	EXPECT(seen * 1000 / all > spent[0] * 1000 / all + 25); /* the case is one that needs it */
}
