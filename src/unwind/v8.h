/* SPDX-License-Identifier: BSD-2-Clause */
/* V8's JavaScript functions: which one a frame executes.  One source for two compilers, like
 * python.h, with the same functions from whoever includes it.
 *
 * V8's code keeps frame pointers, interpreted, baseline and optimised alike.  Below the frame
 * pointer lies what a frame is of:
 *
 *     fp + 8   return address
 *     fp       the caller's frame pointer
 *     fp - 8   the context, an object: bit 0 is set; else a number, and no function of a script
 *     fp - 16  the JSFunction, whose SharedFunctionInfo is the same for all closures of a text
 *
 * Objects move.  A number is of the addresses of the SharedFunctionInfo, its script and its name,
 * of 16 bytes that tell functions of a script apart (lengths, flags, its number in the script), and
 * of the script's number, which V8 gives once.  An object that moved has another number and is told
 * of again; the place that it means is made of its name.
 *
 * Sources: V8's src/execution/frame-constants.h, src/objects/{js-function,shared-function-info,
 * scope-info,script,string}.tq; src/objects/instance-type.h. */
#ifndef UNWIND_V8_H
#define UNWIND_V8_H

#include "unwind/text.h"
#include "unwind/v8_state.h"

#ifdef SCRIPT_ENV

/* Provided by the includer, besides what python.h wants. */
static __u64 v8_stack_word(SCRIPT_ENV *env, __u64 avma); /* 0: not there */
static struct v8_walk *v8_of(SCRIPT_ENV *env);

/* Tells the N_CHUNKS pieces of the source in V by v8_chunk, until that returns false. */
static bool v8_each_chunk(SCRIPT_ENV *env, struct v8_walk *v, struct python_walk *p,
			  __u32 n_chunks);

SCRIPT_STEP bool v8_is_object(__u64 word)
{
	return (word & 3) == 1;
}

SCRIPT_STEP __u64 v8_object_word(SCRIPT_ENV *env, __u64 object, __u32 at)
{
	return python_word(env, object - 1 + at);
}

/* The map of an object that begins with WORD.  While the garbage collector moves objects, one that
 * was moved begins with where it is now (objects/map-word.h); the rest of it is as it was. */
SCRIPT_STEP __u64 v8_map_of(SCRIPT_ENV *env, __u64 word)
{
	return word & 1 ? word : python_word(env, word);
}

/* The instance type of objects that begin with WORD; 0xffff when it cannot be read. */
SCRIPT_STEP __u32 v8_map_type(SCRIPT_ENV *env, __u64 word)
{
	const __u64 map = v8_map_of(env, word);
	__u16 type = 0xffff;

	if (!v8_is_object(map) ||
	    !script_read(env, map - 1 + V8_MAP_TYPE, &type, sizeof(type), sizeof(type)))
		return 0xffff;
	return type;
}

/* Finds the characters of STRING, which may be made of others, into V; 0: it is none.  One that
 * the garbage collector is moving is read where it is now, which may be another kind of string: one
 * made of a whole and nothing becomes the whole (heap/scavenger-inl.h:
 * EvacuateShortcutCandidate). */
SCRIPT_PART int v8_string(SCRIPT_ENV *env, __u64 string)
{
	__u64 n = ~0ULL, skip = 0, length;
	struct v8_walk *v;
	__u32 type;

	if (!env)
		return 0;
	v = v8_of(env);
	v->is_cut = 0;
	v->more = 0;
	for (int i = 0; i < 5; i++) {
		if (!v8_is_object(string))
			return 0;
		type = 0xffff;
		if (script_read(env, string - 1, v->words, 4 * 8, V8_SCRIPT_WORDS * 8)) {
			if (!(v->words[0] & 1)) {
				string = v->words[0] + 1;
				continue;
			}
			type = v8_map_type(env, v->words[0]);
		}
		v->is_lost |= type == 0xffff;
		if (type >= (V8_LAYOUT(v->interpreter)->is_old ? V8_FIRST_NO_STRING / 2
							       : V8_FIRST_NO_STRING))
			return 0;
		length = v->words[1] >> 32;
		n = n < length ? n : length;
		v->kind = type & V8_ONE_BYTE ? 1 : 2;
		v->n_bytes = n * v->kind;
		switch (type & 7) {
		case V8_SEQUENTIAL:
			v->text = string - 1 + V8_STRING_DATA + skip * v->kind;
			return 1;
		case V8_EXTERNAL:
			v->text = v->words[3] + skip * v->kind;
			return !(type & V8_UNCACHED);
		case V8_CONS: /* once flattened its second is empty */
			v->is_cut = v->more != 0;
			if (v8_object_word(env, v->words[3], V8_STRING_LENGTH) << 32)
				v->more = v->words[3];
			string = v->words[2];
			break;
		case V8_SLICED:
			skip += v->words[3] >> 32;
			string = v->words[2];
			break;
		case V8_THIN:
			string = v->words[2];
			break;
		default:
			return 0;
		}
	}
	return 0;
}

/* Puts STRING into PART of the record; an empty text where it is none, and 0 then. */
SCRIPT_PART int v8_text(SCRIPT_ENV *env, __u64 string, enum script_part part)
{
	struct script_text *to;
	struct v8_walk *v;
	__u32 n_bytes;

	if (!env)
		return 0;
	v = v8_of(env);
	to = text_of(script_walk(env), part);
	to->n_bytes = to->is_cut = 0;
	to->kind = 1;
	if (!v8_string(env, string))
		return 0;
	n_bytes = v->n_bytes < SCRIPT_TEXT_BYTES ? (__u32)v->n_bytes : SCRIPT_TEXT_BYTES;
	if (!script_read(env, v->text, to->words, n_bytes, SCRIPT_TEXT_BYTES))
		return 0;
	to->n_bytes = n_bytes;
	to->kind = v->kind;
	to->is_cut = v->n_bytes > SCRIPT_TEXT_BYTES;
	return n_bytes != 0;
}

/* Tells piece I of the source in V. */
SCRIPT_STEP bool v8_chunk(SCRIPT_ENV *env, struct v8_walk *v, struct python_walk *p, __u32 i)
{
	const __u64 at = (__u64)i * SCRIPT_LINE_BYTES;
	__u64 n = v->n_bytes - at;
	__u32 n_bytes = n < SCRIPT_LINE_BYTES ? (__u32)n : SCRIPT_LINE_BYTES;

	if (at >= v->n_bytes ||
	    !script_read(env, v->text + at, p->record.lines, n_bytes, SCRIPT_LINE_BYTES))
		return false;
	p->record.first_line = i;
	p->record.n_line_bytes = n_bytes;
	return script_send(env, p);
}

/* Tells the source of V's script, whose object is at SCRIPT, for the lines of its functions. */
SCRIPT_STEP void v8_tell_source(SCRIPT_ENV *env, struct v8_walk *v, struct python_walk *p,
				__u64 number, __u64 source)
{
	__u64 n_chunks;

	if (!v8_string(env, source))
		return;
	n_chunks = (v->n_bytes + SCRIPT_LINE_BYTES - 1) / SCRIPT_LINE_BYTES;
	if (v->more || n_chunks > V8_SOURCE_CHUNKS)
		return;
	p->record.what = SCRIPT_SOURCE;
	p->record.number = number;
	p->record.lines_cut = v->kind;
	if (v8_each_chunk(env, v, p, (__u32)n_chunks))
		script_note(env, number);
}

/* Puts the name of the function of NAME, a string or a ScopeInfo, and where it begins into P's
 * record. */
SCRIPT_STEP void v8_name(SCRIPT_ENV *env, struct v8_walk *v, struct python_walk *p,
			 const struct v8_layout *l, __u64 name)
{
	struct script_text *to = &p->record.name;
	__u64 map = v8_object_word(env, name, 0), n, at, inferred, begin, end, more;
	__u32 i;

	p->record.first_line = 0;
	p->record.more.n_bytes = p->record.more.is_cut = 0;
	p->record.more.kind = 1;
	to->n_bytes = to->is_cut = 0;
	to->kind = 1;
	if (v8_map_type(env, map) != l->scope_type) {
		v8_text(env, name, SCRIPT_NAME);
		return;
	}
	n = v8_object_word(env, name, V8_SCOPE_N_LOCALS) >> 32;
	at = name - 1 + 8 * (1 + l->first_local);
	at += n < V8_SCOPE_MOST_NAMES ? 16 * n : 8 + 8 * n;
	if (n > 65535 ||
	    !script_read(env, at, p->words, V8_SCOPE_WORDS * 8, PYTHON_STATE_WORDS * 8))
		return;
	i = !v8_is_object(p->words[0]); /* of a class, or where `this` is; or there is no name */
	/* The function's name and where that is, then what the parser called it, then where it
	 * begins and ends. */
	at = p->words[i];
	inferred = p->words[i + 2];
	begin = p->words[i + 3];
	end = p->words[i + 4];
	if (l->positions && script_read(env, name - 1 + 8 * (1 + l->positions), v->words, 16,
					V8_SCRIPT_WORDS * 8)) {
		begin = v->words[0];
		end = v->words[1];
	}
	if (!(__u32)begin && !(__u32)end && begin <= end)
		p->record.first_line = (__u32)(begin >> 32) + 1;
	if (!v8_text(env, at, SCRIPT_NAME))
		v8_text(env, inferred, SCRIPT_NAME);
	more = v->more;
	if (more) {
		to->is_cut = v->is_cut;
		v8_text(env, more, SCRIPT_MORE);
		p->record.more.is_cut |= to->is_cut || v->more;
		to->is_cut = 0;
	}
}

/* Tells of the function that P's record has the number of. */
SCRIPT_STEP bool v8_tell(SCRIPT_ENV *env, struct v8_walk *v, struct python_walk *p,
			 const struct v8_layout *l, __u64 number, __u64 name)
{
	__u64 source = 0, file = 0, source_number = 0;

	if (v8_is_object(v->script) &&
	    script_read(env, v->script - 1, v->words, V8_SCRIPT_WORDS * 8, V8_SCRIPT_WORDS * 8)) {
		source = v->words[V8_SCRIPT_SOURCE / 8];
		file = v->words[V8_SCRIPT_NAME / 8];
		/* Workers number their scripts as the main thread does. */
		source_number = script_mix(script_mix(v->key, v->id), v->script) & SCRIPT_CODE_MASK;
		if (v->id && !script_is_told(env, source_number))
			v8_tell_source(env, v, p, source_number, source);
	}
	v->is_lost = 0;
	v8_text(env, file, SCRIPT_FILE);
	if (v->more) /* only its begin is read of one made of others */
		p->record.file.is_cut = 1;
	v8_name(env, v, p, l, name);
	if (v->is_lost) /* it is asked for again later */
		return false;
	p->record.what = SCRIPT_FUNCTION;
	p->record.number = number;
	p->record.interpreter = v->interpreter;
	p->record.source = source_number;
	p->record.n_line_bytes = p->record.lines_cut = 0;
	p->file = 0; /* the record's text is another one now */
	if (!script_send(env, p))
		return false;
	script_note(env, number);
	return true;
}

/* The number of V's script. */
SCRIPT_STEP void v8_enter_script(SCRIPT_ENV *env, struct v8_walk *v, __u64 script)
{
	if (script == v->script)
		return;
	v->script = script;
	v->id = v8_is_object(script) ? v8_object_word(env, script, V8_SCRIPT_ID) : 0;
	if ((__u32)v->id) /* no number, or not there: a builtin function's */
		v->id = 0;
}

#include "unwind/v8_code.h"

#include "unwind/v8_async.h"

SCRIPT_PART int v8_function(SCRIPT_ENV *env)
{
	const struct v8_layout *l;
	struct v8_walk *v;
	__u64 name, number, map;

	if (!env)
		return 0;
	v = v8_of(env);
	l = V8_LAYOUT(v->interpreter);
	if (!v8_is_object(v->shared) ||
	    !script_read(env, v->shared - 1, v->words, V8_SHARED_WORDS * 8, V8_SCRIPT_WORDS * 8))
		return 0;
	map = v8_map_of(env, v->words[0]);
	if (!v->shared_map && v8_map_type(env, map) == l->shared_type)
		v->shared_map = map;
	if (!v->shared_map || map != v->shared_map)
		return 0;
	v->unoptimised = v->words[V8_SHARED_DATA / 8];
	v->flags = (__u32)v->words[((l->cookie + V8_FLAGS) / 8) & 7];
	name = v->words[l->name / 8 & 7];
	number = script_mix(script_mix(v->key, v->shared), name);
	number = script_mix(script_mix(number, v->words[(l->cookie / 8) & 7]),
			    v->words[(l->cookie / 8 + 1) & 7]);
	v8_enter_script(env, v, v->words[l->script / 8 & 7]);
	number = script_mix(script_mix(number, v->script), v->id) & SCRIPT_CODE_MASK;
	if (number < SCRIPT_N_MARKS)
		number = SCRIPT_N_MARKS;
	if (!script_is_told(env, number) && !v8_tell(env, v, script_walk(env), l, number, name)) {
		v->is_lost = 1;
		return 0;
	}
	v->number = number;
	return 1;
}

/* As v8_frame, of which FUNCTION is the word at FP - 16. */
SCRIPT_STEP bool v8_put(SCRIPT_ENV *env, __u64 fp, __u64 function)
{
	struct v8_walk *v = v8_of(env);
	const struct v8_layout *l = V8_LAYOUT(v->interpreter);
	__u64 map;

	if (!v8_is_object(function) ||
	    !script_read(env, function - 1, v->words, V8_FUNCTION_WORDS * 8, V8_SCRIPT_WORDS * 8))
		return false;
	v->shared = v->words[l->shared / 8 & 7];
	v->is_async = 0;
	v->own_code = l->code ? v->words[l->code / 8 & 7] : 0;
	map = v->words[0];
	v->is_lost = 0;
	if (!v8_function(env)) {
		v->is_lost |= v8_map_type(env, map) == l->function_type;
		if (v->is_lost)
			script_put(env, FRAME_SCRIPT(SCRIPT_V8 + SCRIPT_UNREADABLE, SCRIPT_NO_OFF));
		return v->is_lost;
	}
	v->own = v->number;
	v->is_async = V8_IS_ASYNC(V8_KIND(v->flags));
	if (!v8_put_interpreted(env, fp) && !v8_put_inlined(env))
		script_put(env, FRAME_SCRIPT(v->own, SCRIPT_NO_OFF));
	return true;
}

/* Puts the function that the frame with frame pointer FP executes, with those that were inlined
 * there and those that await it; false when it executes none of a script, or none that is known. */
SCRIPT_STEP bool v8_frame(SCRIPT_ENV *env, __u64 fp)
{
	struct v8_walk *v = v8_of(env);
	const __u64 function = v8_stack_word(env, fp - 16), context = v8_stack_word(env, fp - 8);
	const bool is_put =
		v8_is_object(context) && (v8_put_known(env, v) || v8_put(env, fp, function));

	v->is_handler = v->is_exact && !v8_is_object(context);
	if (is_put && v->is_async)
		v8_put_awaiting(env, v, fp, function);
	return is_put;
}

#endif
#endif
