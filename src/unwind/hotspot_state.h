/* SPDX-License-Identifier: BSD-2-Clause */
/* Where HotSpot keeps its compiled code and its methods, and the state of a walk over its frames;
 * see hotspot.h.  Included by both compilers. */
#ifndef UNWIND_HOTSPOT_STATE_H
#define UNWIND_HOTSPOT_STATE_H

#include <linux/types.h>

#include "unwind/chain.h"
#include "unwind/script_record.h"
#include "unwind/table.h"

/* Where things are, in bytes.  They are what a process says of itself at run time in
 * gHotSpotVMStructs, whose offsets the file does not have: its constructors write them.  The sizes
 * of types are in the file, and must agree (resolve/interpreter_hotspot.c). */
struct hotspot_layout {
	__u16 nmethod_bytes, blob_bytes, method_bytes, const_bytes, pool_bytes, klass_bytes;
	__u16 array_data; /* of a GrowableArray; how many it has is its first int */
	__u16 memory, segments, log2_segment; /* of a CodeHeap: VirtualSpace, VirtualSpace, int */
	__u16 frame_complete, frame_size, code_begin, code_end, name; /* of a CodeBlob */
	__u16 method, compile_id;				      /* of an nmethod */
	__u16 scopes, metadata, pcs, pcs_end; /* of an nmethod: address, and three ints, how far */
	__u16 const_method;		      /* of a Method */
	__u16 pool, const_words, flags, code_size, name_index, max_stack; /* of a ConstMethod */
	__u16 holder, source_index; /* of a ConstantPool; of its holder when in_holder */
	__u16 klass_name;	    /* of a Klass */
	__u8 in_holder;
	__u8 symbol_length, symbol_count; /* of a Symbol: u16; how often it is referred to */
	__u8 bcp; /* of an interpreted frame: words below the frame pointer */
	__u8 symbol_text;
	__u8 counts_on; /* bytes of compressed numbers have one added, so that none is 0 */
	/* There is one heap, and no list.  Addresses of code and scopes are ints, counted from the
	 * blob's begin. */
	__u8 is_8;
};

#define HOTSPOT_N_LAYOUTS 4 /* a power of two */

static const struct hotspot_layout hotspot_layouts[HOTSPOT_N_LAYOUTS] = {
	[INTERPRETER_HOTSPOT_11 - INTERPRETER_HOTSPOT_FIRST] = {.nmethod_bytes = 376,
								.blob_bytes = 104,
								.method_bytes = 88,
								.const_bytes = 56,
								.pool_bytes = 64,
								.klass_bytes = 464,
								.array_data = 24,
								.memory = 8,
								.segments = 120,
								.log2_segment = 256,
								.frame_complete = 20,
								.frame_size = 28,
								.code_begin = 32,
								.code_end = 40,
								.name = 96,
								.method = 112,
								.compile_id = 324,
								.scopes = 120,
								.metadata = 292,
								.pcs = 300,
								.pcs_end = 304,
								.const_method = 8,
								.pool = 8,
								.const_words = 32,
								.flags = 36,
								.code_size = 40,
								.name_index = 42,
								.max_stack = 48,
								.holder = 24,
								.source_index = 298,
								.in_holder = 1,
								.klass_name = 24,
								.symbol_length = 0,
								.symbol_count = 2,
								.bcp = 8,
								.symbol_text = 6},
	[INTERPRETER_HOTSPOT_17 - INTERPRETER_HOTSPOT_FIRST] = {.nmethod_bytes = 352,
								.blob_bytes = 104,
								.method_bytes = 88,
								.const_bytes = 48,
								.pool_bytes = 72,
								.klass_bytes = 464,
								.array_data = 8,
								.memory = 8,
								.segments = 120,
								.log2_segment = 256,
								.frame_complete = 20,
								.frame_size = 28,
								.code_begin = 32,
								.code_end = 40,
								.name = 96,
								.method = 112,
								.compile_id = 304,
								.scopes = 120,
								.metadata = 260,
								.pcs = 268,
								.pcs_end = 272,
								.const_method = 8,
								.pool = 8,
								.const_words = 24,
								.flags = 28,
								.code_size = 32,
								.name_index = 34,
								.max_stack = 40,
								.holder = 24,
								.source_index = 54,
								.klass_name = 24,
								.symbol_length = 4,
								.symbol_count = 0,
								.bcp = 8,
								.symbol_text = 6},
	[INTERPRETER_HOTSPOT_21 - INTERPRETER_HOTSPOT_FIRST] = {.nmethod_bytes = 344,
								.blob_bytes = 96,
								.method_bytes = 88,
								.const_bytes = 56,
								.pool_bytes = 72,
								.klass_bytes = 464,
								.array_data = 8,
								.memory = 0,
								.segments = 112,
								.log2_segment = 248,
								.frame_complete = 80,
								.frame_size = 88,
								.code_begin = 8,
								.code_end = 16,
								.name = 64,
								.method = 112,
								.compile_id = 308,
								.scopes = 120,
								.metadata = 268,
								.pcs = 276,
								.pcs_end = 280,
								.const_method = 8,
								.pool = 8,
								.const_words = 24,
								.flags = 28,
								.code_size = 34,
								.name_index = 36,
								.max_stack = 42,
								.holder = 24,
								.source_index = 54,
								.klass_name = 24,
								.symbol_length = 4,
								.symbol_count = 0,
								.bcp = 8,
								.symbol_text = 6,
								.counts_on = 1},
	[INTERPRETER_HOTSPOT_8 - INTERPRETER_HOTSPOT_FIRST] = {.nmethod_bytes = 296,
							       .blob_bytes = 64,
							       .method_bytes = 88,
							       .const_bytes = 48,
							       .pool_bytes = 80,
							       .klass_bytes = 440,
							       .memory = 0,
							       .segments = 112,
							       .log2_segment = 248,
							       .frame_complete = 36,
							       .frame_size = 44,
							       .code_begin = 32,
							       .code_end = 40,
							       .name = 8,
							       .method = 64,
							       .compile_id = 204,
							       .scopes = 176,
							       .metadata = 172,
							       .pcs = 180,
							       .pcs_end = 184,
							       .const_method = 8,
							       .pool = 8,
							       .const_words = 24,
							       .flags = 28,
							       .code_size = 32,
							       .name_index = 34,
							       .max_stack = 40,
							       .holder = 24,
							       .source_index = 258,
							       .in_holder = 1,
							       .klass_name = 16,
							       .symbol_length = 0,
							       .symbol_count = 2,
							       .bcp = 7,
							       .symbol_text = 8,
							       .is_8 = 1},
};

#define HOTSPOT_LAYOUT(interpreter)                                                                \
	(&hotspot_layouts[INTERPRETER_LAYOUT((interpreter)-INTERPRETER_HOTSPOT_FIRST,              \
					     HOTSPOT_N_LAYOUTS)])

/* What all versions share: utilities/growableArray.hpp, memory/virtualspace.hpp, memory/heap.hpp,
 * oops/symbol.hpp, oops/constMethod.hpp, runtime/frame_x86.hpp. */
#define HOTSPOT_HEADER_BYTES 16 /* of a HeapBlock, before its blob */
#define HOTSPOT_SPACE_LOW    0	/* of a VirtualSpace: where it begins, all that it may take */
#define HOTSPOT_SPACE_HIGH   8
#define HOTSPOT_SPACE_BEGIN  16 /* what is committed of it */
#define HOTSPOT_HAS_LINES    1	/* of `flags`: a table of lines is behind the bytecode */
#define HOTSPOT_FREE	     0xff
#define HOTSPOT_SENDER_SP    8 /* of an interpreted frame, below the frame pointer */
#define HOTSPOT_METHOD	     24
#define HOTSPOT_PC_BYTES     16 /* of a PcDesc: int where, int its scope */

#define HOTSPOT_HEAPS	    3
#define HOTSPOT_HOPS	    32 /* from a segment to its blob's first */
#define HOTSPOT_BLOB_WORDS  64 /* of which each has: */
#define HOTSPOT_HEAD_WORDS  16
#define HOTSPOT_FULL_WORDS  44 /* of an nmethod */
#define HOTSPOT_WORDS	    8
#define HOTSPOT_SLOTS	    8	  /* of a stub's stack that are looked at */
#define HOTSPOT_MOST_PUSHED 512	  /* bytes: what a stub pushes */
#define HOTSPOT_MOST_ARGS   65536 /* bytes */

struct hotspot_heap {
	__u64 low, high, segments;
};

/* A process and its code caches. */
struct hotspot_process {
	__u64 key;   /* as hotspot_walk has it */
	__u64 stamp; /* when this was read */
	__u32 interpreter, n_heaps;
	__u32 log2_segment, spare;
	__u64 nmethod_name; /* address of "nmethod"; 0: not met yet */
	struct hotspot_heap heaps[HOTSPOT_HEAPS];
};

#define HOTSPOT_PROCESSES 16

/* What a frame of compiled code executes, as its scopes tell (hotspot_scopes.h). */
#define HOTSPOT_MOST_SCOPES 32

struct hotspot_inlined {
	__u64 key;	/* of process, address and recording */
	__u64 at, type; /* the blob, and its first word, which is another one when it is freed */
	__u32 compile_id, n;
	__u64 frames[HOTSPOT_MOST_SCOPES]; /* the innermost first */
};

#define HOTSPOT_INLINED 256

/* Kinds of code. */
enum hotspot_kind {
	HOTSPOT_STUB,
	HOTSPOT_COMPILED,
	HOTSPOT_INTERPRETED,
	HOTSPOT_ADAPTER,
	HOTSPOT_THROWER
};

/* Instead of how many words of the innermost frame are left: */
#define HOTSPOT_PUSHED 0x7ffffffb /* all, and a word more */
#define HOTSPOT_POPPED 0x7ffffffc /* none: the return address was taken off, too */
#define HOTSPOT_CALLED 0x7ffffffd /* all, and a return address of its own code more */
#define HOTSPOT_BY_FP  0x7ffffffe /* as many as the frame pointer says */
#define HOTSPOT_UNTOLD 0x7fffffff /* its code does not tell */

/* What a walk knows. */
struct hotspot_walk {
	__u64 low, high; /* all heaps of the process lie there; equal: it has none */
	/* The frame stepped from; a step makes it its caller's. */
	__u64 ip, sp, fp;
	__u64 r13, rax;	  /* is_exact */
	__u32 is_exact;	  /* it was interrupted at ip */
	__u32 has_fp;	  /* fp is known */
	__u32 kind;	  /* of its code: enum hotspot_kind */
	__u32 met;	  /* frames of the walk were HotSpot's */
	__u64 at, method; /* its blob; what it executes, 0: no method */
	__u64 number;	  /* of that, or of a stub */
	__u64 name;	  /* of the blob */
	__u64 unmet;	  /* what may be a stub's return address, of a mapping not met yet */
	__u64 is_met;	  /* that was looked up */
	__u64 bytecode, max_stack;
	__u32 n_code, off;
	__u32 n_left;	/* is_exact: words of its frame that are left; 0: all; or see above */
	__u32 keeps_fp; /* is_exact: the caller's fp is not saved yet */
	__u32 spare;
	__u32 is_full;	  /* all of an nmethod was read */
	__u32 is_inlined; /* what it executes is in the entry of `key` */
	__u64 key;
	__u32 pc;	       /* what is looked for, from the code's begin on */
	__u32 from, to;	       /* among its PcDescs */
	__u32 scope, n_scopes; /* where the next one is; 0: there is none; that were met */
	__u32 n_taken;	       /* bytes of `scope_bytes` */
	__u8 scope_bytes[16];
	__u64 blob[HOTSPOT_BLOB_WORDS];
	__u64 words[HOTSPOT_WORDS];
	__u64 code[2];
};

#endif
