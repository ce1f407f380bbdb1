/* SPDX-License-Identifier: BSD-2-Clause */
/* Periods of sampling clocks wander through the phases of timers. */
#include "base/vec.h"
#include "base/drift.h"
#include "t.h"

/* By hand: 1.01 ms moves on by 0.01 ms a sample beside 1 ms, so that 100 samples are a round. */
TEST(simple_ratios_stay_where_they_are)
{
	EXPECT_EQ(drift_badness(1000000), UINT64_MAX);
	EXPECT_EQ(drift_badness(4000000), UINT64_MAX);
	EXPECT_EQ(drift_badness(2000000), UINT64_MAX);
	EXPECT(drift_badness(1010000) >= 101000000);
	EXPECT(drift_badness(10000) <= 10000000);
	EXPECT(drift_badness(250007) > drift_badness(252345));
}

TEST(drawn_periods_are_near_and_wander)
{
	static const uint64_t periods[] = {100000,  250000,   1000000,	1003009,  2000000,
					   4000000, 10000000, 10309278, 20408163, 1000000000};
	uint64_t state = 1;

	for (size_t i = 0; i < n_elems(periods); i++) {
		uint64_t p = periods[i];

		for (unsigned k = 0; k < 400; k++) {
			uint64_t d = drift_draw(p, &state);

			EXPECT(d >= p - p / 64 && d <= p + p / 64);
			EXPECT(drift_badness(d) < 1000000000 || drift_badness(d) / 200 < d);
		}
	}
	EXPECT(drift_draw(10000, &state) >= 10000); /* the kernel takes no less */
}
