/* SPDX-License-Identifier: BSD-2-Clause */
/* One event ready to open, and where the machine's facts about events are read from. */
#ifndef EVENTS_SPEC_H
#define EVENTS_SPEC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"

enum event_kind {
	EVENT_SOFTWARE,	  /* counted by the kernel itself */
	EVENT_HARDWARE,	  /* the kernel's portable hardware names */
	EVENT_CACHE,	  /* L1-dcache-load-misses and its kind */
	EVENT_RAW,	  /* rNNN */
	EVENT_PMU,	  /* pmu/terms/, or an event a PMU lists in sysfs */
	EVENT_TRACEPOINT, /* group:name */
	EVENT_PFM,	  /* named by libpfm4 */
};

/* "software", "hardware", ...; never NULL. */
const char *event_kind_name(enum event_kind kind);

/* The facts that samples carry about their instruction, by who can read them (fact_reader.h). */
enum event_facts {
	EVENT_FACTS_NONE,
	EVENT_FACTS_FIELDS,    /* fields of the sample */
	EVENT_FACTS_IBS_OP,    /* AMD's registers of an op, as raw data */
	EVENT_FACTS_IBS_FETCH, /* AMD's registers of a fetch, as raw data */
};

struct event_spec {
	char *name; /* as shown: synonyms replaced, modifiers kept, no period */
	enum event_kind kind;
	bool is_clock;	  /* cpu-clock or task-clock: counts and periods are nanoseconds */
	const char *unit; /* "ns" for clocks, else "" */

	/* type, config*, exclude_*, precise_ip and size are set; and sample_period, or sample_freq
	 * and freq, after event_rate_set; with FACTS sample_type and branch_sample_type have what
	 * samples carry for it.  The rest is zero. */
	struct perf_event_attr attr;
	uint64_t config3; /* not in every version of the header; event_open passes it on */

	enum event_facts facts;
	uint32_t without_counters; /* of those facts, bits: not wanted */

	uint64_t period;  /* given with the event; 0: not given */
	uint64_t freq_hz; /* given with the event (freq= term), later the one in use; 0: none */

	unsigned group; /* those of one number are counted together (group.h); 0: alone */
};

struct event_specs {
	struct event_spec *v;
	size_t n, cap;
};

void event_spec_release(struct event_spec *spec);
void event_specs_release(struct event_specs *specs);

/* perf_event_open(2) for SPEC, config3 included.  Returns the file descriptor (close-on-exec) or a
 * negative errno.  -ENOENT for one CPU of several is normal where CPUs differ in kind. */
int event_open(const struct event_spec *spec, pid_t pid, int cpu, int group_fd,
	       unsigned long flags);

/* Where events are looked up; tests point it at made-up trees. */
struct event_env {
	const char *sysfs;   /* "/sys" */
	const char *proc;    /* "/proc" */
	const char *tracefs; /* NULL: SYSFS/kernel/tracing, else SYSFS/kernel/debug/tracing */

	/* Tries to open SPEC for sampling on this machine, 0 or a negative errno.  NULL: whatever
	 * parses is taken as supported. */
	int (*probe)(const struct event_spec *spec);
};

/* This machine. */
extern const struct event_env event_env_host;

#endif
