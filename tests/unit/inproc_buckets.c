/* SPDX-License-Identifier: BSD-2-Clause */
/* Which element counts a pc: the arithmetic of sprofil(2) and of PAPI_profil, to the bit. */
#include <errno.h>
#include <stdlib.h>

#include "inproc/buckets.h"
#include "inproc/histogram.h"
#include "t.h"

#define BASE 0x100000u
#define TEXT 0x400000u

/* The element's number for the pc DISTANCE bytes into a region. */
static int64_t element(enum buckets_rule rule, unsigned elem_bytes, uint64_t n_bytes,
		       uint64_t scale, uint64_t distance)
{
	struct region r = {BASE, n_bytes, TEXT, scale};
	struct buckets b;
	int64_t at = -1;
	uint64_t found;

	if (buckets_init(&b, rule, elem_bytes, &r, 1, 0) < 0)
		return -2;
	found = buckets_find(&b, TEXT + distance);
	if (found)
		at = (int64_t)(found - BASE) / elem_bytes;
	buckets_release(&b);
	return at;
}

/* sprofil.2, table for PA-RISC: how many instructions of 4 bytes share an element of 2, and twice
 * and four times as many one of 4 and of 8. */
TEST(table_of_scales)
{
	static const struct {
		uint64_t scale;
		double n_instructions;
	} rows[] = {{2, 16384}, {4, 8192},  {8, 4096},	{16, 2048},   {32, 1024},    {64, 512},
		    {128, 256}, {256, 128}, {512, 64},	{1024, 32},   {2048, 16},    {4096, 8},
		    {8192, 4},	{16384, 2}, {32768, 1}, {65536, 0.5}, {131072, 0.25}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned bytes = 2; bytes <= 8; bytes *= 2) {
			uint64_t span = (uint64_t)(rows[i].n_instructions * 4 * bytes / 2);
			uint64_t scale = rows[i].scale;

			EXPECT_EQ(element(BUCKETS_SPROFIL, bytes, 1 << 20, scale, 0), 0);
			EXPECT_EQ(element(BUCKETS_SPROFIL, bytes, 1 << 20, scale, span - 1), 0);
			EXPECT_EQ(element(BUCKETS_SPROFIL, bytes, 1 << 20, scale, span), 1);
			EXPECT_EQ(element(BUCKETS_SPROFIL, bytes, 1 << 20, scale, 7 * span), 7);
		}
}

/* PAPI_profil.3: 131072 is an address for each bucket, 65536 two, 2 all of them in one. */
TEST(table_of_papi)
{
	for (unsigned bytes = 2; bytes <= 8; bytes *= 2) {
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, 4096, 131072, 5), 5);
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, 4096, 65536, 5), 2);
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, 4096, 65535, 4), 1); /* 1.99997 */
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, 4096, 32768, 7), 1);
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, 4096, 16384, 8), 1);
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, bytes, 2, 65535), 0);
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, bytes, 2, 65536), -1);
		EXPECT_EQ(element(BUCKETS_PAPI, bytes, 1, 131072, 0),
			  0); /* a started bucket is one */
	}
}

/* sprofil.2: "offset = ((pc - pr_offset) * pr_scale) / 65536 is less than pr_size". */
TEST(where_a_region_ends)
{
	for (uint64_t scale = 2; scale < 200000; scale = scale * 7 / 3)
		for (uint64_t n_bytes = 8; n_bytes <= 4096; n_bytes *= 8) {
			struct region r = {BASE, n_bytes, TEXT, scale};
			uint64_t span = region_span(BUCKETS_SPROFIL, 8, &r);

			EXPECT((span - 1) * scale / 65536 < n_bytes);
			EXPECT(span * scale / 65536 >= n_bytes);
			EXPECT(element(BUCKETS_SPROFIL, 8, n_bytes, scale, span - 1) >= 0);
			EXPECT_EQ(element(BUCKETS_SPROFIL, 8, n_bytes, scale, span), -1);
		}
}

TEST(the_end_of_the_address_space)
{
	struct region r = {BASE, 1 << 20, UINT64_MAX - 0x1000, 0x10000};
	struct buckets b;

	REQUIRE(buckets_init(&b, BUCKETS_SPROFIL, 2, &r, 1, 0) == 0);
	EXPECT_EQ(buckets_find(&b, UINT64_MAX - 0x1000 + 6), BASE + 6);
	EXPECT_EQ(buckets_find(&b, 6), 0);
	buckets_release(&b);
}

/* What the page says, region by region. */
static uint64_t naive(enum buckets_rule rule, unsigned elem_bytes, const struct region *r,
		      unsigned n, uint64_t outside, uint64_t pc)
{
	uint64_t best = outside, best_offset = 0;
	bool any = false;

	for (unsigned i = 0; i < n; i++) {
		unsigned __int128 scaled = (unsigned __int128)(pc - r[i].offset) * r[i].scale;
		unsigned __int128 at =
			rule == BUCKETS_SPROFIL ? scaled >> 16 : (scaled >> 17) * elem_bytes;

		if (pc < r[i].offset || at >= r[i].n_bytes || (any && r[i].offset <= best_offset))
			continue;
		any = true;
		best_offset = r[i].offset;
		best = r[i].base + ((uint64_t)at & ~(uint64_t)(elem_bytes - 1));
	}
	return best;
}

TEST(any_regions)
{
	struct t_rng rng = {7};

	for (unsigned i = t_cases(2000); i; i--) {
		unsigned n = (unsigned)t_below(&rng, 12), elem_bytes = 2u << t_below(&rng, 3);
		enum buckets_rule rule = t_below(&rng, 2) ? BUCKETS_PAPI : BUCKETS_SPROFIL;
		struct region r[12];
		struct buckets b;

		for (unsigned k = 0; k < n; k++)
			r[k] = (struct region){.base = 0x1000000 * (k + 1),
					       .n_bytes = (1 + t_below(&rng, 40)) * elem_bytes,
					       .offset = TEXT + t_below(&rng, 30) * 5,
					       .scale = 2 +
							t_below(&rng, 3) * t_below(&rng, 131070)};
		REQUIRE(buckets_init(&b, rule, elem_bytes, r, n, 0x42) == 0);
		for (unsigned k = 0; k < 200; k++) {
			uint64_t pc = TEXT - 4 + t_below(&rng, 400);

			EXPECT_EQ(buckets_find(&b, pc), naive(rule, elem_bytes, r, n, 0x42, pc));
		}
		buckets_release(&b);
	}
}

static struct histogram histogram_of(void *buffer, unsigned elem_bytes, uint64_t n_bytes,
				     unsigned flags)
{
	struct region r = {(uint64_t)(uintptr_t)buffer, n_bytes, TEXT, 0x10000};
	struct histogram h = {.flags = flags};

	buckets_init(&h.buckets, BUCKETS_SPROFIL, elem_bytes, &r, 1, 0);
	return h;
}

TEST(elements_stop_at_their_maximum)
{
	uint16_t u16[3] = {0, UINT16_MAX - 1, 5};
	struct histogram h = histogram_of(u16, 2, sizeof(u16), 0);

	histogram_add(&h, TEXT + 2, 1);
	histogram_add(&h, TEXT + 4, 70000);
	EXPECT_EQ(histogram_flush(&h), 0);
	histogram_add(&h, TEXT + 2, 1);
	EXPECT_EQ(histogram_flush(&h), 0);
	EXPECT_EQ(u16[0], 0);
	EXPECT_EQ(u16[1], UINT16_MAX);
	EXPECT_EQ(u16[2], UINT16_MAX);
	EXPECT_EQ(h.n_counted, 70002);
	buckets_release(&h.buckets);

	uint64_t u64[2] = {UINT64_MAX - 1, 1};

	h = histogram_of(u64, 8, sizeof(u64), 0);
	histogram_add(&h, TEXT, 5);
	histogram_add(&h, TEXT + 8, 1ULL << 40);
	EXPECT_EQ(histogram_flush(&h), 0);
	EXPECT(u64[0] == UINT64_MAX && u64[1] == (1ULL << 40) + 1);
	buckets_release(&h.buckets);
}

TEST(batches_add_up)
{
	enum { N = 5000 };
	uint32_t *buffer = calloc(N, 4), *expected = calloc(N, 4);
	struct histogram h = histogram_of(buffer, 4, N * 4, 0);
	struct t_rng rng = {3};

	for (unsigned i = 0; i < 100000; i++) {
		uint64_t at = t_below(&rng, t_below(&rng, 2) ? N : 7), n = t_below(&rng, 4);

		expected[at] += (uint32_t)n;
		histogram_add(&h, TEXT + at * 4, n);
	}
	EXPECT_EQ(histogram_flush(&h), 0);
	EXPECT(memcmp(buffer, expected, N * 4) == 0);
	buckets_release(&h.buckets);
	free(buffer);
	free(expected);
}

TEST(a_buffer_that_is_not_there)
{
	uint64_t there[2] = {0};
	struct region r[2] = {{(uint64_t)(uintptr_t)there, 16, TEXT, 0x10000},
			      {4096, 16, TEXT + 0x1000, 0x10000}};
	struct histogram h = {0};

	REQUIRE(buckets_init(&h.buckets, BUCKETS_SPROFIL, 8, r, 2, 0) == 0);
	histogram_add(&h, TEXT, 1);
	EXPECT_EQ(histogram_flush(&h), 0);
	histogram_add(&h, TEXT + 0x1008, 1);
	EXPECT_EQ(histogram_flush(&h), -EFAULT);
	histogram_add(&h, TEXT, 1);
	EXPECT_EQ(histogram_flush(&h), 0);
	EXPECT_EQ(there[0], 1);
	EXPECT_EQ(h.n_dropped, 1);
	buckets_release(&h.buckets);
}

TEST(a_random_quarter_is_dropped)
{
	uint32_t buffer[1] = {0};
	struct histogram h = histogram_of(buffer, 4, 4, HISTOGRAM_RANDOM);

	for (unsigned i = 0; i < 100000; i++)
		histogram_add(&h, TEXT, 1);
	EXPECT_EQ(histogram_flush(&h), 0);
	EXPECT(buffer[0] > 74300 && buffer[0] < 75700); /* five standard deviations */
	EXPECT_EQ(h.n_dropped + buffer[0], 100000);
	buckets_release(&h.buckets);
}

TEST(compressed_elements_grow_ever_slower)
{
	uint16_t buffer[1] = {0}, at_20000;
	struct histogram h = histogram_of(buffer, 2, 2, HISTOGRAM_COMPRESS);

	for (unsigned i = 0; i < 20000; i++)
		histogram_add(&h, TEXT, 1);
	histogram_flush(&h);
	at_20000 = buffer[0];
	EXPECT(at_20000 > 15000 && at_20000 < 20000);
	for (unsigned i = 0; i < 200000; i++)
		histogram_add(&h, TEXT, 1);
	histogram_flush(&h);
	/* dn = (1 - n / 65536) di: all but e^(-220000 / 65536) of it */
	EXPECT(buffer[0] > 60000);
	EXPECT_EQ(h.n_counted, buffer[0]);
	buckets_release(&h.buckets);
}
