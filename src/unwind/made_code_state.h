/* SPDX-License-Identifier: BSD-2-Clause */
/* What is remembered of interpreters whose compilers make code; see made_code.h.  Included by both
 * compilers. */
#ifndef UNWIND_MADE_CODE_STATE_H
#define UNWIND_MADE_CODE_STATE_H

#include <linux/types.h>

/* A process's loop as it was met last. */
struct made_loop {
	__u64 key;	   /* of the process and its recording; 0: none */
	__u64 ip;	   /* in the loop, behind a call */
	__u64 start, end;  /* of the mapping that it lies in */
	__u32 frame_bytes; /* from the loop's stack pointer to its caller's */
	__u32 is_ruby;	   /* else PHP's */
};

#define MADE_LOOPS	 64    /* processes that a CPU remembers; a power of two */
#define MADE_WORDS	 16    /* of the stack that are looked at */
#define MADE_PHP_BYTES	 32    /* that made code may have of its own */
#define MADE_LOOP_BYTES	 65536 /* a call of Ruby's loop is so near to the one that was met */
#define MADE_FRAME_BYTES 4096  /* no loop has more */

#endif
