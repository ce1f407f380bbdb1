/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What a process has mapped at an address, found without a lock and without anything prepared: the
 * maple tree of its mappings is walked by hand.
 *
 * A program of this type runs with interrupts off, which keeps RCU from freeing nodes; they may be
 * replaced meanwhile, so what is found is believed only when it says itself that it is a mapping of
 * this process around this address.  bpf_find_vma would need the lock that the interrupted task may
 * hold. */
#ifndef COLLECT_BPF_VMA_H
#define COLLECT_BPF_VMA_H

struct vma_node {
	__u64 words[32]; /* struct maple_node: 256 bytes, as aligned (lib/maple_tree.c) */
};

struct vma {
	__u64 start, end, flags;
	__u64 off; /* in the file, of `start` */
	__u64 file, ino;
	__u32 dev, generation;
	__u64 vdso; /* where the process has it; 0 nowhere */
};

/* An index into an array of N, a power of two, that the compiler cannot argue away and the verifier
 * believes. */
#define BELOW(i, n)                                                                                \
	({                                                                                         \
		__u64 i_ = (i);                                                                    \
		asm volatile("%0 &= %1" : "+r"(i_) : "i"((n)-1));                                  \
		i_;                                                                                \
	})

/* Which of a node's slots leads to AVMA: the number of pivots, of which N_PIVOTS from byte AT on
 * and END in use, that lie below it.  A pivot is the last address that its slot covers, odd, so
 * that half of both compares the same; one not in use is 0, and less one it lies above.  No
 * branches: they would double the verifier's work with each pivot. */
static __always_inline __u32 vma_slot(const struct vma_node *node, __u64 avma, __u32 at,
				      const __u32 n_pivots, __u32 end)
{
	const __u64 *pivots = (const __u64 *)((const char *)node + BELOW(at, 128));
	__u64 n_below = 0, less;

	for (__u32 i = 0; i < n_pivots; i++) {
		less = ((pivots[i] - 1) >> 1) - (avma >> 1);
		asm volatile("" : "+r"(less)); /* or clang would compare and branch */
		n_below += less >> 63;
	}
	return n_below < end ? (__u32)n_below : end;
}

/* The entry that the node behind ENTRY holds for AVMA: another node, or in a leaf what the tree
 * maps it to; 0: nothing.  Not static, so that it is verified once instead of for each way that
 * leads here. */
__noinline __u64 vma_descend(struct vma_node *node, __u64 entry, __u64 avma)
{
	const __u32 leaf = bpf_core_enum_value(enum maple_type, maple_leaf_64);
	const __u32 range = bpf_core_enum_value(enum maple_type, maple_range_64);
	const __u32 arange = bpf_core_enum_value(enum maple_type, maple_arange_64);
	const __u32 range_pivots = bpf_core_field_offset(struct maple_range_64, pivot);
	const __u32 range_slots = bpf_core_field_offset(struct maple_range_64, slot) / 8;
	const __u32 range_end = bpf_core_field_offset(struct maple_range_64, meta.end);
	const __u32 arange_pivots = bpf_core_field_offset(struct maple_arange_64, pivot);
	const __u32 arange_slots = bpf_core_field_offset(struct maple_arange_64, slot) / 8;
	const __u32 arange_end = bpf_core_field_offset(struct maple_arange_64, meta.end);
	const __u32 type = entry >> 3 & 15; /* MAPLE_NODE_TYPE_SHIFT, _MASK */
	__u32 i, end;

	if (!node || bpf_probe_read_kernel(node, sizeof(*node), (void *)(entry & ~0xffULL)))
		return 0;
	if (type == arange) { /* ma_data_end (lib/maple_tree.c) */
		end = ((__u8 *)node)[BELOW(arange_end, 256)];
		i = vma_slot(node, avma, arange_pivots, 9, end) + arange_slots;
	} else if (type == range || type == leaf) {
		end = 15; /* or, with the last pivot unused, in place of the last slot */
		if (!node->words[BELOW(range_pivots / 8 + 14, 32)])
			end = ((__u8 *)node)[BELOW(range_end, 256)];
		i = vma_slot(node, avma, range_pivots, 15, end) + range_slots;
	} else {
		return 0;
	}
	return node->words[BELOW(i, 32)];
}

/* What the tree of the mm_struct at MM holds for AVMA: a vm_area_struct, or nothing (0). */
static __always_inline __u64 vma_find(struct vma_node *node, __u64 mm, __u64 avma)
{
	const __u32 leaf = bpf_core_enum_value(enum maple_type, maple_leaf_64);
	__u64 entry = (__u64)BPF_CORE_READ((struct mm_struct *)mm, mm_mt.ma_root);
	bool was_leaf = false;

	if ((entry & 3) != 2) /* xa_is_node: one mapping or none */
		return 0;
	/* Eight levels of at least five slots are more mappings than a process may have. */
	for (int level = 0; level < 8 && !was_leaf && entry > 4096; level++) {
		was_leaf = (entry >> 3 & 15) == leaf;
		entry = vma_descend(node, entry, avma);
	}
	return was_leaf && entry > 4096 ? entry : 0; /* less is reserved: xa_is_zero */
}

/* Reads into V what the process with the mm_struct at MM has mapped at AVMA; false: nothing. */
__noinline int vma_read(struct vma *v, struct vma_node *node, __u64 mm, __u64 avma)
{
	struct vm_area_struct *a;
	struct file *file;
	struct inode *inode;

	if (!v)
		return false;
	a = (struct vm_area_struct *)vma_find(node, mm, avma);
	if (!a)
		return false;
	v->start = BPF_CORE_READ(a, vm_start);
	v->end = BPF_CORE_READ(a, vm_end);
	if (avma < v->start || avma >= v->end || (__u64)BPF_CORE_READ(a, vm_mm) != mm)
		return false;
	v->flags = BPF_CORE_READ(a, vm_flags);
	v->off = BPF_CORE_READ(a, vm_pgoff) << page_shift;
	file = BPF_CORE_READ(a, vm_file);
	v->file = (__u64)file;
	if (file) {
		inode = BPF_CORE_READ(file, f_inode);
		v->ino = BPF_CORE_READ(inode, i_ino);
		v->generation = BPF_CORE_READ(inode, i_generation);
		v->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	}
	v->vdso = (__u64)BPF_CORE_READ((struct mm_struct *)mm, context.vdso);
	return true;
}

#endif
