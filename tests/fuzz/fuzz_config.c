/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon's configuration file: every word becomes one option, whatever is in it. */
#include "daemon/config.h"

#include <string.h>

#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char text[] = "# daily\nfreq 97\n event cpu-clock+page-faults \n\nepoch 1h\n";
	uint8_t *copy;

	if (i)
		return NULL;
	*ret_n = sizeof(text) - 1;
	copy = malloc(*ret_n);
	memcpy(copy, text, *ret_n);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct opt table[CONFIG_N_OPTS];
	struct config c = {0};
	config_args words = {0};

	vec_push(&words, xstrdup("config"));
	if (config_split((const char *)data, n, &words, NULL) == 0) {
		for (size_t i = 1; i < words.n; i++)
			FUZZ_REQUIRE(strncmp(words.v[i], "--", 2) == 0 && words.v[i][2] &&
				     !strchr(words.v[i], '\n'));
		config_table(&c, table);
		opts_parse(table, (int)words.n, words.v, false, &c.operands, NULL);
		config_release(&c);
	}
	config_args_release(&words);
	return 0;
}
