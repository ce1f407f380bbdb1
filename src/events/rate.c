/* SPDX-License-Identifier: BSD-2-Clause */
/* Periods and frequencies.
 *
 * Hardware events take a frequency and the kernel adjusts their period (attr.freq).  Clocks have
 * one fixed period, 1e9 / HZ ns, that is never adjusted.  Two limits are the kernel's: it refuses
 * attr.sample_freq above kernel.perf_event_max_sample_rate, and it silently throttles an event
 * whose fixed period comes more often than that, or a clock with a period under 10 us (kernel:
 * kernel/events/core.c perf_swevent_start_hrtimer).  Both are refused here with the sysctl's name,
 * for a recording that is quietly thinned out misleads. */
#include "events/rate.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "events/check.h"
#include "events/parse.h"

#define NS_PER_S UINT64_C(1000000000)

enum { DEFAULT_FAULT_PERIOD = 100, MIN_CLOCK_PERIOD_NS = 10000 };

/* 0 when it cannot be read. */
static uint64_t max_sample_rate(const struct event_env *env)
{
	_mem_ char *path = xasprintf("%s/sys/kernel/perf_event_max_sample_rate", env->proc);
	_mem_ char *text = NULL;
	uint64_t rate;

	if (file_load(path, 64, &text, NULL, NULL) < 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return str_parse_u64(text, 10, &rate) < 0 ? 0 : rate;
}

static int set_freq(const struct event_env *env, struct event_spec *spec, uint64_t freq_hz,
		    struct err *err)
{
	uint64_t max = max_sample_rate(env);

	if (max && freq_hz > max)
		return err_set(err, -E2BIG,
			       "event \"%s\": %" PRIu64
			       " Hz is above this kernel's limit of %" PRIu64
			       " (sysctl kernel.perf_event_max_sample_rate)",
			       spec->name, freq_hz, max);
	spec->freq_hz = freq_hz;
	if (spec->is_clock) {
		if (freq_hz > NS_PER_S / MIN_CLOCK_PERIOD_NS)
			return err_set(err, -E2BIG,
				       "event \"%s\": the kernel's clock events go up to %" PRIu64
				       " Hz, not %" PRIu64,
				       spec->name, NS_PER_S / MIN_CLOCK_PERIOD_NS, freq_hz);
		spec->attr.freq = 0;
		spec->attr.sample_period = NS_PER_S / freq_hz;
	} else {
		spec->attr.freq = 1;
		spec->attr.sample_freq = freq_hz;
	}
	return 0;
}

static int set_period(const struct event_env *env, struct event_spec *spec, uint64_t period,
		      struct err *err)
{
	uint64_t max = max_sample_rate(env);

	/* perf_event_open(2): bit 63 of a period is refused */
	if (period > INT64_MAX)
		return err_set(err, -EINVAL, "event \"%s\": period %" PRIu64 " is too large",
			       spec->name, period);
	if (spec->is_clock && period < MIN_CLOCK_PERIOD_NS)
		return err_set(err, -E2BIG,
			       "event \"%s\": a period is in nanoseconds here, and the kernel "
			       "takes no less than %d, not %" PRIu64,
			       spec->name, MIN_CLOCK_PERIOD_NS, period);
	if (spec->is_clock && max && NS_PER_S / period > max)
		return err_set(err, -E2BIG,
			       "event \"%s\": a period of %" PRIu64 " ns is above this kernel's "
			       "limit of %" PRIu64
			       " samples/s (sysctl kernel.perf_event_max_sample_rate)",
			       spec->name, period, max);
	/* AMD IBS: the low four bits of a period do not exist in the hardware (Linux
	 * arch/x86/events/amd/ibs.c perf_ibs_init) */
	if (str_starts(spec->name, "ibs_") && spec->kind == EVENT_PMU && period % 16)
		return err_set(err, -EINVAL,
			       "event \"%s\": the period of an IBS event is a multiple of 16; the "
			       "nearest is %" PRIu64,
			       spec->name, period < 16 ? 16 : (period + 8) / 16 * 16);
	spec->freq_hz = 0;
	spec->attr.freq = 0;
	spec->attr.sample_period = period;
	return 0;
}

int event_rate_set(const struct event_env *env, struct event_spec *spec,
		   const struct event_rate *rate, struct err *err)
{
	bool software = spec->attr.type == PERF_TYPE_SOFTWARE && !spec->is_clock;
	uint64_t max;

	if (spec->period)
		return set_period(env, spec, spec->period, err);
	if (spec->freq_hz)
		return set_freq(env, spec, spec->freq_hz, err);
	if (rate->period && rate->freq_hz)
		return err_set(err, -EINVAL, "give a period (-c) or a frequency (-F), not both");
	if (rate->period)
		return set_period(env, spec, rate->period, err);
	if (rate->freq_hz)
		return set_freq(env, spec, rate->freq_hz, err);
	if (software && (spec->attr.config == PERF_COUNT_SW_PAGE_FAULTS ||
			 spec->attr.config == PERF_COUNT_SW_PAGE_FAULTS_MIN))
		return set_period(env, spec, DEFAULT_FAULT_PERIOD, err);
	if (software || spec->attr.type == PERF_TYPE_TRACEPOINT)
		return set_period(env, spec, 1, err);
	/* the kernel lowers its limit by itself where interrupts take long */
	max = max_sample_rate(env);
	return set_freq(env, spec, max && max < EVENT_DEFAULT_HZ ? max : EVENT_DEFAULT_HZ, err);
}

int event_default(const struct event_env *env, struct event_specs *specs, const char **ret_why,
		  struct err *err)
{
	int rc = event_list_parse(env, "cycles", specs, NULL);

	if (rc >= 0) {
		*ret_why = "event: cycles";
		return 0;
	}
	rc = event_list_parse(env, "cpu-clock", specs, err);
	if (rc >= 0)
		*ret_why = "event: cpu-clock (this machine offers no cycle counter)";
	return rc;
}
