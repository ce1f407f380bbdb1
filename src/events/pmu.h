/* SPDX-License-Identifier: BSD-2-Clause */
/* PMUs as sysfs describes them: SYSFS/bus/event_source/devices/PMU/{type,format/,events/}. */
#ifndef EVENTS_PMU_H
#define EVENTS_PMU_H

#include "events/spec.h"

/* perf_event.h PERF_PMU_TYPE_SHIFT: where attr.config of a hardware or cache event names one PMU,
 * since Linux 5.13 */
enum { EVENT_PMU_TYPE_SHIFT = 32 };

/* Encodes TERMS ("event=0x3c,umask=0", an alias from events/, config=N, rHEX, period=, freq=,
 * name=;
 * "" for none) for PMU into SPEC: kind, attr's type and configs, period, freq_hz, and name when a
 * name= term gives one.  Errors: -ENOENT no such PMU or term, -EINVAL a bad value
 * or format file. */
int event_pmu_encode(const struct event_env *env, const char *pmu, const char *terms,
		     struct event_spec *spec, struct err *err);

/* Finds the PMU that lists event NAME in its events/ folder, CPU PMUs first.  Returns the PMU's
 * name, freed by the caller, or NULL. */
char *event_pmu_of_event(const struct event_env *env, const char *name);

/* The PMUs, the events of one, its format terms: calls EACH with each name in byte order. */
typedef void event_pmu_each_fn(const char *name, void *arg);
void event_pmu_each(const struct event_env *env, event_pmu_each_fn *each, void *arg);
void event_pmu_each_event(const struct event_env *env, const char *pmu, event_pmu_each_fn *each,
			  void *arg);
void event_pmu_each_term(const struct event_env *env, const char *pmu, event_pmu_each_fn *each,
			 void *arg);

/* The text of FILE ("type", "events/mem-loads", ...) of PMU without the newline, freed by the
 * caller, or NULL. */
char *event_pmu_text(const struct event_env *env, const char *pmu, const char *file);

/* Whether PMU belongs to the CPUs themselves. */
bool event_pmu_is_core(const struct event_env *env, const char *pmu);

/* Calls EACH for each entry of folder PATH in byte order, those that start with '.' left out.
 * Returns 0 or a negative errno. */
int event_dir_each(const char *path, event_pmu_each_fn *each, void *arg);

#endif
