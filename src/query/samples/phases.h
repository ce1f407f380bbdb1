/* SPDX-License-Identifier: BSD-2-Clause */
/* What a runtime does for a program besides executing it: collecting its garbage, compiling its
 * code.  Known by the runtime's own procedures. */
#ifndef QUERY_SAMPLES_PHASES_H
#define QUERY_SAMPLES_PHASES_H

#include "base/str.h"
#include "model/profile.h"
#include "resolve/resolver.h"

/* The number of a phase; PHASE_NONE: what is executed is none. */
typedef uint8_t phase_id;
#define PHASE_NONE 0

struct phases {
	phase_id *of_place; /* by place: the phase whose procedure it is in */
	bool any;
};

/* Appends a regular expression of the linked names that begin a phase in some runtime. */
void phases_add_names(struct str *ret);

/* Looks for procedures of phases in the images of P that are on its call paths, by R's symbols. */
void phases_init(struct phases *ph, const struct profile *p, struct resolver *r);
void phases_release(struct phases *ph);

/* The place in P that PHASE is shown as, known to R. */
place_id phases_place(struct profile *p, struct resolver *r, phase_id phase);

#endif
