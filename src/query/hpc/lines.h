/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace lines of an HPCToolkit database as a reader asked for them: which threads, which part of
 * the time.  Where a part begins is found by binary search; what lies outside is not read. */
#ifndef QUERY_HPC_LINES_H
#define QUERY_HPC_LINES_H

#include "query/hpc/query.h"

struct hpc_line {
	struct hpc_trace trace;
	uint64_t start_ns, end_ns; /* of its first and last point, since 1970 */
	uint64_t first, n;	   /* points in the range */
};

struct hpc_lines {
	VEC(struct hpc_line) lines; /* with points, as the file has them */
	uint64_t zero_ns;	    /* no point is before it: what the file says, else the first */
	uint64_t from_ns, to_ns;    /* the range, since 1970: [from, to) */
	uint64_t n_points;
};

struct hpc_lines_opts {
	bool has_from, has_to;
	uint64_t from_ns, to_ns; /* since zero_ns */
};

/* Finds the lines of Q's threads.  Errors: -ENOENT when the database has no traces or a range ends
 * before it begins, -EBADMSG for a damaged file. */
int hpc_lines_find(struct hpc_lines *l, const struct hpc_query *q, const struct hpc_lines_opts *o,
		   struct err *err);
void hpc_lines_release(struct hpc_lines *l);

/* Counts LINE's points in N equal stretches of the range into RET; returns the largest. */
uint64_t hpc_lines_density(const struct hpc_lines *l, const struct hpc_line *line, unsigned n,
			   uint64_t *ret);

/* Where stretch I of N begins, since 1970; I == N: where the range ends. */
uint64_t hpc_lines_stretch(const struct hpc_lines *l, unsigned n, unsigned i);

#endif
