/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says about a process: proc(5).  All functions return 0 or a negative errno, or say so;
 * a process may go away in the middle, which is an error like any other. */
#ifndef MACHINE_PROCFS_H
#define MACHINE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An executable mapping. */
struct procfs_map {
	uint64_t start, end, off;
	uint64_t dev, ino; /* dev as major << 32 | minor */
	const char *path;  /* as printed, " (deleted)" and all; "" for none */
};

int procfs_each_map(uint32_t pid, void (*fn)(void *ctx, const struct procfs_map *m), void *ctx);
int procfs_each_pid(void (*fn)(void *ctx, uint32_t pid), void *ctx);
int procfs_each_tid(uint32_t pid, void (*fn)(void *ctx, uint32_t tid), void *ctx);

/* comm (from Name:), number of threads, and whether it is a kernel thread. */
int procfs_status(uint32_t pid, char *ret_comm, size_t comm_size, uint32_t *ret_threads,
		  bool *ret_kernel);

/* The name of one of its threads. */
int procfs_thread_name(uint32_t pid, uint32_t tid, char *ret, size_t size);

int procfs_exe(uint32_t pid, char *ret, size_t size);
int procfs_uid(uint32_t pid, uint32_t *ret_uid); /* effective */

/* Its parent, and when it started, in clock ticks since boot. */
int procfs_birth(uint32_t pid, uint32_t *ret_parent, uint64_t *ret_start_ticks);

/* The CPU time that its threads have used, in clock ticks. */
int procfs_cpu_ticks(uint32_t pid, uint64_t *ret);

/* Whether thread TID of process PID has a CPU or waits for one; false when it is not there. */
bool procfs_runs(uint32_t pid, uint32_t tid);

/* The cgroup's path below its mount: the v2 one if there is one other than "/", else the first v1
 * hierarchy's that is not "/". */
int procfs_cgroup(uint32_t pid, char *ret, size_t size);

/* This process's pid namespace; false when it is the initial one (or cannot be told). */
bool procfs_inner_pidns(uint64_t *ret_dev, uint64_t *ret_ino);

/* Opens the process's perf map, /tmp/perf-PID.map in its view of the file system with PID as it
 * sees itself. -EPERM when that is no plain file of its user or of root.  CACHED: with O_PATH, and
 * without waiting for a file system (root_file_open_cached). */
int procfs_open_perf_map(uint32_t pid, bool cached);

#endif
