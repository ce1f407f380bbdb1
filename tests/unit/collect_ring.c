/* SPDX-License-Identifier: BSD-2-Clause */
/* Draining a perf ring made of ordinary memory: bytes come out in order, once, across the wrap. */
#include "collect/ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t.h"

static struct ring make_ring(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return (struct ring){.base = p, .n_bytes = page};
}

/* What the kernel does: N bytes of the sequence 0, 1, 2, ... behind the head. */
static void produce(struct ring *r, size_t n)
{
	struct perf_event_mmap_page *c = (struct perf_event_mmap_page *)r->base;
	uint8_t *data = r->base + sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < n; i++, c->data_head++)
		data[c->data_head % r->n_bytes] = (uint8_t)(c->data_head * 7);
}

TEST(everything_once_and_in_order)
{
	struct ring r = make_ring();
	struct t_rng rng = {.s = 3};
	uint64_t seen = 0;

	for (unsigned k = 0; k < 500; k++) {
		struct wr out = {0};
		size_t n = t_below(&rng, k % 5 ? 300 : r.n_bytes + 1);

		produce(&r, n);
		EXPECT_EQ(ring_fill_pct(&r), n * 100 / r.n_bytes);
		EXPECT_EQ(ring_drain(&r, &out), n);
		REQUIRE(out.n == n);
		for (size_t i = 0; i < n; i++, seen++)
			REQUIRE(out.v[i] == (uint8_t)(seen * 7));
		EXPECT_EQ(ring_fill_pct(&r), 0);
		EXPECT_EQ(ring_drain(&r, &out), 0);
		wr_release(&out);
	}
	ring_close(&r);
	EXPECT_EQ(r.n_bytes, 0);
	ring_close(&r); /* a closed ring may be closed */
}

TEST(drains_append)
{
	struct ring r = make_ring();
	struct wr out = {0};

	produce(&r, 10);
	ring_drain(&r, &out);
	produce(&r, 20);
	ring_drain(&r, &out);
	EXPECT_EQ(out.n, 30);
	EXPECT_EQ(out.v[29], (uint8_t)(29 * 7));
	wr_release(&out);
	ring_close(&r);
}
