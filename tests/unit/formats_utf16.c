/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts with byte order marks. */
#include "formats/utf16.h"

#include "t.h"

#define U(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static bool reads(const uint8_t *bytes, size_t n, const char *expected)
{
	struct wr w = {0};
	bool same;

	EXPECT(utf16_probe(bytes, n));
	utf16_read(bytes, n, &w);
	same = w.n == strlen(expected) && memcmp(w.v ? w.v : (uint8_t *)"", expected, w.n) == 0;
	wr_release(&w);
	return same;
}

TEST(both_byte_orders)
{
	EXPECT(reads(U(0xff, 0xfe), ""));
	EXPECT(reads(U(0xff, 0xfe, 'a', 0, ' ', 0, '1', 0, '\n', 0), "a 1\n"));
	EXPECT(reads(U(0xfe, 0xff, 0, 'a', 0, ' ', 0, '1', 0, '\n'), "a 1\n"));
	EXPECT(reads(U(0xff, 0xfe, 0xe9, 0x00, 0xac, 0x20), "\u00e9\u20ac"));
	EXPECT(reads(U(0xfe, 0xff, 0xd8, 0x3d, 0xde, 0x00), "\U0001f600"));
	EXPECT(reads(U(0xff, 0xfe, 0xff, 0xdb, 0xff, 0xdf), "\U0010ffff"));
}

TEST(halves_are_replaced)
{
	EXPECT(reads(U(0xff, 0xfe, 'a', 0, 'b'), "a\ufffd"));
	EXPECT(reads(U(0xfe, 0xff, 0xd8, 0x3d), "\ufffd"));
	EXPECT(reads(U(0xfe, 0xff, 0xd8, 0x3d, 0, 'a'), "\ufffd"
							"a"));
	EXPECT(reads(U(0xfe, 0xff, 0xde, 0x00, 0, 'a'), "\ufffd"
							"a"));
	EXPECT(reads(U(0xfe, 0xff, 0xd8, 0x3d, 0xd8, 0x3d, 0xde, 0x00), "\ufffd\U0001f600"));
}

TEST(marks)
{
	EXPECT(!utf16_probe(U(0xff)));
	EXPECT(!utf16_probe(U('a', 0)));
	EXPECT_EQ(utf8_mark(U(0xef, 0xbb, 0xbf, 'a')), 3);
	EXPECT_EQ(utf8_mark(U(0xef, 0xbb)), 0);
	EXPECT_EQ(utf8_mark(U('a', 'b', 'c')), 0);
}
