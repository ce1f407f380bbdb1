/* SPDX-License-Identifier: BSD-2-Clause */
/* One profile as rows of a fleet's tables. */
#ifndef FLEET_SEND_H
#define FLEET_SEND_H

#include "fleet/ids.h"
#include "fleet/late.h"
#include "fleet/server.h"

/* What a server was told in this process: dictionaries need not be sent twice.  Zeroed: nothing. */
struct fleet_told {
	struct fleet_id_set ids[FLEET_N_TABLES];
	/* A place's number is 0 when its name is final.  Else a name, or another one, may come: it
	 * is twice the pass that looked at the place, + 1 when the place had a name then. */
	struct fleet_ids places;
	uint32_t pass;	   /* from 1 */
	uint64_t server_s; /* when the server was started, since 1970 */
};
void fleet_told_release(struct fleet_told *t);

/* Begins another pass, to a server that was started at SERVER_S.  All is forgotten when it is not
 * the one of before, or when it is much. */
void fleet_told_begin(struct fleet_told *t, uint64_t server_s);

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
 * count once a row in `batches` names B.  N names places, and is told which images may get names
 * yet.  Errors as fleet_insert. */
int fleet_send(struct fleet_server *s, const struct profile *p, struct fleet_names *n,
	       struct fleet_batch *b, struct fleet_told *t, struct err *err);

/* Sends names of P's places alone, those that N wants and T does not have.  Errors as
 * fleet_insert. */
int fleet_send_names(struct fleet_server *s, const struct profile *p, struct fleet_names *n,
		     struct fleet_told *t, struct err *err);

#endif
