/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the kernel's own event names.
 *
 * Numbers are those of <linux/perf_event.h>; spellings are those that `perf list` prints, so that
 * what people know from there works here.  Cache events are CACHE-OP or CACHE-OP-misses; which
 * operations a cache has follows perf_event.h and the hardware: an instruction cache and a TLB for
 * instructions are never stored to, a branch unit is only read. */
#include "events/names.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

/* perf_event.h enum perf_sw_ids, enum perf_hw_id */
static const struct event_name names[] = {
	{"cpu-clock", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
	 "time of each CPU, by its own timer (ns)"},
	{"task-clock", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK,
	 "CPU time of the task recorded (ns)"},
	{"page-faults", "faults", EVENT_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page faults"},
	{"minor-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN,
	 "page faults served without disk"},
	{"major-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	 "page faults that waited for disk"},
	{"context-switches", "cs", EVENT_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
	 "switches to another task"},
	{"cpu-migrations", "migrations", EVENT_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS,
	 "moves of a task to another CPU"},
	{"alignment-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS,
	 "unaligned accesses the kernel repaired"},
	{"emulation-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS,
	 "instructions the kernel emulated"},
	{"dummy", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_DUMMY, "counts nothing"},
	{"bpf-output", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT,
	 "records written by BPF programs"},
	{"cgroup-switches", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES,
	 "switches to a task of another cgroup"},

	{"cycles", "cpu-cycles", EVENT_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "CPU cycles"},
	{"instructions", NULL, EVENT_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "retired instructions"},
	{"cache-references", NULL, EVENT_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES,
	 "last-level cache accesses"},
	{"cache-misses", NULL, EVENT_HARDWARE, PERF_COUNT_HW_CACHE_MISSES,
	 "last-level cache misses"},
	{"branches", "branch-instructions", EVENT_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	 "retired branch instructions"},
	{"branch-misses", NULL, EVENT_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
	 "mispredicted branch instructions"},
	{"bus-cycles", NULL, EVENT_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "bus cycles"},
	{"stalled-cycles-frontend", "idle-cycles-frontend", EVENT_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "cycles in which no instruction was issued"},
	{"stalled-cycles-backend", "idle-cycles-backend", EVENT_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "cycles in which no instruction could complete"},
	{"ref-cycles", NULL, EVENT_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES,
	 "cycles at a fixed frequency"},
};

enum { OP_LOAD = 1, OP_STORE = 2, OP_PREFETCH = 4 };

static const struct cache {
	const char *name, *synonym;
	const char *what;
	unsigned id;  /* perf_event.h enum perf_hw_cache_id */
	unsigned ops; /* OP_* */
} caches[] = {
	{"L1-dcache", "l1d", "level 1 data cache", PERF_COUNT_HW_CACHE_L1D,
	 OP_LOAD | OP_STORE | OP_PREFETCH},
	{"L1-icache", "l1i", "level 1 instruction cache", PERF_COUNT_HW_CACHE_L1I,
	 OP_LOAD | OP_PREFETCH},
	{"LLC", "L2", "last-level cache", PERF_COUNT_HW_CACHE_LL, OP_LOAD | OP_STORE | OP_PREFETCH},
	{"dTLB", "d-tlb", "data TLB", PERF_COUNT_HW_CACHE_DTLB, OP_LOAD | OP_STORE | OP_PREFETCH},
	{"iTLB", "i-tlb", "instruction TLB", PERF_COUNT_HW_CACHE_ITLB, OP_LOAD},
	{"branch", "bpu", "branch prediction unit", PERF_COUNT_HW_CACHE_BPU, OP_LOAD},
	{"node", NULL, "memory of this NUMA node", PERF_COUNT_HW_CACHE_NODE,
	 OP_LOAD | OP_STORE | OP_PREFETCH},
};

static const struct cache_op {
	const char *name, *plural;
	const char *what;
	unsigned id; /* perf_event.h enum perf_hw_cache_op_id */
	unsigned bit;
} cache_ops[] = {
	{"load", "loads", "loads", PERF_COUNT_HW_CACHE_OP_READ, OP_LOAD},
	{"store", "stores", "stores", PERF_COUNT_HW_CACHE_OP_WRITE, OP_STORE},
	{"prefetch", "prefetches", "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, OP_PREFETCH},
};

/* perf_event.h: config = id | op << 8 | result << 16 for PERF_TYPE_HW_CACHE */
static uint64_t cache_config(const struct cache *c, const struct cache_op *op, bool misses)
{
	return c->id | (uint64_t)op->id << 8 |
	       (uint64_t)(misses ? PERF_COUNT_HW_CACHE_RESULT_MISS
				 : PERF_COUNT_HW_CACHE_RESULT_ACCESS)
		       << 16;
}

static char *cache_name(const struct cache *c, const struct cache_op *op, bool misses)
{
	return misses ? xasprintf("%s-%s-misses", c->name, op->name)
		      : xasprintf("%s-%s", c->name, op->plural);
}

/* The part of NAME behind "CACHE-", by its name or synonym; NULL when it starts otherwise. */
static const char *behind_cache(const struct cache *c, const char *name)
{
	const char *const starts[] = {c->name, c->synonym};

	for (size_t i = 0; i < n_elems(starts); i++) {
		size_t n = starts[i] ? strlen(starts[i]) : 0;

		if (n && strncmp(name, starts[i], n) == 0 && name[n] == '-')
			return name + n + 1;
	}
	return NULL;
}

static bool op_matches(const struct cache_op *op, const char *text, bool *ret_misses)
{
	size_t n = strlen(op->name);

	if (strcmp(text, op->plural) == 0) {
		*ret_misses = false;
		return true;
	}
	if (strncmp(text, op->name, n) == 0 && strcmp(text + n, "-misses") == 0) {
		*ret_misses = true;
		return true;
	}
	return false;
}

static int cache_find(const char *name, struct event_spec *spec, char **ret_name)
{
	for (const struct cache *c = caches; c < caches + n_elems(caches); c++) {
		const char *rest = behind_cache(c, name);

		for (const struct cache_op *op = cache_ops;
		     rest && op < cache_ops + n_elems(cache_ops); op++) {
			bool misses;

			if (!(c->ops & op->bit) || !op_matches(op, rest, &misses))
				continue;
			spec->kind = EVENT_CACHE;
			spec->attr.type = PERF_TYPE_HW_CACHE;
			spec->attr.config = cache_config(c, op, misses);
			*ret_name = cache_name(c, op, misses);
			return 0;
		}
	}
	return -ENOENT;
}

int event_names_find(const char *name, struct event_spec *spec, char **ret_name)
{
	for (const struct event_name *e = names; e < names + n_elems(names); e++) {
		if (strcmp(name, e->name) != 0 && (!e->synonym || strcmp(name, e->synonym) != 0))
			continue;
		spec->kind = e->kind;
		spec->attr.type =
			e->kind == EVENT_SOFTWARE ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
		spec->attr.config = e->config;
		spec->is_clock = e->kind == EVENT_SOFTWARE && e->config <= PERF_COUNT_SW_TASK_CLOCK;
		spec->unit = spec->is_clock ? "ns" : "";
		*ret_name = xstrdup(e->name);
		return 0;
	}
	return cache_find(name, spec, ret_name);
}

void event_names_each(void (*each)(const struct event_name *name, void *arg), void *arg)
{
	for (const struct event_name *e = names; e < names + n_elems(names); e++)
		each(e, arg);
	for (const struct cache *c = caches; c < caches + n_elems(caches); c++) {
		for (size_t i = 0; i < 2 * n_elems(cache_ops); i++) {
			const struct cache_op *op = &cache_ops[i / 2];
			bool misses = i & 1;
			char *name, *what;

			if (!(c->ops & op->bit))
				continue;
			name = cache_name(c, op, misses);
			what = xasprintf("%s: %s%s", c->what, op->what,
					 misses ? " that missed" : "");
			each(&(struct event_name){.name = name,
						  .kind = EVENT_CACHE,
						  .config = cache_config(c, op, misses),
						  .description = what},
			     arg);
			free(name);
			free(what);
		}
	}
}
