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

/* A line for each field: its value in HotSpot 11, 17, 21 and 8. */
#define HOTSPOT_FIELDS(X)                                                                          \
	X(nmethod_bytes, 376, 352, 344, 296)                                                       \
	X(blob_bytes, 104, 104, 96, 64)                                                            \
	X(method_bytes, 88, 88, 88, 88)                                                            \
	X(const_bytes, 56, 48, 56, 48)                                                             \
	X(pool_bytes, 64, 72, 72, 80)                                                              \
	X(klass_bytes, 464, 464, 464, 440)                                                         \
	X(array_data, 24, 8, 8, 0)                                                                 \
	X(memory, 8, 8, 0, 0)                                                                      \
	X(segments, 120, 120, 112, 112)                                                            \
	X(log2_segment, 256, 256, 248, 248)                                                        \
	X(frame_complete, 20, 20, 80, 36)                                                          \
	X(frame_size, 28, 28, 88, 44)                                                              \
	X(code_begin, 32, 32, 8, 32)                                                               \
	X(code_end, 40, 40, 16, 40)                                                                \
	X(name, 96, 96, 64, 8)                                                                     \
	X(method, 112, 112, 112, 64)                                                               \
	X(compile_id, 324, 304, 308, 204)                                                          \
	X(scopes, 120, 120, 120, 176)                                                              \
	X(metadata, 292, 260, 268, 172)                                                            \
	X(pcs, 300, 268, 276, 180)                                                                 \
	X(pcs_end, 304, 272, 280, 184)                                                             \
	X(const_method, 8, 8, 8, 8)                                                                \
	X(pool, 8, 8, 8, 8)                                                                        \
	X(const_words, 32, 24, 24, 24)                                                             \
	X(flags, 36, 28, 28, 28)                                                                   \
	X(code_size, 40, 32, 34, 32)                                                               \
	X(name_index, 42, 34, 36, 34)                                                              \
	X(max_stack, 48, 40, 42, 40)                                                               \
	X(holder, 24, 24, 24, 24)                                                                  \
	X(source_index, 298, 54, 54, 258)                                                          \
	X(in_holder, 1, 0, 0, 1)                                                                   \
	X(klass_name, 24, 24, 24, 16)                                                              \
	X(symbol_length, 0, 4, 4, 0)                                                               \
	X(symbol_count, 2, 0, 0, 2)                                                                \
	X(bcp, 8, 8, 8, 7)                                                                         \
	X(symbol_text, 6, 6, 6, 8)                                                                 \
	X(counts_on, 0, 0, 1, 0)                                                                   \
	X(is_8, 0, 0, 0, 1)

#define HOTSPOT_11(field, of_11, of_17, of_21, of_8) .field = of_11,
#define HOTSPOT_17(field, of_11, of_17, of_21, of_8) .field = of_17,
#define HOTSPOT_21(field, of_11, of_17, of_21, of_8) .field = of_21,
#define HOTSPOT_8(field, of_11, of_17, of_21, of_8)  .field = of_8,

static const struct hotspot_layout hotspot_layouts[HOTSPOT_N_LAYOUTS] = {
	[INTERPRETER_HOTSPOT_11 - INTERPRETER_HOTSPOT_FIRST] = {HOTSPOT_FIELDS(HOTSPOT_11)},
	[INTERPRETER_HOTSPOT_17 - INTERPRETER_HOTSPOT_FIRST] = {HOTSPOT_FIELDS(HOTSPOT_17)},
	[INTERPRETER_HOTSPOT_21 - INTERPRETER_HOTSPOT_FIRST] = {HOTSPOT_FIELDS(HOTSPOT_21)},
	[INTERPRETER_HOTSPOT_8 - INTERPRETER_HOTSPOT_FIRST] = {HOTSPOT_FIELDS(HOTSPOT_8)},
};

#undef HOTSPOT_11
#undef HOTSPOT_17
#undef HOTSPOT_21
#undef HOTSPOT_8
#undef HOTSPOT_FIELDS

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

/* Virtual threads, of 21 with compressed references: a ContinuationEntry is what enterSpecial has
 * below its frame pointer; Continuation and StackChunk are Java's (runtime/continuationEntry.hpp,
 * classfile/javaClasses.hpp). */
#define HOTSPOT_ENTRY_CONT   16 /* of a ContinuationEntry */
#define HOTSPOT_ENTRY_BYTES  64
#define HOTSPOT_CONT_TAIL    32 /* of a Continuation: its last StackChunk */
#define HOTSPOT_CHUNK_PC     16 /* of a StackChunk */
#define HOTSPOT_CHUNK_SP     24 /* in words behind its frames' begin, as where they end: */
#define HOTSPOT_CHUNK_BOTTOM 28
#define HOTSPOT_CHUNK_CONT   44
#define HOTSPOT_CHUNK_PARENT 40
#define HOTSPOT_CHUNK_FRAMES 48
#define HOTSPOT_MOST_FRAMES  (1u << 20) /* words */

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
	__u64 other_sp;		 /* 0: sp is known for certain; see hotspot_choose_sp */
	__u64 r13, rax;		 /* is_exact */
	__u32 is_exact;		 /* it was interrupted at ip */
	__u32 has_fp;		 /* fp is known */
	__u32 kind;		 /* of its code: enum hotspot_kind */
	__u32 met;		 /* frames of the walk were HotSpot's */
	__u64 at, method;	 /* its blob; what it executes, 0: no method */
	__u64 number;		 /* of that, or of a stub */
	__u64 name;		 /* of the blob */
	__u64 segments, segment; /* of a heap: what tells of them, one of its blob */
	__u32 is_first;		 /* that is its first one */
	__u32 spare_2;
	__u64 called_sp; /* of the caller of a stub; 0: not found */
	__u64 unmet;	 /* what may be a stub's return address, of a mapping not met yet */
	__u64 is_met;	 /* that was looked up */
	__u64 bytecode, max_stack;
	__u32 n_code, off;
	__u32 n_left;	/* is_exact: words of its frame that are left; 0: all; or see above */
	__u32 keeps_fp; /* is_exact: the caller's fp is not saved yet */
	__u32 spare;
	__u32 is_full;	  /* all of an nmethod was read */
	__u32 is_inlined; /* what it executes is in the entry of `key` */
	__u64 key;
	__u32 pc;	       /* what is looked for, from the code's begin on */
	__u64 pcs;	       /* where its PcDescs are */
	__u32 from, to;	       /* it is among these */
	__u32 scope, n_scopes; /* where the next one is; 0: there is none; that were met */
	__u32 n_taken;	       /* bytes of `scope_bytes` */
	__u8 scope_bytes[16];
	/* A virtual thread may have frames in the heap.  These are its ContinuationEntry, its
	 * Continuation, where the frames of the chunk stepped through end (0: it is in none), the
	 * next chunk, and by how many bits references are shifted. */
	__u64 entry, cont, chunk_end;
	__u32 chunk, shift;
	/* Where the walk's first HotSpot frame, which was interrupted, returns to; 1: it is in a
	 * call; 0: there was none. */
	__u64 called_at;
	__u64 blob[HOTSPOT_BLOB_WORDS];
	__u64 words[HOTSPOT_WORDS];
	__u64 code[2];
};

#endif
