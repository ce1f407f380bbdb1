/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of several rings in order of time: what order, and how much is moved for it. */
#include "collect/record_order.h"

#include "t.h"

static uint32_t seed = 1;

static uint32_t random_number(void)
{
	return seed = seed * 1664525u + 1013904223u;
}

static const uint8_t bytes[1 << 16];

static void add(struct record_order *o, uint64_t time_ns)
{
	vec_push(&o->v, (struct pending_record){time_ns, bytes + o->v.n});
}

static bool is_ordered(const struct record_order *o)
{
	for (size_t i = 1; i < o->v.n; i++) {
		const struct pending_record *a = &o->v.v[i - 1], *b = &o->v.v[i];

		if (a->time_ns > b->time_ns || (a->time_ns == b->time_ns && a->bytes > b->bytes))
			return false;
	}
	return true;
}

TEST(records_of_all_orders)
{
	struct record_order o = {0};

	for (unsigned round = 0; round < 500; round++) {
		uint64_t sum = 0, now = 0, n = random_number() >> 24;

		o.v.n = 0;
		for (uint64_t i = 0; i < n; i++) {
			add(&o, random_number() >> (random_number() >> 27));
			sum += o.v.v[i].time_ns;
		}
		record_order_sort(&o);
		vec_each (r, &o.v)
			now += r->time_ns;
		EXPECT_EQ(o.v.n, n);
		EXPECT_EQ(now, sum);
		EXPECT(is_ordered(&o));
	}
	record_order_release(&o);
}

TEST(rings_that_are_in_order_are_merged_once_for_each_doubling)
{
	struct record_order o = {0};

	for (unsigned i = 0; i < 1000; i++)
		add(&o, i);
	record_order_sort(&o);
	EXPECT_EQ(o.n_moved, 0); /* one ring is in order */
	for (unsigned ring = 1; ring < 8; ring++)
		for (unsigned i = 0; i < 1000; i++)
			add(&o, i);
	record_order_sort(&o);
	EXPECT_EQ(o.n_moved, 3 * 8000);
	EXPECT(is_ordered(&o));
	record_order_release(&o);
}
