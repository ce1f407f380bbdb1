/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of a sampled instruction in fields of its own: where its data came from,
 * its latencies, its branch (perf_event_open(2): PERF_SAMPLE_DATA_SRC, _WEIGHT, _WEIGHT_STRUCT,
 * _TRANSACTION, _DATA_PAGE_SIZE, _BRANCH_STACK).  On Intel they come from PEBS and LBR. */
#ifndef FORMATS_FACTS_PRECISE_H
#define FORMATS_FACTS_PRECISE_H

#include "model/fact.h"

enum precise_has {
	PRECISE_DATA_SRC = 1u << 0,
	PRECISE_WEIGHT = 1u << 1,	 /* one number, else ... */
	PRECISE_WEIGHT_STRUCT = 1u << 2, /* ... three: bits 0 to 31, 32 to 47, 48 to 63 */
	PRECISE_TRANSACTION = 1u << 3,
	PRECISE_PAGE_SIZE = 1u << 4,
	PRECISE_BRANCH = 1u << 5, /* the newest of the branches */
};

struct precise_sample {
	uint32_t has; /* enum precise_has */
	bool x86;
	bool exact; /* ip is of the instruction that the event is of (PERF_RECORD_MISC_EXACT_IP) */
	bool retdelay; /* this event is known to tell retdelay: 0 is a value of it */
	uint64_t ip, data_src, weight, transaction, data_page_size;
	uint64_t branch_from, branch_flags; /* struct perf_branch_entry, little-endian */
};

/* Where the data of DATA_SRC came from, as far as no bit of a vector tells it. */
enum access_source precise_source(uint64_t data_src);

/* Adds what S's weight tells to RET, which knows already whether S is a load. */
void precise_weight(const struct precise_sample *s, struct sample_facts *ret);

/* What S tells, not settled yet. */
void precise_facts(const struct precise_sample *s, struct sample_facts *ret);

#endif
