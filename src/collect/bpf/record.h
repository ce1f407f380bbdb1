/* SPDX-License-Identifier: BSD-2-Clause */
/* What the BPF programs and the recorder share: the layout of the log, the spill table and the task
 * snapshot.  Included by both compilers; only fixed-size types.
 *
 * The log is a ring of 16-byte slots per CPU in one mmapable array (CPU c owns slots c*n ..
 * c*n+n-1). `head` counts slots ever written and belongs to the kernel side; `tail` counts slots
 * ever folded and belongs to user space; when head - tail == n the sample goes to the spill table
 * instead, and when that is full it is counted in `dropped`.  Slot I has a companion in
 * `slot_times` when times are wanted: CLOCK_MONOTONIC.  reached = logged + spilled + dropped,
 * always.
 *
 * A database may have several logs, but only one samples: the one whose number is in the array
 * `live`, which they share, whoever attached the others.  So one store makes another log the one
 * that samples, on all CPUs, and no death can come between the end of the old one and the begin of
 * the new one. */
#ifndef COLLECT_BPF_RECORD_H
#define COLLECT_BPF_RECORD_H

#include "unwind/chain.h"

#define LOG_MAX_EVENTS 16

/* ip: the low 57 bits of the sampled address, sign-extended on reading (57: five-level paging). */
#define LOG_IP_BITS  57
#define LOG_PID_BITS 22 /* PID_MAX_LIMIT is 2^22: include/linux/threads.h */

/* Whose sample it is in one word, and what that says. */
#define LOG_PID_MASK ((1u << LOG_PID_BITS) - 1)
#define LOG_TASK(tgid, tid, generation)                                                            \
	(((unsigned long long)(tgid)&LOG_PID_MASK) |                                               \
	 ((unsigned long long)(tid)&LOG_PID_MASK) << LOG_PID_BITS |                                \
	 (unsigned long long)(generation) << (2 * LOG_PID_BITS))
#define LOG_TGID(task)	     ((unsigned int)(task)&LOG_PID_MASK)
#define LOG_TID(task)	     ((unsigned int)((task) >> LOG_PID_BITS) & LOG_PID_MASK)
#define LOG_GENERATION(task) ((unsigned int)((task) >> (2 * LOG_PID_BITS)))

struct log_slot {
	unsigned long long ip_event; /* ip | event << 57 */
	unsigned long long task;     /* LOG_TASK */
};

struct log_cpu {
	unsigned long long head;
	unsigned long long pad0[7];
	unsigned long long tail; /* on a cache line of its own: user space writes it */
	/* CPU 0 only, for whoever takes the log over: the time (CLOCK_MONOTONIC) up to which the
	 * events' account is stored, and the events that count since, a bit each.  0: not told. */
	unsigned long long account_ns, counting;
	/* CPU 0 only: when this log became the one that samples, CLOCK_MONOTONIC.  0: never, or
	 * by version 0.1.0, which did not say. */
	unsigned long long live_ns;
	unsigned long long pad1[4];
	unsigned long long reached[LOG_MAX_EVENTS];
	unsigned long long spilled[LOG_MAX_EVENTS];
	unsigned long long dropped[LOG_MAX_EVENTS];
};

/* In place of a process's start: it is watched from its next exec on. */
#define LOG_WATCH_FROM_EXEC 1
#define LOG_MAX_WATCHED	    32768 /* processes at once */

/* One counted place of the spill table: open addressing per CPU, probed SPILL_PROBES slots far.  Of
 * 39,321 random places in 65,536 slots that turns none away (simulated; 16 probes: 102). */
#define SPILL_PROBES 64

struct spill_slot {
	unsigned int build_id[5]; /* zeros: `off` is an address, not a file offset */
	unsigned int event_used;  /* event + 1; 0: free */
	unsigned long long off;	  /* file offset, or the sampled address */
	unsigned long long count;
};

/* --- Call paths ---
 *
 * With call paths asked for, slot I of a CPU's log has a companion word I in `slot_chains`: the
 * hash of the sample's *callers*, all frames but the innermost, 0 for none.  The callers themselves
 * are written to this CPU's chain ring only when the CPU does not remember having sent them.  A
 * reader that notes the heads of the logs first and reads the chain rings afterwards has the chain
 * of every sample up to those heads.
 *
 * The ring is an array of words, a power of two per CPU; a chain is CHAIN_HEAD_WORDS words of head
 * and n_frames words of frames, innermost caller first, and may wrap around the ring's end. */
#define CHAIN_MAX_KERNEL 64

enum chain_head {
	CHAIN_HASH, /* never 0 */
	CHAIN_TASK, /* as log_slot.task: whose addresses the raw frames are */
	CHAIN_INFO, /* n_frames | cause << 16 | n_kernel << 24: the first
		     * n_kernel are the kernel's; CHAIN_HAS_LABELS */
	CHAIN_HEAD_WORDS
};

/* The last of n_frames is no frame, but the number of the goroutine's labels, as FRAME_SCRIPT has
 * it. */
#define CHAIN_HAS_LABELS (1ULL << 32)

struct chain_cpu {
	unsigned long long head; /* words ever written: the kernel side's */
	unsigned long long lost; /* chains that found no room */
	/* User frames found by walking, and those taken over from their thread's last walk. */
	unsigned long long n_walked, n_kept;
	/* With check_walks: walks that took frames over and were done again without, and those that
	 * came out differently. */
	unsigned long long n_checked, n_differing;
	unsigned long long pad0[2];
	unsigned long long tail; /* words ever read: user space's, on a cache line of its own */
	unsigned long long pad1[7];
};

/* A slot's chain when its callers could not be sent. */
#define CHAIN_LOST (~0ULL)

/* Walks of threads that end (exit.bpf.h): memory for so many at a time, and paths kept. */
#define EXIT_WALKS	   4
#define EXIT_PATHS	   1024
#define EXIT_RINGS(n_cpus) ((n_cpus) < EXIT_WALKS ? (n_cpus) : EXIT_WALKS)

/* --- Copies of stacks ---
 *
 * A walk that comes to code whose table is not there is left there: the registers it has by then,
 * the frames it found and the stack from there outward go to a ring of copies, from which user
 * space walks on once it has the table.  The sample's slot has the copy's own hash, of no other
 * sample.
 *
 * The frames of Python, PHP, Perl and Ruby are no part of the stack, so their list is read then:
 * words that are frames (unwind/chain.h), and behind those that one call of the interpreter's loop
 * executes a word that is none: an address on the stack of that call, or 0, which may be any call.
 * A list that does not end so was cut.
 *
 * A CPU's ring is a power of two of chunks.  A copy is its head in one chunk and its list and its
 * stack in the next ones; it never wraps: what is left of the ring is skipped, by a head that says
 * COPY_SKIP.
 *
 * Walks of threads that end are left, too.  Their copies have EXIT_WALKS rings of their own behind
 * those of the CPUs, since a sample may interrupt such a walk.  A sample of a thread whose memory
 * is gone has a copy without a stack, which names that of its thread in `link`. */
#define COPY_CHUNK_BYTES  1024
#define COPY_MAX_BYTES	  65536 /* of a stack while half of the share is left; at most 64 chunks */
#define COPY_LESS_BYTES	  32768 /* of a stack then */
#define COPY_THREAD_BYTES 16384 /* then, of one whose beginning is not known */
#define COPY_MAX_FRAMES	  64	/* found before: who has more is not copied */
#define COPY_MAX_REGS	  33
#define COPY_MAX_SCRIPTS  384 /* words of a list */
#define COPY_SCRIPT_CHUNKS(n_scripts)                                                              \
	(((n_scripts) + COPY_CHUNK_BYTES / 8 - 1) / (COPY_CHUNK_BYTES / 8))

enum copy_state { COPY_NEW, COPY_SKIP, COPY_WALKED /* user space's */ };

/* In a chunk. */
struct stack_copy {
	unsigned long long hash, task; /* as in the slot */
	unsigned long long time_ns;    /* CLOCK_MONOTONIC */
	unsigned int n_chunks;	       /* with this one and those of the list */
	unsigned int state;	       /* enum copy_state */
	/* The walk as it stands (unwind/walk_state.h). */
	unsigned int flags, n_falls;
	unsigned int n_frames, n_kernel; /* of `frames` */
	unsigned int at_leaf;		 /* it stands in the sample's own frame */
	unsigned int in_exec;		 /* with `link`: its mappings are a new program's */
	unsigned long long link;	 /* the hash of its thread's last copy; 0: it has a stack */
	unsigned int n_scripts;		 /* words of the list */
	unsigned int script_image;	 /* whose loop executes it */
	unsigned long long stack_at; /* where the chunks behind these were; a multiple of theirs */
	unsigned long long holes;    /* bit I: chunk I of the stack could not be read */
	unsigned long long ip, sp, fp, bx, entry_sp;
	unsigned long long regs[COPY_MAX_REGS];
	unsigned long long frames[COPY_MAX_FRAMES];
};

struct copy_cpu {
	unsigned long long head;      /* chunks ever written: the kernel side's */
	unsigned long long n_refused; /* walks that were not copied, for want of room or share */
	unsigned long long pad0[6];
	unsigned long long tail; /* chunks ever given back: user space's, on a line of its own */
	unsigned long long pad1[7];
};

/* Identity of a mapped file in the table the programs look images up in: open addressing, a power
 * of two of slots, IMAGE_PROBES far; user space writes `number` last. */
#define IMAGE_PROBES 16

struct image_key {
	unsigned long long ino;
	unsigned int dev;	 /* as the kernel keeps it: major << 20 | minor */
	unsigned int generation; /* of the inode */
	unsigned int number;	 /* in unwind_images; 0: free */
	unsigned int spare;
};

/* The low bits say where the search for a key begins. */
static inline unsigned int image_key_hash(unsigned long long ino, unsigned int dev,
					  unsigned int generation)
{
	unsigned long long h =
		(ino ^ (unsigned long long)dev << 32 ^ (unsigned long long)generation << 24) *
		0x9e3779b97f4a7c15ULL;

	return (unsigned int)(h >> 32);
}

#define IMAGE_NUMBER_VDSO 1 /* unwind_images[1] is the vdso's, [0] nobody's */

#define REQUEST_COPIES (~0u)

/* Code that lies in no file was met, in the process that `ino` tells as a log's slot does, of no
 * known runtime.  When it has HotSpot, a key says so: RUNTIME_DEV in place of a device, that in
 * place of the inode; `generation` and `spare` are the bias of the library's code (walk_state.h),
 * the upper half first. */
#define REQUEST_RUNTIME (~1u)
#define RUNTIME_DEV	(~0u)

/* What the program asks for through the request ring buffer, waking its reader: a table of a file
 * that it met on a stack and has none for. */
struct image_request {
	unsigned long long ino;
	unsigned int dev, generation;
	unsigned int tgid; /* somebody who maps it, in the recorder's pid namespace */
	/* 0: it has none yet; REQUEST_COPIES: nothing is asked for, but copies of stacks wait; else
	 * its table was evicted and is wanted back. */
	unsigned int number;
	unsigned long long start; /* of the mapping */
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
