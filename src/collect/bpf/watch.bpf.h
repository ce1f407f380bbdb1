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

const volatile bool with_watched = false;
__u64 n_unwatched = 0;		/* processes that found the map full */
__u64 n_others[LOG_MAX_EVENTS]; /* samples of processes that are not watched, but for idle time */

/* Its memory is there from the start (no BPF_F_NO_PREALLOC): a cgroup that is at its limit has none
 * for a fork, and that child would not be watched. */
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
	return start && *start == process_start(t);
}

/* What tracepoints tell is read without types: for those with them libbpf reads all of the
 * kernel's. */

/* sched_process_fork (parent, which runs, and child): a process that a watched one starts is
 * watched. */
SEC("raw_tp")
int watch_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *child = (const void *)ctx->args[1];
	__u32 pid = BPF_CORE_READ(child, pid), tgid = BPF_CORE_READ(child, tgid);
	__u64 start = BPF_CORE_READ(child, start_time);

	if (pid == tgid && is_watched((struct task_struct *)bpf_get_current_task_btf()) &&
	    bpf_map_update_elem(&watched, &tgid, &start, BPF_ANY))
		__sync_fetch_and_add(&n_unwatched, 1);
	return 0;
}

/* sched_process_exec (of what runs): the command begins. */
SEC("raw_tp")
int watch_exec(void *ctx)
{
	const struct task_struct *t = (struct task_struct *)bpf_get_current_task_btf();
	__u32 tgid = t->tgid;
	__u64 *start = bpf_map_lookup_elem(&watched, &tgid);

	if (start && *start == LOG_WATCH_FROM_EXEC)
		*start = process_start(t);
	return 0;
}

/* sched_process_free: nothing of T runs any more. */
SEC("raw_tp")
int watch_free(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *t = (const void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(t, pid), tgid = BPF_CORE_READ(t, tgid);
	__u64 *start = pid == tgid ? bpf_map_lookup_elem(&watched, &tgid) : 0;

	if (start && *start == BPF_CORE_READ(t, start_time))
		bpf_map_delete_elem(&watched, &tgid);
	return 0;
}

#endif
