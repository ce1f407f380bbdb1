// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The programs that watch the scheduler: how long each thread runs, waits for a CPU, is blocked.
 *
 * A thread's changes of state are serialised by the scheduler itself: a switch happens under the
 * lock of the CPU's run queue, a wake-up under the lock of the one the thread is put on
 * (kernel/sched/core.c: __schedule, ttwu_do_activate), and a thread is put on no queue before it
 * has been switched out.  So its struct thread_times needs no lock.  Of two times of different CPUs
 * the later one is taken: a sum never runs backwards.
 *
 * The stack that blocked is best walked after the thread has come back, by sched_exit_tp, at the
 * end of __schedule: in its own context, where its memory can be read, its stack still as it was,
 * and only when the block is known to have been long enough.  Preemption is off there, so no switch
 * on this CPU comes between, and log and chain ring of the CPU have one writer at a time; wake-ups
 * in an interrupt write neither.
 *
 * A kernel without sched_exit_tp has one more place where the thread's memory can be read: at
 * sched_switch, when it is about to leave (walk_ahead).  How long the block will last is not known
 * there, so what walks may cost is bounded (may_walk).  Interrupts are off and the run queue is
 * locked: nothing may wait there, and nothing does.  Memory is read without faults, and whoever
 * reads requests for tables is woken by an irq_work, after that (kernel/bpf/ringbuf.c). */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <stdbool.h>

#include "record.h"
#include "kernel.bpf.h"
#include "switch.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define TASK_DEAD 0x80 /* include/linux/sched.h */

/* Set before loading. */
const volatile __u32 n_slots = 1; /* per CPU, a power of two */
const volatile __u64 min_block_ns = 0;
const volatile bool with_wakers = false;
const volatile bool at_switch = false; /* walk when the thread leaves */
const volatile __u32 n_targets = 0;    /* 0: every thread */
const volatile __u32 targets[SWITCH_MAX_TARGETS];
/* Code of the scheduler itself: where a thread sleeps is its caller (__sched, vmlinux.lds.h). */
const volatile __u64 sched_text_start = 0, sched_text_end = 0;
/* try_to_wake_up, which raises sched_waking. */
const volatile __u64 wake_up_start = 0, wake_up_end = 0;
/* Where interrupts and exceptions enter, and of that page faults. */
const volatile __u64 irq_entry_start = 0, irq_entry_end = 0, fault_start = 0, fault_end = 0;

/* The walk's constants, the ones that the sampling program has. */
const volatile __u32 n_chain_words = 1;
const volatile __u32 n_copy_chunks = 1; /* stacks of blocks are not copied */
const volatile __u32 n_image_keys = 1;
const volatile __u32 table_shift = 1; /* words of a piece of the tables */
const volatile __u32 page_shift = 12;
const volatile bool check_walks = false;
const volatile bool go_labels = false; /* are those of goroutines read */
const volatile __u64 script_seed = 0;  /* so that nobody can foresee a number of code */

/* Set before the iterators run. */
__u64 begin_ns = 0, end_ns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_times);
} threads SEC(".maps");

/* n_cpus * n_slots, n_cpus elements. */
MMAPABLE_ARRAY(switch_slots, struct switch_slot);
MMAPABLE_ARRAY(switch_cpus, struct switch_cpu);

#include "chain.bpf.h"

static __always_inline __u64 task_word(struct task_struct *t)
{
	return LOG_TASK(t->tgid, t->pid, GENERATION(process_start(t), t->self_exec_id));
}

static __always_inline void add_to_sum(struct thread_times *t, __u32 kind, __u64 ns)
{
	t->sums[kind].ns += ns;
	t->sums[kind].n++;
}

/* Ends what T does now; returns how long it did. */
static __always_inline __u64 pass(struct thread_times *t, __u64 now)
{
	__u64 ns = now > t->since_ns ? now - t->since_ns : 0;

	t->since_ns += ns;
	return ns;
}

/* T's block is over. */
static __always_inline void end_block(struct thread_times *t, __u64 now)
{
	__u64 since = t->since_ns, ns = pass(t, now);

	if (ns < min_block_ns || !ns) {
		add_to_sum(t, SWITCH_SHORT, ns);
		if (at_switch && t->n_short[BELOW(t->site, SWITCH_SITES)] < 255)
			t->n_short[BELOW(t->site, SWITCH_SITES)]++;
		return;
	}
	if (at_switch)
		t->n_short[BELOW(t->site, SWITCH_SITES)] = 0;
	if (t->block_ns) /* the last one's stack was never asked for */
		add_to_sum(t, SWITCH_MISSED, t->block_ns);
	t->block_ns = ns;
	t->block_since_ns = since;
}

/* The next free slot of this CPU, or NULL when there are only RESERVED ones; log->head is to be
 * moved when it is written. */
static __always_inline struct switch_slot *next_slot(struct switch_cpu *log, __u32 cpu,
						     __u32 reserved)
{
	__u32 at = cpu * n_slots + (log->head & (n_slots - 1));

	if (log->head - log->tail >= n_slots - reserved)
		return 0;
	return bpf_map_lookup_elem(&switch_slots, &at);
}

/* What was not told of SUM, a sum's nanoseconds or intervals.  A thread's last switch and an
 * iterator on another CPU may both ask: it is told to one of them.  Reading TOLD first keeps it
 * from being more than the sum. */
static __always_inline __u64 claim(__u64 *told, const __u64 *sum)
{
	for (int i = 0; i < 3; i++) {
		__u64 before = *(volatile __u64 *)told, now = *(volatile const __u64 *)sum;

		if (now <= before)
			return 0;
		if (__sync_val_compare_and_swap(told, before, now) == before)
			return now - before;
	}
	return 0;
}

static __always_inline bool claim_sums(struct thread_times *t, struct switch_told *to)
{
	__u64 any = 0;

	to->task = t->task;
	for (__u32 kind = 0; kind < SWITCH_N_SUMS; kind++) {
		to->sums[kind].ns = claim(&t->told[kind].ns, &t->sums[kind].ns);
		to->sums[kind].n = claim(&t->told[kind].n, &t->sums[kind].n);
		any |= to->sums[kind].ns | to->sums[kind].n;
	}
	return any;
}

/* Logs what was not told of T's sums. */
static __noinline void log_sums(struct thread_times *t)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct switch_cpu *log = bpf_map_lookup_elem(&switch_cpus, &cpu);

	if (t->block_ns)
		add_to_sum(t, SWITCH_MISSED, t->block_ns);
	t->block_ns = 0;
	for (__u32 kind = 0; log && kind < SWITCH_N_SUMS; kind++) {
		__u64 ns = claim(&t->told[kind].ns, &t->sums[kind].ns);
		__u64 n = claim(&t->told[kind].n, &t->sums[kind].n);
		struct switch_slot *s;

		if (!ns && !n)
			continue;
		s = next_slot(log, cpu, 0);
		if (s) {
			s->task = t->task;
			s->kind_n = kind | n << 8;
			s->ns = ns;
			s->since_ns = s->leaf = s->chain = 0;
			__sync_fetch_and_add(&log->head, 1);
		} else {
			log->n_lost[kind] += n;
		}
	}
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *p)
{
	struct thread_times *t = bpf_task_storage_get(&threads, p, 0, 0);

	if (t && t->state == THREAD_BLOCKED) {
		end_block(t, bpf_ktime_get_ns());
		t->state = THREAD_RUNNABLE;
	}
	return 0;
}

static __always_inline void watch(struct task_struct *p, __u64 since_ns, __u32 state)
{
	struct thread_times *t =
		bpf_task_storage_get(&threads, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 cpu = bpf_get_smp_processor_id();
	struct switch_cpu *log = bpf_map_lookup_elem(&switch_cpus, &cpu);

	if (!t) {
		if (log)
			__sync_fetch_and_add(&log->n_untracked, 1);
		return;
	}
	t->since_ns = since_ns;
	t->exec_id = p->self_exec_id;
	t->task = task_word(p);
	t->state = state;
}

/* A thread was created and will run: a child of a watched one is watched. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_new, struct task_struct *p)
{
	if (!n_targets || bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0))
		watch(p, bpf_ktime_get_ns(), THREAD_RUNNABLE);
	return 0;
}

/* The stack of the current thread, which blocked. */
struct stack {
	__u64 frames[SWITCH_MAX_FRAMES];
	__u32 n, skip;	       /* of them; those of the scheduler */
	__u32 irq;	       /* they are an interrupt's */
	__u32 busy;	       /* the walk's memory is in use, and this may be an interrupt */
	struct switch_end end; /* too large for the program's own stack */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} stacks SEC(".maps");

static __always_inline __u32 n_words(long n_bytes)
{
	return n_bytes <= 0 ? 0 : (__u32)n_bytes / 8;
}

/* Finds the first of the kernel's frames behind those in [START, END), which are the scheduler's or
 * follow this program's: k->skip.  A return address lies behind its call.  What it finds goes
 * through memory, so that the verifier need not follow each case. */
static __noinline int skip_frames(struct stack *k, __u64 start, __u64 end)
{
	k->skip = 0;
	for (__u32 i = 0; i < 16; i++)
		if (i < k->n && k->frames[i] - 1 - start < end - start)
			k->skip = i + 1;
	return 0;
}

/* bpf_loop: one kernel frame behind the leaf. */
static int put_caller(__u32 i, struct stack **stack)
{
	struct stack *k = *stack;
	__u32 cpu = bpf_get_smp_processor_id(), at = k->skip + 1 + i;
	struct cpu_walk *w = bpf_map_lookup_elem(&walks, &cpu);

	if (!w || at >= k->n || at >= SWITCH_MAX_FRAMES)
		return 1;
	put_frame(w, (k->frames[at] - 1) | FRAME_KERNEL);
	return 0;
}

#define USER_TOO CHAIN_N_CAUSES

/* The callers of the leaf, whose hash it returns as end_path does: the rest of the kernel's frames,
 * then, with USER_TOO, the current thread's user's; else CAUSE is why not. */
static __noinline __u64 blocked_path(struct stack *k, __u64 task, __u32 cause)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_walk *w = bpf_map_lookup_elem(&walks, &cpu);
	struct chain_cpu *ring = bpf_map_lookup_elem(&chain_cpus, &cpu);

	if (!w || !ring)
		return CHAIN_LOST;
	begin_path(w, ring, cpu, LOG_TGID(task), task);
	bpf_loop(SWITCH_MAX_FRAMES, put_caller, &k, 0);
	w->n_kernel = w->n_frames;
	if (cause == USER_TOO && k->n >= SWITCH_MAX_FRAMES)
		cause = CHAIN_TOO_DEEP;
	if (cause == USER_TOO)
		cause = add_user(0, w, ring, task);
	return end_path(w, ring, task, cause);
}

/* Whether the kernel's frames lead into an interrupt: through one of the entries that are not an
 * exception's (a page fault belongs to its thread).  A soft interrupt that a thread's own call runs
 * is that thread's doing. */
static __noinline int find_interrupt(struct stack *k)
{
	k->irq = 0;
	for (__u32 i = 0; i < SWITCH_MAX_FRAMES; i++)
		if (i < k->n &&
		    k->frames[i] - 1 - irq_entry_start < irq_entry_end - irq_entry_start &&
		    k->frames[i] - 1 - fault_start >= fault_end - fault_start)
			k->irq = 1;
	return 0;
}

/* Somebody wakes P: whoever it is, before P's block ends.  Interrupts are off here (try_to_wake_up
 * holds P's pi_lock), but this may be one, in the middle of on_exit. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	struct thread_times *t = bpf_task_storage_get(&threads, p, 0, 0);
	__u32 zero = 0, at;
	struct stack *k;
	bool irq;

	if (!t || t->state != THREAD_BLOCKED || bpf_ktime_get_ns() - t->since_ns < min_block_ns)
		return 0;
	t->waker_leaf = 0;
	k = bpf_map_lookup_elem(&stacks, &zero);
	if (!k || k->busy)
		return 0;
	k->n = n_words(bpf_get_stack(ctx, k->frames, sizeof(k->frames), 0));
	find_interrupt(k);
	irq = k->irq;
	skip_frames(k, wake_up_start, wake_up_end);
	at = k->skip;
	if (at < k->n && at < SWITCH_MAX_FRAMES) {
		t->waker_task = irq ? 0 : task_word(bpf_get_current_task_btf());
		t->waker_chain = blocked_path(k, t->waker_task, irq ? CHAIN_COMPLETE : USER_TOO);
		t->waker_leaf = k->frames[at] - 1;
	}
	return 0;
}

static __always_inline void log_waker(struct thread_times *t, struct switch_cpu *log, __u32 cpu)
{
	struct switch_slot *s = t->waker_leaf ? next_slot(log, cpu, n_slots / 8) : 0;

	if (!s) {
		log->n_wakers_missed++;
		return;
	}
	s->task = t->waker_task;
	s->kind_n = SWITCH_WOKEN | 1 << 8;
	s->ns = t->block_ns;
	s->since_ns = t->block_since_ns;
	s->leaf = t->waker_leaf;
	s->chain = t->waker_chain;
	t->waker_leaf = 0;
	__sync_fetch_and_add(&log->head, 1);
}

/* Logs T's block, which took t->block_ns. */
static __noinline void log_block(struct thread_times *t, __u64 leaf, __u64 chain)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct switch_cpu *log = bpf_map_lookup_elem(&switch_cpus, &cpu);
	struct switch_slot *s;

	if (!log)
		return;
	/* What finds no slot here goes to a sum; a sum that finds none is lost. */
	s = next_slot(log, cpu, n_slots / 8);
	if (s) {
		s->task = t->task;
		s->kind_n = SWITCH_BLOCKED | 1 << 8;
		s->ns = t->block_ns;
		s->since_ns = t->block_since_ns;
		s->leaf = leaf;
		s->chain = chain;
		__sync_fetch_and_add(&log->head, 1);
	} else {
		add_to_sum(t, SWITCH_MISSED, t->block_ns);
	}
	if (with_wakers)
		log_waker(t, log, cpu);
	t->block_ns = 0;
}

/* The leaf of the stack in K, of which N_BYTES were found, behind the scheduler's frames; 0: there
 * is none. */
static __always_inline __u64 blocked_leaf(struct stack *k, long n_bytes)
{
	__u32 at;

	k->n = n_words(n_bytes);
	skip_frames(k, sched_text_start, sched_text_end);
	at = k->skip;
	return at < k->n && at < SWITCH_MAX_FRAMES ? k->frames[at] - 1 : 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_exit, bool is_switch)
{
	struct thread_times *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	__u64 chain = 0, leaf;
	__u32 zero = 0;
	struct stack *k;

	if (!t || !t->block_ns)
		return 0;
	k = bpf_map_lookup_elem(&stacks, &zero);
	if (!k)
		return 0;
	k->busy = 1;
	leaf = blocked_leaf(k, bpf_get_stack(ctx, k->frames, sizeof(k->frames), 0));
	if (leaf)
		chain = blocked_path(k, t->task, USER_TOO);
	k->busy = 0;
	log_block(t, leaf, chain);
	return 0;
}

/* Walks ahead of time may take one part in WALK_PART of a CPU's time, and up to WALK_SAVED_NS of
 * that at once when there were none for long. */
#define WALK_PART     64
#define WALK_SAVED_NS 4000000ULL
#define MOST_SHORT    2

/* Whether the block that T begins NOW may be walked.  Each walk is paid for with WALK_PART times
 * what it took: walks are paid for until a time that lies up to WALK_PART * WALK_SAVED_NS back.
 * When half of that is spent only those are walked that are likely to be long: where the last
 * blocks were. */
static __always_inline bool may_walk(struct switch_cpu *log, const struct thread_times *t,
				     __u64 now)
{
	__u64 first = now - WALK_PART * WALK_SAVED_NS;

	if ((__s64)(log->paid_until_ns - first) < 0)
		log->paid_until_ns = first;
	return log->paid_until_ns - first < (t->n_short[BELOW(t->site, SWITCH_SITES)] < MOST_SHORT
						     ? WALK_PART * WALK_SAVED_NS
						     : WALK_PART * WALK_SAVED_NS / 2);
}

#if defined(__TARGET_ARCH_x86)
#define USER_IP ip
#else
#define USER_IP pc
#endif

/* Tells apart where in its own code thread P blocks. */
static __noinline __u32 block_site(struct task_struct *p)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);
	__u64 h = mix(BPF_CORE_READ(regs, sp), BPF_CORE_READ(regs, USER_IP));

	return h >> 60;
}

/* The current thread P, with T, is blocked from NOW on and about to leave: walks its stack. */
static __always_inline void walk_ahead(void *ctx, struct thread_times *t, struct task_struct *p,
				       __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct switch_cpu *log = bpf_map_lookup_elem(&switch_cpus, &cpu);
	struct stack *k = bpf_map_lookup_elem(&stacks, &zero);

	t->leaf = 0;
	if (!log || !k)
		return;
	t->site = block_site(p);
	if (!may_walk(log, t, now))
		return;
	t->leaf = blocked_leaf(k, bpf_get_stack(ctx, k->frames, sizeof(k->frames), 0));
	if (t->leaf)
		t->chain = blocked_path(k, t->task, USER_TOO);
	log->paid_until_ns += WALK_PART * (bpf_ktime_get_ns() - now);
}

/* Thread P, with T, comes back from a block: logs it.  When it was not walked the kernel's frames
 * can be had still. */
static __always_inline void log_walked(struct thread_times *t, struct task_struct *p)
{
	__u64 leaf = t->leaf, chain = t->chain;
	__u32 zero = 0;
	struct stack *k = bpf_map_lookup_elem(&stacks, &zero);

	if (!leaf && k) {
		leaf = blocked_leaf(k, bpf_get_task_stack(p, k->frames, sizeof(k->frames), 0));
		chain = blocked_path(k, t->task,
				     p->flags & PF_KTHREAD ? CHAIN_COMPLETE : CHAIN_NOT_FOLLOWED);
	}
	log_block(t, leaf, chain);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct thread_times *t;
	__u64 now = bpf_ktime_get_ns();

	t = bpf_task_storage_get(&threads, prev, 0, 0);
	if (t) {
		add_to_sum(t, SWITCH_RUNNING, pass(t, now));
		t->state = preempt || !prev_state ? THREAD_RUNNABLE : THREAD_BLOCKED;
		if (t->exec_id !=
		    (__u32)prev->self_exec_id) { /* its time so far is another life's */
			log_sums(t);
			t->exec_id = prev->self_exec_id;
			t->task = task_word(prev);
		}
		if (!preempt && prev_state & TASK_DEAD) {
			log_sums(t);
			t->state = THREAD_GONE;
		}
		if (at_switch && t->state == THREAD_BLOCKED)
			walk_ahead(ctx, t, prev, now);
	}
	t = bpf_task_storage_get(&threads, next, 0, 0);
	if (t) {
		if (t->state == THREAD_BLOCKED) /* it was waking while it was found */
			end_block(t, now);
		else
			add_to_sum(t, SWITCH_RUNNABLE, pass(t, now));
		t->state = THREAD_RUNNING;
		if (at_switch && t->block_ns)
			log_walked(t, next);
	}
	return 0;
}

/* Watches the threads there are. */
SEC("iter/task")
int watch_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	__u32 found = !n_targets;

	if (!t)
		return 0;
	for (__u32 i = 0; i < SWITCH_MAX_TARGETS && i < n_targets; i++)
		found |= targets[i] == t->tgid;
	if (found && !bpf_task_storage_get(&threads, t, 0, 0))
		watch(t, begin_ns,
		      t->on_cpu	 ? THREAD_RUNNING
		      : t->on_rq ? THREAD_RUNNABLE
				 : THREAD_BLOCKED);
	return 0;
}

/* Writes one switch_told for each thread that there is something to tell of. */
SEC("iter/task")
int tell_sums(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct switch_told told;
	struct thread_times *t;

	if (!task)
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (t && claim_sums(t, &told))
		bpf_seq_write(ctx->meta->seq, &told, sizeof(told));
	return 0;
}

/* Writes one switch_end for each thread watched; the other programs are detached by then. */
SEC("iter/task")
int end_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 zero = 0;
	struct thread_times *t;
	struct stack *k;
	struct switch_end *e;

	if (!task)
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	k = bpf_map_lookup_elem(&stacks, &zero);
	if (!t || !k || t->state == THREAD_GONE)
		return 0;
	e = &k->end;
	if (t->state == THREAD_BLOCKED)
		end_block(t, end_ns);
	else
		add_to_sum(t, t->state == THREAD_RUNNING ? SWITCH_RUNNING : SWITCH_RUNNABLE,
			   pass(t, end_ns));
	t->state = THREAD_GONE;
	claim_sums(t, &e->told);
	e->block_ns = t->block_ns;
	e->n_frames = 0;
	e->block_since_ns = t->block_since_ns;
	e->leaf = t->leaf;
	e->chain = t->chain;
	if (t->block_ns && !t->leaf) {
		blocked_leaf(k, bpf_get_task_stack(task, k->frames, sizeof(k->frames), 0));
		__builtin_memcpy(e->frames, k->frames, sizeof(e->frames));
		e->n_frames = k->n;
		e->skip = k->skip;
	}
	bpf_seq_write(ctx->meta->seq, e, sizeof(*e));
	return 0;
}
