/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of the probe: adding rows and reading small files. */
#ifndef COLLECT_PROBE_ROWS_H
#define COLLECT_PROBE_ROWS_H

#include "collect/probe_machine.h"

struct probe {
	const struct probe_env *env;
	struct probe_report *report;
	uint64_t caps;	  /* effective capabilities of this process, by bit */
	bool filtered;	  /* a seccomp filter is on this process */
	bool in_vm;	  /* the CPU says that a hypervisor runs it */
	bool in_user_ns;  /* root here is not root of the machine */
	int64_t paranoid; /* kernel.perf_event_paranoid; INT64_MIN: there is none */
};

/* Adds a row; FOUND and REMEDY (NULL: none) come from the heap and are taken over. */
void probe_add(struct probe *p, const char *id, const char *what, enum probe_state state,
	       char *found, char *remedy);

/* The number in PROC/sys/NAME.  False when it cannot be read. */
bool probe_sysctl(const struct probe *p, const char *name, int64_t *ret);

/* Where a file system of type TYPE is mounted, on the heap, or NULL; with OPTION it must be among
 * the mount options. */
char *probe_mount(const struct probe *p, const char *type, const char *option);

/* The checks of probe_files.c: what is read from files. */
void probe_btf(struct probe *p);
void probe_jit(struct probe *p);
void probe_bpffs(struct probe *p);
void probe_tracefs(struct probe *p);
void probe_kallsyms(struct probe *p);
void probe_precise(struct probe *p);
void probe_map_files(struct probe *p);
void probe_other_maps(struct probe *p);
void probe_limits(struct probe *p);
void probe_names(struct probe *p);
/* After report->bpf is known: */
void probe_calls(struct probe *p);
void probe_waits(struct probe *p);

#endif
