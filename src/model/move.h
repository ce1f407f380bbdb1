/* SPDX-License-Identifier: BSD-2-Clause */
/* Places that become known after samples were counted there.
 *
 * A recorder may have to count samples at a stand-in place, because nobody has looked into the file
 * yet.  When somebody has, the counts move to the right place.  For example, samples in the
 * stand-in of /bin/x at offset 0x1040, called from libc, move to the context (libc, (x, svma
 * 0x401040)). The stand-in's contexts and values stay in the dictionaries, and say nothing. */
#ifndef MODEL_MOVE_H
#define MODEL_MOVE_H

#include "model/profile.h"

/* Moves all values and points of time lines from contexts with place I to those with TO[I] instead,
 * for each of the places P has.  No value that moves may have been stored before.  Returns where
 * each context went, as many as P had at the call; free it. */
ctx_id *profile_move_places(struct profile *p, const place_id *to);

#endif
