/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf maps, which any process can write. */
#include <string.h>

#include "fuzz.h"
#include "resolve/perfmap.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char text[] = "1000 100 a b c\n1080 10 inner\n10f0 20 over the end\n0x2000 "
				   "0x1 one\r\n1000 100 again\n";

	if (i > 0)
		return NULL;
	*ret_n = sizeof(text) - 1;
	return (uint8_t *)strdup(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct symtab st;
	uint64_t end = 0;

	perfmap_parse((const char *)data, n, &st);
	for (uint32_t i = 0; i < st.n; i++) {
		struct procedure p = symtab_get(&st, i);

		FUZZ_REQUIRE(p.start >= end && p.end > p.start);
		FUZZ_REQUIRE(symtab_find(&st, p.start) == i);
		end = p.end;
	}
	symtab_release(&st);
	return 0;
}
