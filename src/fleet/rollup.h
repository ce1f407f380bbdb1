/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of days, which the server makes of the values that count, so that questions about weeks need
 * not read each segment of each host. */
#ifndef FLEET_ROLLUP_H
#define FLEET_ROLLUP_H

#include "fleet/server.h"

struct rollup_totals {
	uint64_t n_days; /* summed anew */
	uint64_t n_dropped;
};

/* Brings the sums of all days up to date and drops those that nobody reads any more.  May run on
 * several hosts at once, and may be killed.  Errors as fleet_run. */
int fleet_roll_up(struct fleet_server *s, struct rollup_totals *ret, struct err *err);

#endif
