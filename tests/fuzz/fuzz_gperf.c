/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU profiles of gperftools. */
#include "importer_fuzz.h"

#include "gperf_t.h"

static uint8_t *gperf_seed(size_t *ret_n)
{
	struct wr w = {0};

	gperf_t_make(&w, 8, false, 0, "/gone/prog");
	*ret_n = w.n;
	return w.v;
}

IMPORTER_TARGET("CPU profile of gperftools", gperf_seed(ret_n))
