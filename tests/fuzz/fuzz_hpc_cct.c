/* SPDX-License-Identifier: BSD-2-Clause */
/* cct.db read, dumped and checked. */
#include "formats/hpc/cct.h"
#include "formats/hpc/check/check.h"
#include "hpc_fuzz.h"

static struct wr make(enum hpc_layout l, const struct hand_extra *x)
{
	return hand_cct(x);
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = hpc_fuzz_file(make, 2 * i); /* both layouts are the same */

	*ret_n = w.n;
	return w.v;
}

static void read_ctx(const struct hpc_cct_db *db, uint32_t ctxId)
{
	double by_profile[4], v;
	struct hpc_metric_values m;
	struct hpc_cct c;

	if (hpc_cct_open(&c, db, ctxId, NULL))
		return;
	for (uint16_t id = 0; id < 4; id++) {
		if (hpc_cct_find_metric(&c, id, &m, NULL) == 0)
			hpc_metric_values_spread(&m, by_profile, 4);
		hpc_cct_value(db, ctxId, id, 1, &v, NULL);
	}
}

static void run(const uint8_t *bytes, size_t n)
{
	struct hpc_cct_db db;
	struct err err = {0};
	int rc = hpc_cct_db_open(&db, bytes, n, "x", &err);

	hpc_fuzz_look(bytes, n, rc, &err, hpc_check_cct, hpc_cct_dump);
	for (uint32_t i = 0; rc == 0 && i < 8; i++)
		read_ctx(&db, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hpc_fuzz(data, n, make, run);
	return 0;
}
