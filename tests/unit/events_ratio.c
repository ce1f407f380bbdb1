/* SPDX-License-Identifier: BSD-2-Clause */
/* What counts mean beside each other, and what runs say of them. */
#include <math.h>
#include <string.h>

#include "events/ratio.h"
#include "t.h"

static const struct counted counts[] = {
	{"task-clock", true, true, 2e9},       {"cycles", false, true, 6e9},
	{"instructions", false, true, 9e9},    {"branches", false, true, 2e9},
	{"branch-misses", false, true, 1e8},   {"page-faults", false, true, 500},
	{"L1-dcache-loads", false, true, 4e9}, {"L1-dcache-load-misses", false, true, 1e9},
	{"instructions:u", false, true, 7e9},  {"cache-misses", false, false, 0},
};

static void expect(size_t i, double value, const char *unit)
{
	struct ratio r;

	EXPECT(ratio_of(counts, sizeof(counts) / sizeof(counts[0]), i, 1e9, &r));
	EXPECT(fabs(r.value - value) < 1e-9 * value);
	EXPECT_STR(r.unit, unit);
}

TEST(a_count_is_set_beside_what_it_is_part_of)
{
	expect(0, 2, "CPUs used");
	expect(1, 3, "GHz");
	expect(2, 1.5, "per cycle");
	expect(3, 1e9, "a second of CPU");
	expect(4, 5, "% of branches");
	expect(5, 250, "a second of CPU");
	expect(7, 25, "% of L1-dcache-loads");
}

TEST(modifiers_keep_counts_apart)
{
	expect(8, 3.5e9, "a second of CPU"); /* there is no cycles:u */
}

TEST(what_is_not_known_has_no_ratio)
{
	struct ratio r;

	EXPECT(!ratio_of(counts, 10, 9, 1e9, &r));
	EXPECT(!ratio_of(counts, 10, 5, 0, &r));
	EXPECT(ratio_of(counts + 5, 1, 0, 2e9, &r)); /* no clock: of the time that went by */
	EXPECT(r.value == 250);
	EXPECT_STR(r.unit, "a second");
}

/* By hand: 2, 4, 9 have mean 5 and variance 13; sqrt(13 / 3) is 41.6333 % of 5. */
TEST(runs_have_a_mean_and_its_error)
{
	struct runs r = {0};

	runs_add(&r, 2);
	EXPECT(runs_error_pct(&r) == 0);
	runs_add(&r, 4);
	runs_add(&r, 9);
	EXPECT(r.mean == 5);
	EXPECT(fabs(runs_error_pct(&r) - 41.6333) < 0.001);
}
