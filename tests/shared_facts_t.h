/* SPDX-License-Identifier: BSD-2-Clause */
/* What the header of a made-up histogram file says. */
#ifndef TESTS_SHARED_FACTS_T_H
#define TESTS_SHARED_FACTS_T_H

#include "inproc/shared.h"

static inline struct shared_header made_up_facts(void)
{
	return (struct shared_header){.period = 1000000,
				      .start_ns = 1795301328637974932,
				      .end_ns = 1795301329198863094,
				      .epoch_s = 1795301328,
				      .pid = 77,
				      .bucket_bytes = 1,
				      .is_clock = 1,
				      .event = "task-clock",
				      .host = "walnut",
				      .command = "a program"};
}

#endif
