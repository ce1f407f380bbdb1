/* SPDX-License-Identifier: BSD-2-Clause */
/* What the processes of a build hand each other once things have their numbers: to each the records
 * of its profiles, to all what databases' contexts and metrics have become, to number 0 time lines
 * and statistics. With one process nothing happens. */
#ifndef HPC_DISTRIBUTE_H
#define HPC_DISTRIBUTE_H

#include "hpc/reduce.h"
#include "hpc/statistics.h"

/* Gives the records of each profile to the process whose turn it is (out.h); B's records are its
 * own then, under final numbers (RECORD_NUMBERED), their groups being profiles from 0. */
int distribute_records(struct build *b, const struct numbers *n, struct err *err);

/* Tells all what the contexts and metrics of database D have become, which process OWNER knows. */
int distribute_database(const struct build *b, struct database *d, unsigned owner, struct err *err);

/* Gathers the time lines, which are numbered. */
int gather_timelines(struct build *b, struct err *err);

/* Gathers the statistics of all ranges. */
int gather_statistics(const struct build *b, struct statistics *s, struct err *err);

#endif
