/* SPDX-License-Identifier: BSD-2-Clause */
/* Where V8 keeps what its frames execute, and the state of a walk over them; see v8.h.  Included by
 * both compilers. */
#ifndef UNWIND_V8_STATE_H
#define UNWIND_V8_STATE_H

#include <linux/types.h>

#include "unwind/chain.h"
#include "unwind/script_record.h"
#include "unwind/table.h"

/* Where things are, in bytes from the object's begin, and instance types, by which V8 tells its
 * objects apart.  They are those of the v8dbg_ variables of Node 16.20.2, 18.20.8, 20.20.2, 22.23.3
 * and 24.21.0, where there are such; an image's own must agree (resolve/interpreter_v8.c).  The
 * rest was read in live processes of these five (M). */
struct v8_layout {
	__u16 function_type, shared_type,
		scope_type;	    /* JSFunction, SharedFunctionInfo, ScopeInfo */
	__u16 code_type, data_type; /* Code, the array that DeoptimizationData is */
	__u8 shared;		    /* of a JSFunction */
	__u8 name, script, cookie;  /* of a SharedFunctionInfo */
	__u8 first_local;	    /* of a ScopeInfo, in words behind the map */
	__u8 positions;		    /* of a ScopeInfo, in words: where; 0: behind its names */
	__u8 code;		    /* of a JSFunction; 0: it has a number in its place */
	/* Offsets in a Code: its DeoptimizationData, its table of positions, the address of its
	 * instructions and their size in bytes. */
	__u8 data, table, start, size;
	__u8 is_inline; /* the instructions lie in the Code, START bytes behind its begin */
	__u8 is_old;	/* safepoints are three numbers of 4 bytes; code is aligned at 32, not 64 */
	__u8 header;	/* bytes of an InstructionStream before its instructions */
	/* DeoptimizationData has one more word before its literals, and a table of safepoints one
	 * more number before its length. */
	__u8 is_new;
	__u8 lines;	  /* of a BytecodeArray: its table of positions */
	__u8 bytecodes;	  /* of a BytecodeArray: the first one */
	__u16 bytes_type; /* BytecodeArray */
	/* JSAsyncFunctionObject, JSPromise, PromiseCapability */
	__u16 async_type, promise_type, capability_type;
	__u8 next; /* of a PromiseReaction, in words */
};

/* Whether the frame with frame pointer FP, 0 for none, has what v8.h reads below it: the code's
 * begin sets the frame pointer and then pushes the context and the function.  Where the stack
 * pointer SP is still above them, an earlier frame's words are there. */
#define V8_FRAME_IS_MADE(fp, sp) ((fp) && (sp) + 16 <= (fp))

#define V8_N_LAYOUTS 8 /* a power of two */

/* A line for each field: its value in V8 9.4, 10.2, 11.3, 12.4 and 13.6. */
#define V8_FIELDS(X)                                                                               \
	X(function_type, 1059, 2065, 2066, 2066, 2065)                                             \
	X(shared_type, 179, 257, 262, 274, 282)                                                    \
	X(scope_type, 178, 256, 261, 272, 280)                                                     \
	X(code_type, 162, 240, 245, 206, 187)                                                      \
	X(data_type, 119, 179, 175, 213, 193)                                                      \
	X(shared, 24, 24, 24, 32, 32)                                                              \
	X(name, 16, 16, 16, 16, 24)                                                                \
	X(script, 32, 32, 32, 32, 40)                                                              \
	X(cookie, 40, 40, 40, 40, 48)                                                              \
	X(first_local, 3, 3, 3, 3, 5)                                                              \
	X(positions, 0, 0, 0, 0, 3)                                                                \
	X(code, 48, 48, 48, 24, 0)                                                                 \
	X(data, 16, 16, 16, 8, 8)                                                                  \
	X(table, 24, 24, 24, 16, 16)                                                               \
	X(start, 96, 128, 40, 40, 40)                                                              \
	X(size, 40, 40, 56, 52, 56)                                                                \
	X(is_inline, 1, 1, 0, 0, 0)                                                                \
	X(is_old, 1, 0, 0, 0, 0)                                                                   \
	X(header, 0, 0, 16, 32, 32)                                                                \
	X(is_new, 0, 0, 0, 0, 1)                                                                   \
	X(lines, 32, 32, 32, 24, 24)                                                               \
	X(bytecodes, 54, 56, 54, 64, 64)                                                           \
	X(bytes_type, 133, 195, 191, 205, 186)                                                     \
	X(async_type, 1053, 2097, 2106, 2108, 2110)                                                \
	X(promise_type, 1101, 2062, 2063, 2063, 2115)                                              \
	X(capability_type, 107, 164, 161, 161, 161)                                                \
	X(next, 1, 1, 1, 2, 2)

#define V8_9_4(field, of_9_4, of_10_2, of_11_3, of_12_4, of_13_6)  .field = of_9_4,
#define V8_10_2(field, of_9_4, of_10_2, of_11_3, of_12_4, of_13_6) .field = of_10_2,
#define V8_11_3(field, of_9_4, of_10_2, of_11_3, of_12_4, of_13_6) .field = of_11_3,
#define V8_12_4(field, of_9_4, of_10_2, of_11_3, of_12_4, of_13_6) .field = of_12_4,
#define V8_13_6(field, of_9_4, of_10_2, of_11_3, of_12_4, of_13_6) .field = of_13_6,

static const struct v8_layout v8_layouts[V8_N_LAYOUTS] = {
	[INTERPRETER_V8_9_4 - INTERPRETER_V8_FIRST] = {V8_FIELDS(V8_9_4)},
	[INTERPRETER_V8_10_2 - INTERPRETER_V8_FIRST] = {V8_FIELDS(V8_10_2)},
	[INTERPRETER_V8_11_3 - INTERPRETER_V8_FIRST] = {V8_FIELDS(V8_11_3)},
	[INTERPRETER_V8_12_4 - INTERPRETER_V8_FIRST] = {V8_FIELDS(V8_12_4)},
	[INTERPRETER_V8_13_6 - INTERPRETER_V8_FIRST] = {V8_FIELDS(V8_13_6)},
};

#undef V8_9_4
#undef V8_10_2
#undef V8_11_3
#undef V8_12_4
#undef V8_13_6
#undef V8_FIELDS

#define V8_LAYOUT(interpreter)                                                                     \
	(&v8_layouts[INTERPRETER_LAYOUT((interpreter)-INTERPRETER_V8_FIRST, V8_N_LAYOUTS)])

/* Offsets and numbers that all these versions share. */
#define V8_MAP_TYPE	    12 /* of a map: u16 */
#define V8_SHARED_DATA	    8  /* of a SharedFunctionInfo */
#define V8_SCRIPT_SOURCE    8
#define V8_SCRIPT_NAME	    16
#define V8_SCRIPT_ID	    64
#define V8_STRING_LENGTH    12 /* u32 */
#define V8_STRING_DATA	    16 /* characters; or what another string is made of, and where: */
#define V8_STRING_DATA_2    24
#define V8_SCOPE_N_LOCALS   24
#define V8_SCOPE_MOST_NAMES 75 /* with as many the names are in a table */

#define V8_FIRST_NO_STRING 128
#define V8_ONE_BYTE	   8
#define V8_UNCACHED	   16 /* an external string whose characters are not told */
enum v8_string { V8_SEQUENTIAL, V8_CONS, V8_EXTERNAL, V8_SLICED, V8_THIN = 5 };

/* Longer sources are not told: 256 KiB. */
#define V8_SOURCE_CHUNKS 64

/* How many words of an object are read. */
#define V8_FUNCTION_WORDS 7
#define V8_SHARED_WORDS	  8
#define V8_SCRIPT_WORDS	  9
#define V8_CODE_WORDS	  8
#define V8_DATA_WORDS	  10
#define V8_SCOPE_WORDS	  8 /* behind the locals */

/* A process that has V8. */
struct v8_process {
	__u64 key; /* as v8_walk has it */
	__u32 interpreter, spare;
};

#define V8_PROCESSES 64

#define V8_MOST_INLINED 32

/* What the code at a return address executes (v8_code.h). */
struct v8_inlined {
	__u64 key;		       /* of process, address and recording, and of the function
					* where this is not optimised code */
	__u64 code, number;	       /* which code that is, and its own number */
	__u64 map, start, data;	       /* what that has at its begin and points to */
	__u64 own_code;		       /* what the function had as its code */
	__u32 n;		       /* 0: it is not known */
	__u32 is_async;		       /* as in v8_walk */
	__u64 frames[V8_MOST_INLINED]; /* the innermost first */
};

#define V8_INLINED 256

/* An async function's kind, in the flags of its SharedFunctionInfo, and where these are behind the
 * cookie's begin. */
#define V8_FLAGS	  8
#define V8_KIND(flags)	  ((flags)&31)
#define V8_IS_ASYNC(kind) ((kind) == 2 || ((kind) >= 12 && (kind) <= 15))

/* Where words of what an await leads to are: a JSAsyncFunctionObject, a JSPromise, a
 * PromiseReaction, the context of what goes on after an await or one of Promise.all. */
#define V8_ASYNC_WORDS	     11
#define V8_ASYNC_FUNCTION    3
#define V8_ASYNC_AT	     6 /* the bytecode, as in an interpreted frame */
#define V8_ASYNC_STATE	     8 /* where it awaits, a number; negative: it does not */
#define V8_ASYNC_PROMISE     10
#define V8_ASYNC_EXECUTING   (-2ull << 32)
#define V8_PROMISE_WORDS     5
#define V8_PROMISE_REACTIONS 3
#define V8_PROMISE_FLAGS     4
#define V8_PROMISE_SETTLED   (3ull << 32)
#define V8_REACTION_WORDS    6
#define V8_REACTION_HANDLER  2 /* behind the next one */
#define V8_REACTION_PROMISE  3
#define V8_CONTEXT_WORDS     6
#define V8_CONTEXT_AWAITS    4
#define V8_CONTEXT_ALL	     5

#define V8_FIRST_SLOT  24 /* of a frame, below its frame pointer */
#define V8_MOST_SLOTS  64
#define V8_MOST_AWAITS 32
#define V8_AWAIT_STEPS 32 /* an await is as much work as so many bytes */

/* A walk's work on code that is not remembered, in steps: a byte of a table is one, and so is a
 * place where code may begin.  The frame that takes the last step is finished. */
#define V8_MOST_STEPS	 16384
#define V8_SEARCH_STEPS	 512 /* places before an address */
#define V8_INLINED_STEPS 32  /* an inlined function is as much work as so many bytes */

/* What a walk knows of V8's heap. */
struct v8_walk {
	__u64 key;	   /* of the process and its recording */
	__u32 interpreter; /* of the process; 0: not known */
	__u32 is_lost;	   /* a text of a function cannot be read, or not be told */
	__u64 shared_map;  /* the map of SharedFunctionInfos; 0: not known */
	__u64 script, id;  /* the script met last, its number in its isolate */
	__u64 words[V8_DATA_WORDS + 1];
	__u64 text, n_bytes; /* where a string's characters are */
	__u32 kind, is_cut;
	__u64 more;	   /* the string that follows; 0: none */
	__u32 n_told;	   /* pieces of a source */
	__u32 is_exact;	   /* the frame was interrupted at pc, and is no caller */
	__u64 pc;	   /* of the frame */
	__u64 shared;	   /* a SharedFunctionInfo */
	__u64 number, own; /* of SHARED's function, of the frame's */
	__u64 own_code;	   /* the function's code; 0: not told */
	__u64 unoptimised; /* of SHARED: its baseline code, or its bytecodes */
	__u64 sp;	   /* of the frame */
	__u64 code;	   /* what runs, its map, where it begins, and what it points to: */
	__u64 map, start;
	__u64 data, table, safepoints, literals, positions, code_number, code_shared;
	__u64 inlined;		/* the entry's key */
	__u64 checked;		/* of an entry whose code was looked at in this walk */
	__u64 entry, bytes_map; /* where interpreted frames return to, the map of BytecodeArrays */
	__u64 part, position, at; /* of the table of positions, as far as it is read */
	__u32 shift, is_second, n_found, off;
	__u32 is_whole;	   /* the entry was read to its end */
	__u32 may_search;  /* the frame's code lies in no file */
	__u32 n_steps;	   /* V8_MOST_STEPS: of all frames */
	__u32 is_handler;  /* the frame called last was interrupted in a builtin */
	__u32 is_baseline; /* DATA are the bytecodes that CODE was made of, TABLE their places */
	__u32 n_codes, cursor; /* bytes of bytecodes, and of those passed */
	__u32 flags, is_async; /* of SHARED; the frame's function is an async one */
	__u64 function;	       /* of the frame */
	__u64 slots, promise;  /* where the frame's slots are; what is awaited */
	__u64 safepoint;       /* where the one looked for is; 0: there is none */
	__u32 from, to;	       /* it is among these */
	__u32 n_pc, n_entry;   /* bytes of its offset, of all of it */
	__u32 is_own;	       /* POSITION is in the code's own function, and exact */
	__u32 spare;
};

#endif
