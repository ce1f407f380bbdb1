/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions a frame of V8's optimised code executes: its own and those that the compiler
 * inlined into it, each with the character of its script that is being called.  A part of v8.h.
 *
 * A Code object leads to a table of positions, by ascending offset in the code.  It is pairs of
 * numbers in bytes of 7 bits, the lowest first, the sign in the lowest bit.  The first of a pair is
 * added to the offset, which begins as -1; N is written as -1 - N where no statement begins.  The
 * second is added to the position:
 *
 *     bits 1-30   1 + the character in the script
 *     bits 31-46  1 + the number of the inlined function that it is in; 0: the code's own
 *
 * The code's DeoptimizationData tells for each such number which of its literals the function is,
 * and the position that it was called from, which may be in another inlined function.  For example,
 * next() was inlined into sum(), which has 100 characters before that call:
 *
 *     offset 0x30    character 20, inlined function 0
 *     function 0     literal 3 (next), called from: character 100, no inlined function
 *
 * V8 keeps positions of calls alone, and each holds up to the next one.  So inlined functions are
 * looked up for return addresses only, and only for those where a script goes on: the table of
 * safepoints says of them where to go if the code is thrown away meanwhile.  It says nothing of
 * calls that the compiler added for itself (to allocate, a barrier of the garbage collector), which
 * may stand behind another call's position.  What is interrupted between calls counts for the
 * code's own function, in the line where that is at the last position before, as in V8's own
 * profiles: the code must be the function's, as its DeoptimizationData says.
 *
 * A function leads to its code.  It does not lead to code that was entered in the midst of a loop,
 * and since 13 it has a number in place of its code.  Then the code is searched for before the
 * address.  What begins there is believed when its Code object says so.
 *
 * To read a table takes microseconds, so its answer is remembered by address, for as long as the
 * code there is the same: a number of optimised code is never given twice in an isolate.  So where
 * that is remembered, it alone is looked at, not the function that the frame names.  A process that
 * makes tables up must not hold the CPU, so one walk takes about V8_MOST_STEPS steps over them.
 * Frames beyond that count for their own functions; the next walk remembers the nearer ones and
 * goes further.
 *
 * Sources: V8's src/codegen/source-position-table.cc, source-position.h, safepoint-table.{h,cc};
 * src/objects/deoptimization-data.h, code.h; src/compiler/backend/code-generator.cc. */
#ifndef UNWIND_V8_CODE_H
#define UNWIND_V8_CODE_H

#include "unwind/v8_state.h"

#ifdef SCRIPT_ENV

/* Provided by the includer: the entry for KEY; v8_byte() for each byte of the table, and
 * v8_inlined(), until they return 0. */
static struct v8_inlined *v8_inlined_of(SCRIPT_ENV *env, __u64 key);
static __u64 script_register(SCRIPT_ENV *env, __u32 number); /* when the thread was interrupted */
static __u64 script_told_key(SCRIPT_ENV *env, __u64 key);
static void v8_each_byte(SCRIPT_ENV *env, __u32 n_bytes);
static void v8_each_inlined(SCRIPT_ENV *env);
static void v8_each_place(SCRIPT_ENV *env, __u32 n_bytes); /* v8_place(), until that returns 0 */
static void v8_each_bytecode(SCRIPT_ENV *env, __u32 n);	   /* v8_bytecode(), likewise */
static void v8_each_begin(SCRIPT_ENV *env);		   /* v8_begins(), until that returns 1 */
static void v8_each_half(SCRIPT_ENV *env);		   /* v8_halve(), until that returns 0 */
static void v8_each_outward(SCRIPT_ENV *env);		   /* v8_outward(), likewise */

/* Puts the number of the function whose SharedFunctionInfo is v->shared into v->number, and tells
 * of it once; 0: it is none. */
SCRIPT_PART int v8_function(SCRIPT_ENV *env);

#define V8_DATA_LENGTH	  0 /* words read of DeoptimizationData, from its length on */
#define V8_DATA_LITERALS  3
#define V8_DATA_NUMBER	  6
#define V8_DATA_SHARED	  7
#define V8_DATA_POSITIONS 8

/* Reads what v->code has at its begin, and where its code begins; false: it is no object. */
SCRIPT_STEP bool v8_read_code(SCRIPT_ENV *env, struct v8_walk *v, const struct v8_layout *l)
{
	if (!v8_is_object(v->code) ||
	    !script_read(env, v->code - 1, v->words, V8_CODE_WORDS * 8, V8_SCRIPT_WORDS * 8))
		return false;
	v->map = v->words[0];
	v->data = v->words[l->data / 8 & 7];
	v->start = l->is_inline ? v->code - 1 + l->start : v->words[l->start / 8 & 7];
	return true;
}

/* Finds what v->code, at v->pc, leads to; 0: it is neither baseline nor optimised code, or does not
 * hold v->pc. */
SCRIPT_PART int v8_open_code(SCRIPT_ENV *env)
{
	const struct v8_layout *l;
	struct v8_walk *v;
	__u32 size, type;

	if (!env)
		return 0;
	v = v8_of(env);
	l = V8_LAYOUT(v->interpreter);
	if (!v8_read_code(env, v, l) || v8_map_type(env, v->map) != l->code_type)
		return 0;
	v->table = v->words[l->table / 8 & 7];
	size = (__u32)(v->words[l->size / 8 & 7] >> 8 * (l->size & 4));
	v->off = (__u32)(v->pc - v->start);
	v->safepoints = v->start + size + 4 * (l->is_new & 1);
	if (v->pc - v->start >= size || !v8_is_object(v->data) || !v8_is_object(v->table))
		return 0;
	type = v8_map_type(env, v8_object_word(env, v->data, 0));
	v->code_number = v->data;
	v->is_baseline = type == l->bytes_type;
	if (v->is_baseline)
		return 1;
	if (type != l->data_type ||
	    !script_read(env, v->data - 1 + 8, v->words, V8_DATA_WORDS * 8, V8_DATA_WORDS * 8))
		return 0;
	v->literals = v->words[V8_DATA_LITERALS + (l->is_new & 1)];
	v->positions = v->words[V8_DATA_POSITIONS + (l->is_new & 1)];
	v->code_number = v->words[V8_DATA_NUMBER + (l->is_new & 1)];
	v->code_shared = v->words[V8_DATA_SHARED + (l->is_new & 1)];
	return v->words[V8_DATA_LENGTH] >> 32 >= V8_DATA_POSITIONS;
}

/* Looks whether code begins at place I before v->pc, and puts it into v->code; 0: go on, 1: it
 * does, or there is nothing to read. */
SCRIPT_STEP int v8_begins(SCRIPT_ENV *env, __u32 i)
{
	struct v8_walk *v = v8_of(env);
	const struct v8_layout *l = V8_LAYOUT(v->interpreter);
	const __u64 align = l->is_old ? 32 : 64, start = (v->pc & -align) - i * align;
	const __u64 object = start - (l->is_inline ? l->start : l->header);
	__u64 words[2], begin;

	v->n_steps++;
	if (!script_read(env, object, words, 16, 16))
		return 1;
	if (!v8_is_object(words[0]) || !v8_is_object(words[1]))
		return 0;
	if (l->is_inline) {
		if (v8_map_type(env, words[0]) != l->code_type)
			return 0;
		v->code = object + 1;
		return 1;
	}
	if (!script_read(env, words[1] - 1 + l->start, &begin, 8, 8) || begin != start)
		return 0;
	v->code = words[1];
	return 1;
}

/* Finds the code that v->pc is in: the function's, else the one that lies there; 0: neither. */
SCRIPT_PART int v8_find_code(SCRIPT_ENV *env)
{
	struct v8_walk *v;

	if (!env)
		return 0;
	v = v8_of(env);
	v->code = v->unoptimised;
	if (v8_open_code(env))
		return 1;
	v->code = v->own_code;
	if (v8_open_code(env))
		return 1;
	v->code = 0;
	if (!v->may_search)
		return 0;
	v8_each_begin(env);
	return v->code && v8_open_code(env);
}

/* Looks at the safepoint in the midst of those that v->off may be among; 0: no further. */
SCRIPT_STEP int v8_halve(SCRIPT_ENV *env)
{
	struct v8_walk *v = v8_of(env);
	const __u32 middle = (v->from + v->to) / 2;
	const __u64 at = v->safepoints + 8 + (__u64)v->n_entry * middle;
	__u64 off = 0;

	if (v->from >= v->to || !script_read(env, at, &off, v->n_pc, 8))
		return 0;
	if (off == v->off) {
		v->safepoint = at;
		return 0;
	}
	if (off < v->off)
		v->from = middle + 1;
	else
		v->to = middle;
	return 1;
}

/* Whether a script goes on at v->off: its safepoint says where to go when the code is thrown
 * away. */
SCRIPT_PART int v8_is_call(SCRIPT_ENV *env)
{
	__u32 n_index = 4, head[2];
	__u64 word = 0, none = 0xffffffff;
	struct v8_walk *v;

	if (!env)
		return 0;
	v = v8_of(env);
	if (!script_read(env, v->safepoints, head, 8, 8))
		return 0;
	v->n_pc = 4;
	v->n_entry = 12;
	if (!V8_LAYOUT(v->interpreter)->is_old) {
		/* How long an entry's numbers are: pc, index, 1 + where to go, registers. */
		v->n_pc = head[1] >> 4 & 7;
		n_index = head[1] >> 7 & 7;
		v->n_entry = 2 * v->n_pc + n_index + (head[1] >> 1 & 7);
		none = 0;
		if (!(head[1] & 1) || v->n_pc > 4)
			return 0;
	}
	v->safepoint = v->from = 0;
	v->to = head[0];
	v8_each_half(env);
	return v->safepoint &&
	       script_read(env, v->safepoint + v->n_pc + n_index, &word, v->n_pc, 8) &&
	       word != none;
}

/* Takes byte I of the table; 0: the position of v->off is found. */
SCRIPT_STEP int v8_byte(SCRIPT_ENV *env, __u32 i)
{
	struct v8_walk *v = v8_of(env);
	const __u8 b = script_walk(env)->record.lines[i & (SCRIPT_LINE_BYTES - 1)];
	__s64 n;

	v->n_steps++;
	v->part |= (__u64)(b & 0x7f) << (v->shift & 63);
	v->shift += 7;
	if (b & 0x80)
		return v->shift < 63;
	n = (__s64)(v->part >> 1) ^ -(__s64)(v->part & 1);
	v->part = 0;
	v->shift = 0;
	v->is_second = !v->is_second;
	if (v->is_second) {
		v->at += n < 0 ? -1 - n : n;
		return (__s64)v->at < (__s64)v->off;
	}
	v->position += (__u64)n;
	v->n_found++;
	return 1;
}

/* Reads the bytes of v->table, a ByteArray, into the record; how many, 0: none, or too many. */
SCRIPT_STEP __u32 v8_read_table(SCRIPT_ENV *env, struct v8_walk *v)
{
	const __u64 n = v8_object_word(env, v->table, 8) >> 32;

	if (!n || n > SCRIPT_LINE_BYTES ||
	    !script_read(env, v->table - 1 + 16, script_walk(env)->record.lines, (__u32)n,
			 SCRIPT_LINE_BYTES))
		return 0;
	return (__u32)n;
}

/* Puts the position of the call that returns to v->off into v->position. */
SCRIPT_PART int v8_find_position(SCRIPT_ENV *env)
{
	struct v8_walk *v;
	__u32 n;

	if (!env)
		return 0;
	v = v8_of(env);
	v->part = v->position = 0;
	v->at = -1ull; /* kFunctionEntryBytecodeOffset, which the first one may be */
	v->shift = v->is_second = v->n_found = 0;
	n = v8_read_table(env, v);
	if (!n)
		return 0;
	v8_each_byte(env, n);
	return v->n_found && !(v->position & 1);
}

/* The character of POSITION as a frame has it. */
SCRIPT_STEP __u32 v8_off(__u64 position)
{
	const __u32 at = (__u32)(position >> 1 & 0x3fffffff) - 1;

	return at < SCRIPT_NO_OFF ? at : SCRIPT_NO_OFF;
}

#include "unwind/v8_bytes.h"

/* Reads what the code tells of its inlined function ID: where that was called, and which literal it
 * is. */
SCRIPT_STEP bool v8_read_call(SCRIPT_ENV *env, const struct v8_walk *v, __u32 id, __u64 words[2])
{
	return v8_object_word(env, v->positions, 8) >> 32 >= 16 * (__u64)id &&
	       script_read(env, v->positions - 1 + 16 * (__u64)id, words, 16, 16);
}

/* Adds the function that v->position is in to the entry of v->inlined, and puts the position that
 * it was called from into v->position; 0: it is the code's own, or not known. */
SCRIPT_STEP int v8_inlined(SCRIPT_ENV *env)
{
	struct v8_inlined *e;
	struct v8_walk *v;
	__u64 words[2], number;
	__u32 id, off;

	v = v8_of(env);
	e = v8_inlined_of(env, v->inlined);
	v->n_steps += V8_INLINED_STEPS;
	id = (__u32)(v->position >> 31) & 0xffff;
	off = v8_off(v->position);
	number = v->own;
	if (e->n >= V8_MOST_INLINED || v->position & 1)
		return 0;
	if (id) {
		if (!v8_read_call(env, v, id, words))
			return 0;
		v->shared = v8_object_word(env, v->literals, 16 + 8 * (__u32)words[1]);
		v->position = words[0];
		if (!v8_is_object(v->literals) || !v8_function(env))
			return 0;
		number = v->number;
	} else {
		v->is_whole = 1;
	}
	e->frames[e->n & (V8_MOST_INLINED - 1)] = FRAME_SCRIPT(number, off);
	e->n++;
	return id != 0;
}

/* From v->position, in an inlined function, to where that was called from; 0: no further. */
SCRIPT_STEP int v8_outward(SCRIPT_ENV *env)
{
	struct v8_walk *v = v8_of(env);
	const __u32 id = (__u32)(v->position >> 31) & 0xffff;
	__u64 words[2];

	v->is_own = !id && !(v->position & 1);
	if (!id || !v8_read_call(env, v, id, words))
		return 0;
	v->position = words[0];
	return 1;
}

/* Puts the position in the optimised code's own function that is the last one before v->pc into
 * v->position; 0: none is known, or the code is not v->shared's. */
SCRIPT_PART int v8_near_position(SCRIPT_ENV *env)
{
	struct v8_walk *v;

	if (!env)
		return 0;
	v = v8_of(env);
	v->off++; /* a position holds from its offset on */
	if ((v->code_shared != v->shared && v8_object_word(env, v->code_shared, 8) != v->shared) ||
	    !v8_find_position(env))
		return 0;
	v8_each_outward(env);
	return (int)v->is_own;
}

/* The key of the entry for v->pc. */
SCRIPT_STEP __u64 v8_key(SCRIPT_ENV *env, struct v8_walk *v)
{
	return script_mix(script_told_key(env, v->key), v->pc + ((__u64)v->is_exact << 63));
}

/* Whether the entry E, which is for v->pc, is of optimised code. */
SCRIPT_STEP bool v8_is_optimised(const struct v8_inlined *e)
{
	return e->n && e->number != e->data;
}

/* Whether the code of entry E, which is for v->pc, is the one that was there then: at the same
 * place, with the same number. */
SCRIPT_PART int v8_recall(SCRIPT_ENV *env)
{
	const struct v8_layout *l;
	const struct v8_inlined *e;
	struct v8_walk *v;

	if (!env)
		return 0;
	v = v8_of(env);
	if (v->checked == v->inlined) /* within a walk nothing changes */
		return 1;
	l = V8_LAYOUT(v->interpreter);
	e = v8_inlined_of(env, v->inlined);
	v->code = e->code;
	if (!v8_read_code(env, v, l) || v->map != e->map || v->start != e->start ||
	    v->data != e->data)
		return 0;
	if (e->number != e->data && /* not baseline code's */
	    v8_object_word(env, e->data, 8 + 8 * (V8_DATA_NUMBER + (l->is_new & 1))) != e->number)
		return 0;
	v->checked = v->inlined;
	return 1;
}

/* Puts the functions of v->inlined's entry; 0: it has none. */
SCRIPT_PART int v8_put_entry(SCRIPT_ENV *env)
{
	const struct v8_inlined *e;

	if (!env)
		return 0;
	e = v8_inlined_of(env, v8_of(env)->inlined);
	for (__u32 i = 0; i < V8_MOST_INLINED; i++) {
		if (i >= e->n)
			break;
		script_put(env, e->frames[i]);
	}
	return e->n != 0;
}

/* Puts the functions that optimised code executes at the call that returns to v->pc, where they are
 * remembered; 0: they are not. */
SCRIPT_STEP int v8_put_known(SCRIPT_ENV *env, struct v8_walk *v)
{
	const struct v8_inlined *e;

	if (v->is_exact)
		return 0;
	v->inlined = v8_key(env, v);
	e = v8_inlined_of(env, v->inlined);
	if (e->key != v->inlined || !v8_is_optimised(e) || !v8_recall(env))
		return 0;
	v->is_async = e->is_async;
	return v8_put_entry(env);
}

/* Puts what the code found at v->pc executes into the entry E. */
SCRIPT_STEP void v8_enter_code(SCRIPT_ENV *env, struct v8_walk *v, struct v8_inlined *e)
{
	v->is_whole = 0;
	if (v->is_baseline) {
		v->off += v->is_exact; /* a place ends behind the call */
		if (v8_find_bytecode(env))
			v8_enter_bytecode(env, v, e);
		return;
	}
	if (v->is_exact) {
		if (v8_near_position(env)) {
			e->frames[0] = FRAME_SCRIPT(v->own, v8_off(v->position));
			e->n = 1;
		}
		return;
	}
	if (v8_is_call(env) && v8_find_position(env))
		v8_each_inlined(env);
	if (!v->is_whole) /* remembered as not known */
		e->n = 0;
}

/* Puts the functions that baseline or optimised code executes at the call that returns to v->pc,
 * and the frame's own, v->own, where v->pc was interrupted.  0: they are not known. */
SCRIPT_STEP int v8_put_inlined(SCRIPT_ENV *env)
{
	struct v8_inlined *e;
	struct v8_walk *v;
	int is_found;
	__u64 key;

	v = v8_of(env);
	/* A builtin without a frame was called by the frame's function.  One with a frame is that
	 * function, which is of no script: what its stack ends with may be an earlier call's return
	 * address. */
	if (v->is_exact && !v->may_search && v->id) {
		v->pc = v8_stack_word(env, v->sp);
		v->is_exact = 0;
		if (v8_put_known(env, v))
			return 1;
	}
	key = script_mix(v8_key(env, v), v->own);
	v->inlined = key;
	e = v8_inlined_of(env, key);
	if (e->key != key || e->own_code != v->own_code || (e->n && !v8_recall(env))) {
		if (v->n_steps >= V8_MOST_STEPS)
			return 0;
		is_found = v8_find_code(env);
		if (is_found && !v->is_baseline && !v->is_exact) {
			v->inlined = v8_key(env, v);
			e = v8_inlined_of(env, v->inlined);
		}
		e->key = e->n = 0;
		if (is_found)
			v8_enter_code(env, v, e);
		if (!e->n) { /* the function's alone: the code may be another function's */
			v->inlined = key;
			e = v8_inlined_of(env, key);
			e->n = 0;
		}
		e->code = v->code;
		e->map = v->map;
		e->start = v->start;
		e->data = v->data;
		e->number = v->code_number;
		e->own_code = v->own_code;
		e->is_async = v->is_async;
		e->key = v->inlined;
	}
	return v8_put_entry(env);
}

#endif
#endif
