/* SPDX-License-Identifier: BSD-2-Clause */
/* ClickHouse's Native: bytes by hand, what is written is read, and what is cut or of other columns
 * is refused. */
#include "formats/native.h"

#include <errno.h>
#include <stdlib.h>

#include "t.h"

static const struct native_col cols[] = {
	{"id", "UInt64"}, {"day", "Date"}, {"name", "String"}, {"svmas", "Array(UInt64)"}};
#define N_COLS n_elems(cols)

/* By hand after "Formats", Native: two rows. */
static const char by_hand[] = "\4\2"
			      "\2id\6UInt64"
			      "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\200"
			      "\3day\4Date"
			      "\1\0\2\1"
			      "\4name\6String"
			      "\3a\0b\0"
			      "\5svmas\15Array(UInt64)"
			      "\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
			      "\7\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0";

struct seen {
	size_t n;
	uint64_t sum;
};

static int see(void *ctx, const struct native_value *v, struct err *err)
{
	struct seen *s = ctx;
	struct rd r = rd_init(v[3].list, v[3].n * 8);

	(void)err;
	s->n++;
	s->sum =
		s->sum * 31 + v[0].u + v[1].u * 3 + v[2].n * 5 + (v[2].n ? (uint8_t)*v[2].text : 0);
	while (rd_left(&r))
		s->sum = s->sum * 31 + rd_le64(&r);
	return 0;
}

static void put(struct native_block *b, uint64_t id, uint64_t day, const char *name,
		const uint64_t *list, size_t n)
{
	native_add_u64(b, 0, id);
	native_add_u64(b, 1, day);
	native_add_text(b, 2, name);
	native_add_list(b, 3, list, n);
	native_end_row(b);
}

/* Packed without a copy, B unpacks to BYTES. */
static void expect_packed(const struct native_block *b, const char *bytes, size_t n)
{
	_str_ struct str packed = {0};
	struct gzip_packer *g = gzip_begin(&packed, 4);
	struct wr back = {0};

	native_pack(b, g);
	gzip_end(g);
	EXPECT_EQ(gzip_unpack((const uint8_t *)packed.v, packed.n,
			      &(struct gzip_limits){.most = 1000}, &back, NULL),
		  0);
	EXPECT_EQ(back.n, n);
	EXPECT(back.n == n && memcmp(back.v, bytes, n) == 0);
	wr_release(&back);
}

TEST(rows_are_these_bytes)
{
	static const char expected[] = "\4\2"
				       "\2id\6UInt64"
				       "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\200"
				       "\3day\4Date"
				       "\1\0\2\1"
				       "\4name\6String"
				       "\2ab\0"
				       "\5svmas\15Array(UInt64)"
				       "\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
				       "\7\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0";
	struct native_block b;

	native_init(&b, cols, N_COLS);
	put(&b, 1, 1, "ab", NULL, 0);
	put(&b, 1ull << 63 | 2, 0x102, "", (uint64_t[]){7, 8}, 2);
	expect_packed(&b, expected, sizeof(expected) - 1);
	native_reset(&b);
	EXPECT_EQ(b.n_rows, 0);
	native_release(&b);
}

static int see_text(void *ctx, const struct native_value *v, struct err *err)
{
	(void)err;
	*(bool *)ctx |= v[2].n == 3 && memcmp(v[2].text, "a\0b", 3) == 0;
	return 0;
}

TEST(a_text_with_a_nul_is_whole)
{
	bool whole = false;

	EXPECT_EQ(native_read((const uint8_t *)by_hand, sizeof(by_hand) - 1, cols, N_COLS, see_text,
			      &whole, NULL),
		  0);
	EXPECT(whole);
}

TEST(several_blocks_are_one_message)
{
	struct seen s = {0};
	struct wr two = {0};

	wr_bytes(&two, by_hand, sizeof(by_hand) - 1);
	wr_bytes(&two, by_hand, sizeof(by_hand) - 1);
	EXPECT_EQ(native_read(two.v, two.n, cols, N_COLS, see, &s, NULL), 0);
	EXPECT_EQ(s.n, 4);
	EXPECT_EQ(native_read(two.v, 0, cols, N_COLS, see, &s, NULL), 0);
	wr_release(&two);
}

TEST(what_is_cut_is_refused)
{
	for (size_t n = 1; n < sizeof(by_hand) - 1; n++) {
		uint8_t *part = malloc(n);
		struct seen s = {0};

		memcpy(part, by_hand, n);
		EXPECT(native_read(part, n, cols, N_COLS, see, &s, NULL) < 0);
		EXPECT_EQ(s.n, 0);
		free(part);
	}
}

TEST(other_columns_are_refused)
{
	struct native_col other[N_COLS];
	struct seen s = {0};
	struct err err = {0};

	memcpy(other, cols, sizeof(cols));
	other[2].name = "nome";
	EXPECT_EQ(native_read((const uint8_t *)by_hand, sizeof(by_hand) - 1, other, N_COLS, see, &s,
			      &err),
		  -EPROTONOSUPPORT);
	EXPECT(strstr(err.msg, "nome"));
	EXPECT_EQ(native_read((const uint8_t *)by_hand, sizeof(by_hand) - 1, cols, N_COLS - 1, see,
			      &s, &err),
		  -EPROTONOSUPPORT);
	EXPECT_EQ(s.n, 0);
}
