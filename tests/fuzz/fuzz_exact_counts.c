/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact counts out of callgrind's and gcov's files: each address once, ascending; all are found
 * again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "port/exact_counts.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const seeds[] = {
		"# callgrind format\npositions: instr line\nevents: Ir Dr\nob=(1) /bin/prog\n"
		"fl=(1) a.c\nfn=(1) main\n0x401000 3 1 0\n+4 +1 7 2\ncob=(2) libc.so\ncfn=(2) f\n"
		"calls=1 0x500 0\n* * 900\n+2 * 7\nfn=(2)\nob=(2)\n0x500 0 5\n-0x100 * 2\n",
		"events: Ir\nfn=main\n3 1\n",
		"{\"current_working_directory\":\"/"
		"s\",\"files\":[{\"file\":\"a.c\",\"functions\":[{"
		"\"name\":\"_Z1fi\",\"demangled_name\":\"f(int)\"}],\"lines\":[{\"line_number\":4,"
		"\"function_name\":\"_Z1fi\",\"count\":9},{\"line_number\":5,\"count\":1}]}]}\n"
		"{\"files\":[{\"file\":\"/s/"
		"b.c\",\"lines\":[{\"line_number\":4,\"count\":2}]}]}\n"};

	if (i >= 3)
		return NULL;
	*ret_n = strlen(seeds[i]);
	return (uint8_t *)strdup(seeds[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct exact_counts c;

	if (exact_counts_init(&c, data, n, NULL) < 0) {
		FUZZ_REQUIRE(!c.v.n && !c.lines.v.n);
		return 0;
	}
	for (size_t i = 0; i < c.v.n; i++) {
		const struct exact_range r = exact_counts_of(&c, c.v.v[i].image);

		FUZZ_REQUIRE(&c.v.v[i] >= r.first && &c.v.v[i] < r.end);
		FUZZ_REQUIRE(&c.v.v[i] == r.first || c.v.v[i - 1].svma < c.v.v[i].svma);
	}
	for (size_t i = 0; i < c.lines.v.n; i++) {
		const struct gcov_line *l = &c.lines.v.v[i];
		const struct line_range r = exact_counts_of_line(&c, l->file, l->line);

		FUZZ_REQUIRE(l >= r.first && l < r.end);
	}
	exact_counts_release(&c);
	return 0;
}
