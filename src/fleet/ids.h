/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that hosts agree about without talking: 64 bits of the SHA-256 of what a thing is.  A
 * number that anybody can make for other contents would let one host rename another's code; SHA-256
 * leaves only chance, one in 2^64 for a pair. */
#ifndef FLEET_IDS_H
#define FLEET_IDS_H

#include "base/hash.h"
#include "base/vec.h"
#include "model/profile.h"

uint64_t fleet_event_id(const struct profile *p, const struct event *e);
uint64_t fleet_image_id(const struct image *im);
uint64_t fleet_owner_id(const struct profile *p, const struct owner *o);
uint64_t fleet_container_id(const struct profile *p,
			    const struct container *c); /* and of its names */
uint64_t fleet_vector_id(const struct vector *v);	/* 0: plain samples */

/* The context of place (IMAGE, SVMA) called from context PARENT (0: the root). */
uint64_t fleet_context_id(uint64_t parent, uint64_t image, uint64_t svma);

/* Ids, each with a number.  A zeroed one is empty. */
struct fleet_ids {
	struct index ix;
	VEC(uint64_t) ids;
	VEC(uint32_t) numbers;
};

#define FLEET_NO_NUMBER UINT32_MAX
uint32_t fleet_ids_find(const struct fleet_ids *m, uint64_t id);

/* Adds ID with NUMBER; false when it is there already. */
bool fleet_ids_add(struct fleet_ids *m, uint64_t id, uint32_t number);
/* Gives ID the number NUMBER, whatever it had. */
void fleet_ids_put(struct fleet_ids *m, uint64_t id, uint32_t number);
void fleet_ids_release(struct fleet_ids *m);

/* Ids alone, in a third of the memory.  A zeroed one is empty. */
struct fleet_id_set {
	uint64_t *slots; /* 0: free */
	size_t n_slots;	 /* a power of two */
	size_t n;
};

/* Adds ID, which is not 0; false when it is there already. */
bool fleet_id_set_add(struct fleet_id_set *s, uint64_t id);
void fleet_id_set_release(struct fleet_id_set *s);

#endif
