/* SPDX-License-Identifier: BSD-2-Clause */
/* What a stack walk (walk.h) knows between two steps.  Included by both compilers. */
#ifndef UNWIND_WALK_STATE_H
#define UNWIND_WALK_STATE_H

#include <linux/types.h>
#include <stdbool.h>

#include "unwind/chain.h"
#include "unwind/table.h"

/* DWARF numbers (x86-64 psABI figure 3.36; DWARF for the Arm 64-bit architecture, 4.1). */
enum walk_register {
	WALK_X86_AX = 0, /* x0 of AArch64, too: both hold what a system call returns */
	WALK_X86_BX = 3,
	WALK_X86_FP = 6,
	WALK_X86_SP = 7,
	WALK_X86_IP = 16,
	WALK_ARM_FP = 29,
	WALK_ARM_LR = 30,
	WALK_ARM_SP = 31,
	WALK_ARM_IP = 32, /* of this walk only */
	WALK_MAX_REGISTERS = 33
};

/* An executable mapping, or the part of it that one knows of. */
struct walk_region {
	__u64 start, end;
	__u64 bias;  /* file offset - run-time address */
	__u32 image; /* WALK_ANONYMOUS, WALK_UNKNOWN_FILE, else a number in unwind_images */
	__u32 spare;
};

enum { WALK_ANONYMOUS = 0, WALK_UNKNOWN_FILE = FRAME_MAX_IMAGES + 1 };

enum walk_flag {
	WALK_EXACT = 1u << 0,	/* ip is where it was interrupted, not a return address */
	WALK_FULL = 1u << 1,	/* regs are all known, and lr */
	WALK_FP = 1u << 2,	/* fp is known */
	WALK_BX = 1u << 3,	/* bx is known */
	WALK_GUESSED = 1u << 4, /* got here by frame pointer */
};

/* How often a signal's frame may lead to a lower stack: from an alternate stack back to one below
 * it. */
#define WALK_MAX_FALLS 4

/* What the last step depended on besides ip and sp, when that is plain: the words of the stack that
 * hold the return address, the frame pointer and rbx, each counted in words from the caller's sp, 0
 * for none; and whether it found the caller's sp by the frame pointer or by rbx.  Such a step leads
 * to the same registers whenever it begins with the same ones and these words hold the same. */
#define WALK_PLAIN	   (1ULL << 48)
#define WALK_STEP_BY_FP	   (1ULL << 49)
#define WALK_STEP_BY_BX	   (1ULL << 50)
#define WALK_STEP_RA(step) ((short)(step))
#define WALK_STEP_FP(step) ((short)((step) >> 16))
#define WALK_STEP_BX(step) ((short)((step) >> 32))

struct walk {
	__u64 ip, sp, fp, bx;
	__u64 entry_sp; /* the stack pointer the process began with; 0 unknown */
	__u32 flags;	/* enum walk_flag */
	__u32 n_falls;
	__u64 step; /* WALK_PLAIN and its words, or 0: it depended on more */
	__u32 loop; /* the frame stepped from was an interpreter's loop, in this image; 0: no */
	__u32 anonymous;	   /* some frame's code lies in no file */
	__u64 loop_bias;	   /* of that image's mapping */
	__u64 loop_sp;		   /* of that frame */
	__u64 loop_ip;		   /* where it goes on, as a caller would */
	__u64 guessed_fp;	   /* it was stepped from by this frame pointer; 0: by a rule */
	__u32 guessed_image;	   /* which is as in its region */
	__u32 n_switches;	   /* how often it went on with a goroutine's stack */
	struct walk_region region; /* the last one met; empty in the beginning */
	__u64 regs[WALK_MAX_REGISTERS]; /* by DWARF number */
};

#endif
