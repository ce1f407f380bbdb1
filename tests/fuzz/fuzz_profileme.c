/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of sample sets: whatever is typed, what is accepted says the same of a sample however it
 * is asked, and a set never changes its mind when more becomes known. */
#include "query/sets/profileme.h"

#include <stdlib.h>

#include "fuzz.h"
#include "model/fact.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const seeds[] = {
		"retired+trap^!dtbmiss",
		"default+retired:retdelay::retired",
		"any:latency::load^(l2tlbmiss|/l1tlbmiss)",
		"retired^!retired",
		"capped+twnzrd^/trap",
		"((taken|nyp)^!(branch^cond)):weight::any + /trap",
	};

	if (i >= n_elems(seeds))
		return NULL;
	*ret_n = strlen(seeds[i]);
	return xmemdup(seeds[i], *ret_n);
}

/* CAN_BE_UNTOLD: S may ask for a bit that no sample tells. */
static void check_set(const struct pm_set *s, bool can_be_untold)
{
	uint64_t known = 0x123456789abcdefull, value = 0xfedcba9876543210ull;

	for (unsigned i = 0; i < 8; i++) {
		const enum truth all = pm_set_truth(s, UINT64_MAX, value),
				 some = pm_set_truth(s, known, value);

		FUZZ_REQUIRE(all != TRUTH_UNKNOWN || can_be_untold);
		FUZZ_REQUIRE(some == TRUTH_UNKNOWN || some == all);
		known = known * 6364136223846793005ull + 1;
		value = value * 6364136223846793005ull + 3;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = xcalloc(n + 1, 1);
	pm_columns columns = {0};
	struct err err = {""};
	bool untold;
	int rc;

	if (n)
		memcpy(text, data, n);
	untold = strstr(text, "capped") || strstr(text, "twnzrd");
	rc = pm_columns_parse(&columns, "--pm", text, NULL, &err);
	FUZZ_REQUIRE((rc == 0) == (err.msg[0] == '\0'));
	FUZZ_REQUIRE(rc == 0 || err.where[0]);
	for (size_t i = 0; rc == 0 && i < columns.n; i++) {
		check_set(&columns.v[i].item.set, untold);
		check_set(&columns.v[i].per_item.set, untold);
	}
	pm_columns_release(&columns);
	free(text);
	return 0;
}
