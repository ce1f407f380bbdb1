/* SPDX-License-Identifier: BSD-2-Clause */
/* The first native events are those that perf names itself, on any machine; each name that is asked
 * for and found elsewhere (event_name.h) becomes the next.  None is ever taken back, so that codes
 * stay. */
#include "inproc/papi/native.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/event_name.h"

enum { MAX_NAMED = 4096 };

/* What perf names itself: perf_event.h enum perf_sw_ids, perf_hw_id, perf_hw_cache_id.  The names
 * are libpfm4's, whose table of this kind is called perf. */
static const struct fixed {
	const char *name, *other;
	uint32_t type, config;
	const char *description;
} fixed[] = {
#define SW(n, id, d)                                                                               \
	{                                                                                          \
		"perf::" n, "perf::PERF_COUNT_SW_" #id, 1, PERF_COUNT_SW_##id, d                   \
	}
#define HW(n, id, d)                                                                               \
	{                                                                                          \
		"perf::" n, "perf::PERF_COUNT_HW_" #id, 0, PERF_COUNT_HW_##id, d                   \
	}
#define CACHE(n, id, op, result, d)                                                                \
	{                                                                                          \
		"perf::" n, "perf::" n, 3,                                                         \
			PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 |              \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16,                         \
			d                                                                          \
	}
	SW("CPU-CLOCK", CPU_CLOCK, "CPU time in nanoseconds, by a timer of the CPU"),
	SW("TASK-CLOCK", TASK_CLOCK, "CPU time of the thread in nanoseconds"),
	SW("PAGE-FAULTS", PAGE_FAULTS, "page faults"),
	SW("CONTEXT-SWITCHES", CONTEXT_SWITCHES, "context switches"),
	SW("CPU-MIGRATIONS", CPU_MIGRATIONS, "moves to another CPU"),
	SW("MINOR-FAULTS", PAGE_FAULTS_MIN, "page faults without input or output"),
	SW("MAJOR-FAULTS", PAGE_FAULTS_MAJ, "page faults with input or output"),
	SW("ALIGNMENT-FAULTS", ALIGNMENT_FAULTS, "misaligned accesses the kernel mended"),
	SW("EMULATION-FAULTS", EMULATION_FAULTS, "instructions the kernel emulated"),
	HW("CYCLES", CPU_CYCLES, "CPU cycles"),
	HW("INSTRUCTIONS", INSTRUCTIONS, "instructions completed"),
	HW("CACHE-REFERENCES", CACHE_REFERENCES, "accesses of the last level cache"),
	HW("CACHE-MISSES", CACHE_MISSES, "misses of the last level cache"),
	HW("BRANCH-INSTRUCTIONS", BRANCH_INSTRUCTIONS, "branch instructions"),
	HW("BRANCH-MISSES", BRANCH_MISSES, "branches mispredicted"),
	HW("BUS-CYCLES", BUS_CYCLES, "bus cycles"),
	HW("REF-CYCLES", REF_CPU_CYCLES, "cycles of the reference clock"),
	CACHE("L1-DCACHE-LOADS", L1D, READ, ACCESS, "loads that asked the level 1 data cache"),
	CACHE("L1-DCACHE-LOAD-MISSES", L1D, READ, MISS, "loads that missed the level 1 data cache"),
	CACHE("L1-DCACHE-STORES", L1D, WRITE, ACCESS, "stores that asked the level 1 data cache"),
	CACHE("L1-DCACHE-STORE-MISSES", L1D, WRITE, MISS, "stores that missed it"),
	CACHE("L1-ICACHE-LOADS", L1I, READ, ACCESS, "fetches from the level 1 instruction cache"),
	CACHE("L1-ICACHE-LOAD-MISSES", L1I, READ, MISS, "fetches that missed it"),
	CACHE("LLC-LOAD-MISSES", LL, READ, MISS, "loads that missed the last level cache"),
	CACHE("LLC-STORE-MISSES", LL, WRITE, MISS, "stores that missed the last level cache"),
	CACHE("ITLB-LOAD-MISSES", ITLB, READ, MISS, "fetches that missed the instruction TLB"),
};

enum { N_FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct papi_native *named[MAX_NAMED];
static int n_named;
static signed char works[N_FIXED + MAX_NAMED]; /* 0: not tried yet */

void papi_natives_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}

static bool is_clock(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Under the lock. */
static int find_or_add(const char *name)
{
	struct tick_spec spec = {0};
	struct papi_native *new;
	char *copy;

	for (int i = 0; i < n_named; i++)
		if (strcmp(named[i]->name, name) == 0)
			return N_FIXED + i;
	if (n_named == MAX_NAMED || event_name_find(name, &spec) < 0)
		return -1;
	new = malloc(sizeof(*new));
	copy = strdup(name);
	if (!new || !copy) {
		free(new);
		free(copy);
		return -1;
	}
	*new = (struct papi_native){.name = copy, .description = copy, .spec = spec};
	named[n_named] = new;
	return N_FIXED + n_named++;
}

int papi_native_named(const char *name)
{
	const char *plain = strncmp(name, "perf::", 6) == 0 ? name + 6 : name;
	int n;

	for (int i = 0; i < N_FIXED; i++)
		if (strcasecmp(plain, fixed[i].name + 6) == 0 ||
		    strcasecmp(plain, fixed[i].other + 6) == 0)
			return i;
	pthread_mutex_lock(&lock);
	n = find_or_add(name);
	pthread_mutex_unlock(&lock);
	return n;
}

bool papi_native_get(int n, struct papi_native *ret)
{
	bool there;

	if (n < 0)
		return false;
	if (n < N_FIXED) {
		*ret = (struct papi_native){
			.name = fixed[n].name,
			.description = fixed[n].description,
			.spec = {.type = fixed[n].type,
				 .config = fixed[n].config,
				 .is_clock = is_clock(fixed[n].type, fixed[n].config)}};
		return true;
	}
	pthread_mutex_lock(&lock);
	there = n - N_FIXED < n_named;
	if (there)
		*ret = *named[n - N_FIXED];
	pthread_mutex_unlock(&lock);
	return there;
}

/* Whether perf counts it, or, for a clock, timers can. */
static bool try(const struct tick_spec *s)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = s->type,
				       .config = s->config,
				       .config1 = s->config1,
				       .config2 = s->config2,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return s->is_clock;
	close((int)fd);
	return true;
}

bool papi_native_works(int n)
{
	struct papi_native native;
	signed char known;

	if (!papi_native_get(n, &native))
		return false;
	known = __atomic_load_n(&works[n], __ATOMIC_RELAXED);
	if (!known) {
		known = try(&native.spec) ? 1 : -1;
		__atomic_store_n(&works[n], known, __ATOMIC_RELAXED);
	}
	return known > 0;
}
