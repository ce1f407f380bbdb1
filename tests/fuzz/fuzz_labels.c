/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels of processes as text: what is accepted is written back so that it reads the same. */
#include "machine/labels.h"

#include <string.h>

#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const seeds[] = {"1 2 nightly\n12 34567 a b c\n", "4194303 0 x\n"};

	if (i >= n_elems(seeds))
		return NULL;
	*ret_n = strlen(seeds[i]);
	return (uint8_t *)xstrdup(seeds[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data;
	struct labelled a, b;

	for (size_t at = 0, k; at < n && (k = labels_parse(text + at, n - at, &a)); at += k) {
		struct str s = {0};

		FUZZ_REQUIRE(k <= n - at);
		labels_format(&a, &s);
		FUZZ_REQUIRE(labels_parse(s.v, s.n, &b) == s.n);
		FUZZ_REQUIRE(a.pid == b.pid && a.start_ticks == b.start_ticks &&
			     strcmp(a.label, b.label) == 0);
		str_release(&s);
	}
	return 0;
}
