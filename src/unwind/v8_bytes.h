/* SPDX-License-Identifier: BSD-2-Clause */
/* Where in its script V8's unoptimised code is: interpreted, or made of bytecodes one by one
 * (baseline).  A part of v8_code.h.
 *
 * A BytecodeArray leads to a table of positions as that of optimised code is (v8_code.h), by offset
 * of the bytecode.
 *
 *     interpreted   fp - 32 is the BytecodeArray, fp - 40 the offset of the bytecode as a number,
 *                   counted from the object's begin as pointed to
 *     baseline      the Code leads to its BytecodeArray, and to a table of bytes: for each bytecode
 *                   how much code it is
 *
 * A frame is interpreted when its callee returns to the interpreter's entry.  That is known by what
 * it does next: it reads these two words.  Words of an earlier frame may lie there in any other.
 * Bytecodes that call nothing do not write their offset there.  Where the builtin of one is
 * interrupted, r12 and r9 are as the interpreter hands them on, or nothing is told.
 *
 * For example, baseline code that calls at 0x58:
 *
 *     places      0x40, 0x10, 0x20, ...   what comes before all, bytecode 0, bytecode 1
 *     bytecodes   0b 03, 62 f9 f8 02      Ldar, CallProperty: bytecode 1 is at offset 2
 *     positions   offset 0 character 5, offset 2 character 12
 *
 * Sources: V8's src/execution/frame-constants.h, src/builtins/x64/builtins-x64.cc
 * (Generate_InterpreterEntryTrampoline), src/baseline/bytecode-offset-iterator.h,
 * src/interpreter/bytecode-array-iterator.cc. */
#ifndef UNWIND_V8_BYTES_H
#define UNWIND_V8_BYTES_H

#include "unwind/v8_bytecodes.h"

#ifdef SCRIPT_ENV

/* mov -0x20(%rbp),%r12; mov -0x24(%rbp),%r9d: observed in all five versions. */
#define V8_RETURN_TO_INTERPRETER 0xdc4d8b44e0658b4cull

/* Finds the table of positions and the bytecodes of the object BYTES; 0: it is no BytecodeArray. */
SCRIPT_PART int v8_open_bytes(SCRIPT_ENV *env, __u64 bytes)
{
	const struct v8_layout *l;
	struct v8_walk *v;

	if (!env)
		return 0;
	v = v8_of(env);
	l = V8_LAYOUT(v->interpreter);
	if (!v8_is_object(bytes) ||
	    !script_read(env, bytes - 1, v->words, 5 * 8, V8_SCRIPT_WORDS * 8))
		return 0;
	if (!v->bytes_map || v->words[0] != v->bytes_map) {
		if (v8_map_type(env, v->words[0]) != l->bytes_type)
			return 0;
		v->bytes_map = v->words[0];
	}
	v->n_codes = (__u32)(v->words[1] >> 32);
	v->table = v->words[l->lines / 8 & 7];
	return v8_is_object(v->table);
}

/* Takes byte I of the table of places; 0: the bytecode of v->off is found. */
SCRIPT_STEP int v8_place(SCRIPT_ENV *env, __u32 i)
{
	struct v8_walk *v = v8_of(env);
	const __u8 b = script_walk(env)->record.lines[i & (SCRIPT_LINE_BYTES - 1)];

	v->n_steps++;
	v->part |= (__u64)(b & 0x7f) << (v->shift & 63);
	v->shift += 7;
	if (b & 0x80)
		return v->shift < 63;
	v->at += v->part;
	v->part = 0;
	v->shift = 0;
	v->n_found++;
	return v->at < v->off;
}

/* Passes one bytecode; 0: it is none. */
SCRIPT_STEP int v8_bytecode(SCRIPT_ENV *env)
{
	struct v8_walk *v = v8_of(env);
	const __u8 *codes = script_walk(env)->record.lines;
	const __u8 *sizes =
		v8_bytecode_sizes[(v->interpreter - INTERPRETER_V8_FIRST) & (V8_N_LAYOUTS - 1)];
	const __u8 code = codes[v->cursor & (SCRIPT_LINE_BYTES - 1)];
	__u8 size = sizes[code] & 15, wide;

	v->n_steps++;
	if (code < 4) { /* a prefix: operands of twice, of four times the room */
		size = sizes[codes[(v->cursor + 1) & (SCRIPT_LINE_BYTES - 1)]];
		wide = size >> 4;
		size = 1 + (code & 1 ? wide + 2 * (wide - (size & 15)) : wide);
	}
	v->cursor += size;
	return size != 0;
}

/* Puts the offset of the bytecode that v->off of baseline code was made of into v->cursor. */
SCRIPT_PART int v8_find_bytecode(SCRIPT_ENV *env)
{
	struct v8_walk *v;
	__u32 n;

	if (!env)
		return 0;
	v = v8_of(env);
	v->part = v->at = 0;
	v->shift = v->n_found = v->cursor = 0;
	n = v8_read_table(env, v);
	if (!n)
		return 0;
	v8_each_place(env, n);
	if (v->at < v->off || !v8_open_bytes(env, v->data) || v->n_codes > SCRIPT_LINE_BYTES ||
	    !script_read(env, v->data - 1 + V8_LAYOUT(v->interpreter)->bytecodes,
			 script_walk(env)->record.lines, v->n_codes, SCRIPT_LINE_BYTES))
		return 0;
	if (v->n_found > 2) /* the first place is before all */
		v8_each_bytecode(env, v->n_found - 2);
	return v->cursor < v->n_codes;
}

/* Puts the function v->own, at the bytecode at v->cursor, into the entry E.  v->table is its table
 * of positions. */
SCRIPT_STEP void v8_enter_bytecode(SCRIPT_ENV *env, struct v8_walk *v, struct v8_inlined *e)
{
	v->off = v->cursor + 1; /* a position holds from its offset on */
	if (!v8_find_position(env))
		return;
	e->frames[0] = FRAME_SCRIPT(v->own, v8_off(v->position));
	e->n = 1;
}

/* Puts the offset of the bytecode that an interpreted frame executes into v->cursor, and the
 * table of positions into v->table; 0: the frame is not interpreted.  FP is its frame pointer. */
SCRIPT_PART int v8_open_interpreted(SCRIPT_ENV *env, __u64 fp)
{
	struct v8_walk *v;
	__u64 bytes, at, to, word;
	bool is_inner;

	if (!env)
		return 0;
	v = v8_of(env);
	is_inner = v->is_exact || v->is_handler;
	at = v8_stack_word(env, fp - 40);
	if ((__u32)at || !at || !v->id)
		return 0;
	bytes = v8_stack_word(env, fp - 32);
	to = v->is_exact ? v8_stack_word(env, v->sp) : v->pc;
	if (!to || (to != v->entry &&
		    (!script_read(env, to, &word, 8, 8) || word != V8_RETURN_TO_INTERPRETER)))
		return 0;
	v->entry = to;
	if (is_inner && script_register(env, 12) != bytes)
		return 0;
	at = is_inner ? script_register(env, 9) : at >> 32;
	v->cursor = (__u32)at - (V8_LAYOUT(v->interpreter)->bytecodes - 1);
	return v8_open_bytes(env, bytes) && v->cursor < v->n_codes;
}

/* Puts the function v->own, at its bytecode v->cursor; v->table is its table of positions.  0: its
 * line is not known. */
SCRIPT_PART int v8_put_bytecode(SCRIPT_ENV *env)
{
	struct v8_inlined *e;
	struct v8_walk *v;

	if (!env)
		return 0;
	v = v8_of(env);
	/* No address is asked for by this key: a number has no upper bits. */
	v->inlined = script_mix(script_mix(script_told_key(env, v->key), v->cursor), ~v->own);
	e = v8_inlined_of(env, v->inlined);
	if (e->key != v->inlined) {
		if (v->n_steps >= V8_MOST_STEPS)
			return 0;
		e->key = e->n = 0;
		v8_enter_bytecode(env, v, e);
		if (!e->n) /* there is no table yet */
			return 0;
		e->key = v->inlined;
	}
	script_put(env, e->frames[0]);
	return 1;
}

/* Puts the function v->own, which the frame with frame pointer FP executes.  0: the frame is not
 * interpreted, or its line is not known. */
SCRIPT_STEP int v8_put_interpreted(SCRIPT_ENV *env, __u64 fp)
{
	return v8_open_interpreted(env, fp) && v8_put_bytecode(env);
}

#endif
#endif
