/* SPDX-License-Identifier: BSD-2-Clause */
/* What accesses to memory are called: where the data came from, what it is, who accessed it. */
#ifndef QUERY_SAMPLES_MEMORY_NAMES_H
#define QUERY_SAMPLES_MEMORY_NAMES_H

#include "model/fact.h"
#include "query/samples/memory.h"

struct memory_namer {
	struct query *q;
	struct arena *arena; /* of the names */
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

/* The name of NODE of the memory and CPU_NODE of the CPU, each + 1 or 0. */
const char *memory_node_name(struct memory_namer *n, uint64_t node, uint64_t cpu_node);

/* Which object of its image the data of A is: a number that memory_name_object understands. */
uint64_t memory_object(struct memory_namer *n, const struct access *a);
void memory_name_object(struct memory_namer *n, image_id image, uint64_t object,
			struct memory_row *ret);

/* The start of the procedure of PLACE, UINT64_MAX where none is known. */
uint64_t memory_procedure(struct memory_namer *n, place_id place);
void memory_name_procedure(struct memory_namer *n, image_id image, uint64_t start,
			   struct memory_row *ret);

/* Names the N_BYTES from SVMA on in IMAGE: by the first object there, "counters+0x40". */
void memory_name_data(struct memory_namer *n, image_id image, uint64_t svma, uint64_t n_bytes,
		      struct memory_row *ret);

/* Fills U's procedure, image, file and line. */
void memory_name_use(struct memory_namer *n, struct memory_use *u);

#endif
