/* SPDX-License-Identifier: BSD-2-Clause */
/* Profile files: whatever is read without an error is written back to the byte. */
#include <string.h>

#include "formats/dcpi.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	for (unsigned stride = 0; stride <= 4; stride += 4) {
		struct dcpi_file f;
		struct wr w = {0};

		if (dcpi_read(&f, data, n, stride, NULL) < 0)
			continue;
		FUZZ_REQUIRE(dcpi_probe(data, n));
		dcpi_write(&f, &w);
		FUZZ_REQUIRE(w.n == n && memcmp(w.v, data, n) == 0);
		wr_release(&w);
		dcpi_release(&f);
	}
	dcpi_probe(data, n);
	return 0;
}
