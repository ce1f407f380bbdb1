/* SPDX-License-Identifier: BSD-2-Clause */
/* One profile as rows of a fleet's tables. */
#ifndef FLEET_SEND_H
#define FLEET_SEND_H

#include "fleet/ids.h"
#include "fleet/server.h"
#include "resolve/resolver.h"

/* What a server was told in this process: dictionaries need not be sent twice.  Zeroed: nothing. */
struct fleet_told {
	struct fleet_ids ids[FLEET_N_TABLES];
};
void fleet_told_release(struct fleet_told *t);

/* The batch that values are sent as. */
struct fleet_batch {
	const char *host;
	uint64_t id;		    /* which nobody used before */
	uint64_t day;		    /* since 1970, the same for all of it */
	uint64_t start;		    /* seconds since 1970 */
	uint64_t n_rows, n_samples; /* what was sent */
	uint64_t
		n_left_out; /* values that lost bits or counters which their recording named for itself */
};

/* Sends P to S: dictionaries that T does not have, then values, sums and losses as batch B.  They
 * count once a row in `batches` names B.  R (NULL: none) names places.  Errors as fleet_insert. */
int fleet_send(struct fleet_server *s, const struct profile *p, struct resolver *r,
	       struct fleet_batch *b, struct fleet_told *t, struct err *err);

#endif
