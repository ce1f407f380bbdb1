/* SPDX-License-Identifier: BSD-2-Clause */
/* Where Ruby keeps its frames; see ruby.h.  Included by both compilers. */
#ifndef UNWIND_RUBY_STATE_H
#define UNWIND_RUBY_STATE_H

#include "unwind/python_state.h"

/* Where things are, in bytes.  Equal in all releases of a version. */
struct ruby_layout {
	__u16 objects; /* of a rb_vm_t: objspace; 0: not known */
	__u16 running; /* of a rb_ractor_t: threads.running_ec; 2.7, of a rb_vm_t: running_thread */
	__u8 frame_words;   /* of a rb_control_frame_t */
	__u8 entry_bytes;   /* of an iseq_insn_info_entry, which begins with the line */
	__u8 info;	    /* of a rb_iseq_constant_body: insns_info */
	__u8 thread;	    /* of a rb_execution_context_t: thread_ptr */
	__u8 thread_ec;	    /* of a rb_thread_t: ec */
	__u8 is_key;	    /* threads are found by a key, not by a thread-local variable */
	__u8 is_line_plain; /* first_lineno is an int, not a Fixnum */
	__u8 has_length;    /* a string's length has a word of its own */
	__u8 class_path;    /* of a class: its name; 0: its variables have it */
	__u8 attached;	    /* of a singleton class: whose it is; 0: its variables have it */
	__u8 names_classes; /* where that is, is known */
	__u8 spare;
};

#define RUBY_N_LAYOUTS 8 /* a power of two */

#define RUBY_BEFORE_3_2 .info = 120, .names_classes = 1
#define RUBY_SINCE_3_2                                                                             \
	.entry_bytes = 12, .info = 112, .thread = 48, .thread_ec = 48, .is_line_plain = 1,         \
	.has_length = 1

static const struct ruby_layout ruby_layouts[RUBY_N_LAYOUTS] = {
	[INTERPRETER_RUBY_2_7 - INTERPRETER_RUBY_FIRST] = {RUBY_BEFORE_3_2, .frame_words = 7,
							   .entry_bytes = 8, .thread = 56,
							   .thread_ec = 32, .is_key = 1,
							   .objects = 0x480, .running = 200},
	[INTERPRETER_RUBY_3_0 - INTERPRETER_RUBY_FIRST] = {RUBY_BEFORE_3_2, .frame_words = 7,
							   .entry_bytes = 8, .thread = 56,
							   .thread_ec = 40},
	[INTERPRETER_RUBY_3_1 - INTERPRETER_RUBY_FIRST] = {RUBY_BEFORE_3_2, .frame_words = 8,
							   .entry_bytes = 12, .thread = 48,
							   .thread_ec = 40, .objects = 0x450,
							   .running = 520},
	[INTERPRETER_RUBY_3_2 - INTERPRETER_RUBY_FIRST] = {RUBY_SINCE_3_2, .frame_words = 8},
	[INTERPRETER_RUBY_3_3 - INTERPRETER_RUBY_FIRST] = {RUBY_SINCE_3_2, .frame_words = 7,
							   .class_path = 152, .attached = 128,
							   .names_classes = 1, .objects = 0x518,
							   .running = 384},
	[INTERPRETER_RUBY_3_4 - INTERPRETER_RUBY_FIRST] = {RUBY_SINCE_3_2, .frame_words = 7},
};

#define RUBY_LAYOUT(interpreter)                                                                   \
	(&ruby_layouts[INTERPRETER_LAYOUT((interpreter)-INTERPRETER_RUBY_FIRST, RUBY_N_LAYOUTS)])

/* An image's anchor is two: in the lower half that of where its thread's rb_thread_t is found,
 * in the upper one that of `ruby_global_symbols`, 0: not known. */
#define RUBY_SYMBOLS_SHIFT 32

/* What all these versions share: vm_core.h, iseq.h, method.h, internal/imemo.h, id.h, st.h,
 * ruby/internal/core; words of a rb_execution_context_t, a rb_control_frame_t, an environment from
 * two words before it on, a rb_iseq_constant_body, a rb_method_entry_t; bytes of others. */
#define RUBY_THREAD_LOCK     24 /* of a rb_thread_t: what knows who runs */
#define RUBY_OBJECTS_FLAGS   16 /* of a rb_objspace_t */
#define RUBY_COLLECTS	     0x20
#define RUBY_EC_STACK	     0 /* and its size, in words, and the innermost frame */
#define RUBY_FRAME_PC	     0
#define RUBY_FRAME_ISEQ	     2
#define RUBY_FRAME_EP	     4
#define RUBY_ENV_METHOD	     0
#define RUBY_ENV_OUTER	     1
#define RUBY_ENV_FLAGS	     2
#define RUBY_ISEQ_BODY	     16
#define RUBY_BODY_SIZE	     0 /* its upper half */
#define RUBY_BODY_CODE	     1
#define RUBY_BODY_PATH	     8
#define RUBY_BODY_LABEL	     10
#define RUBY_BODY_LINE	     11
#define RUBY_BODY_WORDS	     23
#define RUBY_INFO_TO_LOCAL   7 /* from insns_info to local_iseq */
#define RUBY_METHOD_DEF	     2
#define RUBY_METHOD_OWNER    4
#define RUBY_DEF_ID	     32
#define RUBY_DEF_CODE	     0 /* of its type: Ruby code, which is the next word */
#define RUBY_SYMBOLS_IDS     16
#define RUBY_IDS_UNIT	     512
#define RUBY_MOST_OPERATORS  1024 /* greater identifiers have their kind in the lower 4 bits */
#define RUBY_ARRAY_EMBEDDED  (1u << 13)
#define RUBY_STRING_IS_APART (1u << 13)
#define RUBY_CLASS_IS_SINGLE (1u << 12)
#define RUBY_CLASS_EXT	     24 /* what a class has besides; its table of variables */
#define RUBY_EXT_VARIABLES   8
#define RUBY_TABLE_FIRST     32 /* of a st_table: number of its first entry */
#define RUBY_TABLE_ENTRIES   48 /* hash, key, record */
#define RUBY_MAGIC_MASK	     0x7fff0001u
#define RUBY_MAGIC_METHOD    0x11110001u
#define RUBY_MAGIC_CFUNC     0x55550001u
#define RUBY_MAGIC_IFUNC     0x66660001u
#define RUBY_MAGIC_DUMMY     0x79990001u
#define RUBY_FLAG_LOCAL	     2
#define RUBY_FLAG_FINISH     0x20
#define RUBY_FLAG_CFRAME     0x80
#define RUBY_TYPE_MASK	     0x1f
#define RUBY_T_CLASS	     2
#define RUBY_T_MODULE	     3
#define RUBY_T_STRING	     5
#define RUBY_T_ARRAY	     7
#define RUBY_BRIEF_WORDS     8 /* of a String that are looked at, with what it holds itself */
#define RUBY_T_IMEMO	     0x1a
#define RUBY_IMEMO_SVAR	     2
#define RUBY_IMEMO_METHOD    6
#define RUBY_MOST_OUTER	     8 /* blocks within blocks, to a method */

/* The positions of instructions that begin a line: iseq.c, succ_index_lookup. */
#define RUBY_NEAR	 54 /* positions in the first table, 9 a word */
#define RUBY_NEAR_BYTES	 48
#define RUBY_BLOCK	 512 /* of the others, a block */
#define RUBY_BLOCK_BYTES 80

#endif
