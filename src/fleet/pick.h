/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rows of a fleet's database a question reads: sums of whole days where there are such, and
 * values of segments for what those sums lack or have too much. */
#ifndef FLEET_PICK_H
#define FLEET_PICK_H

#include "fleet/load.h"
#include "fleet/server.h"

/* Sums of a day, of a set of batches. */
struct fleet_rollup {
	uint64_t id, day;
	uint64_t n_batches; /* that it sums */
	uint64_t n_wanted;  /* of these, those that count for the question */
};
typedef VEC(struct fleet_rollup) fleet_rollup_list;

/* Whether R's sum is nearer to what is wanted than nothing is. */
static inline bool fleet_rollup_is_used(const struct fleet_rollup *r)
{
	return r->n_wanted > r->n_batches - r->n_wanted;
}

/* Batches of a rollup that began within an hour (since 1970). */
struct fleet_cell {
	uint64_t rollup, hour, n_batches, n_wanted;
};
typedef VEC(struct fleet_cell) fleet_cell_list;

/* Hours that are read besides sums of days: conditions of rows, "" of none. */
struct fleet_hours {
	fleet_cell_list cells;
	struct str sums;   /* of rows in `hourly_procedures`, and in `rolled` */
	struct str counts; /* of rows in `counts` */
};

struct fleet_pick {
	VEC(char *) hosts; /* that SEL names */
	uint64_t since_ns, until_ns;
	uint64_t newest_ns; /* sample that is not ahead of the server's clock, if there is one */
	uint64_t first_day, last_day, start_ns, end_ns, n_batches; /* of what is wanted */
	fleet_rollup_list rollups;				   /* that are used */
	struct fleet_hours added, taken; /* hours that they lack, or have too much */
	bool has_rest;			 /* values of segments are to be read besides */
	struct str batches; /* a condition of rows in `batches`: those of the hosts and times */
	struct str wanted;  /* a SELECT of the batches that count */
	struct str rows;    /* a condition of rows that carry a batch that counts */
	struct str rolled;  /* a SELECT of the batches in sums that are read; "": none are */
	struct str daily;   /* a condition of rows in `daily` */
	struct str rest;    /* a condition of rows in `counts`: what sums lack or have too much */
};

/* Finds the hosts and times of SEL: hosts, times, batches.  -ENOENT: no such host. */
int fleet_pick_hosts(struct fleet_pick *k, struct fleet_server *s,
		     const struct fleet_selection *sel, struct err *err);

/* Fills K, zeroed, for SEL; BY_HOUR: sums of hours may be read.  -ENOENT: nothing there.  Release
 * it in any case. */
int fleet_pick(struct fleet_pick *k, struct fleet_server *s, const struct fleet_selection *sel,
	       bool by_hour, struct err *err);
void fleet_pick_release(struct fleet_pick *k);

/* Appends to RET the sums of days, no batch in two of them, with how many of their batches are
 * among those that WANTED selects; and to CELLS, unless it is NULL, their hours. */
int fleet_find_rollups(struct fleet_server *s, const char *wanted, fleet_rollup_list *ret,
		       fleet_cell_list *cells, struct err *err);

#endif
