/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs that watch the scheduler and the recorder share.  Included by both compilers;
 * only fixed-size types.
 *
 * Each thread watched has a struct thread_times in the kernel: what it does, since when, and sums
 * of what it did.  Every change of state adds the time since the last one to exactly one sum, so
 * that running + runnable + blocked is the time the thread was watched, to the nanosecond.  Sums
 * leave the kernel when the thread ends, when it executes another program, when the recorder asks
 * for them, and at the end of the recording; they are never reset, but what was told of them is
 * remembered, and each part is told once.  Only a block of at least the minimum leaves at once, as
 * a slot of its own with the stack that blocked; one that cannot goes to a sum too. */
#ifndef COLLECT_BPF_SWITCH_H
#define COLLECT_BPF_SWITCH_H

enum thread_state {
	THREAD_RUNNING,
	THREAD_RUNNABLE, /* wants to run and waits for a CPU */
	THREAD_BLOCKED,
	THREAD_GONE,
};

/* What slots and sums tell. */
enum switch_kind {
	SWITCH_RUNNING,
	SWITCH_RUNNABLE,
	SWITCH_SHORT,  /* blocked for less than the minimum */
	SWITCH_MISSED, /* blocked for longer, but the slot or the stack was not to be had */
	SWITCH_N_SUMS,
	SWITCH_BLOCKED = SWITCH_N_SUMS, /* a block with its stack */
	SWITCH_WOKEN, /* whoever ended that block: task and path are the waker's, ns the block's */
	SWITCH_N_KINDS
};

struct switch_sum {
	unsigned long long ns, n; /* n: intervals */
};

#define SWITCH_SITES 16 /* where one thread blocks, as far as it is told apart */

struct thread_times {
	unsigned long long since_ns; /* CLOCK_MONOTONIC */
	unsigned long long task;     /* as log_slot.task */
	unsigned long long block_ns; /* a block that ended and waits for its stack; 0: none */
	unsigned long long block_since_ns;
	struct switch_sum sums[SWITCH_N_SUMS];
	struct switch_sum told[SWITCH_N_SUMS];
	unsigned long long leaf, chain; /* of the block, walked when it began; leaf 0: it was not */
	unsigned char n_short[SWITCH_SITES]; /* how many blocks there were short, at the last */
	unsigned int site;
	unsigned long long waker_task, waker_leaf, waker_chain; /* of block_ns; leaf 0: not known */
	unsigned int state;					/* enum thread_state */
	unsigned int exec_id;
};

/* A slot of the per-CPU log of blocks and sums. */
struct switch_slot {
	unsigned long long task;   /* as log_slot.task; 0: an interrupt (SWITCH_WOKEN) */
	unsigned long long kind_n; /* enum switch_kind | intervals << 8 */
	unsigned long long ns;
	unsigned long long since_ns; /* SWITCH_BLOCKED: when it began */
	unsigned long long leaf;     /* SWITCH_BLOCKED: the innermost frame; 0: none */
	unsigned long long chain;    /* SWITCH_BLOCKED: its callers, as in slot_chains */
};

struct switch_cpu {
	unsigned long long head;
	unsigned long long pad0[7];
	unsigned long long tail; /* on a cache line of its own: user space writes it */
	unsigned long long pad1[7];
	unsigned long long n_lost[SWITCH_N_SUMS]; /* intervals in slots that found the log full */
	unsigned long long n_wakers_missed;
	unsigned long long n_untracked;	  /* threads that could not be watched */
	unsigned long long paid_until_ns; /* walks ahead of time, see may_walk */
};

#define SWITCH_MAX_FRAMES 64 /* of the kernel, with those of the scheduler and of the program */

/* What an iterator writes for each thread: what was not told of its sums. */
struct switch_told {
	unsigned long long task;
	struct switch_sum sums[SWITCH_N_SUMS];
};

/* A thread's sums when the recording ends, and where the thread is blocked then. */
struct switch_end {
	struct switch_told told;
	unsigned long long block_ns, block_since_ns;  /* still blocked, or just not any more */
	unsigned long long leaf, chain;		      /* as in a slot; leaf 0: not walked, but: */
	unsigned int n_frames, skip;		      /* the first SKIP are the scheduler's */
	unsigned long long frames[SWITCH_MAX_FRAMES]; /* return addresses in the kernel */
};

#define SWITCH_MAX_TARGETS 256

#endif
