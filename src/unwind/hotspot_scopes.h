/* SPDX-License-Identifier: BSD-2-Clause */
/* Which methods a frame of HotSpot's compiled code executes: its own and those that the compiler
 * inlined into it, each with its bytecode.  A part of hotspot.h.
 *
 * An nmethod has a list of PcDescs, by ascending pc, for each place where the thread may stop or
 * call.  Each leads to a scope in scopes_data: three numbers in UNSIGNED5, which are where the
 * scope that inlined this one is (0: none), the method's place among the nmethod's metadata (the
 * first is 1), and the bytecode plus 1.  For example, where C2 inlined next() into sum():
 *
 *     pc 0x68   scope 41
 *     scope 41  17, 2, 9 : next(), bytecode 8, inlined by scope 17
 *     scope 17  0, 1, 22 : sum(), bytecode 21, the nmethod's own method
 *
 * A return address has a PcDesc of its own, but for calls of code that never stops.  Any other
 * address is taken for the next place that has one, as debuggers of Java do: the method is one that
 * was inlined there, the line may be a later one.  In prologue and epilogue nothing is inlined.
 *
 * To read scopes takes a microsecond or two, so what they said is remembered by address, for as
 * long as the nmethod is the same: its number is never given twice, and a freed one's first word
 * changes.
 *
 * Sources: OpenJDK 17, src/hotspot/share/code: pcDesc.hpp, scopeDesc.cpp (decode_body),
 * compressedStream.cpp, nmethod.cpp (find_pc_desc_internal); OpenJDK 21,
 * share/utilities/unsigned5.hpp. */
#ifndef UNWIND_HOTSPOT_SCOPES_H
#define UNWIND_HOTSPOT_SCOPES_H

#include "unwind/hotspot_state.h"

#ifdef SCRIPT_ENV

/* Provided by the includer: KEY, and another one when numbers are told again; the entry for KEY;
 * and hotspot_scope() until that returns 0, at the most HOTSPOT_MOST_SCOPES + 1 times. */
static __u64 script_told_key(SCRIPT_ENV *env, __u64 key);
static struct hotspot_inlined *hotspot_inlined_of(SCRIPT_ENV *env, __u64 key);
static void hotspot_each_scope(SCRIPT_ENV *env);
static void hotspot_each_half(SCRIPT_ENV *env); /* hotspot_halve(), until that returns 0 */

/* The next number of h->scope_bytes, UNSIGNED5 (hotspot_lines.c). */
SCRIPT_STEP __u32 hotspot_number(struct hotspot_walk *h, __u32 extra)
{
	__u32 sum = 0, b;

	for (int i = 0; i < 5; i++) {
		b = h->scope_bytes[h->n_taken++ & 15];
		sum += (b - extra) << (6 * i);
		if (b < 192)
			break;
	}
	return sum;
}

/* Looks at the PcDesc in the midst of those that h->pc may be among; 0: no further. */
SCRIPT_STEP int hotspot_halve(SCRIPT_ENV *env)
{
	struct hotspot_walk *h = hotspot_of(env);
	const __u32 middle = (h->from + h->to) / 2;
	__u32 words[2];

	if (h->from >= h->to)
		return 0;
	if (!script_read(env, h->pcs + HOTSPOT_PC_BYTES * (__u64)middle, words, 8, 8)) {
		h->scope = 0;
		return 0;
	}
	if (words[0] + 1 <= h->pc) { /* the first one is at -1 */
		h->from = middle + 1;
	} else {
		h->to = middle;
		h->scope = words[1];
	}
	return 1;
}

/* Puts into h->scope that of the first PcDesc at or behind h->pc; 0: there is none. */
SCRIPT_PART int hotspot_find_pc(SCRIPT_ENV *env)
{
	const struct hotspot_layout *l;
	struct hotspot_walk *h;

	if (!env)
		return 0;
	h = hotspot_of(env);
	l = HOTSPOT_LAYOUT(hotspot_process_of(env)->interpreter);
	h->pcs = h->at + hotspot_blob_u32(h, l->pcs);
	h->from = 0;
	h->to = (hotspot_blob_u32(h, l->pcs_end) - hotspot_blob_u32(h, l->pcs)) / HOTSPOT_PC_BYTES;
	h->scope = 0;
	hotspot_each_half(env);
	return h->scope != 0;
}

/* Puts what h->scope says behind the frames of h->key's entry, and makes it the scope that inlined
 * it; 0: there is none, or none that is known. */
SCRIPT_PART int hotspot_scope(SCRIPT_ENV *env)
{
	const struct hotspot_layout *l;
	struct hotspot_inlined *e;
	struct hotspot_walk *h;
	__u32 extra, sender, method, bytecode;

	if (!env)
		return 0;
	h = hotspot_of(env);
	e = hotspot_inlined_of(env, h->key);
	l = HOTSPOT_LAYOUT(hotspot_process_of(env)->interpreter);
	extra = l->counts_on;
	h->n_taken = 0;
	if (h->n_scopes >= HOTSPOT_MOST_SCOPES || !script_may_step(script_walk(env)) ||
	    !script_read(env, hotspot_blob_address(h, l, l->scopes) + h->scope, h->scope_bytes, 16,
			 16))
		return 0;
	sender = hotspot_number(h, extra);
	method = hotspot_number(h, extra);
	bytecode = hotspot_number(h, extra) - 1;
	if (!method || (sender && sender >= h->scope))
		return 0;
	h->method = python_word(env,
				h->at + hotspot_blob_u32(h, l->metadata) + 8 * (__u64)(method - 1));
	if (!hotspot_method(env))
		return 0;
	e->frames[h->n_scopes++ & (HOTSPOT_MOST_SCOPES - 1)] =
		FRAME_SCRIPT(h->number, bytecode < h->n_code ? bytecode : SCRIPT_NO_OFF);
	h->scope = sender;
	return sender != 0;
}

SCRIPT_STEP __u64 hotspot_key(const struct hotspot_walk *h, __u64 process)
{
	return script_mix(process, h->ip << 1 | h->is_exact);
}

/* Looks for what the compiled code at h->ip executes among what is remembered: its blob is in H
 * then. */
SCRIPT_PART int hotspot_recall(SCRIPT_ENV *env)
{
	const struct hotspot_layout *l;
	const struct hotspot_inlined *e;
	struct hotspot_walk *h;
	__u64 begin;

	if (!env)
		return 0;
	h = hotspot_of(env);
	l = HOTSPOT_LAYOUT(hotspot_process_of(env)->interpreter);
	h->is_inlined = 0;
	h->key = hotspot_key(h, script_told_key(env, script_walk(env)->key));
	e = hotspot_inlined_of(env, h->key);
	if (e->key != h->key || !e->n ||
	    !script_read(env, e->at, h->blob, HOTSPOT_FULL_WORDS * 8, HOTSPOT_BLOB_WORDS * 8) ||
	    h->blob[0] != e->type || hotspot_blob_u32(h, l->compile_id) != e->compile_id)
		return 0;
	h->at = e->at;
	begin = hotspot_blob_address(h, l, l->code_begin);
	if (h->ip - begin > hotspot_blob_address(h, l, l->code_end) - begin)
		return 0;
	h->kind = HOTSPOT_COMPILED;
	h->off = SCRIPT_NO_OFF;
	h->number = SCRIPT_CODE(e->frames[0]);
	h->is_inlined = 1;
	h->n_left = h->is_exact ? hotspot_words_left(env, h, l) : 0;
	return 1;
}

/* Fills the entry of the compiled frame in H, whose own method has h->number. */
SCRIPT_PART int hotspot_inline(SCRIPT_ENV *env)
{
	const struct hotspot_layout *l;
	const __u32 most = HOTSPOT_MOST_SCOPES - 1;
	struct hotspot_inlined *e;
	struct hotspot_walk *h;
	__u64 own, begin;

	if (!env)
		return 0;
	h = hotspot_of(env);
	l = HOTSPOT_LAYOUT(hotspot_process_of(env)->interpreter);
	e = hotspot_inlined_of(env, h->key);
	own = h->number;
	e->key = 0;
	h->n_scopes = 0;
	if (!own || !h->is_full)
		return 0;
	begin = hotspot_blob_address(h, l, l->code_begin);
	h->pc = (__u32)(h->ip - begin) + h->is_exact;
	if (!h->n_left &&
	    !(h->is_exact && h->ip - begin < hotspot_blob_u32(h, l->frame_complete)) &&
	    hotspot_find_pc(env))
		hotspot_each_scope(env);
	/* What is not read to its end, or ends with another method, is not believed. */
	if (!h->n_scopes || h->scope || h->number != own) {
		e->frames[0] = FRAME_SCRIPT(own, SCRIPT_NO_OFF);
		h->n_scopes = 1;
	}
	h->number = own;
	e->n = h->n_scopes <= most ? h->n_scopes : most + 1;
	e->at = h->at;
	e->type = h->blob[0];
	e->compile_id = hotspot_blob_u32(h, l->compile_id);
	e->key = h->key;
	h->is_inlined = 1;
	return 1;
}

/* Puts what the frame in H executes, which hotspot_recall() or hotspot_inline() told. */
SCRIPT_STEP void hotspot_put_inlined(SCRIPT_ENV *env, const struct hotspot_walk *h)
{
	const struct hotspot_inlined *e = hotspot_inlined_of(env, h->key);

	for (__u32 i = 0; i < HOTSPOT_MOST_SCOPES; i++) {
		if (i >= e->n)
			break;
		script_put(env, e->frames[i]);
	}
}

#endif
#endif
