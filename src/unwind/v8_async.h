/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that await what V8's async functions execute.  A part of v8.h.
 *
 * What goes on after an await is called by V8's queue of microtasks, not by who awaits it.  That is
 * in the heap, as V8's own stack traces find it ("at async f"):
 *
 *     frame        keeps the JSAsyncFunctionObject of this call in one of its slots, whose function
 *                  is the frame's and which says that it is being executed
 *     -> promise   of the call, which is pending
 *     -> reaction  what it leads to, if that is one alone
 *     -> handler   for an await: a function whose context has the JSAsyncFunctionObject of the
 *                  function that awaits, which says at which bytecode that is.  For Promise.all and
 *                  its like: one whose context has the promise of all.  Else the promise that
 *                  then() made is in the reaction.
 *
 * A call that has not awaited yet was called by a frame of the stack; nobody has its promise.
 *
 * Sources: V8's src/execution/isolate.cc (CaptureAsyncStackTrace); src/objects/{js-generator,
 * js-promise,promise}.tq, function-kind.h; src/builtins/builtins-async-gen.cc,
 * promise-all.tq. */
#ifndef UNWIND_V8_ASYNC_H
#define UNWIND_V8_ASYNC_H

#include "unwind/v8_state.h"

#ifdef SCRIPT_ENV

/* Provided by the includer: v8_slot() for the first N, and v8_await(), until they return 0. */
static void v8_each_slot(SCRIPT_ENV *env, __u32 n);
static void v8_each_await(SCRIPT_ENV *env);

/* Reads OBJECT, if it is a JSAsyncFunctionObject, into v->words. */
SCRIPT_STEP bool v8_read_call_of(SCRIPT_ENV *env, struct v8_walk *v, const struct v8_layout *l,
				 __u64 object)
{
	return v8_is_object(object) &&
	       script_read(env, object - 1, v->words, V8_ASYNC_WORDS * 8, V8_ASYNC_WORDS * 8) &&
	       v8_map_type(env, v->words[0]) == l->async_type;
}

/* Looks whether slot I of the frame has the call that the frame executes; 0: it has. */
SCRIPT_STEP int v8_slot(SCRIPT_ENV *env, __u32 i)
{
	struct v8_walk *v = v8_of(env);
	const __u64 word = v8_stack_word(env, v->slots - 8 * (__u64)i);

	v->n_steps++;
	if (!v8_is_object(word) ||
	    v8_object_word(env, word, 8 * V8_ASYNC_FUNCTION) != v->function ||
	    !v8_read_call_of(env, v, V8_LAYOUT(v->interpreter), word) ||
	    v->words[V8_ASYNC_STATE] != V8_ASYNC_EXECUTING)
		return 1;
	v->promise = v->words[V8_ASYNC_PROMISE];
	return 0;
}

/* Finds what v->promise leads to: the function that awaits it into v->shared, and into v->cursor
 * where that does, and its own promise into v->promise; v->shared is 0 where another promise
 * follows this one.  0: nothing is known. */
SCRIPT_PART int v8_follow(SCRIPT_ENV *env)
{
	__u64 map, handler, then, by, all;
	const struct v8_layout *l;
	struct v8_walk *v;
	__u32 type;

	if (!env)
		return 0;
	v = v8_of(env);
	l = V8_LAYOUT(v->interpreter);
	v->shared = 0;
	if (!v8_is_object(v->promise) ||
	    !script_read(env, v->promise - 1, v->words, V8_PROMISE_WORDS * 8, V8_SCRIPT_WORDS * 8))
		return 0;
	map = v->words[0];
	by = v->words[V8_PROMISE_REACTIONS];
	if (v->words[V8_PROMISE_FLAGS] & V8_PROMISE_SETTLED || !v8_is_object(by) ||
	    v8_map_type(env, map) != l->promise_type ||
	    !script_read(env, by - 1, v->words, V8_REACTION_WORDS * 8, V8_SCRIPT_WORDS * 8) ||
	    v->words[l->next & 7]) /* several */
		return 0;
	handler = v->words[(l->next + V8_REACTION_HANDLER) & 7];
	then = v->words[(l->next + V8_REACTION_PROMISE) & 7];
	by = all = 0;
	if (v8_is_object(handler) &&
	    script_read(env, handler - 1, v->words, V8_FUNCTION_WORDS * 8, V8_SCRIPT_WORDS * 8) &&
	    script_read(env, v->words[(l->shared / 8 + 1) & 7] - 1, v->words, V8_CONTEXT_WORDS * 8,
			V8_SCRIPT_WORDS * 8)) {
		by = v->words[V8_CONTEXT_AWAITS];
		all = v->words[V8_CONTEXT_ALL];
	}
	if (v8_read_call_of(env, v, l, by)) {
		v->cursor = (__u32)(v->words[V8_ASYNC_AT] >> 32) - (l->bytecodes - 1);
		v->promise = v->words[V8_ASYNC_PROMISE];
		if (v->words[V8_ASYNC_STATE] >> 63) /* it does not await */
			return 0;
		v->shared = v8_object_word(env, v->words[V8_ASYNC_FUNCTION], l->shared);
		return v->shared != 0;
	}
	if (v8_is_object(all) &&
	    v8_map_type(env, v8_object_word(env, all, 0)) == l->capability_type)
		then = all;
	if (!v8_is_object(then))
		return 0;
	type = v8_map_type(env, v8_object_word(env, then, 0));
	v->promise = type == l->promise_type ? then : v8_object_word(env, then, 8);
	return type == l->promise_type || type == l->capability_type;
}

/* Finds the bytecodes of the function V is at; 0: they are not known. */
SCRIPT_PART int v8_open_unoptimised(SCRIPT_ENV *env)
{
	struct v8_walk *v;

	if (!env)
		return 0;
	v = v8_of(env);
	if (v8_open_bytes(env, v->unoptimised))
		return v->cursor < v->n_codes;
	v->code = v->unoptimised; /* its baseline code leads to them */
	return v8_read_code(env, v, V8_LAYOUT(v->interpreter)) && v8_open_bytes(env, v->data) &&
	       v->cursor < v->n_codes;
}

/* Puts the function that awaits v->promise; 0: there is none, or none that is known. */
SCRIPT_STEP int v8_await(SCRIPT_ENV *env)
{
	struct v8_walk *v = v8_of(env);

	v->n_steps += V8_AWAIT_STEPS;
	if (v->n_steps >= V8_MOST_STEPS || !v8_follow(env))
		return 0;
	if (!v->shared)
		return 1;
	v->is_lost = 0;
	if (!v8_function(env)) {
		script_put(env, FRAME_SCRIPT(SCRIPT_V8 + SCRIPT_UNREADABLE, SCRIPT_NO_OFF));
		return 0;
	}
	v->own = v->number;
	if (!v->id || !v8_open_unoptimised(env) || !v8_put_bytecode(env))
		script_put(env, FRAME_SCRIPT(v->own, SCRIPT_NO_OFF));
	return 1;
}

/* Puts the functions that await what the frame with frame pointer FP executes, a call of FUNCTION,
 * an async one. */
SCRIPT_STEP void v8_put_awaiting(SCRIPT_ENV *env, struct v8_walk *v, __u64 fp, __u64 function)
{
	const __u64 n_slots = (fp - V8_FIRST_SLOT + 8 - v->sp) / 8;

	v->slots = fp - V8_FIRST_SLOT;
	v->function = function;
	v->promise = 0;
	if (v->sp > v->slots || v->n_steps >= V8_MOST_STEPS)
		return;
	v8_each_slot(env, n_slots < V8_MOST_SLOTS ? (__u32)n_slots : V8_MOST_SLOTS);
	if (v->promise)
		v8_each_await(env);
}

#endif
#endif
