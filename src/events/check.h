/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether this machine can sample an event. */
#ifndef EVENTS_CHECK_H
#define EVENTS_CHECK_H

#include "events/spec.h"

enum event_support {
	EVENT_SUPPORTED,
	EVENT_COUNTS_ONLY,  /* can be counted, but raises no interrupts */
	EVENT_LESS_PRECISE, /* works, with fewer p */
	EVENT_UNSUPPORTED,
	EVENT_NOT_PERMITTED, /* this user may not try; nothing is known */
};

/* Tries SPEC through ENV's probe.  With EVENT_LESS_PRECISE *RET_PRECISE (may be NULL) is the
 * highest precise_ip that works.  Without a probe all is supported. */
enum event_support event_support_of(const struct event_env *env, const struct event_spec *spec,
				    unsigned *ret_precise);

/* Fails with -EOPNOTSUPP and one line that says what this machine lacks and what works instead,
 * when SPEC cannot be sampled here.  Not being permitted to try is no failure. */
int event_check_supported(const struct event_env *env, const struct event_spec *spec,
			  struct err *err);

#endif
