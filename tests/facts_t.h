/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts as text, to compare: "retired !taken ... latency=5", traps among the bits; what is not
 * known is not there. */
#ifndef TESTS_FACTS_T_H
#define TESTS_FACTS_T_H

#include "base/str.h"
#include "model/fact.h"

/* Those of the bits in MASK, and all counters; free it. */
static inline char *facts_text(const struct sample_facts *f, uint64_t mask)
{
	struct str s = {0};
	char *text;

	for (unsigned i = 0; i < N_FACT_BITS; i++)
		if (f->known & mask & FACT_MASK(i))
			str_addf(&s, "%s%s%s", s.n ? " " : "", f->value & FACT_MASK(i) ? "" : "!",
				 fact_bit_name(NULL, i));
	for (unsigned i = 0; i < FACT_MAX_COUNTERS; i++)
		if (f->counters_known & 1u << i)
			str_addf(&s, "%s%s=%llu", s.n ? " " : "", fact_counter_name(NULL, i),
				 (unsigned long long)f->counters[i]);
	text = xstrdup(str_get(&s));
	str_release(&s);
	return text;
}

/* Which trap bit is set, or what else is known of it. */
static inline const char *facts_trap(const struct sample_facts *f)
{
	uint64_t set = f->known & f->value & FACT_TRAPS;

	if (set)
		return fact_bit_name(NULL, (unsigned)__builtin_ctzll(set));
	return f->known & FACT_MASK(FACT_NOTRAP) ? "trap" : "unknown";
}

#define EXPECT_FACTS(f, mask, text)                                                                \
	do {                                                                                       \
		char *got_ = facts_text(f, mask);                                                  \
		EXPECT_STR(got_, text);                                                            \
		free(got_);                                                                        \
	} while (0)

#endif
