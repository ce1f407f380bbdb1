/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables of running processes before the first sample. */
#ifndef COLLECT_EARLY_TABLES_H
#define COLLECT_EARLY_TABLES_H

#include <stdint.h>

struct collector;

/* Asks for the tables of all that C's processes map, the busiest processes first, and takes those
 * that come within BUDGET_NS.  To be called when the processes are known and nothing samples yet.
 * Without tables, or without a log, it does nothing. */
void early_tables(struct collector *c, uint64_t budget_ns);

#endif
