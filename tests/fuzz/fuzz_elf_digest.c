/* SPDX-License-Identifier: BSD-2-Clause */
/* The identity of ELF files of others: any of them has a digest, the same each time. */
#include "fuzz.h"
#include "resolve/elf_digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t first[IMAGE_DIGEST_BYTES], again[IMAGE_DIGEST_BYTES];
	struct elf_file f;
	uint64_t svma;

	if (elf_file_open_bytes(&f, data, n, NULL) < 0)
		return 0;
	elf_digest(&f, first);
	elf_find_eh_frame(&f, &svma);
	elf_digest(&f, again);
	FUZZ_REQUIRE(image_digest_known(first) && image_digest_same(first, again));
	elf_digest_code(&f, first);
	elf_digest_code(&f, again);
	FUZZ_REQUIRE(image_digest_known(first) && image_digest_same(first, again));
	elf_file_close(&f);
	return 0;
}
