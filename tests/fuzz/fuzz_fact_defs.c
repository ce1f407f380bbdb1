/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of --facts: whatever the text is, what is accepted has names, numbers and fields. */
#include <string.h>

#include "formats/facts/fact_defs.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint64_t words[16] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
	struct fact_defs d;
	struct err err = {""};
	struct profile p;

	profile_init(&p);
	if (fact_defs_parse(&d, "f", (const char *)data, n, &err) < 0) {
		FUZZ_REQUIRE(err.msg[0]);
	} else {
		FUZZ_REQUIRE(fact_defs_name(&d, &p, NULL) == 0);
		for (int s = FACT_SOURCE_IBS_OP; s <= FACT_SOURCE_SPE_EVENTS; s++) {
			struct sample_facts f = {0};

			fact_defs_apply(&d, s, words, &f);
			facts_settle(&f);
			FUZZ_REQUIRE(!(f.known & (FACT_MASK(FACT_USER_BIT) - 1)));
		}
		vec_each (f, &d.v)
			FUZZ_REQUIRE(*f->name && f->number > 0 && f->low <= f->high &&
				     f->high < 64);
		FUZZ_REQUIRE(p.user_facts.n == d.v.n);
	}
	fact_defs_release(&d);
	profile_release(&p);
	return 0;
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const texts[] = {
		"# more of AMD's\nbit wc = ibs_op.data3[13] \"write combining\"\n"
		"counter hits = ibs_op.data2 [7 : 6] # two bits\n",
		"bit x=spe.events[22]\ncounter y=data_src[45:43]\nbit z = ibs_fetch.ctl[60]",
	};
	uint8_t *b;

	if (i >= sizeof(texts) / sizeof(*texts))
		return NULL;
	*ret_n = strlen(texts[i]);
	b = malloc(*ret_n);
	FUZZ_REQUIRE(b);
	memcpy(b, texts[i], *ret_n);
	return b;
}
