/* SPDX-License-Identifier: BSD-2-Clause */
/* What is recorded, and the perf events opened on it. */
#ifndef MACHINE_TARGET_H
#define MACHINE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "events/spec.h"

enum target_kind {
	TARGET_ALL,	/* every process on every CPU */
	TARGET_PIDS,	/* these processes, all their threads, and what they start */
	TARGET_CGROUP,	/* every process in a cgroup */
	TARGET_COMMAND, /* one process about to exec, and what it starts */
};

struct target {
	enum target_kind kind;
	VEC(uint32_t) pids; /* PIDS; COMMAND: one */
	int cgroup_fd;	    /* CGROUP: an open directory */
};

/* Whether process PID may be recorded when it is there at the beginning. */
bool target_may_have(const struct target *t, uint32_t pid);

/* One perf event descriptor. */
struct opened {
	int fd;
	int cpu;	/* -1: wherever the task runs */
	pid_t task;	/* whose it is; -1: everybody's there */
	uint32_t event; /* number of the event it belongs to */
	uint64_t id;	/* PERF_EVENT_IOC_ID */
	/* For periods that are drawn (collect/schedule.c): the one there is; whether it is the
	 * second of two that have the mean asked for; the event's count when it was drawn. */
	uint64_t period;
	bool mirrored;
	uint64_t drawn_at;
};

typedef VEC(struct opened) opened_list;

/* How an event's descriptors are spread. */
enum target_spread {
	SPREAD_TASKS,	  /* one per thread: for programs attached to it */
	SPREAD_TASK_CPUS, /* one per thread and CPU: inherited events can fill a ring only so */
	SPREAD_CPUS,	  /* one per CPU */
};

/* Online CPUs, from sysfs; at least one. */
typedef VEC(int) cpu_list;
void cpus_online(cpu_list *ret);
uint32_t cpus_possible(void);

/* Opens SPEC on TARGET, disabled (COMMAND: enabled by the exec), as event number EVENT, and appends
 * the descriptors to LIST.  CPUs that do not have the event are passed over as long as one has it.
 * The message says what is missing.  On failure what was opened stays in LIST for its owner. */
int target_open(const struct target *t, const struct event_spec *spec, uint32_t event,
		enum target_spread spread, const cpu_list *cpus, opened_list *list,
		struct err *err);

/* Opens SPEC beside LEADER, what target_open opened of another event on the same TARGET: the
 * kernel counts both at the same time or neither.  It is enabled and disabled with its leader. */
int target_open_member(const struct target *t, const struct event_spec *spec,
		       enum target_spread spread, const cpu_list *cpus, const opened_list *leader,
		       opened_list *list, struct err *err);

/* An event's own count so far, children included. */
struct opened_count {
	uint64_t value, enabled_ns, running_ns;
	uint64_t lost; /* records that found their ring full */
};
bool opened_read(const struct opened *o, struct opened_count *ret);

/* PERF_EVENT_IOC_ENABLE and DISABLE on all of LIST. */
void opened_enable(const opened_list *list);
void opened_disable(const opened_list *list);
/* PERF_EVENT_IOC_ENABLE and DISABLE on O alone. */
void opened_enable_one(const struct opened *o);
void opened_disable_one(const struct opened *o);

/* Sets the period: the next sample comes PERIOD counts from now, and so on. */
void opened_set_period(const struct opened *o, uint64_t period);
void opened_close(opened_list *list);

#endif
