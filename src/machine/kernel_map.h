/* SPDX-License-Identifier: BSD-2-Clause */
/* Where kernel code is: the kernel itself, modules, BPF programs, as ranges of
 * run-time addresses. */
#ifndef MACHINE_KERNEL_MAP_H
#define MACHINE_KERNEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/profile.h"

struct kernel_range {
	uint64_t start, end; /* run-time addresses, [start, end) */
	uint64_t svma;	     /* stated address of start: 0 for modules and BPF programs */
	struct image image;  /* kind KERNEL, MODULE or BPF; its path is borrowed */
};

struct kernel_piece {
	uint64_t start, end, svma;
	struct image desc; /* its path is in the profile's strings */
	image_id image;	   /* when has_image: interned when first sampled */
	bool has_image;
};

struct kernel_map {
	struct profile *profile;    /* borrowed */
	VEC(struct kernel_piece) v; /* sorted by start, disjoint */
	/* Called when address IP is in none of them: to add those that are slow to learn.  Returns
	 * whether it did; then IP is looked for again.  NULL: nobody knows more. */
	bool (*learn)(void *ctx, uint64_t ip);
	void *learn_ctx;
};

void kernel_map_init(struct kernel_map *k, struct profile *p);
void kernel_map_release(struct kernel_map *k);

/* Adds a range; what it overlaps of another image is cut away (BPF memory is reused). */
void kernel_map_add(struct kernel_map *k, const struct kernel_range *r);

/* The place of kernel address IP; false when no range covers it. */
bool kernel_map_place(struct kernel_map *k, uint64_t ip, place_id *ret);

#endif
