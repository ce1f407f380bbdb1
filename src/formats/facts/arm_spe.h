/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of Arm's Statistical Profiling Extension: packets to records, and the facts they
 * tell.
 *
 * A record is what was seen of one operation: packets of a header and up to eight bytes, closed by
 * an end or a timestamp (Arm Architecture Reference Manual, D10.2).  The bytes come from a buffer
 * that was written around in and cut anywhere: what is no packet is stepped over and counted. */
#ifndef FORMATS_FACTS_ARM_SPE_H
#define FORMATS_FACTS_ARM_SPE_H

#include "model/fact.h"

enum arm_spe_has {
	ARM_SPE_PC = 1u << 0,
	ARM_SPE_TIME = 1u << 1,
	ARM_SPE_CONTEXT = 1u << 2,
	ARM_SPE_EVENTS = 1u << 3,
	ARM_SPE_OP = 1u << 4,
	ARM_SPE_TOTAL = 1u << 5,
	ARM_SPE_ISSUE = 1u << 6,
	ARM_SPE_XLAT = 1u << 7,
	ARM_SPE_SOURCE = 1u << 8,
	ARM_SPE_VA = 1u << 9,
	ARM_SPE_PA = 1u << 10,
	ARM_SPE_TARGET = 1u << 11,
};

enum arm_spe_class {
	ARM_SPE_OTHER,
	ARM_SPE_LDST,
	ARM_SPE_BRANCH,
};

struct arm_spe_record {
	uint32_t has; /* enum arm_spe_has */
	uint64_t pc;  /* the address without its tag, as perf has it */
	unsigned el;  /* exception level of the PC: 0 user, 1 or 2 kernel */
	uint64_t time, events;
	unsigned n_event_bits;
	uint32_t context; /* CONTEXTIDR: Linux puts the thread id there, when built for it */
	uint8_t class, subclass, source;
	uint16_t total, issue, xlat; /* cycles */
	uint64_t va, pa, target;
};

struct arm_spe_reader {
	const uint8_t *p, *end;
	uint64_t at;	    /* how far P is from the beginning of the trace: packets may align */
	uint64_t n_garbage; /* bytes that are no packet */
	uint64_t n_damaged; /* records that had some of these in them: they are left out */
};

#define ARM_SPE_MOST_BYTES 4096 /* of a record; the architecture's are at most 2048 */

static inline struct arm_spe_reader arm_spe_reader_init(const uint8_t *bytes, size_t n)
{
	return (struct arm_spe_reader){.p = bytes, .end = bytes + n};
}

/* The next whole record: true, or false at the end; R->p is then where an unfinished one begins, at
 * most ARM_SPE_MOST_BYTES before the end, to be given again with what follows. */
bool arm_spe_next(struct arm_spe_reader *r, struct arm_spe_record *ret);

/* What cannot be told from the packets: see arm_spe_machine_from_midr. */
struct arm_spe_machine {
	bool sources; /* data sources are numbered as in Neoverse */
	bool v1p1;    /* event 11 is there */
};

/* The machine whose MIDR_EL1 is MIDR; 0: it is not known. */
struct arm_spe_machine arm_spe_machine_from_midr(uint64_t midr);

/* What the record tells, not settled yet. */
void arm_spe_facts(const struct arm_spe_record *r, const struct arm_spe_machine *m,
		   struct sample_facts *ret);

#endif
