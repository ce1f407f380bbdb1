/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of sample sets, read file by file.
 *
 * A tree has a file of samples for each set and a file for each of its counters.  A value of the
 * model holds both, the counter's total and of how many samples it is, so that a counter can only
 * be added when all files of its directory were read:
 *
 *     retired:m1count     at 401007: 70        \
 *     retired:m1retdelay  at 401007: 4200      / one value: retdelay, 70 samples, total 4200 */
#ifndef PORT_DCPI_PIECES_H
#define PORT_DCPI_PIECES_H

#include "port/dcpi_pm.h"

struct dcpi_piece;
typedef VEC(struct dcpi_piece) dcpi_pieces;

/* Notes that there is a file of column PM of EVENT, OWNER and IMAGE. */
void dcpi_pieces_add_file(dcpi_pieces *v, owner_id owner, image_id image, event_id event,
			  const struct dcpi_pm *pm);

/* Notes that it has N at CTX. */
void dcpi_pieces_add(dcpi_pieces *v, owner_id owner, image_id image, event_id event,
		     const struct dcpi_pm *pm, ctx_id ctx, uint64_t n);

/* Adds the counters' values to P and forgets all.  Samples themselves are not added. */
void dcpi_pieces_settle(dcpi_pieces *v, struct profile *p);

void dcpi_pieces_release(dcpi_pieces *v);

#endif
