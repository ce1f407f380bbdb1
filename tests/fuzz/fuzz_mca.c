/* SPDX-License-Identifier: BSD-2-Clause */
/* What llvm-mca writes, and models that were kept: whatever is taken is the same when it was
 * kept. */
#include "formats/mca.h"

#include <string.h>

#include "fuzz.h"
#include "mca_t.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct mca m;
	struct wr w = {0};

	if (i > 1)
		return NULL;
	if (i == 0) {
		*ret_n = strlen(mca_t_json);
		return (uint8_t *)xstrdup(mca_t_json);
	}
	FUZZ_REQUIRE(mca_read(mca_t_json, strlen(mca_t_json), 1, &m, NULL) >= 0);
	mca_format(&m, &w);
	mca_release(&m);
	*ret_n = w.n;
	return w.v;
}

static void same_when_kept(const struct mca *m)
{
	struct wr once = {0}, twice = {0};
	struct mca back;

	mca_format(m, &once);
	FUZZ_REQUIRE(mca_parse(once.v, once.n, &back, NULL) >= 0);
	mca_format(&back, &twice);
	FUZZ_REQUIRE(once.n == twice.n && memcmp(once.v, twice.v, once.n) == 0);
	mca_release(&back);
	wr_release(&once);
	wr_release(&twice);
}

static void parse(const uint8_t *data, size_t n)
{
	struct mca m;

	if (mca_parse(data, n, &m, NULL) >= 0)
		same_when_kept(&m);
	mca_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct mca m;

	if (mca_read(data, n, 1, &m, NULL) >= 0)
		same_when_kept(&m);
	mca_release(&m);
	parse(data, n);
	fuzz_sealed(data, n, parse, mca_seal);
	return 0;
}
