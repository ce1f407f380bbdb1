/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads what live samples carry of their instruction, with the decoders that perf.data files are
 * read with. */
#ifndef DAEMON_SAMPLE_FACTS_H
#define DAEMON_SAMPLE_FACTS_H

#include "collect/fact_reader.h"
#include "collect/log.h"
#include "formats/facts/fact_defs.h"
#include "formats/facts/ibs.h"

struct sample_facts_reader {
	struct fact_reader reader;
	struct ibs_machine amd;
	const struct fact_defs *defs;  /* facts to take besides; NULL: none */
	bool retdelay[LOG_MAX_EVENTS]; /* some sample of the event told it */
};

/* The reader of facts for this machine, which PROC's ("/proc") cpuinfo describes. */
struct fact_reader *sample_facts_init(struct sample_facts_reader *r, const char *proc);

#endif
