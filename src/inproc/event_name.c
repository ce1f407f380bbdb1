/* SPDX-License-Identifier: BSD-2-Clause */
/* See event_name.h.  libpfm4 is opened when a name is in no table here: most programs need none of
 * it, and it takes milliseconds to begin. */
#include "inproc/event_name.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>

struct known_event {
	const char *name;
	uint32_t type;
	uint32_t config;
	bool is_clock;
};

/* perf_event.h: enum perf_sw_ids, perf_hw_id; the names are perf's. */
static const struct known_event known[] = {
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false},
};

/* What libpfm4 says of NAME. */
static int ask_libpfm(const char *name, struct tick_spec *ret)
{
	void *lib = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	__typeof__(&pfm_initialize) initialize = lib ? dlsym(lib, "pfm_initialize") : NULL;
	__typeof__(&pfm_get_os_event_encoding) encode =
		lib ? dlsym(lib, "pfm_get_os_event_encoding") : NULL;
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
	int r = -ENOENT;

	if (initialize && encode && initialize() == PFM_SUCCESS &&
	    encode(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) == PFM_SUCCESS) {
		ret->type = attr.type;
		ret->config = attr.config;
		ret->config1 = attr.config1;
		ret->config2 = attr.config2;
		ret->is_clock = attr.type == PERF_TYPE_SOFTWARE &&
				(attr.config == PERF_COUNT_SW_CPU_CLOCK ||
				 attr.config == PERF_COUNT_SW_TASK_CLOCK);
		r = 0;
	}
	if (lib)
		dlclose(lib);
	return r;
}

int event_name_find(const char *name, struct tick_spec *ret)
{
	char *end;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0) {
			ret->type = known[i].type;
			ret->config = known[i].config;
			ret->config1 = ret->config2 = 0;
			ret->is_clock = known[i].is_clock;
			return 0;
		}
	if (name[0] == 'r' && name[1]) {
		unsigned long long config = strtoull(name + 1, &end, 16);

		if (!*end && end > name + 1) {
			ret->type = PERF_TYPE_RAW;
			ret->config = config;
			ret->config1 = ret->config2 = 0;
			ret->is_clock = false;
			return 0;
		}
	}
	return ask_libpfm(name, ret);
}
