/* SPDX-License-Identifier: BSD-2-Clause */
/* Where CPython keeps its frames, and the state of a walk over them; see python.h.  Included by
 * both compilers. */
#ifndef UNWIND_PYTHON_STATE_H
#define UNWIND_PYTHON_STATE_H

#include <linux/types.h>

#include "unwind/chain.h"
#include "unwind/script_record.h"
#include "unwind/table.h"

/* Where things are, in bytes.  Checked by debug information of 3.11.7, 3.12.1 and 3.13.0; equal in
 * all releases of a version, whose structs do not change (M). */
struct python_layout {
	__u16 key;		/* _PyRuntime: autoTSSkey, the number behind 4 bytes */
	__u16 thread_id;	/* of the thread state */
	__u16 frame_at;		/* thread state: cframe or current_frame */
	__u16 in_cframe;	/* 1 + where cframe has the frame; 0: the state itself has it */
	__u16 code, previous;	/* of a frame */
	__u16 instr, mark;	/* of a frame: last instruction; what tells C's from Python's */
	__u16 first_line, file; /* of a code object */
	__u16 name, lines, bytecode;
	__u16 ascii, compact; /* of a string: where its characters are */
	__u16 by_owner;	      /* the mark is a frame of its own, of owner 3, behind the others */
};

/* Words that are read of each. */
#define PYTHON_STATE_WORDS 21
#define PYTHON_FRAME_WORDS 10
#define PYTHON_CODE_WORDS  18
#define PYTHON_TEXT_WORDS  5

#define PYTHON_OWNER_C 3 /* pycore_frame.h: FRAME_OWNED_BY_CSTACK */

static const struct python_layout python_layouts[4] = {
	[INTERPRETER_PYTHON_3_11] = {.key = 592,
				     .thread_id = 152,
				     .frame_at = 56,
				     .in_cframe = 9,
				     .code = 32,
				     .previous = 48,
				     .instr = 56,
				     .mark = 68,
				     .first_line = 72,
				     .file = 112,
				     .name = 128,
				     .lines = 136,
				     .bytecode = 184,
				     .ascii = 48,
				     .compact = 72},
	[INTERPRETER_PYTHON_3_12] = {.key = 1544,
				     .thread_id = 136,
				     .frame_at = 56,
				     .in_cframe = 1,
				     .code = 0,
				     .previous = 8,
				     .instr = 56,
				     .mark = 70,
				     .first_line = 68,
				     .file = 112,
				     .name = 128,
				     .lines = 136,
				     .bytecode = 192,
				     .ascii = 40,
				     .compact = 56,
				     .by_owner = 1},
	[INTERPRETER_PYTHON_3_13] = {.key = 2160,
				     .thread_id = 152,
				     .frame_at = 72,
				     .code = 0,
				     .previous = 8,
				     .instr = 56,
				     .mark = 70,
				     .first_line = 68,
				     .file = 112,
				     .name = 128,
				     .lines = 136,
				     .bytecode = 200,
				     .ascii = 40,
				     .compact = 56,
				     .by_owner = 1},
};
_Static_assert(N_INTERPRETERS == 4, "python_layouts has one for each, a power of two of them");

/* What a walk knows of the interpreter. */
struct python_walk {
	__u64 anchor;	   /* whose frames these are: address of _PyRuntime; 0: none looked for */
	__u64 frame;	   /* the next one; 0: none is left */
	__u32 interpreter; /* of the loop that was met last */
	__u32 failed;	   /* enum script_mark */
	__u64 file, file_hash; /* the string that RECORD's file was read from */
	__u64 code, number;    /* the code object met last */
	__u64 key;	       /* of the process and its recording */
	__u64 words[PYTHON_STATE_WORDS + 1];
	struct script_record record;
};

#endif
