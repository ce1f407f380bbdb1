/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzz targets of interpreters share: the interpreter's memory is the input, read from
 * front to back whatever address is asked for, and what the walk tells of must have places. */
#ifndef TESTS_FUZZ_SCRIPT_FUZZ_H
#define TESTS_FUZZ_SCRIPT_FUZZ_H

#include <string.h>

#include "base/rd.h"
#include "collect/calls/scripts.h"
#include "fuzz.h"
#include "unwind/chain.h"
#include "unwind/python_host.h"

struct fuzz_memory {
	struct rd rd;
	struct scripts scripts;
};

static inline bool fuzz_memory_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct fuzz_memory *m = ctx;
	const uint8_t *bytes = rd_bytes(&m->rd, n);

	if (!bytes || m->rd.bad)
		return false;
	memcpy(ret, bytes, n);
	return true;
}

static inline void fuzz_memory_tell(void *ctx, const struct script_record *r, size_t n)
{
	struct fuzz_memory *m = ctx;

	FUZZ_REQUIRE(n <= sizeof(*r));
	scripts_add(&m->scripts, (const uint8_t *)r, n);
}

/* Each frame of OUT has a place; frees what M holds. */
static inline void fuzz_memory_place(struct fuzz_memory *m, const struct python_frames *out,
				     const uint8_t *data, size_t n)
{
	struct profile p;

	profile_init(&p);
	scripts_add(&m->scripts, data, n);
	for (uint32_t i = 0; i < out->n; i++) {
		FUZZ_REQUIRE(FRAME_IS_SCRIPT(out->frames[i]));
		FUZZ_REQUIRE(scripts_place(&m->scripts, &p, out->frames[i]) < p.places.n);
	}
	profile_check(&p);
	profile_release(&p);
	scripts_release(&m->scripts);
}

#endif
