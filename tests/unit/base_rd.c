/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rd.h"
#include "base/wr.h"
#include "t.h"

TEST(reading_past_the_end_is_bad_and_sticky)
{
	const uint8_t b[] = {1, 2, 3};
	struct rd r = rd_init(b, sizeof(b));

	EXPECT_EQ(rd_le16(&r), 0x0201);
	EXPECT(!r.bad);
	EXPECT_EQ(rd_le32(&r), 0);
	EXPECT(r.bad);
	EXPECT_EQ(rd_u8(&r), 0);
	EXPECT(r.bad);
}

TEST(leb_round_trip)
{
	struct t_rng rng = {1};
	unsigned n = t_cases(10000);

	for (unsigned i = 0; i < n; i++) {
		uint64_t u = t_rand(&rng) >> t_below(&rng, 64);
		struct wr w = {0};
		struct rd r;

		wr_uleb(&w, u);
		wr_sleb(&w, (int64_t)u);
		wr_sleb(&w, -(int64_t)u);
		r = rd_init(w.v, w.n);
		EXPECT_EQ(rd_uleb(&r), u);
		EXPECT_EQ(rd_sleb(&r), u);
		EXPECT_EQ(rd_sleb(&r), -(int64_t)u);
		EXPECT(!r.bad && rd_left(&r) == 0);
		wr_release(&w);
	}
}

TEST(leb_above_64_bits_is_bad)
{
	const uint8_t big[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	const uint8_t most[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	struct rd r = rd_init(big, sizeof(big));

	rd_uleb(&r);
	EXPECT(r.bad);
	r = rd_init(most, sizeof(most));
	EXPECT(rd_uleb(&r) == UINT64_MAX && !r.bad);
}

TEST(count_must_fit_what_is_left)
{
	const uint8_t b[] = {3, 0, 0, 0, 0, 0, 0};
	struct rd r = rd_init(b, sizeof(b));

	EXPECT_EQ(rd_count(&r, 2), 3);
	r = rd_init(b, sizeof(b));
	EXPECT_EQ(rd_count(&r, 4), 0);
	EXPECT(r.bad);
}
