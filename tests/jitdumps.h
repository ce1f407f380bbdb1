/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes jitdumps, in either byte order (tools/perf/Documentation/jitdump-specification.txt). */
#ifndef TESTS_JITDUMPS_H
#define TESTS_JITDUMPS_H

#include <stdbool.h>
#include <string.h>

#include "base/wr.h"

static uint64_t jd_time = 2000; /* of the records */
static bool jd_big;		/* byte order of what is written from now on */

static inline void jd_u32(struct wr *w, uint32_t v)
{
	wr_le32(w, jd_big ? __builtin_bswap32(v) : v);
}

static inline void jd_u64(struct wr *w, uint64_t v)
{
	wr_le64(w, jd_big ? __builtin_bswap64(v) : v);
}

static inline void jd_header(struct wr *w)
{
	jd_u32(w, 0x4a695444);
	jd_u32(w, 1);  /* version */
	jd_u32(w, 40); /* bytes */
	jd_u32(w, 62); /* EM_X86_64 */
	jd_u32(w, 0);
	jd_u32(w, 4242); /* pid */
	jd_u64(w, 1000); /* time */
	jd_u64(w, 0);	 /* flags */
}

static inline void jd_record(struct wr *w, uint32_t kind, uint32_t n_bytes)
{
	jd_u32(w, kind);
	jd_u32(w, n_bytes);
	jd_u64(w, jd_time);
}

static inline void jd_load(struct wr *w, uint64_t avma, uint32_t n_code, const char *name)
{
	size_t n = strlen(name) + 1;

	jd_record(w, 0, (uint32_t)(56 + n + n_code));
	jd_u32(w, 4242);
	jd_u32(w, 4243);
	jd_u64(w, avma);
	jd_u64(w, avma);
	jd_u64(w, n_code);
	jd_u64(w, 7); /* index */
	wr_bytes(w, name, n);
	for (uint32_t i = 0; i < n_code; i++)
		wr_u8(w, 0x90);
}

static inline void jd_move(struct wr *w, uint64_t from, uint64_t to, uint64_t n_code)
{
	jd_record(w, 1, 64);
	jd_u32(w, 4242);
	jd_u32(w, 4243);
	jd_u64(w, to);
	jd_u64(w, from);
	jd_u64(w, to);
	jd_u64(w, n_code);
	jd_u64(w, 7);
}

#endif
