/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/str.h"
#include "t.h"

#include <errno.h>

TEST(str_builds_text)
{
	struct str s = {0};

	EXPECT_STR(str_get(&s), "");
	str_add(&s, "a");
	str_addf(&s, "%d-%s", 12, "x");
	str_addc(&s, '!');
	EXPECT_STR(str_get(&s), "a12-x!");
	str_reset(&s);
	EXPECT_STR(str_get(&s), "");
	str_release(&s);
}

TEST(str_writes_numbers)
{
	struct str s = {0};

	str_addu(&s, 0);
	str_addc(&s, ' ');
	str_addu(&s, 1234567890);
	str_addc(&s, ' ');
	str_addu(&s, UINT64_MAX);
	EXPECT_STR(str_get(&s), "0 1234567890 18446744073709551615");
	str_reset(&s);
	str_addu_wide(&s, 7, 3, '0');
	str_addu_wide(&s, 42, 4, ' ');
	str_addc(&s, ' ');
	str_addu_wide(&s, 12345, 3, ' ');
	str_addu_wide(&s, 1, 99, ' '); /* 20 at most */
	EXPECT_STR(str_get(&s), "007  42 12345                   1");
	str_reset(&s);
	str_addx(&s, 0);
	str_addc(&s, ' ');
	str_addx(&s, 0xffffffff81000020);
	EXPECT_STR(str_get(&s), "0 ffffffff81000020");
	str_release(&s);
}

TEST(distance_counts_edits_and_swaps)
{
	EXPECT_EQ(str_distance("cycles", "cycles"), 0);
	EXPECT_EQ(str_distance("cycels", "cycles"), 1);
	EXPECT_EQ(str_distance("cycle", "cycles"), 1);
	EXPECT_EQ(str_distance("", "abc"), 3);
	EXPECT_EQ(str_distance("kitten", "sitting"), 3);
}

TEST(durations)
{
	uint64_t ns;

	EXPECT_EQ(str_parse_duration_ns("10", &ns), 0);
	EXPECT_EQ(ns, 10000000000);
	EXPECT_EQ(str_parse_duration_ns("2.5s", &ns), 0);
	EXPECT_EQ(ns, 2500000000);
	EXPECT_EQ(str_parse_duration_ns("500ms", &ns), 0);
	EXPECT_EQ(ns, 500000000);
	EXPECT_EQ(str_parse_duration_ns("3m", &ns), 0);
	EXPECT_EQ(ns, 180000000000);
	EXPECT_EQ(str_parse_duration_ns("", &ns), -EINVAL);
	EXPECT_EQ(str_parse_duration_ns("-1", &ns), -EINVAL);
	EXPECT_EQ(str_parse_duration_ns("5 s", &ns), -EINVAL);
	EXPECT_EQ(str_parse_duration_ns("nan", &ns), -EINVAL);
}

TEST(hex_round_trip)
{
	uint8_t bytes[4];
	char text[9];

	EXPECT_EQ(str_unhex("00fFa17e", bytes, sizeof(bytes)), 4);
	str_hex(bytes, 4, text);
	EXPECT_STR(text, "00ffa17e");
	EXPECT_EQ(str_unhex("00f", bytes, sizeof(bytes)), -EINVAL);
	EXPECT_EQ(str_unhex("0x", bytes, sizeof(bytes)), -EINVAL);
	EXPECT_EQ(str_unhex("0011223344", bytes, sizeof(bytes)), -EINVAL);
}
