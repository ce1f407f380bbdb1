// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The sampling program: one run per sample, 16 bytes appended to this CPU's log, and with call
 * paths the hash of its callers beside them (chain.bpf.h).
 *
 * It takes no lock: the log is per CPU, and the kernel never nests two runs on one CPU (it skips a
 * perf_event program while bpf_prog_active is held).  Everything slow happens only when the log is
 * full.  There is one program per event, its number a constant in it: an attach cookie would be
 * lost when a child inherits the event (perf_event_alloc copies the program, not the cookie). */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <stdbool.h>

#include "record.h"
#include "kernel.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile __u32 n_slots = 1; /* per CPU, a power of two */
const volatile __u32 n_spill = 1; /* per CPU, a power of two */
/* The recorder's pid namespace when it is not the initial one: perf's sideband speaks its pids. */
const volatile __u64 pidns_dev = 0;
const volatile __u64 pidns_ino = 0;
const volatile bool with_times = false;
/* This log's number; 0: it samples whatever `live` says. */
const volatile __u64 log_number = 0;
/* With call paths: powers of two. */
const volatile __u32 n_chain_words = 1; /* per CPU */
const volatile __u32 n_image_keys = 1;
const volatile __u32 table_shift = 1;	/* words of a piece of the tables */
const volatile __u32 n_copy_chunks = 1; /* per CPU, a power of two; 1: nothing is copied */
const volatile __u32 n_exit_chunks = 1; /* of each walk of exits, a power of two */
const volatile __u32 page_shift = 12;
const volatile bool check_walks = false;
const volatile bool go_labels = false; /* are those of goroutines read */
const volatile __u32 n_walk_cpus = 1;  /* CPUs; walks of exits lie behind theirs */
const volatile __u64 script_seed = 0;  /* so that nobody can foresee a number of code */

/* n_cpus * n_slots, n_cpus, n_cpus * n_spill elements; with_times n_cpus * n_slots. */
MMAPABLE_ARRAY(slots, struct log_slot);
MMAPABLE_ARRAY(cpus, struct log_cpu);
MMAPABLE_ARRAY(spill, struct spill_slot);
MMAPABLE_ARRAY(slot_times, __u64);
MMAPABLE_ARRAY(live, __u64); /* one element: the number of the log that samples */

#define STACKS_ARE_COPIED
#define EXITS_ARE_WALKED
#include "chain.bpf.h"
#include "watch.bpf.h"

static __always_inline bool is_live(void)
{
	__u32 zero = 0;
	__u64 *number;

	if (!log_number)
		return true;
	number = bpf_map_lookup_elem(&live, &zero);
	return number && *number == log_number;
}

static __always_inline bool same_place(const struct spill_slot *a, const struct spill_slot *b)
{
	const __u32 *x = a->build_id, *y = b->build_id;
	__u64 differ = (x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) |
		       (x[4] ^ y[4]) | (a->event_used ^ b->event_used) | (a->off ^ b->off);

	return !differ;
}

/* What looks for its slot in the spill table. */
struct spilling {
	struct spill_slot key;
	__u32 cpu, hash;
	bool is_done;
};

static int spill_probe(__u32 i, struct spilling *p)
{
	__u32 at = p->cpu * n_spill + ((p->hash + i) & (n_spill - 1));
	struct spill_slot *s = bpf_map_lookup_elem(&spill, &at);

	if (!s)
		return 1;
	if (!s->event_used) {
		__builtin_memcpy(s->build_id, p->key.build_id, sizeof(s->build_id));
		s->off = p->key.off;
		s->event_used = p->key.event_used;
	} else if (!same_place(s, &p->key)) {
		return 0;
	}
	s->count++;
	p->is_done = true;
	return 1;
}

/* A sample that found the log full: counted by (build-id, file offset), or by its address.  The
 * probes are bpf_loop's: the verifier follows one of them, not each. */
static __attribute__((noinline)) int spill_sample(struct sample_ctx *ctx, __u64 ip, __u32 event)
{
	struct bpf_stack_build_id leaf = {};
	struct spilling p = {};
	__u32 cpu = bpf_get_smp_processor_id();
	struct log_cpu *log = bpf_map_lookup_elem(&cpus, &cpu);

	if (!log || event >= LOG_MAX_EVENTS)
		return 0;
	p.key.event_used = event + 1;
	p.key.off = ip;
	if ((__s64)ip >= 0 &&
	    bpf_get_stack(ctx, &leaf, sizeof(leaf), BPF_F_USER_STACK | BPF_F_USER_BUILD_ID) > 0 &&
	    leaf.status == BPF_STACK_BUILD_ID_VALID) {
		__builtin_memcpy(p.key.build_id, leaf.build_id, sizeof(p.key.build_id));
		p.key.off = leaf.offset;
	}
	p.cpu = cpu;
	p.hash = ((p.key.off ^ p.key.build_id[0] ^ (__u64)event << 48) * 0x9e3779b97f4a7c15ULL) >>
		 32;
	bpf_loop(SPILL_PROBES, spill_probe, &p, 0);
	if (p.is_done)
		log->spilled[event]++;
	else
		log->dropped[event]++;
	return 0;
}

/* The current tgid << 32 | tid as the recorder's namespace has them; all ones outside of it. */
static __always_inline __u64 recorder_pid_tgid(void)
{
	__u64 initial = bpf_get_current_pid_tgid();
	struct bpf_pidns_info ns;

	if (!pidns_ino || !initial) /* 0: an idle task */
		return initial;
	if (bpf_get_ns_current_pid_tgid(pidns_dev, pidns_ino, &ns, sizeof(ns)))
		return ~0ULL;
	return (__u64)ns.tgid << 32 | ns.pid;
}

static __always_inline int sample(struct sample_ctx *ctx, const __u32 event, const bool chains)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct log_cpu *log = bpf_map_lookup_elem(&cpus, &cpu);
	struct task_struct *t = (struct task_struct *)bpf_get_current_task_btf();
	__u64 pid_tgid = recorder_pid_tgid();
	struct log_slot *s;
	__u64 ip, head, task;

	if (!log || !is_live())
		return 0;
	if (!is_watched(t)) {
		if (t->pid)
			__sync_fetch_and_add(&n_others[event], 1);
		return 0;
	}
	ip = ctx->words[IP];
	log->reached[event]++;
	head = log->head;
	at = cpu * n_slots + (head & (n_slots - 1));
	s = bpf_map_lookup_elem(&slots, &at);
	if (!s)
		return 0;
	if (head - log->tail >= n_slots)
		return spill_sample(ctx, ip, event);
	task = LOG_TASK(pid_tgid >> 32, pid_tgid, GENERATION(process_start(t), t->self_exec_id));
	if (chains) {
		__u64 *chain = bpf_map_lookup_elem(&slot_chains, &at);

		if (chain)
			*chain = call_path(ctx, task, pid_tgid >> 32);
	}
	if (with_times) {
		__u64 *time = bpf_map_lookup_elem(&slot_times, &at);

		if (time)
			*time = bpf_ktime_get_ns();
	}
	s->ip_event = (ip & ((1ULL << LOG_IP_BITS) - 1)) | (__u64)event << LOG_IP_BITS;
	s->task = task;
	/* An atomic add orders the slot before the head for the reader on another CPU. */
	__sync_fetch_and_add(&log->head, 1);
	return 0;
}

/* Without and with call paths; only those needed are loaded. */
#define SAMPLE(event)                                                                              \
	SEC("perf_event")                                                                          \
	int sample_##event(struct sample_ctx *ctx)                                                 \
	{                                                                                          \
		return sample(ctx, event, false);                                                  \
	}                                                                                          \
	SEC("perf_event")                                                                          \
	int stack_##event(struct sample_ctx *ctx)                                                  \
	{                                                                                          \
		return sample(ctx, event, true);                                                   \
	}

/* LOG_MAX_EVENTS of them. */
SAMPLE(0)
SAMPLE(1)
SAMPLE(2)
SAMPLE(3)
SAMPLE(4)
SAMPLE(5)
SAMPLE(6)
SAMPLE(7)
SAMPLE(8)
SAMPLE(9)
SAMPLE(10)
SAMPLE(11)
SAMPLE(12)
SAMPLE(13)
SAMPLE(14)
SAMPLE(15)

/* Where threads give their memory up: exit.bpf.h.  One program for both tracepoints. */
SEC("raw_tp")
int walk_end(void *ctx)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task_btf();
	__u64 pid_tgid = recorder_pid_tgid();

	/* mm is read without its type for the reason that process_start tells. */
	if (BPF_CORE_READ(t, mm) && is_live() && is_watched(t))
		exit_walk(t,
			  LOG_TASK(pid_tgid >> 32, pid_tgid,
				   GENERATION(process_start(t), t->self_exec_id)),
			  pid_tgid >> 32);
	return 0;
}

/* Writes one task_record for each process.  Pointers are followed by BPF_CORE_READ: where they have
 * a type, the verifier searches all of the kernel's types by name for each. */
SEC("iter/task")
int tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct task_record r = {};

	if (!t || t->pid != t->tgid)
		return 0;
	r.now_ns = bpf_ktime_get_ns();
	r.start_ns = t->start_time;
	r.exec_id = t->self_exec_id;
	r.tgid = t->tgid;
	r.n_threads = BPF_CORE_READ(t, signal, nr_threads);
	r.uid = BPF_CORE_READ(t, cred, euid.val);
	r.is_kernel = (t->flags & PF_KTHREAD) != 0;
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), t->comm);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
