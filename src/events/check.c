/* SPDX-License-Identifier: BSD-2-Clause */
/* Support is found by opening the event, never by looking at the CPU's name: a virtual machine
 * reports the host's model and has no counters, a kernel may lack a driver.
 *
 * What perf_event_open(2) says: ENOENT no driver takes the event; EOPNOTSUPP it cannot interrupt,
 * or not so precisely; EINVAL the driver refuses the encoding; EACCES and
 * EPERM the user may not. */
#include "events/check.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

/* A multiple of 16, as AMD IBS demands (observed: EINVAL otherwise), and long enough that no sample
 * comes before the event is closed. */
enum { PROBE_PERIOD = 1 << 20 };

enum event_support event_support_of(const struct event_env *env, const struct event_spec *spec,
				    unsigned *ret_precise)
{
	struct event_spec s = *spec;
	int rc;

	/* a tracepoint that has a number works, and opening one patches the running kernel */
	if (!env->probe || spec->kind == EVENT_TRACEPOINT)
		return EVENT_SUPPORTED;
	s.attr.sample_period = PROBE_PERIOD;
	s.attr.freq = 0;
	s.attr.sample_type = PERF_SAMPLE_IP;
	rc = env->probe(&s);
	if (rc == 0)
		return EVENT_SUPPORTED;
	if (rc == -EACCES || rc == -EPERM)
		return EVENT_NOT_PERMITTED;
	while (s.attr.precise_ip > 0) {
		s.attr.precise_ip--;
		if (env->probe(&s) == 0) {
			if (ret_precise)
				*ret_precise = s.attr.precise_ip;
			return EVENT_LESS_PRECISE;
		}
	}
	s.attr.sample_period = 0;
	s.attr.sample_type = 0;
	return env->probe(&s) == 0 ? EVENT_COUNTS_ONLY : EVENT_UNSUPPORTED;
}

int event_check_supported(const struct event_env *env, const struct event_spec *spec,
			  struct err *err)
{
	unsigned precise = 0;

	switch (event_support_of(env, spec, &precise)) {
	case EVENT_SUPPORTED:
	case EVENT_NOT_PERMITTED:
		return 0;
	case EVENT_COUNTS_ONLY:
		return err_set(err, -EOPNOTSUPP,
			       "this machine can count it but not sample it; cpu-clock can be "
			       "sampled everywhere");
	case EVENT_LESS_PRECISE:
		return err_set(err, -EOPNOTSUPP,
			       "this machine does not sample it so precisely; use %s",
			       precise == 0   ? "it without p"
			       : precise == 1 ? ":p"
					      : ":pp");
	case EVENT_UNSUPPORTED:
		break;
	}
	if (spec->kind == EVENT_SOFTWARE)
		return err_set(err, -EOPNOTSUPP, "this kernel does not support it");
	return err_set(err, -EOPNOTSUPP,
		       "a known event that this machine does not support%s; the nearest that works "
		       "is cpu-clock",
		       spec->attr.type == PERF_TYPE_HARDWARE ? " (no such hardware counter, as in "
							       "most virtual machines)"
							     : "");
}
