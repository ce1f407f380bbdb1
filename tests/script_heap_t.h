/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of a process with an interpreter, for tests of the steps over its frames.  Who includes
 * this says how large it is: HEAP_WORDS. */
#ifndef TESTS_SCRIPT_HEAP_T_H
#define TESTS_SCRIPT_HEAP_T_H

#include <string.h>

#include "collect/calls/scripts.h"
#include "model/profile.h"
#include "t.h"

#define HEAP 0x10000ull

struct heap {
	uint64_t words[HEAP_WORDS];
	struct scripts scripts;
	struct profile p;
	uint32_t n_told;
	uint32_t n_reads;
	uint64_t hole; /* an address that cannot be read; 0: none */
};

static bool heap_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct heap *h = ctx;

	h->n_reads++;
	if (avma < HEAP || avma + n > HEAP + sizeof(h->words) ||
	    (h->hole >= avma && h->hole < avma + n))
		return false;
	memcpy(ret, (uint8_t *)h->words + (avma - HEAP), n);
	return true;
}

static void heap_tell(void *ctx, const struct script_record *r, size_t n)
{
	struct heap *h = ctx;

	h->n_told++;
	EXPECT(scripts_add(&h->scripts, (const uint8_t *)r, n));
}

#endif
