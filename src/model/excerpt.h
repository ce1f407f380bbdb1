/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of a profile that count now, with no more of its dictionaries than they need.
 *
 * A recorder's dictionaries hold all that it ever met.  Who shows one second of it copies that
 * second: 200 values, say, of a profile with 100,000 contexts.  The copy takes time by what came,
 * and the recorder may go on while somebody reads the copy. */
#ifndef MODEL_EXCERPT_H
#define MODEL_EXCERPT_H

#include "model/profile.h"

/* Adds to DST, an empty profile, the values of SRC that count, the events, losses and meta, and
 * what these name.  SRC is watched (fresh.h) and its values were reset before they counted; time
 * lines, branches and minutes are left out. */
void profile_excerpt(struct profile *dst, const struct profile *src);

#endif
