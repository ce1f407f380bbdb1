/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments, as they come and with their checksums made to fit.  What is accepted must be a sound
 * profile that survives being encoded and decoded again. */
#include "formats/segment.h"

#include <string.h>

#include "fuzz.h"
#include "gen.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const unsigned sizes[] = {0, 1, 12, 300};
	struct t_rng r = {i + 1};
	struct wr w = {0};
	struct profile p;

	if (i >= n_elems(sizes))
		return NULL;
	gen_profile(&r, &p, sizes[i]);
	gen_accesses(&r, &p, sizes[i] / 8);
	segment_encode(&w, &p, NULL);
	profile_release(&p);
	*ret_n = w.n;
	return w.v;
}

static void decode(const uint8_t *bytes, size_t n)
{
	struct profile p, q;
	struct wr w = {0};
	char *a, *b;

	profile_init(&p);
	if (segment_decode(bytes, n, &p, NULL, NULL) == 0) {
		profile_check(&p);
		FUZZ_REQUIRE(segment_check(bytes, n, NULL) == 0);
		FUZZ_REQUIRE(segment_encode(&w, &p, NULL) == 0);
		profile_init(&q);
		FUZZ_REQUIRE(segment_decode(w.v, w.n, &q, NULL, NULL) == 0);
		a = profile_dump(&p);
		b = profile_dump(&q);
		FUZZ_REQUIRE(strcmp(a, b) == 0);
		free(a);
		free(b);
		profile_release(&q);
		wr_release(&w);
	} else {
		FUZZ_REQUIRE(p.values.n == 0 && p.strings.n == 1 && p.events.n == 0);
	}
	profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_sealed(data, n, decode, segment_seal);
	return 0;
}
