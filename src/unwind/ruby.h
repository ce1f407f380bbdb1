/* SPDX-License-Identifier: BSD-2-Clause */
/* Ruby's frames: which methods and blocks one call of its loop executes, and in which lines.
 * One source for two compilers, as python.h is, by the same functions of an includer.
 *
 * Each fiber, and each thread's first one, has a stack of frames that grows down.  rb_vm_exec
 * executes the frame that C called and all that Ruby called from there; that first one is
 * marked, FINISH.  For example, of a block that is given to Array#each:
 *
 *     native frames             Ruby's frames, the innermost first
 *     rb_vm_exec           <-   block in work, marked
 *     rb_ary_each
 *     rb_vm_exec           <-   each, work, then <main>, marked
 *     rb_ec_exec_node
 *
 * Functions that C wrote have a frame as well.  They call no loop for themselves.
 *
 * A thread is found by its own variable, which is set with and without the lock of Ruby's; it
 * knows what it executes, and that knows the thread.
 *
 * A method is known by the texts of its file, its class and its label, and by its first line.
 * All are read each time, since the garbage collector gives memory to others.  Within one walk,
 * in which nothing changes, the last one is remembered, and so are its file and its class.
 *
 * The innermost frame may be half made.  It counts when its code is its method's and its next
 * instruction the code's.  YJIT takes room for the frame of a C function and fills it then
 * (yjit_codegen.c, gen_send_cfunc): in between, for two instructions, the room holds a whole frame
 * that has ended, and nothing tells.
 *
 * The line is read here: a frame has its next instruction, and a table which instructions begin
 * an entry, of which each has a line.
 *
 * Sources: Ruby 2.7 to 3.3, vm_core.h, vm_insnhelper.c, vm_backtrace.c, iseq.c, symbol.c,
 * variable.c. */
#ifndef UNWIND_RUBY_H
#define UNWIND_RUBY_H

#include "unwind/ruby_state.h"
#include "unwind/text.h"

#ifdef SCRIPT_ENV

/* The rb_thread_t of the thread, by what is at ANCHOR: a key, or module and offset of a
 * thread-local variable, as __tls_get_addr takes them (glibc on x86-64:
 * sysdeps/x86_64/dl-tls.h). */
SCRIPT_STEP __u64 ruby_thread(SCRIPT_ENV *env, const struct ruby_layout *l, __u64 anchor)
{
	const __u64 thread = script_thread(env);
	__u64 module, off, block;

	if (!thread)
		return 0;
	if (l->is_key)
		return python_specific(env, thread, (__u32)python_word(env, anchor));
	module = python_word(env, anchor);
	off = python_word(env, anchor + 8);
	block = python_word(env, python_word(env, thread + 8) + 16 * module);
	if (!module || !block || block == -1ULL) /* the thread never had the variable */
		return 0;
	return python_word(env, block + off);
}

/* Whether THREAD, which executes EC, collects garbage: somebody does, and it is the one that
 * runs. */
SCRIPT_STEP bool ruby_collects(SCRIPT_ENV *env, const struct ruby_layout *l, __u64 thread, __u64 ec)
{
	__u64 lock, vm;

	if (!l->objects)
		return false;
	lock = vm = python_word(env, thread + RUBY_THREAD_LOCK);
	if (!l->is_key)
		vm = python_word(env, thread + RUBY_THREAD_LOCK + 8);
	return python_word(env, python_word(env, vm + l->objects) + RUBY_OBJECTS_FLAGS) &
		       RUBY_COLLECTS &&
	       python_word(env, lock + l->running) == (l->is_key ? thread : ec);
}

/* Puts what the thread does in place of the method that it was in. */
SCRIPT_STEP void ruby_put_collector(SCRIPT_ENV *env, struct python_walk *p)
{
	static const char name[24] = "[garbage collection]";
	__u64 number;

	text_none(env, SCRIPT_FILE);
	text_none(env, SCRIPT_MORE);
	text_none(env, SCRIPT_NAME);
	__builtin_memcpy(p->record.name.words, name, sizeof(name));
	p->record.name.n_bytes = 20;
	number = text_number(p, text_hash(&p->record.name, 20));
	if (text_tell(env, number, 0))
		script_put(env, FRAME_SCRIPT(number, SCRIPT_NO_OFF));
}

/* Provided by the includer: ruby_environment() until that returns 0, at the most RUBY_MOST_OUTER
 * times. */
static void ruby_each_environment(SCRIPT_ENV *env);

/* Finds the innermost frame of the thread.  SYMBOLS is the table of names, 0: not known. */
SCRIPT_PART int ruby_begin(SCRIPT_ENV *env, __u64 anchor, __u64 symbols)
{
	const struct ruby_layout *l;
	struct python_walk *p;
	__u64 thread, ec;

	if (!env)
		return 0;
	p = script_walk(env);
	l = RUBY_LAYOUT(p->interpreter);
	p->anchor = anchor;
	p->symbols = symbols;
	p->file = p->code = p->frame = p->entry = p->at = 0;
	p->owner = ~0ULL;
	p->is_rest = 0;
	p->is_first = 1;
	p->failed = SCRIPT_NO_STATE;
	thread = ruby_thread(env, l, anchor);
	ec = thread ? python_word(env, thread + l->thread_ec) : 0;
	if (!ec || python_word(env, ec + l->thread) != thread ||
	    !script_read(env, ec, p->words, 3 * 8, PYTHON_STATE_WORDS * 8))
		return 0;
	p->sp = p->words[RUBY_EC_STACK];
	p->end = p->sp + 8 * p->words[RUBY_EC_STACK + 1];
	if (p->words[RUBY_EC_STACK + 2] - p->words[RUBY_EC_STACK] >=
	    p->end - p->words[RUBY_EC_STACK])
		return 0;
	p->frame = p->words[RUBY_EC_STACK + 2];
	p->failed = 0;
	if (ruby_collects(env, l, thread, ec))
		ruby_put_collector(env, p);
	return 0;
}

/* Reads the String at AVMA into PART of the record; a hash of it, 0 when it is none or cannot be
 * read. */
SCRIPT_PART __u64 ruby_text(SCRIPT_ENV *env, __u64 avma, enum script_part part)
{
	const struct ruby_layout *l;
	struct python_walk *p;
	__u64 flags, n, at;

	if (!env)
		return 0;
	p = script_walk(env);
	l = RUBY_LAYOUT(p->interpreter);
	if (!avma || avma & 7 || !script_read(env, avma, p->words, 4 * 8, PYTHON_STATE_WORDS * 8))
		return 0;
	flags = p->words[0];
	n = p->words[2];
	at = p->words[3];
	if ((flags & RUBY_TYPE_MASK) != RUBY_T_STRING)
		return 0;
	if (!(flags & RUBY_STRING_IS_APART)) {
		at = avma + (l->has_length ? 24 : 16);
		n = l->has_length ? n : flags >> 14 & 31;
	}
	return text_take(env, at, n, text_of(p, part));
}

/* A hash of the String at AVMA, which it holds itself or ruby_text() reads; 0 when it is none or
 * cannot be read. */
SCRIPT_PART __u64 ruby_brief(SCRIPT_ENV *env, __u64 avma)
{
	const struct ruby_layout *l;
	struct python_walk *p;

	if (!env)
		return 0;
	p = script_walk(env);
	l = RUBY_LAYOUT(p->interpreter);
	if (avma & 7 ||
	    !script_read(env, avma, p->words, RUBY_BRIEF_WORDS * 8, PYTHON_STATE_WORDS * 8) ||
	    (p->words[0] & (RUBY_TYPE_MASK | RUBY_STRING_IS_APART)) != RUBY_T_STRING)
		return ruby_text(env, avma, SCRIPT_NAME);
	if (!l->has_length)
		return text_brief(p->words + 2, p->words[0] >> 14 & 31, RUBY_BRIEF_WORDS * 8 - 16,
				  0);
	if (p->words[2] > RUBY_BRIEF_WORDS * 8 - 24)
		return ruby_text(env, avma, SCRIPT_NAME);
	return text_brief(p->words + 3, p->words[2], RUBY_BRIEF_WORDS * 8 - 24, 0);
}

/* The first element of the Array at AVMA, number I; 0: it has none, or is no Array. */
SCRIPT_PART __u64 ruby_element(SCRIPT_ENV *env, __u64 avma, __u64 i)
{
	const __u64 flags = env && avma && !(avma & 7) ? python_word(env, avma) : 0;

	if ((flags & RUBY_TYPE_MASK) != RUBY_T_ARRAY)
		return 0;
	if (!(flags & RUBY_ARRAY_EMBEDDED)) {
		if (i >= python_word(env, avma + 16))
			return 0;
		return python_word(env, python_word(env, avma + 32) + 8 * i);
	}
	return python_word(env, avma + 16 + 8 * i);
}

/* Reads the name of identifier ID into the record; a hash of it, 0: not known. */
SCRIPT_STEP __u64 ruby_symbol(SCRIPT_ENV *env, struct python_walk *p, __u64 id)
{
	const __u64 serial = id < RUBY_MOST_OPERATORS ? id : id >> 4;
	__u64 names;

	if (!p->symbols)
		return 0;
	names = ruby_element(env, python_word(env, p->symbols + RUBY_SYMBOLS_IDS),
			     serial / RUBY_IDS_UNIT);
	return ruby_text(env, ruby_element(env, names, serial % RUBY_IDS_UNIT * 2), SCRIPT_NAME);
}

/* The first of the internal variables of the class in P->words: its name, or whose singleton class
 * it is.  Those of scripts begin with @, which an identifier's kind tells. */
SCRIPT_STEP __u64 ruby_class_variable(SCRIPT_ENV *env, struct python_walk *p)
{
	__u64 table = python_word(env, p->words[RUBY_CLASS_EXT / 8] + RUBY_EXT_VARIABLES), at;

	if (!table)
		return 0;
	at = python_word(env, table + RUBY_TABLE_ENTRIES) +
	     24 * python_word(env, table + RUBY_TABLE_FIRST);
	if (!script_read(env, at, p->words, 3 * 8, PYTHON_STATE_WORDS * 8) || p->words[1] >> 1 & 7)
		return 0;
	return p->words[2];
}

/* Reads the name of the class at CLASS behind a method's, and behind it what stands before that; a
 * hash of it, 0: it has none. */
SCRIPT_PART __u64 ruby_class(SCRIPT_ENV *env, __u64 class)
{
	const struct ruby_layout *l;
	struct python_walk *p;
	struct script_text *to;
	__u8 separator = '#';
	__u64 name;

	if (!env)
		return 0;
	p = script_walk(env);
	l = RUBY_LAYOUT(p->interpreter);
	to = &p->record.more;
	for (int i = 0; i < 2; i++) {
		if (!class || class & 7 ||
		    !script_read(env, class, p->words, 4 * 8, PYTHON_STATE_WORDS * 8))
			return 0;
		if ((p->words[0] & RUBY_TYPE_MASK) != RUBY_T_CLASS &&
		    (p->words[0] & RUBY_TYPE_MASK) != RUBY_T_MODULE)
			return 0;
		if (!(p->words[0] & RUBY_CLASS_IS_SINGLE) ||
		    (p->words[0] & RUBY_TYPE_MASK) == RUBY_T_MODULE)
			break;
		separator = '.';
		class = l->attached	? python_word(env, class + l->attached)
			: l->class_path ? 0
					: ruby_class_variable(env, p);
	}
	name = l->class_path ? python_word(env, class + l->class_path)
			     : ruby_class_variable(env, p);
	if (!ruby_text(env, name, SCRIPT_MORE) || !to->n_bytes)
		return 0;
	if (to->n_bytes < SCRIPT_TEXT_BYTES) {
		((__u8 *)to->words)[to->n_bytes & (SCRIPT_TEXT_BYTES - 1)] = separator;
		to->n_bytes++;
	}
	return text_hash(to, to->n_bytes);
}

/* The method entry at AVMA, or the one that the variables of a method at AVMA have beside them; its
 * words are in P's then.  0: there is none. */
SCRIPT_STEP __u64 ruby_method(SCRIPT_ENV *env, struct python_walk *p, __u64 avma)
{
	for (int i = 0; i < 2; i++) {
		if (!avma || avma & 7 ||
		    !script_read(env, avma, p->words, 5 * 8, PYTHON_STATE_WORDS * 8) ||
		    (p->words[0] & RUBY_TYPE_MASK) != RUBY_T_IMEMO)
			return 0;
		if ((p->words[0] >> 12 & 15) == RUBY_IMEMO_METHOD)
			return avma;
		if ((p->words[0] >> 12 & 15) != RUBY_IMEMO_SVAR)
			return 0;
		avma = p->words[1];
	}
	return 0;
}

/* Puts the method entry of the environment in P->words into p->outer_method, and its words into
 * P->words; else the environment that it stands in into P->words, and returns 1. */
SCRIPT_STEP int ruby_environment(SCRIPT_ENV *env)
{
	struct python_walk *p = script_walk(env);
	const __u64 outer = p->words[RUBY_ENV_OUTER] & ~3ULL, flags = p->words[RUBY_ENV_FLAGS];

	p->outer_method = ruby_method(env, p, p->words[RUBY_ENV_METHOD]);
	return !p->outer_method && !(flags & RUBY_FLAG_LOCAL) &&
	       script_read(env, outer - 16, p->words, 3 * 8, PYTHON_STATE_WORDS * 8);
}

/* The method entry of the frame whose environment is in P->words, and its words in P->words: its
 * own, or that of what a block stands in; 0: there is none. */
SCRIPT_PART __u64 ruby_method_of(SCRIPT_ENV *env)
{
	if (!env)
		return 0;
	ruby_each_environment(env);
	return script_walk(env)->outer_method;
}

/* Puts the class of the method entry in P->words into P's record; a hash of its name. */
SCRIPT_STEP __u64 ruby_owner(SCRIPT_ENV *env, struct python_walk *p, const struct ruby_layout *l,
			     __u64 method)
{
	const __u64 owner = method && l->names_classes ? p->words[RUBY_METHOD_OWNER] : 0;
	__u64 hash;

	if (owner == p->owner)
		return p->owner_hash;
	hash = ruby_class(env, owner);
	if (!hash)
		text_none(env, SCRIPT_MORE);
	p->owner = owner;
	p->owner_hash = hash;
	return hash;
}

/* The number of the method that C wrote, of the method entry in P->words; else an enum script_mark,
 * or 0: it has no name. */
SCRIPT_STEP __u64 ruby_c_method(SCRIPT_ENV *env, struct python_walk *p, const struct ruby_layout *l,
				__u64 method)
{
	const __u64 def = p->words[RUBY_METHOD_DEF];
	__u64 hash, name, number;

	if (!method)
		return 0;
	if (method == p->code)
		return p->number;
	hash = ruby_owner(env, p, l, method);
	name = ruby_symbol(env, p, python_word(env, def + RUBY_DEF_ID));
	if (!name)
		return 0;
	hash = script_mix(hash, name);
	text_none(env, SCRIPT_FILE);
	p->file = 0;
	number = text_number(p, hash);
	if (!text_tell(env, number, 0))
		return SCRIPT_UNREADABLE;
	p->code = method;
	p->number = number;
	return number;
}

/* Reads the path in PATHOBJ, a String or an Array of it and the real one, into P's record. */
SCRIPT_PART int ruby_path(SCRIPT_ENV *env, __u64 path)
{
	struct python_walk *p;
	__u64 real;

	if (!env)
		return 0;
	p = script_walk(env);
	if (path == p->file)
		return 1;
	p->file = 0;
	real = ruby_element(env, path, 1);
	p->file_hash = ruby_text(env, real, SCRIPT_FILE);
	if (!p->file_hash) {
		real = ruby_element(env, path, 0);
		p->file_hash = ruby_text(env, real ? real : path, SCRIPT_FILE);
	}
	p->file = p->file_hash ? path : 0;
	return p->file_hash != 0;
}

/* The number of the code at ISEQ in METHOD, which is in P->words; else an enum script_mark.
 * Where it has its instructions and lines is in P then. */
SCRIPT_STEP __u64 ruby_code(SCRIPT_ENV *env, struct python_walk *p, const struct ruby_layout *l,
			    __u64 iseq, __u64 method)
{
	__u64 hash, part, label, path, number, info = l->info / 8;
	__u32 first_line;

	if (iseq == p->code && method == p->method)
		return p->number;
	p->code = 0;
	p->def = method ? p->words[RUBY_METHOD_DEF] : 0;
	hash = ruby_owner(env, p, l, method);
	if (!script_read(env, python_word(env, iseq + RUBY_ISEQ_BODY), p->words,
			 RUBY_BODY_WORDS * 8, PYTHON_STATE_WORDS * 8))
		return SCRIPT_UNREADABLE;
	p->instructions = p->words[RUBY_BODY_CODE];
	p->n_instructions = p->words[RUBY_BODY_SIZE] >> 32;
	p->local = p->words[(info & 15) + RUBY_INFO_TO_LOCAL];
	path = p->words[RUBY_BODY_PATH];
	label = p->words[RUBY_BODY_LABEL];
	first_line = (__u32)p->words[RUBY_BODY_LINE];
	if (!l->is_line_plain)
		first_line >>= 1;
	p->entries = p->words[info & 15];
	p->n_entries = (__u32)p->words[(info & 15) + 2];
	p->starts = p->words[(info & 15) + 3];
	if (!ruby_path(env, path))
		return SCRIPT_UNREADABLE;
	part = ruby_brief(env, label);
	if (!part)
		return SCRIPT_UNREADABLE;
	hash = script_mix(script_mix(script_mix(hash, p->file_hash), part), first_line);
	number = text_number(p, hash);
	if (!script_is_told(env, number) &&
	    (!ruby_text(env, label, SCRIPT_NAME) || !text_tell(env, number, first_line)))
		return SCRIPT_UNREADABLE;
	p->code = iseq;
	p->method = method;
	p->number = number;
	return number;
}

/* Whether the innermost frame, of the code in P, is made: PC is in that, and the method is its
 * own. */
SCRIPT_STEP bool ruby_is_made(SCRIPT_ENV *env, struct python_walk *p, __u64 pc)
{
	if (pc - p->instructions > 8 * p->n_instructions)
		return false;
	if (!p->def || !script_read(env, p->def, p->words, 2 * 8, PYTHON_STATE_WORDS * 8) ||
	    (p->words[0] & 15) != RUBY_DEF_CODE)
		return true;
	return p->words[1] == p->local;
}

SCRIPT_STEP __u32 ruby_bits(__u64 v)
{
	v -= v >> 1 & 0x5555555555555555ULL;
	v = (v & 0x3333333333333333ULL) + (v >> 2 & 0x3333333333333333ULL);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (__u32)(v * 0x0101010101010101ULL >> 56);
}

/* How many entries begin at or before instruction AT of the code in P. */
SCRIPT_STEP __u64 ruby_entry(SCRIPT_ENV *env, struct python_walk *p, __u64 at)
{
	__u64 block, bits;

	if (p->n_entries < 2)
		return p->n_entries;
	if (at < RUBY_NEAR)
		return python_word(env, p->starts + at / 9 * 8) >> at % 9 * 7 & 127;
	at -= RUBY_NEAR;
	block = p->starts + RUBY_NEAR_BYTES + at / RUBY_BLOCK * RUBY_BLOCK_BYTES;
	at %= RUBY_BLOCK;
	if (!script_read(env, block, p->words, 2 * 8, PYTHON_STATE_WORDS * 8))
		return 0;
	bits = python_word(env, block + 16 + at / 64 * 8) << (63 - at % 64);
	block = (__u32)p->words[0];
	if (at >= 64)
		block += p->words[1] >> (at / 64 - 1) * 9 & 511;
	return block + ruby_bits(bits);
}

/* The line of the instruction before PC in the code in P; SCRIPT_NO_OFF: not known. */
SCRIPT_PART __u64 ruby_line(SCRIPT_ENV *env, __u64 pc)
{
	const struct ruby_layout *l;
	struct python_walk *p;
	__u64 at, entry;
	__u32 line = 0;

	if (!env)
		return SCRIPT_NO_OFF;
	p = script_walk(env);
	l = RUBY_LAYOUT(p->interpreter);
	at = (pc - p->instructions) / 8;
	if (at > SCRIPT_NO_OFF)
		return SCRIPT_NO_OFF;
	entry = ruby_entry(env, p, at ? at - 1 : 0);
	if (!entry || entry > p->n_entries ||
	    !script_read(env, p->entries + (entry - 1) * l->entry_bytes, &line, 4, 4) || !line ||
	    line >= SCRIPT_NO_OFF)
		return SCRIPT_NO_OFF;
	return line;
}

/* Puts the next frame of P.  Returns true when there may be more of the same loop. */
SCRIPT_STEP bool ruby_step(SCRIPT_ENV *env, struct python_walk *p)
{
	const struct ruby_layout *l = RUBY_LAYOUT(p->interpreter);
	const __u64 frame = p->frame, next = frame + l->frame_words * 8;
	__u64 pc, iseq, ep, entry, method, number, off = SCRIPT_NO_OFF;
	const bool is_first = p->is_first;
	__u32 flags, magic;

	if (!frame || !script_may_step(p))
		return false;
	p->frame = p->is_first = 0;
	if (!script_read_near(env, 0, frame, p->words, 5, 5, 0)) {
		p->failed = SCRIPT_UNREADABLE;
		return false;
	}
	pc = p->words[RUBY_FRAME_PC];
	iseq = p->words[RUBY_FRAME_ISEQ];
	ep = p->words[RUBY_FRAME_EP];
	if (ep - p->sp < p->end - p->sp /* an environment may be apart from the stack */
		    ? !script_read_near(env, 1, ep - 16, p->words, 3, 3, NEAR_BYTES - 3 * 8)
		    : !script_read(env, ep - 16, p->words, 3 * 8, PYTHON_STATE_WORDS * 8)) {
		p->failed = SCRIPT_UNREADABLE;
		return false;
	}
	if (next + l->frame_words * 8 < p->end) /* the outermost one is nobody's */
		p->frame = next;
	flags = (__u32)p->words[RUBY_ENV_FLAGS];
	magic = flags & RUBY_MAGIC_MASK;
	if (magic == RUBY_MAGIC_DUMMY || magic == RUBY_MAGIC_IFUNC)
		return true;
	if ((magic == RUBY_MAGIC_CFUNC) != !iseq || (iseq && flags & RUBY_FLAG_CFRAME))
		return true;
	entry = p->words[RUBY_ENV_METHOD];
	if (iseq && iseq == p->code && entry && entry == p->entry) {
		number = p->number;
	} else {
		method = ruby_method_of(env);
		number = magic == RUBY_MAGIC_CFUNC ? ruby_c_method(env, p, l, method)
						   : ruby_code(env, p, l, iseq, method);
		p->entry = method == entry ? entry : 0;
	}
	if (!number || (is_first && iseq && number >= SCRIPT_N_MARKS && !ruby_is_made(env, p, pc)))
		return true;
	if (number < SCRIPT_N_MARKS) {
		number += SCRIPT_RUBY;
	} else if (magic != RUBY_MAGIC_CFUNC) {
		if (!p->at || pc != p->at) {
			p->at = pc;
			p->line = ruby_line(env, pc);
		}
		off = p->line;
	}
	script_put(env, FRAME_SCRIPT(number, off));
	return !(flags & RUBY_FLAG_FINISH);
}

#endif
#endif
