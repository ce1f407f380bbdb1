/* SPDX-License-Identifier: BSD-2-Clause */
/* CPUs of several kinds (Intel's P and E cores, Arm's big and little ones) have a PMU for each
 * kind, which lists its CPUs in a file "cpus".  The kernel opens a portable event such as cycles on
 * the first PMU only, so that the other CPUs would silently give no samples.  Since Linux 5.13 the
 * upper half of attr.config names the PMU (perf_event.h PERF_PMU_TYPE_SHIFT); so the event becomes
 * several, one for each PMU, as the counts of different kinds of CPU do not add up anyway.  An
 * older kernel refuses all of them, and then the event stays whole. */
#include "events/split.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "events/check.h"
#include "events/pmu.h"

struct splitting {
	const struct event_env *env;
	const struct event_spec *whole;
	struct event_specs parts;
	size_t n_pmus;
};

static void add_part(const char *pmu, void *arg)
{
	struct splitting *s = arg;
	_mem_ char *cpus = event_pmu_text(s->env, pmu, "cpus");
	_mem_ char *type = event_pmu_text(s->env, pmu, "type");
	const char *name = s->whole->name;
	size_t n = strcspn(name, ":");
	struct event_spec part = *s->whole;
	uint64_t number;

	if (!cpus || !type || str_parse_u64(type, 10, &number) < 0 || number > UINT32_MAX)
		return;
	s->n_pmus++;
	part.attr.config |= number << EVENT_PMU_TYPE_SHIFT;
	part.name = xasprintf("%s/%.*s/%s", pmu, (int)n, name, name + n + (name[n] == ':'));
	if (event_check_supported(s->env, &part, NULL) >= 0)
		vec_push(&s->parts, part);
	else
		event_spec_release(&part);
}

void event_split(const struct event_env *env, struct event_spec *whole, struct event_specs *specs)
{
	struct splitting s = {.env = env, .whole = whole};

	if (whole->kind == EVENT_HARDWARE || whole->kind == EVENT_CACHE)
		event_pmu_each(env, add_part, &s);
	if (s.n_pmus < 2 || !s.parts.n) {
		event_specs_release(&s.parts);
		vec_push(specs, *whole);
		return;
	}
	vec_each (part, &s.parts)
		vec_push(specs, *part);
	vec_release(&s.parts);
	event_spec_release(whole);
}
