/* SPDX-License-Identifier: BSD-2-Clause */
/* Seeded random profiles for property tests. */
#ifndef TESTS_GEN_H
#define TESTS_GEN_H

#include "model/profile.h"
#include "t.h"

/* Initialises and fills P: all dictionaries, deep contexts, vectors, large and small counts,
 * losses, traces. The same *R gives the same profile.  N_VALUES is the number of values added (some
 * may coincide). */
void gen_profile(struct t_rng *r, struct profile *p, unsigned n_values);

/* Adds up to N accesses to memory to P. */
void gen_accesses(struct t_rng *r, struct profile *p, unsigned n);

#endif
