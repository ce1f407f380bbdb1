/* SPDX-License-Identifier: BSD-2-Clause */
/* Jitdumps, which any process can write: fed at once and byte by byte they say the same. */
#include <string.h>

#include "fuzz.h"
#include "jitdumps.h"
#include "resolve/jitcode.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = {0};

	if (i > 1)
		return NULL;
	jd_big = i == 1;
	jd_header(&w);
	jd_load(&w, 0x1000, 16, "first");
	jd_record(&w, 2, 16);
	jd_load(&w, 0x1008, 16, "second");
	jd_move(&w, 0x1008, 0x2000, 16);
	jd_record(&w, 4, 24);
	jd_u64(&w, 0);
	jd_load(&w, 0x1000, 16, "first");
	jd_record(&w, 3, 16);
	*ret_n = w.n;
	return w.v;
}

/* Feeds as a file that grows by STEP bytes would be. */
static struct jitcode *feed(const uint8_t *data, size_t n, size_t step)
{
	struct jitcode *j = jitcode_new();

	for (size_t have = 0; have < n;) {
		have += step < n - have ? step : n - have;
		while (jitcode_at(j) < have) {
			uint64_t at = jitcode_at(j);

			if (jitcode_feed(j, data + at, have - at, UINT64_MAX, NULL) < 0)
				return j;
			if (jitcode_at(j) == at)
				break;
		}
	}
	return j;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct jitcode *j = feed(data, n, n), *slow = feed(data, n, 1);
	struct symtab st, st_slow;
	uint64_t end = 0;

	jitcode_symbols(j, &st);
	jitcode_symbols(slow, &st_slow);
	FUZZ_REQUIRE(st.n == st_slow.n);
	for (uint32_t i = 0; i < st.n; i++) {
		struct procedure p = symtab_get(&st, i);
		uint64_t avma = p.start & 0xffffffffffff;

		FUZZ_REQUIRE(p.start >= end && p.end > p.start);
		FUZZ_REQUIRE(p.start == symtab_get(&st_slow, i).start);
		FUZZ_REQUIRE(strcmp(p.name, symtab_get(&st_slow, i).name) == 0);
		/* Whoever has its first address now came last. */
		FUZZ_REQUIRE(jitcode_svma(j, avma) >= p.start);
		FUZZ_REQUIRE((jitcode_svma(j, avma) & 0xffffffffffff) == avma);
		end = p.end;
	}
	symtab_release(&st);
	symtab_release(&st_slow);
	jitcode_free(j);
	jitcode_free(slow);
	return 0;
}
