/* SPDX-License-Identifier: BSD-2-Clause */
/* A target for a reader of other tools' profiles: whatever it takes becomes a sound profile. */
#ifndef TESTS_FUZZ_IMPORTER_FUZZ_H
#define TESTS_FUZZ_IMPORTER_FUZZ_H

#include "fuzz.h"
#include "stacks_t.h"

static inline void fuzz_importer(const char *name, const uint8_t *data, size_t n)
{
	const struct importer *im = stacks_t_importer(name);
	const struct stacks_in_opts o = {.name = "x", .keep_pids = true, .keep_tids = true};
	stacks_symbol_list symbols = {0};
	struct str notes = {0};
	struct profile p;
	struct stacks s;

	FUZZ_REQUIRE(im);
	im->probe(data, n);
	profile_init(&p);
	if (importer_read(im, data, n, &s, NULL, &notes, NULL) >= 0) {
		FUZZ_REQUIRE(s.amounts.n == s.values.n * s.columns.n);
		for (size_t i = 1; i < s.nodes.n; i++)
			FUZZ_REQUIRE(s.nodes.v[i].parent < i);
		stacks_to_profile(&s, &o, &p, &symbols, &notes);
		profile_check(&p);
	}
	stacks_symbols_release(&symbols);
	profile_release(&p);
	stacks_release(&s);
	str_release(&notes);
}

/* A copy of TEXT as a seed; NULL: none. */
static inline uint8_t *importer_seed(const char *text, size_t *ret_n)
{
	if (!text)
		return NULL;
	*ret_n = strlen(text);
	return xmemdup(text, *ret_n);
}

/* NAME is the importer's; SEED an expression for a valid file, in terms of RET_N. */
#define IMPORTER_TARGET(name, seed) IMPORTER_TARGET_AND(name, seed, NULL)

/* TEXT is another valid file. */
#define IMPORTER_TARGET_AND(name, seed, text)                                                      \
	uint8_t *fuzz_seed(unsigned i, size_t *ret_n)                                              \
	{                                                                                          \
		return i == 0 ? (seed) : i == 1 ? importer_seed(text, ret_n) : NULL;               \
	}                                                                                          \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)                                  \
	{                                                                                          \
		fuzz_importer(name, data, n);                                                      \
		return 0;                                                                          \
	}

#endif
