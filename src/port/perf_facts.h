/* SPDX-License-Identifier: BSD-2-Clause */
/* What the samples of a perf.data file tell of their instructions: which decoder reads which
 * event's samples. */
#ifndef PORT_PERF_FACTS_H
#define PORT_PERF_FACTS_H

#include "formats/facts/arm_spe.h"
#include "formats/facts/fact_defs.h"
#include "formats/facts/ibs.h"
#include "formats/perfdata.h"
#include "model/fact.h"

enum perf_facts_kind {
	PERF_FACTS_UNASKED,
	PERF_FACTS_NONE,
	PERF_FACTS_FIELDS, /* what the kernel put in fields of its own */
	PERF_FACTS_IBS_OP, /* registers, in the raw part */
	PERF_FACTS_IBS_FETCH,
};

#define PERF_FACTS_N_SOURCES 64

struct perf_facts {
	const struct perfdata *pd;
	const struct fact_defs *defs; /* facts to take besides; NULL: none */
	VEC(struct {
		enum perf_facts_kind kind;
		bool retdelay; /* it was told of some sample */
	})
	events;
	bool asked, x86;
	struct ibs_machine amd;
	/* What some values of data_src tell, settled: a file has few, and many samples. */
	struct perf_facts_source {
		uint64_t data_src, known, value;
		bool used, exact;
	} sources[PERF_FACTS_N_SOURCES];
	uint64_t addr, phys; /* of its data, in the registers of the op read last; 0: not told */
	uint64_t n_damaged;  /* raw parts that are too short */
	uint64_t n_no_ip;    /* IBS ops whose address the hardware could not tell */
};

void perf_facts_init(struct perf_facts *f, const struct perfdata *pd, const struct fact_defs *defs);
void perf_facts_release(struct perf_facts *f);

/* What sample R of event number EVENT tells, settled; false when that is nothing. */
bool perf_facts_read(struct perf_facts *f, const struct perfdata_record *r, uint32_t event,
		     struct sample_facts *ret);

/* The name of PMU number TYPE in the file; NULL when it does not tell. */
const char *perf_facts_pmu(const struct perfdata *pd, uint32_t type);

/* The Arm machine of the file. */
struct arm_spe_machine perf_facts_arm(const struct perfdata *pd);

#endif
