/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The user's callers of exit and exec, for the samples that follow without the caller's memory.
 *
 * A thread gives its memory up early in both, and most of their time follows: freeing it, mapping a
 * new program.  Samples there would have the kernel's callers alone.  Two tracepoints run before
 * the memory goes: sched_process_exit (since Linux 6.16, kernel/exit.c; older kernels run it
 * afterwards) and sched_prepare_exec (since Linux 6.10, fs/exec.c).  There the stack is walked, by
 * a walk of its own: a sample may interrupt it on the same CPU.  One that meets code without a
 * table is left, and its samples name its copy (record.h). */
#ifndef COLLECT_BPF_EXIT_H
#define COLLECT_BPF_EXIT_H

#include "script.bpf.h"

#ifndef EXITS_ARE_WALKED /* by what includes this */
static __always_inline int exit_callers(struct cpu_walk *w, const struct task_struct *t,
					const bool in_exec)
{
	return CHAIN_EXITING;
}
#else

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, EXIT_PATHS);
	__type(key, __u32); /* the thread's number in the initial namespace */
	__type(value, struct exit_path);
} exit_paths SEC(".maps");

struct exit_copy {
	struct cpu_walk *w;
	struct exit_path *path;
};

/* bpf_loop */
static int exit_frame_put(__u32 i, struct exit_copy *c)
{
	put_frame(c->w, c->path->frames[BELOW(i, EXIT_FRAMES)]);
	return 0;
}

/* Adds the callers of the exit or exec that thread T is in; returns the cause.  The path that is
 * kept may be an earlier one, since a busy CPU skips a walk: it counts only where the user's
 * registers, which are in w->words, are those it began with.  Frames that only the old process's
 * mappings explain are not the new one's. */
static __always_inline int exit_callers(struct cpu_walk *w, const struct task_struct *t,
					const bool in_exec)
{
	__u32 pid = t->pid;
	struct exit_copy c = {w, bpf_map_lookup_elem(&exit_paths, &pid)};

	if (!c.path || c.path->start != t->start_time || c.path->ip != w->words[IP] ||
	    c.path->sp != w->words[SP] || (in_exec && c.path->has_raw))
		return CHAIN_EXITING;
	w->link = c.path->link;
	w->in_exec = in_exec;
	bpf_loop(c.path->n_frames, exit_frame_put, &c, 0);
	w->has_raw |= c.path->has_raw;
	return c.path->cause;
}

#endif
#endif
