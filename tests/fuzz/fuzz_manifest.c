/* SPDX-License-Identifier: BSD-2-Clause */
/* MANIFESTs: what is accepted is written back so that it reads the same. */
#include "store/manifest.h"

#include <string.h>

#include "fuzz.h"
#include "gen.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct manifest m = {.host = "alpha",
			     .label = "a \"b\"\n",
			     .state = STATE_RECORDING,
			     .clock_offset_ns = -5,
			     .generation = i,
			     .journal = 2,
			     .next_segment = UINT64_MAX};
	struct t_rng r = {i + 1};
	struct str s = {0};
	struct profile p;

	if (i > 2)
		return NULL;
	gen_profile(&r, &p, 20 * i);
	manifest_add_profile(&m, &p);
	manifest_add_seq(&m, i, UINT64_MAX - i);
	manifest_add_seq(&m, STORE_SOURCE_REACHED + i, 7);
	m.recording = i;
	if (i)
		manifest_put_log_first(&m,
				       &(struct store_log){.number = 8, .state = STORE_LOG_STORED});
	for (unsigned k = 0; k < i; k++)
		vec_push(&m.segments, (struct manifest_segment){"000001.seg", 1, UINT64_MAX, 3, k});
	manifest_format(&m, &s);
	manifest_release(&m);
	profile_release(&p);
	*ret_n = s.n;
	return (uint8_t *)s.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct manifest m, copy, again;
	struct str a = {0}, b = {0};
	char *text = malloc(n + 1);
	int rc;

	/* Damage comes as far as it would with a digest that was made for it. */
	memcpy(text, data, n);
	if (manifest_mend_version(text, n))
		FUZZ_REQUIRE(!manifest_mend_version(text, n));
	manifest_seal(text, n);
	rc = manifest_parse(&m, text, n, NULL);
	free(text);
	if (rc < 0)
		return 0;
	manifest_copy(&copy, &m);
	manifest_format(&copy, &a);
	FUZZ_REQUIRE(manifest_parse(&again, a.v, a.n, NULL) == 0);
	manifest_format(&again, &b);
	FUZZ_REQUIRE(strcmp(a.v, b.v) == 0);
	vec_each (s, &m.segments)
		FUZZ_REQUIRE(!strchr(s->name, '/') && str_ends(s->name, ".seg"));
	manifest_release(&m);
	manifest_release(&copy);
	manifest_release(&again);
	str_release(&a);
	str_release(&b);
	return 0;
}
