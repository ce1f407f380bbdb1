/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a perf ring, decoded (perf_event.h, enum perf_event_type).  Only those the
 * recorder acts on; the others decode to RECORD_OTHER.  All events of a recording use one sample
 * layout, RECORD_SAMPLE_TYPE, with sample_id_all, so that time and event can be read from any
 * record. */
#ifndef MACHINE_PERF_RECORD_H
#define MACHINE_PERF_RECORD_H

#include <elf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rd.h"
#include "model/image.h"

#define RECORD_SAMPLE_TYPE                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

/* Further fields of samples for call paths: the callers as the kernel finds them by frame pointer
 * (and the kernel's own), or, to walk the user's part later, its registers and the top of its
 * stack. */
#define RECORD_STACK_FP	  PERF_SAMPLE_CALLCHAIN
#define RECORD_STACK_COPY (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define RECORD_COPY_LEAST 8192
#define RECORD_COPY_MOST  65528

/* Further fields of samples for record_facts. */
#define RECORD_FACTS                                                                               \
	(PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT |                         \
	 PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |              \
	 PERF_SAMPLE_DATA_PAGE_SIZE)

/* The registers asked for, by DWARF number in record_stack: general ones, stack pointer, ip.
 * arch/x86/include/uapi/asm/perf_regs.h, arch/arm64/include/uapi/asm/perf_regs.h. */
#ifdef __aarch64__
#define RECORD_REGS    0x1ffffffffULL
#define RECORD_N_REGS  33
#define RECORD_SP      31
#define RECORD_MACHINE EM_AARCH64
#else
#define RECORD_REGS    0xff01ffULL
#define RECORD_N_REGS  17
#define RECORD_SP      7
#define RECORD_MACHINE EM_X86_64
#endif

enum record_kind {
	RECORD_OTHER,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_SAMPLE,
	RECORD_LOST,
	RECORD_KSYMBOL,
	RECORD_SWITCH,
};

struct perf_record {
	enum record_kind kind;
	bool exec;			   /* COMM: by exec, not by prctl */
	bool exact;			   /* SAMPLE: ip is of the event's instruction */
	bool unregistered;		   /* KSYMBOL: the symbol goes away */
	bool leaves;			   /* SWITCH: the thread leaves its CPU, else it comes */
	bool preempted;			   /* SWITCH: it leaves and would go on (Linux 4.17) */
	uint32_t pid, tid;		   /* whom it is about; FORK: the child */
	uint32_t ppid;			   /* FORK: the parent process */
	uint64_t time_ns;		   /* CLOCK_MONOTONIC */
	uint64_t id;			   /* of the event that wrote it (PERF_EVENT_IOC_ID) */
	uint64_t ip;			   /* SAMPLE */
	uint64_t lost;			   /* LOST: records that did not fit */
	uint64_t addr, n_bytes, off;	   /* MMAP, KSYMBOL */
	uint64_t dev, ino, ino_generation; /* MMAP without a build-id */
	struct build_id build_id;	   /* MMAP */
	const char *name; /* MMAP: file; COMM; KSYMBOL.  NUL-terminated, in the bytes given */
	struct rd rest;	  /* SAMPLE: what follows, for record_read_stack and _facts */
	uint64_t extra;	  /* SAMPLE: the sample_type of its event; set by whoever knows it */
};

/* What a sample tells of its instruction, as far as HAS says (PERF_SAMPLE_*). */
struct record_facts {
	uint64_t has;
	const uint8_t *raw; /* n_raw bytes, in the bytes given */
	size_t n_raw;
	uint64_t branch_from, branch_flags; /* the newest branch: without one HAS lacks it */
	uint64_t weight, data_src, transaction, data_page_size;
};

/* The stack of a sample. */
struct record_stack {
	struct rd ips;	/* 64-bit addresses and marks PERF_CONTEXT_*, innermost first */
	bool has_regs;	/* it has a user's part of 64 bits: */
	bool is_32_bit; /* or one of 32 */
	uint64_t regs[RECORD_N_REGS]; /* by DWARF number, the ip last */
	const uint8_t *copy; /* n_copy bytes from the stack pointer on, in the bytes given */
	size_t n_copy;
};

/* Steps over the record at R and tells its time, 0 for one without.  Errors as record_read. */
int record_time(struct rd *r, uint64_t *ret_ns);

/* Decodes the record at R and steps over it.  0, or -EBADMSG when its size cannot be. */
int record_read(struct rd *r, struct perf_record *ret);

/* Decode the further fields of a sample that EXTRA names: bits of PERF_SAMPLE_* among
 * RECORD_STACK_* and RECORD_FACTS.  -EBADMSG when they are not there. */
int record_read_facts(const struct perf_record *sample, uint64_t extra, struct record_facts *ret);
int record_read_stack(const struct perf_record *sample, uint64_t extra, struct record_stack *ret);

#endif
