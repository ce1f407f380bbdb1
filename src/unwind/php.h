/* SPDX-License-Identifier: BSD-2-Clause */
/* PHP's frames: which functions one call of its loop executes, and in which lines.  One source for
 * two compilers, like python.h, with the same functions from whoever includes it.
 *
 * A process's frames are a list, the innermost first, from executor_globals on.  execute_ex
 * executes the frame that it was called for and all that PHP called from there; that first one is
 * marked, ZEND_CALL_TOP.  For example, of a sort with a function of the script:
 *
 *     native frames                PHP's list
 *     execute_ex              <-   compare, marked
 *     zend_call_function
 *     zif_usort
 *     execute_ex              <-   usort, then {main}, marked
 *     zend_execute_scripts
 *
 * Functions that PHP brings along are on the list as well.  They call no loop for themselves, so
 * their mark does not count.
 *
 * A function is known by the texts of its file, its class and its name, and by its first line: the
 * memory of code is used again with each request.  Of longer ones the begin is looked at, and the
 * hash that PHP keeps with a string.
 *
 * Sources: PHP 8.2, Zend/zend_compile.h (zend_execute_data, zend_op_array), zend_globals.h,
 * zend_vm_execute.h (global registers: r14 the frame, r15 the instruction). */
#ifndef UNWIND_PHP_H
#define UNWIND_PHP_H

#include "unwind/php_state.h"
#include "unwind/text.h"

#ifdef SCRIPT_ENV

/* Provided by the includer: a register of the innermost frame, by its DWARF number. */
static __u64 script_register(SCRIPT_ENV *env, __u32 number);

/* Finds the innermost frame of the process whose executor_globals are at GLOBALS. */
SCRIPT_STEP void php_begin(SCRIPT_ENV *env, struct python_walk *p, const struct php_layout *l,
			   __u64 globals)
{
	p->anchor = globals;
	p->is_rest = 0;
	p->file = p->code = p->owner = p->at = 0;
	p->frame = 0;
	p->failed = 0;
	if (!script_read(env, globals + l->current, &p->frame, 8, 8))
		p->failed = SCRIPT_NO_STATE;
}

/* Reads the zend_string at AVMA into PART of the record; a hash of it, 0: it cannot be read. */
SCRIPT_STEP __u64 php_text(SCRIPT_ENV *env, __u64 avma, enum script_part part)
{
	__u64 n = 0;

	if (!script_read(env, avma + PHP_STRING_TEXT - 8, &n, 8, 8))
		return 0;
	return text_read(env, avma + PHP_STRING_TEXT, n, part);
}

/* A hash of the zend_string at AVMA by its begin, and by PHP's own hash where it is longer; 0: it
 * cannot be read. */
SCRIPT_PART __u64 php_brief(SCRIPT_ENV *env, __u64 avma)
{
	struct python_walk *p;
	__u64 n;

	if (!env)
		return 0;
	p = script_walk(env);
	if (!script_read(env, avma + PHP_STRING_HASH, p->words, 16 + PHP_BRIEF,
			 PYTHON_STATE_WORDS * 8))
		return php_text(env, avma, SCRIPT_NAME);
	n = p->words[1];
	if (n > PHP_BRIEF && !p->words[0])
		return php_text(env, avma, SCRIPT_NAME);
	return text_brief(p->words + 2, n, PHP_BRIEF, n > PHP_BRIEF ? p->words[0] : 0);
}

/* Tells of the function of P's number; a FILE, NAME or SCOPE of 0 it has not.  0: it cannot be. */
SCRIPT_PART int php_tell(SCRIPT_ENV *env, __u64 file, __u64 name, __u64 scope, __u32 first_line)
{
	struct python_walk *p;

	if (!env)
		return 0;
	p = script_walk(env);
	text_none(env, SCRIPT_FILE);
	text_none(env, SCRIPT_NAME);
	text_none(env, SCRIPT_MORE);
	if ((file && !php_text(env, file, SCRIPT_FILE)) ||
	    (name && !php_text(env, name, SCRIPT_NAME)) ||
	    (name && scope &&
	     !php_text(env, python_word(env, scope + PHP_CLASS_NAME), SCRIPT_MORE)))
		return 0;
	return text_tell(env, p->number, first_line);
}

/* The number of the function in P->words, which has been told of; else an enum script_mark. */
SCRIPT_STEP __u64 php_function(SCRIPT_ENV *env, struct python_walk *p, const struct php_layout *l,
			       __u64 func)
{
	const bool is_internal = (__u8)p->words[0] == PHP_INTERNAL;
	const __u64 name = p->words[PHP_NAME], scope = p->words[PHP_SCOPE];
	const __u64 file = is_internal ? 0 : python_at(p, l->file);
	const __u32 first_line = is_internal ? 0 : (__u32)python_at(p, l->first_line);
	__u64 hash = first_line, part;

	if (func == p->code)
		return p->number;
	p->code = 0; /* its number is another one's from here on */
	if (file && file != p->file) {
		p->file = 0;
		p->file_hash = php_brief(env, file);
		if (!p->file_hash)
			return SCRIPT_UNREADABLE;
		p->file = file;
	}
	if (file)
		hash = script_mix(hash, p->file_hash);
	if (name) {
		part = php_brief(env, name);
		if (!part)
			return SCRIPT_UNREADABLE;
		hash = script_mix(hash, part);
	}
	if (name && scope) {
		if (scope != p->owner) {
			p->owner = 0;
			p->owner_hash = php_brief(env, python_word(env, scope + PHP_CLASS_NAME));
			if (!p->owner_hash)
				return SCRIPT_UNREADABLE;
			p->owner = scope;
		}
		hash = script_mix(hash, p->owner_hash);
	}
	p->number = text_number(p, hash);
	if (!script_is_told(env, p->number) && !php_tell(env, file, name, scope, first_line))
		return SCRIPT_UNREADABLE;
	p->code = func;
	return p->number;
}

/* Puts the next frame of P.  Returns true when there may be more of the same loop. */
SCRIPT_STEP bool php_step(SCRIPT_ENV *env, struct python_walk *p)
{
	const struct php_layout *l = PHP_LAYOUT(p->interpreter);
	const __u64 frame = p->frame;
	__u64 opline, func, number, at, off = SCRIPT_NO_OFF;
	__u32 info, line = 0;
	bool is_inner;

	if (!frame || !script_may_step(p))
		return false;
	p->frame = 0;
	if (!script_read_near(env, 0, frame, p->words, PHP_FRAME_WORDS, PHP_FRAME_WORDS,
			      NEAR_BYTES - PHP_FRAME_WORDS * 8)) {
		p->failed = SCRIPT_UNREADABLE;
		return false;
	}
	opline = p->words[PHP_FRAME_OPLINE];
	func = p->words[PHP_FRAME_FUNC];
	info = (__u32)p->words[PHP_FRAME_INFO];
	p->frame = p->words[PHP_FRAME_PREV];
	if (!func) /* of a generator that is delegated to */
		return true;
	is_inner = script_register(env, 14) == frame;
	number = p->number;
	if (func != p->code || is_inner) { /* within a walk nothing changes */
		if (!script_read(env, func, p->words, l->function_words * 8,
				 PYTHON_STATE_WORDS * 8)) {
			p->failed = SCRIPT_UNREADABLE;
			return false;
		}
		p->is_internal = (__u8)p->words[0] == PHP_INTERNAL;
		at = script_register(env, 15) - python_at(p, l->opcodes);
		if (is_inner && at < PHP_OPLINE_BYTES << 16 &&
		    at % PHP_OPLINE_BYTES == 0) /* what the frame says may be older */
			opline = script_register(env, 15);
		number = php_function(env, p, l, func);
	}
	if (number < SCRIPT_N_MARKS)
		number += SCRIPT_PHP;
	/* While an exception is thrown the frame is at an instruction among the globals, and where
	 * it was stands before that (zend_globals.h: opline_before_exception, exception_op). */
	if (opline - p->anchor < l->globals_bytes)
		opline = python_word(env, opline - 8);
	if (!p->is_internal && number >= SCRIPT_N_MARKS) {
		if (!p->at || opline != p->at) {
			p->at = opline;
			p->line = SCRIPT_NO_OFF;
			if (script_read(env, opline + PHP_OPLINE_LINE, &line, 4, 4) &&
			    line < SCRIPT_NO_OFF)
				p->line = line;
		}
		off = p->line;
	}
	script_put(env, FRAME_SCRIPT(number, off));
	return p->is_internal || !(info & PHP_CALL_TOP);
}

#endif
#endif
