/* SPDX-License-Identifier: BSD-2-Clause */
/* See group.h.
 *
 * Intel's top-down metrics are shares of the slots, which one register tells.  The kernel counts
 * them in a group that slots lead, and refuses them elsewhere (Linux, arch/x86/events/intel/core.c,
 * intel_pmu_hw_config, "must be in a group with slots").  perf puts them there by itself
 * (tools/perf/arch/x86/util/evlist.c), so people write them in any order:
 *
 *     topdown-retiring,slots,cycles,topdown-fe-bound
 *
 * becomes the group slots, topdown-retiring, topdown-fe-bound, and cycles alone. */
#include "events/group.h"

#include <errno.h>

/* Linux, arch/x86/include/asm/perf_event.h: INTEL_TD_SLOTS, INTEL_TD_METRIC_RETIRING to
 * INTEL_TD_METRIC_MEM_BOUND, INTEL_ARCH_EVENT_MASK. */
#define CONFIG_MASK  0xffffu
#define SLOTS	     0x0400u
#define FIRST_METRIC 0x8000u
#define LAST_METRIC  0x8700u

static bool is_core_pmu(const struct event_spec *s)
{
	return s->kind == EVENT_RAW || s->kind == EVENT_PMU;
}

static bool is_slots(const struct event_spec *s)
{
	return is_core_pmu(s) && (s->attr.config & CONFIG_MASK) == SLOTS;
}

static bool is_metric(const struct event_spec *s)
{
	const uint64_t config = s->attr.config & CONFIG_MASK;

	return is_core_pmu(s) && !(config & 0xff) && config >= FIRST_METRIC &&
	       config <= LAST_METRIC;
}

/* Cores of different kinds count by themselves: the upper half of a portable event's config names
 * the kind (perf_event.h PERF_PMU_TYPE_SHIFT). */
static uint64_t kind_of_core(const struct event_spec *s)
{
	return s->kind == EVENT_HARDWARE || s->kind == EVENT_CACHE ? s->attr.config >> 32 : 0;
}

static bool same_group(const struct event_spec *a, const struct event_spec *b)
{
	return a->group == b->group && kind_of_core(a) == kind_of_core(b);
}

size_t event_group_leader(const struct event_specs *specs, size_t i)
{
	const struct event_spec *s = &specs->v[i];
	size_t first = SIZE_MAX;

	if (!s->group)
		return i;
	for (size_t k = 0; k < specs->n; k++) {
		if (!same_group(s, &specs->v[k]))
			continue;
		if (is_slots(&specs->v[k]))
			return k;
		first = first == SIZE_MAX ? k : first;
	}
	return first;
}

static bool same_side(const struct event_spec *a, const struct event_spec *b)
{
	return a->attr.type == b->attr.type && a->attr.exclude_user == b->attr.exclude_user &&
	       a->attr.exclude_kernel == b->attr.exclude_kernel &&
	       a->attr.exclude_hv == b->attr.exclude_hv;
}

int event_groups_settle(struct event_specs *specs, struct err *err)
{
	unsigned n_groups = 0;

	vec_each (s, specs)
		n_groups = s->group > n_groups ? s->group : n_groups;
	vec_each (s, specs) {
		struct event_spec *slots = NULL;

		if (!is_metric(s))
			continue;
		vec_each (k, specs)
			if (is_slots(k) && same_side(k, s) &&
			    (!slots || (s->group && k->group == s->group)))
				slots = k;
		if (!slots)
			return err_set(err, -EINVAL,
				       "%s: is counted beside slots only: -e slots,%s", s->name,
				       s->name);
		if (!slots->group)
			slots->group = ++n_groups;
		s->group = slots->group;
	}
	return 0;
}
