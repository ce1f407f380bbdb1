/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of UTF-16: what comes out is bounded, and has no half of a pair. */
#include "formats/utf16.h"

#include <string.h>

#include "base/alloc.h"
#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const uint8_t little[] = {0xff, 0xfe, 'a',  0,	 0xe9, 0,
					 0xac, 0x20, 0x3d, 0xd8, 0x00, 0xde},
			     big[] = {0xfe, 0xff, 0,	'a',  0,    0xe9,
				      0x20, 0xac, 0xd8, 0x3d, 0xde, 0x00};

	*ret_n = sizeof(little);
	return i < 2 ? xmemdup(i ? big : little, sizeof(little)) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct wr w = {0};

	if (!utf16_probe(data, n))
		return 0;
	utf16_read(data, n, &w);
	FUZZ_REQUIRE(w.n <= n / 2 * 3);
	for (size_t i = 0; i + 1 < w.n; i++)
		FUZZ_REQUIRE(w.v[i] != 0xed || w.v[i + 1] < 0xa0);
	wr_release(&w);
	return 0;
}
