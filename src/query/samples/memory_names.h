/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for accesses to memory: where the data came from, what it is, who accessed it. */
#ifndef QUERY_SAMPLES_MEMORY_NAMES_H
#define QUERY_SAMPLES_MEMORY_NAMES_H

#include "model/fact.h"
#include "query/samples/memory.h"

struct memory_namer {
	struct query *q;
	struct arena *arena; /* where names are kept */
	uint8_t *ways;	     /* by place: enum memory_way, once known */
};

void memory_namer_release(struct memory_namer *n);

/* Where the data of A came from, and its name. */
unsigned memory_level(const struct profile *p, const struct access *a);
const char *memory_level_name(unsigned level);

/* Where its address was translated, and its name. */
unsigned memory_tlb(const struct profile *p, const struct access *a);
const char *memory_tlb_name(unsigned tlb);

/* The name of a class of latencies (latency_class), in cycles: "64-127". */
const char *memory_latency_name(struct memory_namer *n, uint32_t class);

/* Names the memory's node and the CPU's node, each one more than its number; 0: not known. */
const char *memory_node_name(struct memory_namer *n, uint64_t node, uint64_t cpu_node);

/* Returns a number that stands for the object of A's data in its image; memory_name_object names
 * it. */
uint64_t memory_object(struct memory_namer *n, const struct access *a);
void memory_name_object(struct memory_namer *n, image_id image, uint64_t object,
			struct memory_row *ret);

/* The start of the procedure of PLACE, UINT64_MAX where none is known. */
uint64_t memory_procedure(struct memory_namer *n, place_id place);
void memory_name_procedure(struct memory_namer *n, image_id image, uint64_t start,
			   struct memory_row *ret);

/* Names the N_BYTES from SVMA on in IMAGE after the first object there: "counters+0x40". */
void memory_name_data(struct memory_namer *n, image_id image, uint64_t svma, uint64_t n_bytes,
		      struct memory_row *ret);

/* Fills U's procedure, image, file and line. */
void memory_name_use(struct memory_namer *n, struct memory_use *u);

#endif
