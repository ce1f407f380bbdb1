/* SPDX-License-Identifier: BSD-2-Clause */
/* The cursor every other parser stands on: whatever it reads without `bad`,
 * the writer writes back. */
#include "base/rd.h"
#include "base/wr.h"
#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = {0};

	if (i > 0)
		return NULL;
	for (unsigned bit = 0; bit < 64; bit += 3) {
		wr_uleb(&w, 1ull << bit);
		wr_sleb(&w, -(1ll << bit));
		wr_le16(&w, (uint16_t)bit);
		wr_le64(&w, ~0ull >> bit);
	}
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rd r = rd_init(data, n);

	while (rd_left(&r) && !r.bad) {
		struct wr w = {0};
		uint64_t u = rd_uleb(&r), x;
		int64_t s = rd_sleb(&r);
		uint16_t h = rd_le16(&r);
		size_t count;

		x = rd_le64(&r);
		wr_uleb(&w, u);
		wr_sleb(&w, s);
		wr_le16(&w, h);
		wr_le64(&w, x);
		if (!r.bad) {
			struct rd again = rd_init(w.v, w.n);

			FUZZ_REQUIRE(rd_uleb(&again) == u && rd_sleb(&again) == s);
			FUZZ_REQUIRE(rd_le16(&again) == h && rd_le64(&again) == x);
			FUZZ_REQUIRE(!again.bad && rd_left(&again) == 0);
		}
		wr_release(&w);
		count = rd_count(&r, 3);
		FUZZ_REQUIRE(count * 3 <= rd_left(&r));
	}
	return 0;
}
