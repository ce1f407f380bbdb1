/* SPDX-License-Identifier: BSD-2-Clause */
/* Who understands what samples carry of their instruction.  The collector knows where it is in a
 * record, not what it means: that is the formats', above. */
#ifndef COLLECT_FACT_READER_H
#define COLLECT_FACT_READER_H

#include "events/spec.h"
#include "machine/perf_record.h"
#include "model/fact.h"

struct fact_reader {
	/* What SAMPLE of event number I, which is SPEC, tells with F: settled; false when that is
	 * nothing. */
	bool (*read)(struct fact_reader *fr, uint32_t i, const struct event_spec *spec,
		     const struct perf_record *sample, const struct record_facts *f,
		     struct sample_facts *ret);
};

#endif
