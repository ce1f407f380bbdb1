/* SPDX-License-Identifier: BSD-2-Clause */
/* What this user on this machine can record, found by trying. */
#ifndef COLLECT_PROBE_MACHINE_H
#define COLLECT_PROBE_MACHINE_H

#include "events/spec.h"

enum probe_state {
	PROBE_OK,
	PROBE_LIMITED, /* recording works, with less in it */
	PROBE_MISSING,
};

/* "ok", "limited" or "missing". */
const char *probe_state_name(enum probe_state state);

struct probe_row {
	const char *id;	  /* "system_wide"; static */
	const char *what; /* for people; static */
	enum probe_state state;
	char *found;  /* what was tried and seen */
	char *remedy; /* what would change it: a capability, sysctl, kernel option or package; NULL
			 when the state is ok or nothing helps */
};

struct probe_report {
	VEC(struct probe_row) rows;
	bool own_programs; /* user code of this user's own programs */
	bool system_wide;  /* everything on every CPU, the kernel included */
	bool bpf;	   /* through the bpf engine */
};

/* Where facts come from; tests give made-up ones.  The calls return what the system call does, or a
 * negative errno. */
struct probe_env {
	const char *sysfs, *proc;
	const char *debuginfod_urls; /* NULL: not set */
	unsigned n_cpus;
	uint64_t max_files; /* hard limit of open files */
	int (*perf_open)(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags);
	int (*bpf)(int cmd, void *attr, unsigned n_bytes);
	int (*perf_attach)(int perf_fd, int prog_fd);
	int (*close)(int fd);
	int (*pins_check)(const char *folder, struct err *err); /* -EPERM: not safe for pins */
	bool (*has_cpu_events)(void);				/* libpfm4 knows this CPU */
};

/* Fills RET with this process's and machine's facts; its strings live as long as the program. */
void probe_env_host(struct probe_env *ret);

/* Makes every check.  Nothing is left open, attached, mounted or changed. */
void probe_machine(const struct probe_env *env, struct probe_report *ret);
void probe_report_release(struct probe_report *report);

/* The row called ID, or NULL. */
const struct probe_row *probe_find(const struct probe_report *report, const char *id);

#endif
