/* SPDX-License-Identifier: BSD-2-Clause */
/* What a fuzz target offers.  One source file per format, fuzz_<format>.c; it is linked with
 * replay.c in every build, and with libFuzzer when configured with -Dfuzz=true under clang. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Parses the N bytes at DATA (DATA is an allocation of exactly N bytes, so that a sanitizer sees
 * any read outside).  Must return 0 whatever they are; a broken promise is reported by abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Optional: makes valid input I (0, 1, ...) in fresh memory, for formats whose encoder is at hand;
 * NULL when there are no more. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n) __attribute__((weak));

/* Gives USE the N bytes as they are, and then with their checksums right (SEAL), to come
 * further. */
static inline void fuzz_sealed(const uint8_t *data, size_t n, void (*use)(const uint8_t *, size_t),
			       void (*seal)(uint8_t *, size_t))
{
	uint8_t *sealed = malloc(n ? n : 1);

	if (!sealed)
		abort();
	use(data, n);
	if (n)
		memcpy(sealed, data, n);
	seal(sealed, n);
	use(sealed, n);
	free(sealed);
}

/* Like assert, but never compiled out. */
#define FUZZ_REQUIRE(cond)                                                                         \
	do {                                                                                       \
		if (!(cond))                                                                       \
			abort();                                                                   \
	} while (0)

#endif
