/* SPDX-License-Identifier: BSD-2-Clause */
/* CPython's own frames: which functions one call of its loop executes, and where they are.  One
 * source for two compilers, as walk.h is: the BPF program reads the interrupted thread with it, the
 * host memory pictures in tests and under the fuzzer.  No libc; the includer bounds the steps.
 *
 * A thread's Python frames are a list, the innermost first.  _PyEval_EvalFrameDefault executes one
 * that C called and all that Python called from there, which the interpreter marks itself, to know
 * when to return to C.  So a walk that meets the loop takes frames off the list up to a mark:
 *
 *     native frames                     Python's list
 *     _PyEval_EvalFrameDefault   <-     key, entered from C
 *     list_sort
 *     _PyEval_EvalFrameDefault   <-     work, then <module>, entered from C
 *     main
 *
 * The mark tells whose frames these are as well: since 3.11 it lies on the stack of the very call
 * of the loop.  So a loop in its prologue, whose frame is not on the list yet, or in its epilogue,
 * has none, and the frames are left for the next one.  Before 3.11 each call executes one frame.
 *
 * At the root the list is empty, or the frames were not those of these loops: SCRIPT_UNMATCHED.
 *
 * A function is known by what its code object says: its qualified name, file, first line, and where
 * its table of lines is.  The memory of code objects is used again by others within microseconds,
 * so both strings are read each time; only within one walk, in which nothing changes, are they
 * remembered.
 *
 * An includer defines SCRIPT_ENV, a struct, and provides what the step reads and tells: the
 * functions declared below. */
#ifndef UNWIND_PYTHON_H
#define UNWIND_PYTHON_H

#include "unwind/python_state.h"

#ifdef SCRIPT_ENV

/* SCRIPT_PART: a part of a step that the verifier looks at once, not once for each way that leads
 * there.  All it knows of its arguments is their types: ENV may be NULL. */
#ifdef __bpf__
#define SCRIPT_STEP static inline __attribute__((always_inline))
#define SCRIPT_PART __noinline
#else
#define SCRIPT_STEP static inline
#define SCRIPT_PART static inline
#endif

/* Provided by the includer. */
static struct python_walk *script_walk(SCRIPT_ENV *env);

/* Reads N bytes, at most MOST, of the process at AVMA. */
static bool script_read(SCRIPT_ENV *env, __u64 avma, void *ret, __u32 n, const __u32 most);

/* Reads N_WORDS words at AVMA, at most MOST.  Those of list WHICH, 0 or 1, lie near to each other:
 * NEAR_BYTES are read at once, of which BEFORE bytes lie before AVMA. */
static bool script_read_near(SCRIPT_ENV *env, const __u32 which, __u64 avma, __u64 *ret,
			     __u32 n_words, const __u32 most, const __u32 before);
static __u64 script_thread(SCRIPT_ENV *env); /* the thread pointer */
static __u64 script_mix(__u64 h, __u64 v);
static void script_put(SCRIPT_ENV *env, __u64 frame);

/* Whether the record of number NUMBER was told; sends P's record; notes that NUMBER's was told. */
static bool script_is_told(SCRIPT_ENV *env, __u64 number);
static bool script_send(SCRIPT_ENV *env, struct python_walk *p);
static void script_note(SCRIPT_ENV *env, __u64 number);

#include "unwind/text.h"

/* The word at AVMA; 0 when it cannot be read. */
SCRIPT_STEP __u64 python_word(SCRIPT_ENV *env, __u64 avma)
{
	__u64 word = 0;

	return script_read(env, avma, &word, sizeof(word), sizeof(word)) ? word : 0;
}

SCRIPT_STEP __u64 python_at(const struct python_walk *p, __u32 bytes)
{
	return p->words[bytes / 8 < PYTHON_STATE_WORDS ? bytes / 8 : PYTHON_STATE_WORDS];
}

/* pthread_getspecific of glibc on x86-64: nptl/pthread_getspecific.c, struct pthread (M, 2.36). */
SCRIPT_STEP __u64 python_specific(SCRIPT_ENV *env, __u64 thread, __u32 key)
{
	__u64 level;

	if (key < 32)
		return python_word(env, thread + 0x310 + 16 * (__u64)key + 8);
	if (key >= 1024)
		return 0;
	level = python_word(env, thread + 0x510 + 8 * (__u64)(key / 32));
	return level ? python_word(env, level + 16 * (__u64)(key % 32) + 8) : 0;
}

/* Finds the thread's innermost frame.  The state is the one of this thread when it says so itself:
 * its thread_id is pthread_self(), the thread pointer. */
SCRIPT_STEP void python_begin(SCRIPT_ENV *env, struct python_walk *p, const struct python_layout *l,
			      __u64 runtime)
{
	const __u64 thread = script_thread(env);
	__u64 key, state, frame;

	p->anchor = runtime;
	p->frame = p->file = p->code = p->cframe = 0;
	p->is_inner = 1;
	p->failed = SCRIPT_NO_STATE;
	key = python_word(env, runtime + l->key);
	if (!(__u32)key || !thread) /* _is_initialized */
		return;
	state = python_specific(env, thread, (__u32)(key >> 32));
	if (!state ||
	    !script_read(env, state, p->words, l->state_words * 8, PYTHON_STATE_WORDS * 8) ||
	    python_at(p, l->thread_id) != thread)
		return;
	frame = python_at(p, l->frame_at);
	if (l->in_cframe) {
		p->cframe = frame;
		frame = python_word(env, frame + l->in_cframe - 1);
	}
	p->frame = frame;
	p->failed = 0;
}

/* Reads the string at AVMA into PART of the record; returns a hash of it, 0 when it cannot be
 * read. */
SCRIPT_PART __u64 python_text(SCRIPT_ENV *env, __u64 avma, enum script_part part)
{
	const struct python_layout *l;
	struct script_text *to;
	struct python_walk *p;
	__u64 n;
	__u32 state, kind, n_bytes;

	if (!env)
		return 0;
	p = script_walk(env);
	l = PYTHON_LAYOUT(p->interpreter);
	to = text_of(p, part);
	if (!script_read(env, avma, p->words, PYTHON_TEXT_WORDS * 8, PYTHON_TEXT_WORDS * 8))
		return 0;
	n = p->words[2];
	state = (__u32)p->words[4]; /* unicodeobject.h: 2 bits interned, 3 kind, compact, ascii */
	kind = state >> 2 & 7;
	if (kind != 1 && kind != 2 && kind != 4)
		return 0;
	n *= kind;
	n_bytes = n < SCRIPT_TEXT_BYTES ? (__u32)n : SCRIPT_TEXT_BYTES;
	text_clear(to);
	to->is_cut = n > SCRIPT_TEXT_BYTES;
	to->kind = kind;
	to->n_bytes = n_bytes;
	avma += state >> 6 & 1 ? l->ascii : l->compact;
	if (!script_read(env, avma, to->words, n_bytes, SCRIPT_TEXT_BYTES))
		return 0;
	return script_mix(text_hash(to, n), kind) | 1;
}

/* Whether P may look at one more of PHP's or Ruby's frames, Perl's contexts or HotSpot's scopes.
 * Not each of these is a frame of the walk, which has a bound; a process may make an endless list,
 * and lead to it from each of its native frames, while interrupts wait. */
SCRIPT_STEP bool script_may_step(struct python_walk *p)
{
	if (p->n_steps < SCRIPT_MOST_STEPS) {
		p->n_steps++;
		return true;
	}
	p->frame = 0;
	p->failed = SCRIPT_UNREADABLE;
	return false;
}

/* Tells of the code in P->record, whose table of lines is the bytes object at AVMA. */
SCRIPT_STEP bool python_tell(SCRIPT_ENV *env, struct python_walk *p, __u64 avma)
{
	__u64 n;
	__u32 n_bytes;

	p->record.what = SCRIPT_FUNCTION;
	p->record.source = 0;
	p->record.more.n_bytes = p->record.more.is_cut = 0;
	p->record.more.kind = 1;
	p->record.n_line_bytes = 0;
	p->record.lines_cut = 1;
	/* bytesobject.h: ob_size at 16, the bytes at 32 */
	n = python_word(env, avma + 16);
	n_bytes = n < SCRIPT_LINE_BYTES ? (__u32)n : SCRIPT_LINE_BYTES;
	if (script_read(env, avma + 32, p->record.lines, n_bytes, SCRIPT_LINE_BYTES)) {
		p->record.n_line_bytes = n_bytes;
		p->record.lines_cut = n > SCRIPT_LINE_BYTES;
	}
	if (!script_send(env, p))
		return false;
	script_note(env, p->record.number);
	return true;
}

/* The number of the code object at CODE, which has been told of; else an enum script_mark. */
SCRIPT_STEP __u64 python_code(SCRIPT_ENV *env, struct python_walk *p, const struct python_layout *l,
			      __u64 code)
{
	__u64 file, name, lines, number, name_hash;
	__u32 first_line;

	if (code == p->code)
		return p->number;
	if (!script_read(env, code, p->words, l->code_words * 8, PYTHON_CODE_WORDS * 8))
		return SCRIPT_UNREADABLE;
	file = python_at(p, l->file);
	name = python_at(p, l->name);
	lines = python_at(p, l->lines);
	first_line = (__u32)(python_at(p, l->first_line) >> l->first_line % 8 * 8);
	number = script_mix(p->key, python_at(p, 16)); /* ob_size: how much bytecode */
	number = script_mix(script_mix(number, lines), first_line);
	if (file != p->file) {
		p->file = 0;
		p->file_hash = python_text(env, file, SCRIPT_FILE);
		if (!p->file_hash)
			return SCRIPT_UNREADABLE;
		p->file = file;
	}
	name_hash = python_text(env, name, SCRIPT_NAME);
	if (!name_hash)
		return SCRIPT_UNREADABLE;
	number = script_mix(script_mix(number, p->file_hash), name_hash) & SCRIPT_CODE_MASK;
	if (number < SCRIPT_N_MARKS)
		number = SCRIPT_N_MARKS;
	if (!script_is_told(env, number)) {
		p->record.number = number;
		p->record.interpreter = p->interpreter;
		p->record.first_line = first_line;
		if (!python_tell(env, p, lines))
			return SCRIPT_UNREADABLE;
	}
	p->code = code;
	p->number = number;
	return number;
}

/* Which instruction of CODE the frame in P->words is at. */
SCRIPT_STEP __u64 python_instr(const struct python_walk *p, const struct python_layout *l,
			       __u64 code)
{
	__u64 instr = python_at(p, l->instr);

	if (!l->index) {
		instr -= code + l->bytecode;
		return instr == -2ULL ? 0 : instr / 2; /* it has not executed its first one */
	}
	instr &= 0xffffffff;
	return instr == 0xffffffff ? 0 : instr / l->index;
}

SCRIPT_STEP bool python_on_stack(const struct python_walk *p, __u64 avma)
{
	return avma >= p->sp && avma < p->end;
}

/* Begins with the loop that has the stack from SP to END; false when P's frames are not its. */
SCRIPT_STEP bool python_enter(struct python_walk *p, const struct python_layout *l, __u64 sp,
			      __u64 end)
{
	p->sp = sp;
	p->end = end;
	p->is_closed = 0;
	if (l->marks != PYTHON_ENTRY || !p->cframe)
		return true;
	if (!python_on_stack(p, p->cframe))
		return false;
	p->mark_at = p->cframe;
	p->cframe = 0; /* the others' are known by their marks */
	return true;
}

/* Puts the next frame of P that is Python's.  Returns true when there may be more of the same
 * loop. */
SCRIPT_STEP bool python_step(SCRIPT_ENV *env, struct python_walk *p)
{
	const struct python_layout *l = PYTHON_LAYOUT(p->interpreter);
	const __u64 frame = p->frame;
	__u64 code, instr, number, mark, off = SCRIPT_NO_OFF;

	if (!frame)
		return false;
	if (l->marks == PYTHON_ENTRY || l->marks == PYTHON_SHIM
		    ? !script_read_near(env, 0, frame, p->words, l->frame_words, PYTHON_NEAR_WORDS,
					NEAR_BYTES - PYTHON_NEAR_WORDS * 8)
		    : !script_read(env, frame, p->words, l->frame_words * 8,
				   PYTHON_FRAME_WORDS * 8)) {
		p->frame = 0;
		p->failed = SCRIPT_UNREADABLE;
		return false;
	}
	code = python_at(p, l->code) & ~3ULL; /* 3.14: two bits of what holds it */
	mark = python_at(p, l->mark) >> l->mark % 8 * 8 & 0xff;
	p->frame = python_at(p, l->previous);
	if (l->marks == PYTHON_SHIM && mark >= PYTHON_OWNER_C) {
		p->is_closed = python_on_stack(p, frame);
		p->mark_at = frame;
		return false;
	}
	instr = python_instr(p, l, code);
	number = python_code(env, p, l, code);
	if (number >= SCRIPT_N_MARKS && instr < SCRIPT_NO_OFF)
		off = instr;
	script_put(env, FRAME_SCRIPT(number, off));
	if (l->marks == PYTHON_SHIM || (l->marks == PYTHON_ENTRY && !mark))
		return true;
	p->is_closed = 1;
	return false;
}

#endif
#endif
