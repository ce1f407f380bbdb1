/* SPDX-License-Identifier: BSD-2-Clause */
/* Where CPython keeps its frames, and the state of a walk over them; see python.h.  Included by
 * both compilers. */
#ifndef UNWIND_PYTHON_STATE_H
#define UNWIND_PYTHON_STATE_H

#include <linux/types.h>

#include "unwind/chain.h"
#include "unwind/script_record.h"
#include "unwind/table.h"

/* Where things are, in bytes.  Checked by debug information of 3.8.18, 3.9.18, 3.10.13, 3.11.7,
 * 3.12.1 and 3.13.0, 3.14's by what 3.14.8 says of itself; equal in all releases of a version,
 * whose structs do not change (M). */
struct python_layout {
	__u16 key;		/* _PyRuntime: autoTSSkey, the number behind 4 bytes */
	__u16 thread_id;	/* of the thread state */
	__u16 frame_at;		/* thread state: cframe or current_frame */
	__u16 in_cframe;	/* 1 + where cframe has the frame; 0: the state itself has it */
	__u16 code, previous;	/* of a frame */
	__u16 instr, mark;	/* of a frame: last instruction; what tells C's from Python's */
	__u16 first_line, file; /* of a code object */
	__u16 name, lines, bytecode;
	__u16 ascii, compact;			   /* of a string: where its characters are */
	__u8 state_words, frame_words, code_words; /* that are read of each */
	__u8 marks;				   /* enum python_marks */
	__u8 index; /* `instr` is no address, but how many such bytes an instruction is on */
};

/* What tells which frames a call of the loop executes. */
enum python_marks {
	PYTHON_ONE,   /* nothing: it executes one */
	PYTHON_ENTRY, /* `mark` of the outermost one is not 0; the loop's stack holds the cframe */
	PYTHON_SHIM,  /* behind the outermost one is a frame of owner 3, on the loop's stack */
};

/* The most words that are read of each. */
#define PYTHON_STATE_WORDS 23
#define PYTHON_FRAME_WORDS 14
#define PYTHON_NEAR_WORDS  10 /* of a frame since 3.11 */
#define PYTHON_CODE_WORDS  18
#define PYTHON_TEXT_WORDS  5

/* pycore_frame.h: FRAME_OWNED_BY_CSTACK, since 3.14 FRAME_OWNED_BY_INTERPRETER and more. */
#define PYTHON_OWNER_C 3

#define PYTHON_N_LAYOUTS 8

#define PYTHON_BEFORE_3_11                                                                         \
	.thread_id = 176, .frame_at = 24, .code = 32, .previous = 24, .first_line = 40,            \
	.file = 104, .name = 112, .lines = 120, .bytecode = 48, .ascii = 48, .compact = 72,        \
	.state_words = 23, .frame_words = 14, .code_words = 16, .marks = PYTHON_ONE

#define PYTHON_SINCE_3_12                                                                          \
	.code = 0, .previous = 8, .instr = 56, .first_line = 68, .file = 112, .name = 128,         \
	.lines = 136, .ascii = 40, .compact = 56, .state_words = 20, .frame_words = 10,            \
	.code_words = 18, .marks = PYTHON_SHIM

static const struct python_layout python_layouts[PYTHON_N_LAYOUTS] = {
	[INTERPRETER_PYTHON_3_8] = {PYTHON_BEFORE_3_11, .key = 1392, .instr = 104, .index = 2},
	[INTERPRETER_PYTHON_3_9] = {PYTHON_BEFORE_3_11, .key = 584, .instr = 104, .index = 2},
	[INTERPRETER_PYTHON_3_10] = {PYTHON_BEFORE_3_11, .key = 584, .instr = 96, .index = 1},
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
				     .compact = 72,
				     .state_words = 20,
				     .frame_words = 9,
				     .code_words = 18,
				     .marks = PYTHON_ENTRY},
	[INTERPRETER_PYTHON_3_12] = {PYTHON_SINCE_3_12, .key = 1544, .thread_id = 136,
				     .frame_at = 56, .in_cframe = 1, .mark = 70, .bytecode = 192},
	[INTERPRETER_PYTHON_3_13] = {PYTHON_SINCE_3_12, .key = 2160, .thread_id = 152,
				     .frame_at = 72, .mark = 70, .bytecode = 200},
	[INTERPRETER_PYTHON_3_14] = {PYTHON_SINCE_3_12, .key = 2336, .thread_id = 152,
				     .frame_at = 72, .mark = 74, .bytecode = 208},
};

/* The layout of INTERPRETER; of zeros when it has none. */
#define PYTHON_LAYOUT(interpreter)                                                                 \
	(&python_layouts[INTERPRETER_LAYOUT(interpreter, PYTHON_N_LAYOUTS)])

/* PHP's and Ruby's frames, Perl's contexts and HotSpot's scopes that one walk looks at.  Perl's are
 * blocks and loops as well. */
#define SCRIPT_MOST_STEPS 4096

/* A sorted table of an interpreter's or a compiler's is halved so often at most. */
#define SCRIPT_MOST_HALVES 20

/* How much of an interpreter's list of frames is read at once, where frames lie behind each
 * other. */
#define NEAR_BYTES 512

/* What a walk knows of the interpreter. */
struct python_walk {
	__u64 anchor;	   /* whose frames these are: address of _PyRuntime; 0: none looked for */
	__u64 frame;	   /* the next one; 0: none is left */
	__u32 interpreter; /* of the loop that was met last */
	__u32 failed;	   /* enum script_mark */
	__u64 sp, end;	   /* the stack that the call of the loop has, which was met last */
	__u64 cframe;	   /* of the state; 0: it has none */
	__u64 mark_at;	   /* where on that stack their mark lies; 0: nowhere */
	__u32 is_closed;   /* the frames of that loop were found, to their mark */
	__u32 is_inner;	   /* it is the first one met */
	__u64 file, file_hash;	 /* the string that RECORD's file was read from */
	__u64 code, number;	 /* the code object met last */
	__u64 owner, owner_hash; /* PHP, Ruby: the class met last; 0: none */
	__u64 key;		 /* of the process and its recording */
	/* Perl: the statement being executed, the stack of contexts, how many of it are left, the
	 * next stack, the file that the statement is in; what the stack is for, and 1 + the context
	 * that ended the last loop's frames. */
	__u64 cop, contexts, outer, cop_file, cop_file_hash;
	__u32 index, stack_type, closed_at, is_first;
	/* Ruby: the table of names; of the last code its method, the word that led a frame to
	 * that, its instructions, what tells their lines, the code of the method that it stands
	 * in, and what that method is; all that is left is put, whichever loop executes it.  `sp`
	 * and `end` are those of the stack of frames. */
	__u64 symbols, method, outer_method, entry, instructions, n_instructions, entries, starts,
		local, def;
	__u32 n_entries, is_rest;
	__u32 n_steps;	   /* SCRIPT_MOST_STEPS: of all loops */
	__u32 is_internal; /* PHP: CODE is one that it brings along */
	__u64 at, line;	   /* PHP, Ruby: an instruction, and its line */
	__u64 words[PYTHON_STATE_WORDS + 1];
	struct script_record record;
};

#endif
