// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Whose samples count when a command is recorded: the command's, and those of the processes it
 * starts.
 *
 * Events that belong to tasks cannot do this.  An inherited event begins a whole period with each
 * new process, so that processes that live for less than a period are never sampled (1,500 of 0.7
 * ms at 100 Hz: no sample in 1.1 s).  Events that belong to CPUs go on whatever runs there, and the
 * samples of others are left out here.
 *
 * Processes are found by tgid and by the start of their first thread, so that a process whose tgid
 * is used again is another one. */
#ifndef COLLECT_WATCH_BPF_H
#define COLLECT_WATCH_BPF_H

#include <bpf/bpf_tracing.h>

const volatile bool with_watched = false;
__u64 n_unwatched = 0;		/* processes that found the map full */
__u64 n_others[LOG_MAX_EVENTS]; /* samples of processes that are not watched, but for idle time */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__type(key, __u32);	/* tgid */
	__type(value, __u64);	/* when it started, CLOCK_MONOTONIC, or LOG_WATCH_FROM_EXEC */
} watched SEC(".maps");

static __always_inline bool is_watched(const struct task_struct *t)
{
	__u32 tgid = t->tgid;
	__u64 *start;

	if (!with_watched)
		return true;
	start = bpf_map_lookup_elem(&watched, &tgid);
	return start && *start == t->group_leader->start_time;
}

/* A process that a watched one starts is watched. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(watch_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = child->tgid;
	__u64 start = child->start_time;

	if (child->pid == child->tgid && is_watched(parent) &&
	    bpf_map_update_elem(&watched, &tgid, &start, BPF_ANY))
		__sync_fetch_and_add(&n_unwatched, 1);
	return 0;
}

/* The command begins. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(watch_exec, struct task_struct *t)
{
	__u32 tgid = t->tgid;
	__u64 *start = bpf_map_lookup_elem(&watched, &tgid);

	if (start && *start == LOG_WATCH_FROM_EXEC)
		*start = t->group_leader->start_time;
	return 0;
}

/* Nothing of T runs any more. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(watch_free, struct task_struct *t)
{
	__u32 tgid = t->tgid;
	__u64 *start = t->pid == t->tgid ? bpf_map_lookup_elem(&watched, &tgid) : 0;

	if (start && *start == t->start_time)
		bpf_map_delete_elem(&watched, &tgid);
	return 0;
}

#endif
