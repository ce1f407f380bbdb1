/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles and time lines of hpcrun: what is taken is whole. */
#include "fuzz.h"
#include "hpcrun_t.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = {0};

	if (i > 2)
		return NULL;
	if (i == 0)
		hpcrun_t_make(&w);
	else if (i == 1)
		hpcrun_t_trace(&w);
	else
		wr_bytes(&w, "ffffffffa1000000 T _text\nffffffffa1000a2f t entry\n", 51);
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct hpcrun_symbol s;
	struct err err = {0};
	struct hpctrace t;
	struct hpcrun h;
	struct rd r = rd_init(data, n);
	int rc = hpcrun_parse(data, n, &h, &err);

	FUZZ_REQUIRE(rc >= 0 || *err.msg);
	for (size_t i = 0; rc >= 0 && i < h.nodes.n; i++) {
		const struct hpcrun_node *x = &h.nodes.v[i];

		FUZZ_REQUIRE(x->parent == HPCRUN_NONE || x->parent < i);
		FUZZ_REQUIRE(hpcrun_find(&h, x->id) == i);
	}
	for (size_t i = 0; rc >= 0 && i < h.values.n; i++) {
		FUZZ_REQUIRE(h.values.v[i].node < h.nodes.n);
		hpcrun_amount(&h, &h.values.v[i]);
	}
	hpcrun_release(&h);
	if (hpctrace_parse(data, n, &t, &err) >= 0)
		for (size_t i = 0; i < t.n; i++)
			hpctrace_get(&t, i);
	while (hpcrun_next_symbol(&r, &s))
		FUZZ_REQUIRE(s.n_name && s.name + s.n_name <= (const char *)data + n);
	return 0;
}
