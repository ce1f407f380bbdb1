/* SPDX-License-Identifier: BSD-2-Clause */
/* Perl's frames: which subs one call of its loop executes, and in which lines.  One source for two
 * compilers, like python.h, with the same functions from whoever includes it.
 *
 * A thread's interpreter has stacks of contexts, one inside the other: blocks, loops, evals, subs.
 * Perl_runops_standard executes what C called and all that Perl called from there; the sub that C
 * called returns nowhere, its `retop` is 0.  A block that `sort` compares by has a stack of its own
 * without such a sub.  For example:
 *
 *     native frames             contexts, the innermost first
 *     Perl_runops_standard <-   compare, which returns nowhere, in the stack of the sort
 *     Perl_sortsv_flags
 *     Perl_pp_sort
 *     Perl_runops_standard <-   run, the loop that calls it, then the program itself
 *     perl_run
 *
 * A context has the statement that it was entered from, PL_curcop is the one being executed; a
 * statement has file and line.  So a sub is at the line of the statement inside, as long as that is
 * in the sub's own file.  Before its first statement it is at that one's: where its code begins.
 *
 * An eval inside of what C called has a loop of its own, but no mark.  The frames of the outer loop
 * come with it then, and none with the outer one.
 *
 * The innermost context may be half made or half gone.  It counts when the sub's own depth is that
 * which the context noted, and one.
 *
 * A sub is known by the texts of its package, its name and its file: no first line exists.
 *
 * Sources: Perl 5.36, cop.h, cv.h, gv.h, hv.h, sv.h, intrpvar.h, pp_sort.c. */
#ifndef UNWIND_PERL_H
#define UNWIND_PERL_H

#include "unwind/perl_state.h"
#include "unwind/text.h"

#ifdef SCRIPT_ENV

/* Enters the stack of contexts at STACK. */
SCRIPT_STEP void perl_enter(SCRIPT_ENV *env, struct python_walk *p, __u64 stack)
{
	p->frame = 0;
	p->closed_at = 0;
	if (!script_read(env, stack, p->words, PERL_STACK_WORDS * 8, PYTHON_STATE_WORDS * 8)) {
		p->failed = SCRIPT_UNREADABLE;
		return;
	}
	p->contexts = p->words[PERL_STACK_FIRST];
	p->outer = p->words[PERL_STACK_PREV];
	p->index = (__u32)p->words[PERL_STACK_INDEX] + 1;
	p->stack_type = (__u32)(p->words[PERL_STACK_TYPE] >> 32);
	if (p->index > PERL_MOST_CONTEXTS) {
		p->failed = SCRIPT_UNREADABLE;
		return;
	}
	p->frame = stack;
}

/* Finds the innermost context of the thread, whose key is at KEY. */
SCRIPT_STEP void perl_begin(SCRIPT_ENV *env, struct python_walk *p, const struct perl_layout *l,
			    __u64 key)
{
	const __u64 thread = script_thread(env);
	__u64 interpreter, stack;

	p->anchor = key;
	p->cop_file = p->file = p->code = 0;
	p->is_first = 1;
	p->is_rest = 0;
	p->frame = 0;
	p->failed = SCRIPT_NO_STATE;
	if (!thread)
		return;
	interpreter = python_specific(env, thread, (__u32)python_word(env, key));
	stack = interpreter ? python_word(env, interpreter + l->stack) : 0;
	if (!stack)
		return;
	p->cop = python_word(env, interpreter + l->cop);
	p->failed = 0;
	perl_enter(env, p, stack);
}

/* Reads the shared string at AVMA into PART of the record; a hash of it, 0: it cannot be read. */
SCRIPT_STEP __u64 perl_text(SCRIPT_ENV *env, __u64 avma, enum script_part part)
{
	__u32 n = 0;

	if (!avma || !script_read(env, avma + PERL_HEK_TEXT - 4, &n, 4, 4))
		return 0;
	return text_read(env, avma + PERL_HEK_TEXT, n, part);
}

/* Reads the name of the package whose hash is at STASH behind a sub's; a hash of it, 0: it has
 * none. */
SCRIPT_STEP __u64 perl_package(SCRIPT_ENV *env, struct python_walk *p, const struct perl_layout *l,
			       __u64 stash)
{
	__u64 aux, name;

	if (!stash || !script_read(env, stash, p->words, 3 * 8, PYTHON_STATE_WORDS * 8) ||
	    !(p->words[1] >> 32 & PERL_HAS_AUX))
		return 0;
	aux = p->words[0] + PERL_HV_BYTES;
	if (l->aux_in_array)
		aux = p->words[2] + 8 * (python_word(env, p->words[0] + 8 * PERL_HV_MAX) + 1);
	name = python_word(env, aux);
	if (python_word(env, aux + PERL_AUX_COUNT - 4) >> 32) /* it has several */
		name = python_word(env, name);
	return perl_text(env, name, SCRIPT_MORE);
}

/* Puts the texts of the sub whose CV is at CV into P's record; a hash of them, 0: unreadable. */
SCRIPT_STEP __u64 perl_name(SCRIPT_ENV *env, struct python_walk *p, const struct perl_layout *l,
			    __u64 cv)
{
	__u64 body = cv ? python_word(env, cv) : 0, stash, name, file, hash;

	if (!body || !script_read(env, body, p->words, PERL_CV_WORDS * 8, PYTHON_STATE_WORDS * 8))
		return 0;
	stash = p->words[PERL_CV_STASH];
	name = p->words[PERL_CV_GV];
	file = p->words[PERL_CV_FILE];
	if (!(p->words[PERL_CV_FLAGS] >> 32 & PERL_CV_NAMED)) {
		body = name ? python_word(env, name) : 0;
		name = 0;
		if (body && script_read(env, body, p->words, 6 * 8, PYTHON_STATE_WORDS * 8)) {
			name = p->words[PERL_GV_NAME];
			stash = p->words[PERL_GV_STASH];
		}
	}
	p->file_hash = text_read_string(env, file, SCRIPT_FILE);
	text_none(env, SCRIPT_NAME);
	text_none(env, SCRIPT_MORE);
	hash = perl_text(env, name, SCRIPT_NAME);
	hash = script_mix(hash, perl_package(env, p, l, stash));
	return script_mix(hash, p->file_hash) | 1;
}

/* The line of the statement P->cop, if it is in the file of which P has the hash; else
 * SCRIPT_NO_OFF. */
SCRIPT_STEP __u64 perl_line(SCRIPT_ENV *env, struct python_walk *p)
{
	__u32 line = 0;

	if (p->cop_file_hash != p->file_hash ||
	    !script_read(env, p->cop + PERL_COP_LINE, &line, 4, 4) || line >= SCRIPT_NO_OFF)
		return SCRIPT_NO_OFF;
	return line;
}

/* Puts the frame of the sub at CV, 0: of the program itself, which is at the statement P->cop.
 * IS_BEGUN: that is one of its own. */
SCRIPT_PART int perl_put(SCRIPT_ENV *env, __u64 cv, __u32 is_begun)
{
	const struct perl_layout *l;
	struct python_walk *p;
	__u64 file, number, hash = 0;

	if (!env)
		return 0;
	p = script_walk(env);
	l = PERL_LAYOUT(p->interpreter);
	file = p->cop ? python_word(env, p->cop + PERL_COP_FILE) : 0;
	if (file != p->cop_file) {
		p->cop_file_hash = file ? text_read_string(env, file, SCRIPT_FILE) : 0;
		p->cop_file = file;
		p->code = 0;
	}
	if (!cv || cv != p->code) {
		p->code = p->number = 0;
		if (cv) {
			hash = perl_name(env, p, l, cv);
		} else {
			p->file_hash = file ? text_read_string(env, file, SCRIPT_FILE) : 0;
			text_none(env, SCRIPT_NAME);
			text_none(env, SCRIPT_MORE);
			hash = p->file_hash;
		}
		number = text_number(p, hash);
		if (hash && text_tell(env, number, 0)) {
			p->code = cv;
			p->number = number;
		}
	}
	number = p->number ? p->number : SCRIPT_UNREADABLE + SCRIPT_PERL;
	script_put(env,
		   FRAME_SCRIPT(number, p->number && is_begun ? perl_line(env, p) : SCRIPT_NO_OFF));
	return 0;
}

/* Leaves the stack of contexts that P is in; true when there may be more of the same loop. */
SCRIPT_STEP bool perl_leave(SCRIPT_ENV *env, struct python_walk *p)
{
	const bool is_block = p->stack_type == PERL_STACK_SORT && p->closed_at != 2;

	if (!p->outer) {
		perl_put(env, 0, p->is_first != PERL_NO_LINE);
		p->frame = 0;
		return false;
	}
	perl_enter(env, p, p->outer);
	return p->frame && !is_block;
}

/* Whether the sub at CV is entered: its depth is the one that its context noted, and one. */
SCRIPT_STEP bool perl_is_entered(SCRIPT_ENV *env, __u64 cv, __u64 depth)
{
	const __u64 body = cv ? python_word(env, cv) : 0;

	return body && (__u32)python_word(env, body + 8 * PERL_CV_DEPTH) == (__u32)depth + 1;
}

/* Where the code of the sub at CV begins: its first statement, mostly. */
SCRIPT_STEP __u64 perl_start(SCRIPT_ENV *env, __u64 cv)
{
	const __u64 body = python_word(env, cv);

	return body ? python_word(env, body + 8 * PERL_CV_START) : 0;
}

/* Whether the sub at CV was called by itself, as the context before P's says. */
SCRIPT_STEP bool perl_calls_itself(SCRIPT_ENV *env, struct python_walk *p, __u64 cv)
{
	const __u64 context = p->contexts + (p->index - 1) * (__u64)PERL_CONTEXT_BYTES;

	return p->index &&
	       script_read(env, context, p->words, PERL_CONTEXT_WORDS * 8,
			   PYTHON_STATE_WORDS * 8) &&
	       (p->words[0] & 15) == PERL_CONTEXT_SUB && p->words[PERL_CONTEXT_CV] == cv;
}

/* Looks at the next context of P.  Returns true when there may be more of the same loop. */
SCRIPT_STEP bool perl_step(SCRIPT_ENV *env, struct python_walk *p)
{
	__u64 context, cop, cv, retop, depth;
	bool is_begun;

	if (!p->frame || !script_may_step(p))
		return false;
	if (!p->index)
		return perl_leave(env, p);
	context = p->contexts + (p->index - 1) * (__u64)PERL_CONTEXT_BYTES;
	if (!script_read(env, context, p->words, PERL_CONTEXT_WORDS * 8, PYTHON_STATE_WORDS * 8)) {
		p->failed = SCRIPT_UNREADABLE;
		p->frame = 0;
		return false;
	}
	p->index--;
	if ((p->words[0] & 15) != PERL_CONTEXT_SUB)
		return true;
	cop = p->words[PERL_CONTEXT_COP];
	cv = p->words[PERL_CONTEXT_CV];
	retop = p->words[PERL_CONTEXT_RETOP];
	depth = p->words[PERL_CONTEXT_DEPTH];
	if (!cv || (p->is_first && !perl_is_entered(env, cv, depth))) {
		/* Whose statement it is cannot be told, but where both are the caller's. */
		p->is_first = p->cop == cop ? 0 : PERL_NO_LINE;
		return true;
	}
	is_begun = p->is_first != PERL_NO_LINE;
	/* Before its first statement the caller's is still the current one.  A sub that called
	 * itself may be there, too: that is Perl's own answer. */
	if (p->is_first == 1 && p->cop == cop) {
		if (!(__u32)depth)
			p->cop = perl_start(env, cv);
		else
			is_begun = perl_calls_itself(env, p, cv);
	}
	perl_put(env, cv, is_begun);
	p->is_first = 0;
	p->cop = cop;
	if (retop)
		return true;
	p->closed_at = p->index + 1;
	return false;
}

#endif
#endif
