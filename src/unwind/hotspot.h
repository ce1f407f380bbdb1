/* SPDX-License-Identifier: BSD-2-Clause */
/* HotSpot's frames: from one to its caller, and which Java method it executes.  One source for two
 * compilers, like python.h, with the same functions from whoever includes it.
 *
 * Code that HotSpot makes lies in one to three heaps, whose segment maps lead from an address to
 * the blob it is in: a byte for each segment, 0 where a blob begins, else how many to go back.  A
 * blob says what it is.  Java code comes as
 *
 *     compiled, an nmethod: it knows its method and how many words its frames have; the return
 *     address is the last of them, the caller's frame pointer the one before.  The frame pointer is
 *     a register like any other;
 *     interpreted, where the frame pointer leads:
 *         fp + 8   return address
 *         fp       the caller's frame pointer
 *         fp - 8   the caller's stack pointer: what a compiled caller has pushed lies beyond it
 *         fp - 24  the Method
 *         fp - 64  the next bytecode; the innermost frame has it in r13.
 *
 * Everything else is a stub: with a size of its frames, or entered with a frame pointer, or without
 * any frame.  Of the last ones the return address is the first word of the stack, or the next one
 * that is an address in the heaps.
 *
 * For example, a key function that C2 compiled, called by the interpreter:
 *
 *     Key.compare      compiled, 6 words: return address at sp + 40
 *     Sort.sort        interpreted, its frame pointer was saved at sp + 32
 *     call_stub        a stub with a frame pointer
 *     JavaCalls::call_helper, in libjvm.so: the native walk goes on
 *
 * A method is known by its own address and those of its ConstMethod, constant pool and class's
 * name, by the hash and begin of that name, and by the sizes in its ConstMethod.  Its names and
 * table of lines are told once (script_record.h): `file` is the class, `more` the source file.
 *
 * Sources: OpenJDK 17, src/hotspot: share/code/{codeBlob,nmethod,codeCache}.hpp, share/memory/
 * heap.cpp, share/oops/{method,constMethod,constantPool,symbol}.hpp, cpu/x86/frame_x86.hpp. */
#ifndef UNWIND_HOTSPOT_H
#define UNWIND_HOTSPOT_H

#include "unwind/hotspot_state.h"

#ifdef SCRIPT_ENV

/* Provided by the includer, besides what python.h and v8.h want: what is known of the process, and
 * HotSpot's part of the walk. */
static const struct hotspot_process *hotspot_process_of(SCRIPT_ENV *env);
static struct hotspot_walk *hotspot_of(SCRIPT_ENV *env);

/* Whether what is at AVMA can be executed, as far as that was met. */
SCRIPT_PART int hotspot_is_code(SCRIPT_ENV *env, __u64 avma);

/* Provided by the includer: hotspot_hop() and hotspot_slot_step() until they return 0, at the most
 * HOTSPOT_HOPS and HOTSPOT_SLOTS - 1 times. */
static void hotspot_each_hop(SCRIPT_ENV *env);
static void hotspot_each_slot(SCRIPT_ENV *env);

/* Looks up what is at AVMA, so that hotspot_is_code() can tell. */
static void hotspot_meet(SCRIPT_ENV *env, __u64 avma);

SCRIPT_STEP __u32 hotspot_u16(const __u64 *words, __u32 at)
{
	return (__u16)(words[at / 8 & (HOTSPOT_WORDS - 1)] >> at % 8 * 8);
}

SCRIPT_STEP __u32 hotspot_u32(const struct hotspot_walk *h, __u32 at)
{
	return (__u32)(h->words[at / 8 & (HOTSPOT_WORDS - 1)] >> at % 8 * 8);
}

SCRIPT_STEP __u64 hotspot_blob_word(const struct hotspot_walk *h, __u32 at)
{
	return h->blob[at / 8 & (HOTSPOT_BLOB_WORDS - 1)];
}

SCRIPT_STEP __u32 hotspot_blob_u32(const struct hotspot_walk *h, __u32 at)
{
	return (__u32)(hotspot_blob_word(h, at) >> at % 8 * 8);
}

/* The address in the blob's member at AT: a pointer, or an int from the blob's begin on. */
SCRIPT_STEP __u64 hotspot_blob_address(const struct hotspot_walk *h, const struct hotspot_layout *l,
				       __u32 at)
{
	return l->is_8 ? h->at + hotspot_blob_u32(h, at) : hotspot_blob_word(h, at);
}

SCRIPT_STEP bool hotspot_holds(const struct hotspot_walk *h, __u64 avma)
{
	return avma - h->low < h->high - h->low;
}

/* Reads what P is to know of the process whose CodeCache::_heaps, of 8 _heap, is at ANCHOR. */
SCRIPT_STEP void hotspot_open(SCRIPT_ENV *env, struct hotspot_process *p, __u64 anchor)
{
	const struct hotspot_layout *l = HOTSPOT_LAYOUT(p->interpreter);
	const __u64 array = python_word(env, anchor),
		    data = l->is_8 ? anchor
			   : array ? python_word(env, array + l->array_data)
				   : 0;
	const __u32 n = l->is_8 ? array != 0 : array ? (__u32)python_word(env, array) : 0;

	p->n_heaps = p->log2_segment = 0;
	if (!data || n > HOTSPOT_HEAPS)
		return;
	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		struct hotspot_heap *heap = &p->heaps[i];
		__u64 at;

		if (i >= n)
			break;
		at = python_word(env, data + 8 * i);
		heap->low = python_word(env, at + l->memory + HOTSPOT_SPACE_LOW);
		heap->high = python_word(env, at + l->memory + HOTSPOT_SPACE_HIGH);
		heap->segments = python_word(env, at + l->segments + HOTSPOT_SPACE_BEGIN);
		p->log2_segment = (__u32)python_word(env, at + l->log2_segment);
		if (!heap->low || heap->high <= heap->low || heap->high - heap->low > 1ULL << 32 ||
		    p->log2_segment < 4 || p->log2_segment > 16)
			return;
	}
	p->n_heaps = n;
}

/* Where the heaps of P are in all, into H. */
SCRIPT_STEP void hotspot_span(struct hotspot_walk *h, const struct hotspot_process *p)
{
	h->low = h->high = h->met = 0;
	h->chunk_end = h->called_at = 0;
	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		if (i >= p->n_heaps)
			break;
		if (!i || p->heaps[i].low < h->low)
			h->low = p->heaps[i].low;
		if (!i || p->heaps[i].high > h->high)
			h->high = p->heaps[i].high;
	}
}

/* From h->segment towards the first one of its blob; 0: no further. */
SCRIPT_STEP int hotspot_hop(SCRIPT_ENV *env)
{
	struct hotspot_walk *h = hotspot_of(env);
	__u8 back;

	if (!script_read(env, h->segments + h->segment, &back, 1, 1) || back == HOTSPOT_FREE ||
	    back > h->segment)
		return 0;
	h->is_first = !back;
	h->segment -= back;
	return back != 0;
}

/* Puts into h->at the blob that h->ip is in; 0: it is in none. */
SCRIPT_PART int hotspot_find_blob(SCRIPT_ENV *env)
{
	const struct hotspot_process *p;
	struct hotspot_walk *h;
	__u64 avma, low = 0, segments = 0;

	if (!env)
		return 0;
	p = hotspot_process_of(env);
	h = hotspot_of(env);
	h->at = 0;
	avma = h->ip - !h->is_exact;
	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		if (i >= p->n_heaps)
			break;
		if (avma - p->heaps[i].low < p->heaps[i].high - p->heaps[i].low) {
			low = p->heaps[i].low;
			segments = p->heaps[i].segments;
		}
	}
	if (!low)
		return 0;
	h->segments = segments;
	h->segment = (avma - low) >> (p->log2_segment & 31);
	h->is_first = 0;
	hotspot_each_hop(env);
	if (h->is_first)
		h->at = low + (h->segment << (p->log2_segment & 31)) + HOTSPOT_HEADER_BYTES;
	return (int)h->is_first;
}

/* What the blob in H is. */
SCRIPT_STEP __u32 hotspot_kind(SCRIPT_ENV *env, struct hotspot_walk *h, __u64 name)
{
	__u64 text[2] = {0};

	if (!script_read(env, name, text, 16, 16) && !script_read(env, name, text, 8, 8))
		return HOTSPOT_STUB;
	if (text[0] == 0x00646f6874656d6eULL || /* "nmethod", "native nmethod" */
	    (text[0] == 0x6e2065766974616eULL &&
	     (text[1] & 0xffffffffffffffULL) == 0x00646f6874656dULL))
		return HOTSPOT_COMPILED;
	if (text[0] == 0x6572707265746e49ULL &&
	    (text[1] & 0xffffffff) == 0x00726574) /* "Interpreter" */
		return HOTSPOT_INTERPRETED;
	if (text[0] == 0x204932432f433249ULL && text[1] == 0x7372657470616461ULL)
		return HOTSPOT_ADAPTER;		/* "I2C/C2I adapters" */
	if (text[1] == 0x6e6f697470656378ULL && /* "handle_exception", "unwind_exception" */
	    (text[0] == 0x655f656c646e6168ULL || text[0] == 0x655f646e69776e75ULL))
		return HOTSPOT_THROWER;
	if ((text[0] == 0x6f69747065637845ULL && text[1] << 24 == 0x626f6c426e000000ULL) ||
	    (text[0] == 0x696d6974706f6544ULL && text[1] == 0x6c426e6f6974617aULL) ||
	    (text[0] == 0x6e6f6d6d6f636e55ULL && text[1] == 0x626f6c4270617254ULL))
		return HOTSPOT_THROWER; /* "ExceptionBlob", "DeoptimizationBlob", "UncommonTrapBlob" */
	return HOTSPOT_STUB;
}

/* Puts SYMBOL into TO. */
SCRIPT_STEP bool hotspot_text(SCRIPT_ENV *env, const struct hotspot_layout *l, __u64 symbol,
			      struct script_text *to)
{
	const __u64 head = symbol ? python_word(env, symbol) : 0;
	const __u32 n = (__u16)(head >> 8 * l->symbol_length);
	const __u32 n_bytes = n < SCRIPT_TEXT_BYTES ? n : SCRIPT_TEXT_BYTES;

	to->n_bytes = to->is_cut = 0;
	to->kind = SCRIPT_TEXT_UTF8;
	if (!n || !script_read(env, symbol + l->symbol_text, to->words, n_bytes, SCRIPT_TEXT_BYTES))
		return false;
	to->n_bytes = n_bytes;
	to->is_cut = n > SCRIPT_TEXT_BYTES;
	return true;
}

/* Sends P's record, whose strings are set, under NUMBER. */
SCRIPT_STEP bool hotspot_send(SCRIPT_ENV *env, struct python_walk *p, __u64 number,
			      __u32 interpreter)
{
	p->record.what = SCRIPT_FUNCTION;
	p->record.number = number;
	p->record.interpreter = interpreter;
	p->record.first_line = 0;
	p->record.source = 0;
	p->file = 0; /* the record's text is another one now */
	if (!script_send(env, p))
		return false;
	script_note(env, number);
	return true;
}

/* Tells of the method whose ConstMethod's first words are in H. */
SCRIPT_STEP bool hotspot_tell(SCRIPT_ENV *env, struct hotspot_walk *h, struct python_walk *p,
			      const struct hotspot_layout *l, __u32 interpreter, __u64 number,
			      __u64 class_name)
{
	const __u64 pool = h->words[l->pool / 8 & (HOTSPOT_WORDS - 1)];
	const __u64 holder = python_word(env, pool + l->holder);
	const __u64 lines = h->bytecode + h->n_code;
	const __u64 end = h->bytecode - l->const_bytes +
			  8 * (h->words[l->const_words / 8 & (HOTSPOT_WORDS - 1)] & 0xffffff);
	const __u64 left = end > lines ? end - lines : 0;
	const __u32 n_bytes = left < SCRIPT_LINE_BYTES ? (__u32)left : SCRIPT_LINE_BYTES;
	const __u32 source =
		(__u16)python_word(env, (l->in_holder ? holder : pool) + l->source_index);
	const __u32 name = hotspot_u16(h->words, l->name_index);

	if (!hotspot_text(env, l, class_name, &p->record.file) ||
	    !hotspot_text(env, l, python_word(env, pool + l->pool_bytes + 8 * (__u64)name),
			  &p->record.name))
		return false;
	hotspot_text(env, l,
		     source ? python_word(env, pool + l->pool_bytes + 8 * (__u64)source) : 0,
		     &p->record.more);
	p->record.n_line_bytes = 0;
	p->record.lines_cut = left > SCRIPT_LINE_BYTES;
	if (hotspot_u16(h->words, l->flags) & HOTSPOT_HAS_LINES &&
	    script_read(env, lines, p->record.lines, n_bytes, SCRIPT_LINE_BYTES))
		p->record.n_line_bytes = n_bytes;
	return hotspot_send(env, p, number, interpreter);
}

/* Puts the number of h->method into h->number, and tells of it; 0: it is none. */
SCRIPT_PART int hotspot_method(SCRIPT_ENV *env)
{
	const struct hotspot_layout *l;
	struct hotspot_walk *h;
	struct python_walk *p;
	__u64 constants, pool, holder, name, number;
	__u32 interpreter;

	if (!env)
		return 0;
	h = hotspot_of(env);
	p = script_walk(env);
	interpreter = hotspot_process_of(env)->interpreter;
	l = HOTSPOT_LAYOUT(interpreter);
	h->number = 0;
	if (!h->method || h->method & 7)
		return 0;
	constants = python_word(env, h->method + l->const_method);
	if (!constants || !script_read(env, constants, h->words, 7 * 8, HOTSPOT_WORDS * 8))
		return 0;
	pool = h->words[l->pool / 8 & (HOTSPOT_WORDS - 1)];
	h->bytecode = constants + l->const_bytes;
	h->n_code = hotspot_u16(h->words, l->code_size);
	h->max_stack = hotspot_u16(h->words, l->max_stack);
	holder = python_word(env, pool + l->holder);
	name = holder ? python_word(env, holder + l->klass_name) : 0;
	if (!name)
		return 0;
	number = script_mix(script_mix(p->key, h->method), constants);
	number = script_mix(script_mix(number, pool), name);
	/* Its size, and the numbers of its names. */
	number = script_mix(number, h->words[l->code_size / 8 & (HOTSPOT_WORDS - 1)]);
	/* The name's hash, length and begin, not how often it is referred to. */
	number = script_mix(number, python_word(env, name) & ~(0xffffULL << 8 * l->symbol_count)) &
		 SCRIPT_CODE_MASK;
	if (number < SCRIPT_N_MARKS)
		number = SCRIPT_N_MARKS;
	if (!script_is_told(env, number) && !hotspot_tell(env, h, p, l, interpreter, number, name))
		return 0;
	h->number = number;
	return 1;
}

/* Puts the number of the stub called what is at h->name into h->number, and tells of it. */
SCRIPT_PART int hotspot_stub(SCRIPT_ENV *env)
{
	struct hotspot_walk *h;
	struct python_walk *p;
	struct script_text *to;
	__u64 number, name;
	const __u32 n_bytes = 64;

	if (!env)
		return 0;
	h = hotspot_of(env);
	p = script_walk(env);
	to = &p->record.name;
	name = h->name;
	number = script_mix(script_mix(p->key, name), 2) & SCRIPT_CODE_MASK;
	if (number < SCRIPT_N_MARKS)
		number = SCRIPT_N_MARKS;
	h->number = number;
	if (script_is_told(env, number))
		return 1;
	h->number = 0;
	for (int i = 0; i < 8; i++)
		to->words[i] = 0;
	if (!script_read(env, name, to->words, n_bytes, SCRIPT_TEXT_BYTES) &&
	    !script_read(env, name, to->words, 16, SCRIPT_TEXT_BYTES))
		return 0;
	to->kind = SCRIPT_TEXT_UTF8;
	to->n_bytes = n_bytes; /* its end is a zero */
	to->is_cut = 0;
	p->record.file.n_bytes = p->record.file.is_cut = 0;
	p->record.more.n_bytes = p->record.more.is_cut = 0;
	p->record.file.kind = p->record.more.kind = SCRIPT_TEXT_UTF8;
	p->record.n_line_bytes = p->record.lines_cut = 0;
	if (!hotspot_send(env, p, number, hotspot_process_of(env)->interpreter))
		return 0;
	h->number = number;
	return 1;
}

/* To the caller: its frame begins at SP, the return address is the word before, which is 0 of a
 * virtual thread's last frame in the heap. */
SCRIPT_STEP bool hotspot_return(SCRIPT_ENV *env, struct hotspot_walk *h, __u64 sp)
{
	const __u64 ip = v8_stack_word(env, sp - 8);

	if ((!ip && !h->chunk_end) || sp <= h->sp)
		return false;
	h->ip = ip;
	h->sp = sp;
	return true;
}

/* To the caller by frame pointer. */
SCRIPT_STEP bool hotspot_by_fp(SCRIPT_ENV *env, struct hotspot_walk *h)
{
	const __u64 fp = h->fp;

	if (!h->has_fp || fp < h->sp || fp & 7)
		return false;
	if (!hotspot_return(env, h, fp + 16))
		return false;
	h->fp = v8_stack_word(env, fp);
	return true;
}

/* Whether a frame is whole though its method does not count it as complete yet: since 20 a look at
 * whether the method may be entered stands in between.  BEFORE and AT are the 8 bytes before where
 * it was interrupted, and from there on:
 *
 *     sub $n, %rsp; mov %rbp, n(%rsp); nop; cmpl $n, n(%r15); jne
 *
 * cpu/x86/gc/shared/barrierSetAssembler_x86.cpp: nmethod_entry_barrier; c1_MacroAssembler_x86.cpp:
 * build_frame; macroAssembler_x86.cpp: verified_entry. */
SCRIPT_STEP bool hotspot_is_made(__u64 before, __u64 at)
{
	return (before >> 32 & 0xffffff) == 0xec8348 || (before >> 8 & 0xffffff) == 0xec8148 ||
	       (before >> 24 & 0xffffff) == 0x6c8948 || (before & 0xffffff) == 0x7f8141 ||
	       (at & 0xffffff) == 0x7f8141;
}

/* Whether the instructions before, whose last 8 bytes are BEFORE, took the frame of WORDS words off
 * but for the return address: add $n, %rsp, if it had more than two; pop %rbp. */
SCRIPT_STEP bool hotspot_is_taken_off(__u64 before, __u32 words)
{
	return before >> 56 == 0x5d && (words == 2 || (before >> 24 & 0xffffff) == 0xc48348 ||
					(before & 0xffffff) == 0xc48148);
}

/* hotspot_words_left() of a stub that does not say when its frame is complete, or that has a frame
 * pointer. Its code begins with one of
 *
 *     push %rbp; mov %rsp, %rbp        StubAssembler, SharedRuntime: then the frame pointer leads
 *     sub $n, %rsp; mov %rbp, n(%rsp)  a stub of C2's
 *
 * and BEFORE and AT are the 8 bytes before where it was interrupted, and from there on.  One that
 * throws, C2's rethrow_stub, ends by taking its return address off: pop %rdx; jmp *%r10
 * (cpu/x86/x86_64.ad: tailjmpInd). */
SCRIPT_STEP __u32 hotspot_stub_left(SCRIPT_ENV *env, struct hotspot_walk *h, __u64 begin,
				    __u64 before, __u64 at)
{
	__u64 first;

	if (!script_read(env, begin, &first, 8, 8) || (first & 0xff) == 0x53)
		return HOTSPOT_UNTOLD; /* push %rbx: room for a return address that comes later
					* (sharedRuntime_x86_64.cpp: generate_handler_blob) */
	if (h->ip == begin)
		return 1;
	if ((at & 0xff) == 0x5d || (h->ip == begin + 1 && (first & 0xff) == 0x55))
		return 2; /* pop %rbp comes next, or was pushed */
	if ((at & 0xff) == 0xc3 || (at & 0xff) == 0x5a)
		return 1;					      /* ret, pop %rdx */
	if ((at & 0xf8ff) == 0xe0ff || (at & 0xf8ffff) == 0xe0ff41) { /* jmp *register */
		if (before >> 56 == 0x5a)
			return HOTSPOT_POPPED;
		return before >> 56 == 0x5d ? 1 : HOTSPOT_UNTOLD;
	}
	if ((first & 0xffffffff) == 0xec8b4855)
		return HOTSPOT_BY_FP;
	h->keeps_fp = h->ip < begin + 8 &&
		      ((at & 0xffffff) == 0x6c8948 || (at & 0xffffffff) == 0x242c8948);
	return 0;
}

/* Whether a word lies on the stack that is no part of the frame: what is copied from one of its
 * places to another (x86_64.ad: MachSpillCopyNode), and where the method goes on when it is made
 * less optimized (HandlerImpl::emit_deopt_handler; BEFORE and AT as in hotspot_is_made()):
 *
 *     push n(%rsp); pop n(%rsp)
 *     push %r10; jmp         or       call; sub $n, (%rsp); jmp */
SCRIPT_STEP bool hotspot_is_pushed(__u64 before, __u64 at)
{
	const __u64 code = (at & 0xff) == 0x48 ? at >> 8 : at;

	return (code & 0xff3fff) == 0x24048f || (at & 0xffffffff) == 0x242c8348 ||
	       ((at & 0xff) == 0xe9 &&
		(before >> 48 == 0x5241 || (before >> 24 & 0xffffffff) == 0x242c8348));
}

/* Where the innermost frame of a compiled method is being made or is gone already: how many words
 * are left of it, return address and all; 0: it is whole.  Its last instructions are
 *
 *     add $n, %rsp; pop %rbp; a look at whether to stop; ret
 *     add $n, %rsp; pop %rbp; jmp to who throws: rethrow_stub, unwind_exception
 *
 * and who is to stop jumps to where it says so: mov $ip, %r10; mov %r10, n(%r15); jmp.  A call to
 * the interpreter goes by two instructions of its own, with the frame whole below: mov $method,
 * %rbx; jmp. */
SCRIPT_STEP __u32 hotspot_words_left(SCRIPT_ENV *env, struct hotspot_walk *h,
				     const struct hotspot_layout *l)
{
	const __u64 begin = hotspot_blob_address(h, l, l->code_begin);
	const __u32 complete = hotspot_blob_u32(h, l->frame_complete),
		    words = hotspot_blob_u32(h, l->frame_size);
	__u64 a, b;

	h->keeps_fp = 0;
	if (!script_read(env, h->ip - 8, h->code, 16, 16))
		return 0;
	a = h->code[1];
	if (hotspot_is_pushed(h->code[0], a))
		return HOTSPOT_PUSHED;
	if (h->kind == HOTSPOT_STUB && words && words < 1 << 20)
		return hotspot_stub_left(env, h, begin, h->code[0], a);
	if (complete < 1u << 24 && h->ip < begin + complete) {
		if (h->code[0] >> 56 == 0x55) /* push %rbp */
			return 2;
		h->keeps_fp = (a & 0xffffff) == 0x6c8948; /* mov %rbp, n(%rsp) comes next */
		return h->keeps_fp || hotspot_is_made(h->code[0], a) ? 0 : 1;
	}
	if ((a & 0xff) == 0x5d) /* pop %rbp */
		return 2;
	if ((a & 0xff) == 0xe9) {
		if (hotspot_is_taken_off(h->code[0], words) ||
		    (h->code[0] >> 8 & 0xffffff) == 0x97894d)
			return 1;
		return script_read(env, h->ip - 16, &b, 8, 8) && b >> 48 == 0xbb48 ? HOTSPOT_CALLED
										   : 0;
	}
	if ((a & 0xffffff) == 0x97894d && a >> 56 == 0xe9)
		return 1; /* mov %r10, n(%r15); jmp */
	if (!script_read(env, h->ip + 8, &b, 8, 8))
		b = 0;
	if ((a & 0xff) == 0xc3)
		return 1;
	if ((a & 0xffff) == 0xba49 && (b >> 16 & 0xffffff) == 0x97894d)
		return 1; /* mov $ip, %r10; mov %r10, n(%r15) */
	if ((a & 0xffff) == 0xbb48 && (b >> 16 & 0xff) == 0xe9)
		return HOTSPOT_CALLED;				/* mov $method, %rbx; jmp */
	if ((a & 0xffff) == 0x870f && (a >> 48 & 0xff) == 0xc3) /* ja; ret */
		return 1;
	if ((a & 0xffffff) == 0xa73b49 && a >> 56 == 0x0f && (b >> 40 & 0xff) == 0xc3)
		return 1; /* cmp n(%r15), %rsp; ja; ret */
	if ((a & 0xffff) == 0x8541 && (a >> 24 & 0xff) == 0xc3)
		return 1; /* test %eax, (%r10); ret */
	if ((a & 0xffff) == 0x0585 && (a >> 48 & 0xff) == 0xc3)
		return 1; /* test %eax, n(%rip); ret */
	if ((a & 0xffff) == 0x8b4d && a >> 56 == 0x41 && (b & 0xff) == 0x85 &&
	    (b >> 16 & 0xff) == 0xc3)
		return 1; /* mov n(%r15), %r10; test %eax, (%r10); ret */
	return 0;
}

/* From a frame of WORDS words to its caller; what is left of it is N_LEFT words, 0: all.  SURE: its
 * code tells when its frame is complete. */
SCRIPT_STEP bool hotspot_by_size(SCRIPT_ENV *env, struct hotspot_walk *h, __u32 words, __u32 n_left,
				 bool sure)
{
	const __u64 n = n_left ? n_left : words;
	const __u64 saved = h->sp + 8 * (n - 2);

	if (n == 0 || n > 1 << 20 ||
	    (!sure && !hotspot_is_code(env, v8_stack_word(env, h->sp + 8 * n - 8))) ||
	    !hotspot_return(env, h, h->sp + 8 * n))
		return false;
	if (n > 1 && !(h->is_exact && h->keeps_fp)) {
		h->fp = v8_stack_word(env, saved);
		h->has_fp = 1;
	}
	return true;
}

/* From a frame of which nothing is left: its return address was the last word to be taken off. */
SCRIPT_STEP bool hotspot_from_popped(SCRIPT_ENV *env, struct hotspot_walk *h)
{
	const __u64 ip = v8_stack_word(env, h->sp - 8);

	if (!hotspot_holds(h, ip))
		return false;
	h->ip = ip;
	return true;
}

/* Whether the call before the return address AVMA calls what is in the blob in H. */
SCRIPT_STEP bool hotspot_is_called_from(SCRIPT_ENV *env, const struct hotspot_walk *h,
					const struct hotspot_layout *l, __u64 avma)
{
	const __u64 begin = hotspot_blob_address(h, l, l->code_begin),
		    end = hotspot_blob_address(h, l, l->code_end);
	__u64 code;

	return hotspot_holds(h, avma) && script_read(env, avma - 8, &code, 8, 8) &&
	       (code >> 24 & 0xff) == 0xe8 &&
	       avma + (__u64)(__s64)(__s32)(code >> 32) - begin < end - begin;
}

/* Whether word I + 1 of the stack of the stub in H is the return address of a call of it: what is
 * above it is h->called_sp then, and 0 is returned. */
SCRIPT_STEP int hotspot_slot_step(SCRIPT_ENV *env, __u32 i)
{
	const struct hotspot_layout *l = HOTSPOT_LAYOUT(hotspot_process_of(env)->interpreter);
	struct hotspot_walk *h = hotspot_of(env);
	const __u64 at = h->sp + 8 * (i + 1ULL);

	h->called_sp = hotspot_is_called_from(env, h, l, v8_stack_word(env, at)) ? at + 8 : 0;
	return !h->called_sp;
}

/* From a stub that says nothing of its frames: by its frame pointer where that is near, by the
 * return address where that is the next word, by the next one that is of a call of the stub, or by
 * a frame pointer farther off, with registers that were pushed between. */
SCRIPT_STEP bool hotspot_from_stub(SCRIPT_ENV *env, struct hotspot_walk *h,
				   const struct hotspot_layout *l)
{
	const __u64 sp = h->sp, above = h->fp - sp;
	__u64 word;

	if (!h->is_exact)
		return hotspot_by_fp(env, h);
	if (h->has_fp && above <= 8 * (HOTSPOT_SLOTS - 2) &&
	    hotspot_is_code(env, v8_stack_word(env, h->fp + 8)))
		return hotspot_by_fp(env, h);
	word = v8_stack_word(env, sp);
	if (hotspot_is_code(env, word))
		return hotspot_return(env, h, sp + 8);
	if (word && !h->is_met) {
		h->unmet = word;
		return false;
	}
	hotspot_each_slot(env);
	if (h->called_sp)
		return hotspot_return(env, h, h->called_sp);
	return above < HOTSPOT_MOST_PUSHED && hotspot_is_code(env, v8_stack_word(env, h->fp + 8)) &&
	       hotspot_by_fp(env, h);
}

/* The caller's stack pointer, as r13 has it where methods are entered; else what is above SP. */
SCRIPT_STEP __u64 hotspot_sender(const struct hotspot_walk *h, __u64 sp)
{
	return h->r13 > sp && h->r13 - sp < HOTSPOT_MOST_ARGS && !(h->r13 & 7) ? h->r13 : sp + 8;
}

/* From the code that moves arguments between compiled and interpreted methods.  It has no frame,
 * but takes the return address off the stack into rax, makes room, and puts it back:
 *
 *     pop %rax; mov %rsp, %r13; sub $n, %rsp; mov %rax, (%rsp)    to the interpreter
 *     mov (%rsp), %rax; ...; and $-16, %rsp; push %rax            to compiled code
 *
 * cpu/x86/sharedRuntime_x86_64.cpp: gen_c2i_adapter, gen_i2c_adapter. */
SCRIPT_STEP bool hotspot_from_adapter(SCRIPT_ENV *env, struct hotspot_walk *h)
{
	const __u64 sp = h->sp;
	__u64 ip, code;
	__u32 popped, moved;

	if (!h->is_exact || !script_read(env, h->ip, h->code, 8, 16))
		return false;
	code = h->code[0];
	popped = (code & 0xffffff) == 0xe5894c || (code & 0xffffff) == 0xec8b4c || /* mov */
		 (code & 0xfffdff) == 0xec8148; /* sub, of one byte or four */
	moved = (code & 0xffffffff) == 0x24048948 || (code & 0xffffffff) == 0xf0e48348 ||
		(code & 0xff) == 0x50; /* mov, and, push */
	ip = popped || moved ? h->rax : v8_stack_word(env, sp);
	if (!hotspot_holds(h, ip))
		return false;
	h->ip = ip;
	h->sp = popped ? sp : moved ? hotspot_sender(h, sp) : sp + 8;
	h->other_sp = popped || moved ? 0 : hotspot_sender(h, sp);
	return true;
}

/* Behind an adapter: which of h->sp and h->other_sp, as r13 has it, is the stack pointer of the
 * caller, whose frame has WORDS words.  Compiled code does not write r13, so that before the
 * adapter for interpreted methods has done so it may have that of the caller's own caller, behind
 * the frame. */
SCRIPT_STEP void hotspot_choose_sp(SCRIPT_ENV *env, struct hotspot_walk *h, __u64 words)
{
	const __u64 other = h->other_sp;

	h->other_sp = 0;
	if (other && (h->kind != HOTSPOT_COMPILED || other - h->sp < 8 * words ||
		      !hotspot_is_code(env, v8_stack_word(env, h->sp + 8 * words - 8))))
		h->sp = other;
}

/* Whether h->method is what the interpreter executes where it was interrupted: its bytecode is. */
SCRIPT_STEP bool hotspot_is_inside(const struct hotspot_walk *h)
{
	return h->r13 - h->bytecode < h->n_code;
}

/* Whether the interpreter has made a frame pointer for a method that it enters, and has not put the
 * Method below it yet (cpu/x86/templateInterpreterGenerator_x86.cpp: generate_fixed_frame). */
SCRIPT_STEP bool hotspot_is_entering(const struct hotspot_walk *h)
{
	return h->is_exact && h->has_fp && h->fp - h->sp < HOTSPOT_METHOD;
}

/* To the caller by frame pointer.  SENDER is its stack pointer, if that can be. */
SCRIPT_STEP bool hotspot_to_sender(SCRIPT_ENV *env, struct hotspot_walk *h, __u64 sender)
{
	if (!hotspot_by_fp(env, h))
		return false;
	if (sender > h->sp && sender - h->sp < HOTSPOT_MOST_ARGS && !(sender & 7))
		h->sp = sender;
	return true;
}

/* From an interpreted frame to its caller; it may be in the making.  h->number is its method's, and
 * becomes 0 when it is of no method yet, or any more. */
SCRIPT_STEP bool hotspot_from_interpreter(SCRIPT_ENV *env, struct hotspot_walk *h,
					  const struct hotspot_layout *l)
{
	const __u64 fp = h->fp, sp = h->sp;
	__u64 sender, bcp, word;

	if (hotspot_is_entering(h)) {
		sender = fp - sp < HOTSPOT_SENDER_SP ? h->r13
						     : v8_stack_word(env, fp - HOTSPOT_SENDER_SP);
		return hotspot_to_sender(env, h, sender);
	}
	if (h->is_exact && !(h->number && hotspot_is_inside(h))) {
		word = v8_stack_word(env, sp);
		if (!hotspot_holds(h, word) && h->r13 >= sp)
			word = h->rax; /* taken off the stack, to be put behind the locals */
		if (hotspot_holds(h, word)) {
			h->number = 0;
			h->ip = word;
			h->sp = hotspot_sender(h, sp);
			return true;
		}
		if (!h->number || fp - sp > 8 * (h->max_stack + 64))
			return false;
	}
	if (!h->number)
		return false;
	bcp = h->is_exact ? h->r13 : v8_stack_word(env, fp - 8 * (__u64)l->bcp);
	h->off = bcp - h->bytecode < h->n_code ? (__u32)(bcp - h->bytecode) : SCRIPT_NO_OFF;
	sender = v8_stack_word(env, fp - HOTSPOT_SENDER_SP);
	return hotspot_to_sender(env, h, sender);
}

/* Reads the blob at h->at: what it is, and what it executes. */
SCRIPT_PART int hotspot_look(SCRIPT_ENV *env)
{
	const struct hotspot_layout *l;
	struct hotspot_walk *h;

	if (!env)
		return 0;
	h = hotspot_of(env);
	l = HOTSPOT_LAYOUT(hotspot_process_of(env)->interpreter);
	h->is_full =
		script_read(env, h->at, h->blob, HOTSPOT_FULL_WORDS * 8, HOTSPOT_BLOB_WORDS * 8);
	if (!h->is_full &&
	    !script_read(env, h->at, h->blob, HOTSPOT_HEAD_WORDS * 8, HOTSPOT_BLOB_WORDS * 8))
		return 0;
	h->name = hotspot_blob_word(h, l->name);
	h->kind = hotspot_kind(env, h, h->name);
	h->method = h->n_left = 0;
	h->off = SCRIPT_NO_OFF;
	if (h->is_exact && h->kind != HOTSPOT_INTERPRETED && h->kind != HOTSPOT_ADAPTER)
		h->n_left = hotspot_words_left(env, h, l);
	if (h->n_left == HOTSPOT_PUSHED) {
		h->sp += 8;
		h->n_left = 0;
	} else if (h->n_left == HOTSPOT_CALLED) {
		h->ip = v8_stack_word(env, h->sp);
		h->sp += 8;
		h->is_exact = h->n_left = 0;
	}
	if (h->kind == HOTSPOT_COMPILED)
		h->method = hotspot_blob_word(h, l->method);
	else if (h->kind == HOTSPOT_INTERPRETED && h->has_fp && !hotspot_is_entering(h))
		h->method = v8_stack_word(env, h->fp - HOTSPOT_METHOD);
	return 1;
}

/* Whether a virtual thread's outer frames are in the heap: HotSpot's return barrier is where they
 * would be returned to.  It begins with mov n(%r15), %rsp (cpu/x86/stubGenerator_x86_64.cpp:
 * generate_cont_thaw). */
SCRIPT_STEP bool hotspot_is_barrier(SCRIPT_ENV *env, struct hotspot_walk *h)
{
	return h->kind == HOTSPOT_STUB && !h->is_exact && script_read(env, h->ip, h->code, 8, 16) &&
	       (h->code[0] & 0xffffff) == 0xa78b49;
}

/* From the frame in H, whose blob was read, to its caller. */
SCRIPT_PART int hotspot_move(SCRIPT_ENV *env)
{
	const struct hotspot_layout *l;
	struct hotspot_walk *h;
	__u32 words;

	if (!env)
		return 0;
	h = hotspot_of(env);
	l = HOTSPOT_LAYOUT(hotspot_process_of(env)->interpreter);
	words = hotspot_blob_u32(h, l->frame_size);
	hotspot_choose_sp(env, h, words);
	if (h->kind == HOTSPOT_INTERPRETED)
		return hotspot_from_interpreter(env, h, l);
	if (h->kind == HOTSPOT_ADAPTER)
		return hotspot_from_adapter(env, h);
	/* C1's stubs take their caller's frame off, too, and nothing tells where. */
	if (h->kind == HOTSPOT_THROWER && h->is_exact)
		return 0;
	if (h->n_left == HOTSPOT_POPPED)
		return hotspot_from_popped(env, h);
	if (h->n_left == HOTSPOT_UNTOLD)
		return 0;
	if (h->n_left == HOTSPOT_BY_FP)
		return h->fp - h->sp < 8 * (__u64)words && hotspot_by_fp(env, h);
	if (words && words < 1 << 20 &&
	    hotspot_by_size(env, h, words, h->n_left, h->kind == HOTSPOT_COMPILED))
		return 1;
	return (h->kind == HOTSPOT_STUB || h->kind == HOTSPOT_THROWER) &&
	       hotspot_from_stub(env, h, l);
}

/* Whether the chunk in H, a walk's first, can be believed: who is in a call may be in the one that
 * puts the thread to sleep or wakes it, and then frames are on the stack and in the chunk, or in
 * neither.  Just behind that call, the chunk's innermost frame is who called Continuation.doYield
 * (runtime/continuationFreezeThaw.cpp: freeze_fast_copy). */
SCRIPT_STEP bool hotspot_is_settled(const struct hotspot_walk *h)
{
	return h->chunk_end ||
	       (h->called_at != 1 && h->called_at != h->words[HOTSPOT_CHUNK_PC / 8]);
}

/* To the innermost frame of the StackChunk that h->chunk refers to, which becomes the one behind
 * it; 0: it is none of h->cont's, cannot be believed, or has no frames. */
SCRIPT_PART int hotspot_open_chunk(SCRIPT_ENV *env)
{
	struct hotspot_walk *h;
	__u64 chunk, frames;
	__u32 sp, bottom;

	if (!env)
		return 0;
	h = hotspot_of(env);
	chunk = (__u64)h->chunk << (h->shift & 3);
	if (!chunk || !script_read(env, chunk, h->words, HOTSPOT_CHUNK_FRAMES, HOTSPOT_WORDS * 8) ||
	    (__u64)hotspot_u32(h, HOTSPOT_CHUNK_CONT) << (h->shift & 3) != h->cont ||
	    !hotspot_is_settled(h))
		return 0;
	sp = hotspot_u32(h, HOTSPOT_CHUNK_SP);
	bottom = hotspot_u32(h, HOTSPOT_CHUNK_BOTTOM);
	frames = chunk + HOTSPOT_CHUNK_FRAMES;
	if (bottom > HOTSPOT_MOST_FRAMES)
		return 0;
	h->chunk = hotspot_u32(h, HOTSPOT_CHUNK_PARENT);
	if (sp >= bottom)
		return 0;
	h->sp = frames + 8 * (__u64)sp;
	h->ip = h->words[HOTSPOT_CHUNK_PC / 8];
	h->chunk_end = frames + 8 * (__u64)bottom;
	return 1;
}

/* Finds the frame pointer of the frame in H, which lies in the heap.  The word at AT is how far
 * behind that it is, where the frame is interpreted (runtime/continuationFreezeThaw.cpp:
 * patch_callee_link_relative). */
SCRIPT_STEP void hotspot_link(SCRIPT_ENV *env, struct hotspot_walk *h, __u64 at)
{
	const __u64 n = v8_stack_word(env, at);

	h->has_fp = n < HOTSPOT_MOST_FRAMES;
	h->fp = at + 8 * n;
}

/* From a virtual thread's last frame on the stack, or in a chunk, to its caller: in the next chunk,
 * or on the stack behind enterSpecial. */
SCRIPT_PART int hotspot_thaw(SCRIPT_ENV *env)
{
	struct hotspot_walk *h;
	int is_first, is_found;
	__u32 first;

	if (!env)
		return 0;
	h = hotspot_of(env);
	if (hotspot_process_of(env)->interpreter != INTERPRETER_HOTSPOT_21)
		return 0;
	is_first = !h->chunk_end;
	if (is_first) {
		h->entry = h->sp;
		h->cont = v8_stack_word(env, h->sp + HOTSPOT_ENTRY_CONT);
		h->chunk = (__u32)python_word(env, h->cont + HOTSPOT_CONT_TAIL);
		h->shift = 3;
	}
	first = h->chunk;
	is_found = hotspot_open_chunk(env);
	if (is_first && !is_found && h->chunk == first) {
		h->shift = 0;
		is_found = hotspot_open_chunk(env);
	}
	if (!is_found && h->chunk && h->chunk != first) /* all of it is on the stack again */
		is_found = hotspot_open_chunk(env);
	if (is_found) {
		hotspot_link(env, h, h->sp - 16);
		return 1;
	}
	if (is_first || h->chunk)
		script_put(env, FRAME_SCRIPT(SCRIPT_HOTSPOT + SCRIPT_UNREADABLE, SCRIPT_NO_OFF));
	h->chunk_end = 0;
	h->sp = h->entry + HOTSPOT_ENTRY_BYTES + 16;
	h->ip = v8_stack_word(env, h->sp - 8);
	h->fp = v8_stack_word(env, h->sp - 16);
	h->has_fp = 1;
	return hotspot_holds(h, h->ip);
}

/* From a frame in the heap, whose frame pointer was FP, to its caller: H is where the step of a
 * frame on the stack would lead. */
SCRIPT_STEP bool hotspot_leave_frozen(SCRIPT_ENV *env, struct hotspot_walk *h, __u64 fp)
{
	const __u64 n =
		h->kind == HOTSPOT_INTERPRETED ? v8_stack_word(env, fp - HOTSPOT_SENDER_SP) : 0;

	hotspot_link(env, h, h->sp - 16);
	if (n > 1 && n < HOTSPOT_MOST_FRAMES)
		h->sp = fp + 8 * n;
	return h->sp < h->chunk_end || hotspot_thaw(env);
}

#include "unwind/hotspot_scopes.h"

/* Finds what the frame in the walk is of. */
SCRIPT_STEP bool hotspot_know(SCRIPT_ENV *env, struct hotspot_walk *h)
{
	if (hotspot_recall(env))
		return true;
	if (!hotspot_find_blob(env) || !hotspot_look(env))
		return false;
	hotspot_method(env);
	if (h->kind == HOTSPOT_COMPILED)
		hotspot_inline(env);
	return true;
}

/* Puts what the frame in the walk executes, and goes on to its caller; false: it cannot. */
SCRIPT_STEP bool hotspot_step(SCRIPT_ENV *env)
{
	struct hotspot_walk *h = hotspot_of(env);
	const __u32 was_exact = h->is_exact;
	__u64 fp;

	if (!hotspot_know(env, h))
		return false;
	if (hotspot_is_barrier(env, h) && !(hotspot_thaw(env) && hotspot_know(env, h)))
		return false;
	fp = h->fp;
	h->unmet = h->is_met = 0;
	if (!hotspot_move(env)) {
		if (!h->unmet)
			return false;
		hotspot_meet(env, h->unmet);
		h->is_met = 1;
		if (!hotspot_move(env))
			return false;
	}
	if (!h->called_at)
		h->called_at = was_exact ? h->ip : 1;
	if (!h->number && !hotspot_stub(env))
		return false;
	if (h->is_inlined)
		hotspot_put_inlined(env, h);
	else
		script_put(env, FRAME_SCRIPT(h->number, h->off));
	return !h->chunk_end || hotspot_leave_frozen(env, h, fp);
}

#endif
#endif
