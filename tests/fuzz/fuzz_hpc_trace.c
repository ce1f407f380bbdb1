/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.db read, dumped and checked; in lines that the check finds nothing in, times are found. */
#include "formats/hpc/check/check.h"
#include "formats/hpc/trace.h"
#include "hpc_fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = hpc_fuzz_file(hand_trace, i);

	*ret_n = w.n;
	return w.v;
}

static void find(const struct hpc_trace_db *db, uint32_t profIndex, bool sound)
{
	struct hpc_trace t;
	uint64_t at;

	if (hpc_trace_open_profile(&t, db, profIndex, NULL))
		return;
	FUZZ_REQUIRE(t.profIndex == profIndex);
	at = hpc_trace_find(&t, 1500);
	FUZZ_REQUIRE(at <= t.n);
	FUZZ_REQUIRE(at == t.n || hpc_trace_elem(&t, at).timestamp >= 1500 || !sound);
	FUZZ_REQUIRE(at == 0 || hpc_trace_elem(&t, at - 1).timestamp < 1500 || !sound);
}

static void run(const uint8_t *bytes, size_t n)
{
	struct hpc_trace_db db;
	struct err err = {0};
	int rc = hpc_trace_db_open(&db, bytes, n, "x", &err);
	bool sound = hpc_fuzz_look(bytes, n, rc, &err, hpc_check_trace, hpc_trace_dump);

	for (uint32_t i = 0; rc == 0 && i < 4; i++)
		find(&db, i, sound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hpc_fuzz(data, n, hand_trace, run);
	return 0;
}
