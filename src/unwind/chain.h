/* SPDX-License-Identifier: BSD-2-Clause */
/* What a stack walk yields: a chain of frames and the reason it ended.  Included by both compilers;
 * only fixed-size types. */
#ifndef UNWIND_CHAIN_H
#define UNWIND_CHAIN_H

#define CHAIN_MAX_FRAMES 512 /* kernel and user callers together */

/* A frame is where the call is, so that it lies in the calling procedure: the return address less
 * one; where a signal or an interrupt came in, the very address.
 *   bit 63 set: an address in the kernel
 *   else bits 48-61 are 0: bits 0-47 are a run-time address of the process
 *   else bits 48-61 are a number in unwind_images, bits 0-47 the offset in its file
 * and bit 62 of the latter two: found by the frame pointer of what it called, without a table.
 *
 * Bit 63 without bit 62, which every address in the kernel has: a function of a script, which an
 * interpreter executes.  Bits 18-61 are a number of its code, which a script_record tells of;
 * bits 0-17 where in it: the instruction, in code units, SCRIPT_NO_OFF when that is not known. */
#define FRAME_KERNEL	  (1ULL << 63)
#define FRAME_GUESSED	  (1ULL << 62)
#define FRAME_IMAGE_SHIFT 48
#define FRAME_MAX_IMAGES  0x3fff
#define FRAME_OFF_MASK	  ((1ULL << FRAME_IMAGE_SHIFT) - 1)

#define FRAME_IS_SCRIPT(frame) ((frame) >> 62 == 2)
#define SCRIPT_OFF_BITS	       18
#define SCRIPT_NO_OFF	       ((1u << SCRIPT_OFF_BITS) - 1)
#define SCRIPT_CODE_MASK       ((1ULL << (62 - SCRIPT_OFF_BITS)) - 1)
#define FRAME_SCRIPT(code, off)                                                                    \
	(FRAME_KERNEL | ((code)&SCRIPT_CODE_MASK) << SCRIPT_OFF_BITS | (off))
#define SCRIPT_CODE(frame) ((frame) >> SCRIPT_OFF_BITS & SCRIPT_CODE_MASK)
#define SCRIPT_OFF(frame)  ((unsigned int)(frame)&SCRIPT_NO_OFF)

/* Numbers of code that say why there is no function. */
enum script_mark {
	SCRIPT_NO_STATE = 1, /* the loop of an interpreter whose own frames were not found */
	SCRIPT_UNREADABLE,   /* its frames or their code are not in memory */
	SCRIPT_UNMATCHED,    /* other frames were there than loops to execute them */
	SCRIPT_NOT_COPIED,   /* the stack was copied to be walked later, its functions were not */
	SCRIPT_N_KINDS, /* of marks, Python's; the other languages' are that many further on: */
	SCRIPT_PHP = SCRIPT_N_KINDS,
	SCRIPT_PERL = 2 * SCRIPT_N_KINDS,
	SCRIPT_RUBY = 3 * SCRIPT_N_KINDS,
	SCRIPT_GO = 4 * SCRIPT_N_KINDS, /* of a goroutine's labels */
	SCRIPT_V8 = 5 * SCRIPT_N_KINDS,
	SCRIPT_HOTSPOT = 6 * SCRIPT_N_KINDS,
	SCRIPT_N_MARKS = 7 * SCRIPT_N_KINDS
};

/* Why a chain ended.  Everything but CHAIN_COMPLETE is shown: "[truncated: ...]". */
enum chain_cause {
	CHAIN_COMPLETE,	     /* reached the entry of the thread or the process, or kernel only */
	CHAIN_TOO_DEEP,	     /* more than CHAIN_MAX_FRAMES */
	CHAIN_NO_MAPPING,    /* a return address that lies in no executable mapping */
	CHAIN_NO_TABLE,	     /* code whose table is not there (yet), and no frame pointer */
	CHAIN_NO_RULE,	     /* code without frame information, and no frame pointer */
	CHAIN_TOO_COMPLEX,   /* frame information that needs more than the rules can say */
	CHAIN_UNREADABLE,    /* stack memory that is not there */
	CHAIN_NOT_RISING,    /* the stack does not go up: a loop, or damage */
	CHAIN_REGISTER_LOST, /* the frame address needs a register nobody saved */
	CHAIN_32_BIT,	     /* a 32-bit process */
	CHAIN_EXITING,	     /* its memory was gone */
	CHAIN_RING_FULL,     /* the chain ring had no room (only as a slot's chain: CHAIN_LOST) */
	CHAIN_LOG_FULL,	     /* counted in the spill table, without callers */
	CHAIN_NOT_FOLLOWED,  /* a block that nobody foresaw to be worth it (bpf/switch.bpf.c) */
	CHAIN_N_CAUSES
};

#endif
