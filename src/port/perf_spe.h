/* SPDX-License-Identifier: BSD-2-Clause */
/* The samples of Arm's Statistical Profiling Extension in a perf.data file.
 *
 * They are in AUX data, in the file long before the record (AUX) that says when that piece was
 * filled and that comes in its turn.  So data waits for its record: then the processes are mapped
 * as they were.  What no record names is read at the end. */
#ifndef PORT_PERF_SPE_H
#define PORT_PERF_SPE_H

#include "formats/facts/arm_spe.h"
#include "formats/facts/fact_defs.h"
#include "port/perf_world.h"

#define PERF_SPE_MOST_BYTES (256ull << 20) /* that wait; then the oldest are read at once */

struct perf_spe_sample {
	uint32_t event; /* number in the file */
	uint32_t pid, tid;
	unsigned mode; /* PERFDATA_MODE_* */
	uint64_t ip, time;
	uint64_t addr, phys;	   /* of its data; 0: not told */
	struct sample_facts facts; /* settled */
};

typedef void perf_spe_count(void *ctx, const struct perf_spe_sample *s);

struct perf_spe_data { /* consecutive bytes of one buffer */
	uint32_t cpu, tid;
	uint64_t off;  /* of the first, in the buffer */
	size_t n_done; /* of them are counted */
	VEC(uint8_t) bytes;
};

struct perf_spe_began { /* who ran on a CPU when it began */
	uint32_t cpu, pid, tid;
};

struct perf_spe {
	const struct perfdata *pd;
	struct perf_world *world;
	perf_spe_count *count;
	void *ctx;
	const struct fact_defs *defs; /* facts to take besides; NULL: none */
	bool is_spe, has_machine, has_conv;
	struct arm_spe_machine machine;
	uint64_t shift, mult, zero; /* from the timer's ticks to the samples' clock */
	VEC(struct perf_spe_data) waiting;
	VEC(struct perf_spe_began) began;
	uint64_t n_waiting; /* bytes */
	uint64_t n_garbage, n_damaged, n_no_address, n_no_event;
};

void perf_spe_init(struct perf_spe *s, const struct perfdata *pd, struct perf_world *w,
		   perf_spe_count *count, void *ctx);
void perf_spe_release(struct perf_spe *s);

/* Takes in records of perf's own that say what the data is and what its clock shows. */
void perf_spe_tell(struct perf_spe *s, const struct perfdata_record *r);

/* N bytes of AUXTRACE's data, AT bytes from its beginning. */
void perf_spe_keep(struct perf_spe *s, const struct perfdata_record *auxtrace, const uint8_t *piece,
		   size_t n, uint64_t at);

/* ITRACE_START: whose the samples of its CPU are. */
void perf_spe_begin(struct perf_spe *s, const struct perfdata_record *r);

/* AUX: counts the samples of the data that it names. */
void perf_spe_take(struct perf_spe *s, const struct perfdata_record *r);

/* Counts those of what is left. */
void perf_spe_end(struct perf_spe *s);

#endif
