/* SPDX-License-Identifier: BSD-2-Clause */
/* What JIT compilers told of their code while perf recorded it, jitdumps and perf maps, where they
 * are still there: names for addresses in memory that no file describes. */
#ifndef PORT_PERF_JIT_H
#define PORT_PERF_JIT_H

#include "base/vec.h"
#include "machine/images.h"
#include "formats/perfdata.h"
#include "resolve/resolver.h"

struct perf_jit;

struct perf_jits {
	struct profile *profile;
	const struct perfdata *pd;
	bool wanted;	     /* else there are none */
	const char *symfs;   /* looked below first, without asking more; NULL: not */
	uint64_t written_ns; /* when the recording was last written to, since 1970; 0: unknown */
	VEC(struct perf_jit *) v;
};

/* Whose code it is. */
struct perf_jit_query {
	uint32_t pid;
	uint64_t begin_ns; /* when the process began, in the samples' clock; 0: unknown */
	const char *name;  /* of its program */
	const struct image_ref *dump; /* the jitdump it mapped; NULL: its perf map is asked for */
};

/* J keeps P and PD. */
void perf_jits_init(struct perf_jits *j, struct profile *p, const struct perfdata *pd);
void perf_jits_release(struct perf_jits *j);

/* The number of the dump or map of Q, + 1, opened at first sight; 0 when there is none that is
 * certain to be this process's (perf_jit.c says when). */
uint32_t perf_jits_find(struct perf_jits *j, const struct perf_jit_query *q);

/* Reads on in number I up to what was so at TIME_NS of the samples' clock, and returns how often
 * code has replaced other code by then: while that stays the same, so do places. */
uint32_t perf_jits_advance(struct perf_jits *j, uint32_t i, uint64_t time_ns);

/* The place that the code at AVMA has, as number I tells by now. */
place_id perf_jits_place(const struct perf_jits *j, uint32_t i, uint64_t avma, uint32_t flags);

/* Saves the procedures of all of them. */
void perf_jits_save(struct perf_jits *j, struct resolver *r);

#endif
