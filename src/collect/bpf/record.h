/* SPDX-License-Identifier: BSD-2-Clause */
/* What the BPF programs and the recorder share: the layout of the log, the spill table and the task
 * snapshot.  Included by both compilers; only fixed-size types.
 *
 * The log is a ring of 16-byte slots per CPU in one mmapable array (CPU c owns slots c*n ..
 * c*n+n-1). `head` counts slots ever written and belongs to the kernel side; `tail` counts slots
 * ever folded and belongs to user space; when head - tail == n the sample goes to the spill table
 * instead, and when that is full it is counted in `dropped`.  reached = logged + spilled + dropped,
 * always. */
#ifndef COLLECT_BPF_RECORD_H
#define COLLECT_BPF_RECORD_H

#define LOG_MAX_EVENTS 16

/* ip: the low 57 bits of the sampled address, sign-extended on reading (57: five-level paging). */
#define LOG_IP_BITS  57
#define LOG_PID_BITS 22 /* PID_MAX_LIMIT is 2^22: include/linux/threads.h */

struct log_slot {
	unsigned long long ip_event; /* ip | event << 57 */
	unsigned long long task;     /* tgid | tid << 22 | generation << 44 */
};

struct log_cpu {
	unsigned long long head;
	unsigned long long pad0[7];
	unsigned long long tail; /* on a cache line of its own: user space writes it */
	unsigned long long pad1[7];
	unsigned long long reached[LOG_MAX_EVENTS];
	unsigned long long spilled[LOG_MAX_EVENTS];
	unsigned long long dropped[LOG_MAX_EVENTS];
};

/* One counted place of the spill table: open addressing per CPU, probed SPILL_PROBES slots far. */
#define SPILL_PROBES 16

struct spill_slot {
	unsigned int build_id[5]; /* zeros: `off` is an address, not a file offset */
	unsigned int event_used;  /* event + 1; 0: free */
	unsigned long long off;	  /* file offset, or the sampled address */
	unsigned long long count;
};

/* A process is known by (tgid, generation).  The generation joins the number of execs with the time
 * the process started, so that neither exec nor a reused pid can mix two programs:
 *   bits 0-11: start time (CLOCK_MONOTONIC) / 2^20 ns, about a millisecond
 *   bits 12-19: task->self_exec_id */
#define GENERATION(start_ns, exec_id)                                                              \
	((unsigned int)(((start_ns) >> 20 & 0xfff) | ((exec_id)&0xff) << 12))

/* What the task iterator writes for each process. */
struct task_record {
	unsigned long long now_ns;   /* CLOCK_MONOTONIC when it was read */
	unsigned long long start_ns; /* task->start_time */
	unsigned long long exec_id;
	unsigned int tgid, n_threads;
	unsigned int uid; /* effective */
	unsigned int is_kernel;
	char comm[16];
};

#endif
