/* SPDX-License-Identifier: BSD-2-Clause */
/* How often the code of a program ran, for compilers. */
#ifndef QUERY_SAMPLES_RUNS_H
#define QUERY_SAMPLES_RUNS_H

#include "port/stacks.h"
#include "query/samples/query.h"

/* Fills the runs of TO, whose samples are Q's and settled. */
void samples_runs(struct query *q, struct stacks *to);

#endif
