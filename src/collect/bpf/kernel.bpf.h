/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The kernel's types as far as the programs use them; where the fields are is found in the running
 * kernel's own types when a program is loaded (CO-RE). */
#ifndef COLLECT_BPF_KERNEL_H
#define COLLECT_BPF_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct signal_struct {
	int nr_threads;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct maple_tree {
	void *ma_root;
};

/* include/linux/maple_tree.h; where there is none (before 6.1) mm_mt is missing too. */
struct maple_metadata {
	unsigned char end;
};

struct maple_range_64 {
	void *parent;
	unsigned long pivot[15];
	union {
		void *slot[16];
		struct {
			void *pad[15];
			struct maple_metadata meta;
		};
	};
};

struct maple_arange_64 {
	void *parent;
	unsigned long pivot[9];
	void *slot[10];
	unsigned long gap[10];
	struct maple_metadata meta;
};

typedef struct {
	void *vdso;
} mm_context_t;

struct mm_struct {
	struct maple_tree mm_mt;
	unsigned long exec_vm, start_code, start_stack;
	mm_context_t context;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_generation;
};

struct file {
	struct inode *f_inode;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags, vm_pgoff;
	struct file *vm_file;
};

struct thread_struct {
	unsigned long fsbase; /* x86-64 */
};

struct task_struct {
	struct thread_struct thread;
	int on_cpu, on_rq;
	unsigned int flags;
	int pid, tgid;
	__u64 self_exec_id;
	__u64 start_time;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	const struct cred *cred;
	char comm[16];
};

/* arch/x86/include/asm/ptrace.h: ip; arch/arm64/include/asm/ptrace.h: pc, syscallno */
struct pt_regs {
	unsigned long sp, ip, pc;
	int syscallno;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

enum maple_type { maple_dense, maple_leaf_64, maple_range_64, maple_arange_64 };

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define VM_EXEC	   0x00000004 /* include/linux/mm.h */

/* The registers as plain words: pt_regs differs between kernels (cs is a union of 16 and 64 bits
 * since 6.9), and only whole words may be read from the context of a perf_event program. */
struct sample_ctx {
	__u64 words[64];
};

/* When T's process began, in ns.  Threads besides the first follow a pointer, without its type: for
 * each pointer that is loaded through a type the verifier searches all of the kernel's types by
 * name, up to four times (kernel/bpf/verifier.c check_ptr_to_btf_access). */
static __always_inline __u64 process_start(const struct task_struct *t)
{
	return t->pid == t->tgid ? t->start_time : BPF_CORE_READ(t, group_leader, start_time);
}

/* The sizes are set before loading. */
#define MMAPABLE_ARRAY(name, elem)                                                                 \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, elem);                                                               \
	} name SEC(".maps")

#endif
