/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's types (BTF) as far as our programs use them.
 *
 * libbpf reads all of them, some 5 MB, to find where the fields are that a program uses, and the
 * number of what an iterator is attached to.  Of these types a few KB are enough, and they stay the
 * same as long as the kernel does: they are made once and kept by who has somewhere to keep them.
 *
 *     kernel's   struct task_struct { 260 members, 9,856 bytes }
 *     program's  struct task_struct { thread, on_cpu, ..., comm }
 *     made       struct task_struct { the 14 members that the program has, where the kernel has
 *                them }, of thread its fsbase alone, pointers to nothing
 *
 * Whoever keeps them keeps them by kernel_types_key. */
#ifndef COLLECT_KERNEL_TYPES_H
#define COLLECT_KERNEL_TYPES_H

#include "base/err.h"
#include "base/wr.h"

struct btf;

/* Types that were made or kept. */
struct kernel_types {
	uint32_t iter_task; /* the number of the function that iterators of tasks are attached to */
	int fd;		    /* of a file with the types, in memory; -1: none */
};

/* A number for this kernel and these PROGRAMS of N bytes: other types have another.  0: this kernel
 * does not tell its identity. */
uint64_t kernel_types_key(const void *programs, size_t n);

/* Makes the types that PROGRAMS use, a few KB.  -ENOENT: this kernel does not tell its types;
 * -ENOTSUP: they are of a kind that was not foreseen. */
int kernel_types_make(const struct btf *programs, struct wr *ret, struct err *err);

/* Puts the N bytes that kernel_types_make wrote, which the caller has checked, into a file in
 * memory; kernel_types_close it.  -EBADMSG: they are not whole. */
int kernel_types_open(struct kernel_types *t, const uint8_t *bytes, size_t n, struct err *err);
void kernel_types_close(struct kernel_types *t);

#endif
