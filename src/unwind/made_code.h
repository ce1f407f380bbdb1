/* SPDX-License-Identifier: BSD-2-Clause */
/* Code that the compilers of PHP and Ruby make at run time: from there back to the interpreter's
 * loop, whose own frame information goes on.  One source for two compilers, as walk.h is.
 *
 * Both go on keeping the interpreter's list of frames, so a call of the loop executes the same
 * functions whether their code was made or not.  Neither keeps frame pointers, nor tells anybody
 * where its code is.  So a process's loop is remembered when it is met: an address in it that a
 * call returns to, and how large its frame is.
 *
 * PHP's code is no procedure of its own: the loop jumps there, and it runs in the loop's frame,
 * with 16 bytes more and, inside of a part that it calls, a return address.  Where the frame ends
 * must be the loop's own return address, into the file that the loop is in:
 *
 *     sp          up to 32 bytes of the made code
 *     sp + n      the loop's frame: frame_bytes - 8, then the address that the loop returns to
 *
 * Ruby's code is called by the loop and pushes three registers; more may be pushed for a moment.
 * The first word that is an address behind a call in the loop is where it returns to.
 *
 * Sources: PHP 8.2 ext/opcache/jit/zend_jit_x86.dasc (HYBRID_SPAD, SPAD); Ruby 3.1 yjit_codegen.c
 * yjit_entry_prologue. */
#ifndef UNWIND_MADE_CODE_H
#define UNWIND_MADE_CODE_H

#include "unwind/made_code_state.h"
#include "unwind/walk.h"

#ifdef WALK_ENV

/* Whether AVMA lies behind a call: of a displacement, or by a register or what it leads to. */
WALK_HOT bool made_is_behind_call(WALK_ENV *env, __u64 avma)
{
	__u64 code;

	if (!walk_code(env, avma - 8, &code))
		return false;
	for (int i = 8; i <= 48; i += 8) /* ff /2, of 2 to 7 bytes */
		if ((code >> i & 0x38ff) == 0x10ff)
			return true;
	return (code >> 24 & 0xff) == 0xe8;
}

/* Whether word I of the stack says where W goes on by loop M; then W stands there. */
WALK_HOT bool made_word(WALK_ENV *env, struct walk *w, const struct made_loop *m, __u32 i)
{
	const __u64 at = w->sp + 8 * i + (m->is_ruby ? 0 : m->frame_bytes - 8);
	__u64 word;

	if (!walk_word(env, at, &word) || word - m->start >= m->end - m->start)
		return false;
	if (m->is_ruby && word - m->ip + MADE_LOOP_BYTES > 2 * MADE_LOOP_BYTES)
		return false;
	if (!made_is_behind_call(env, word))
		return false;
	w->ip = m->is_ruby ? word : m->ip;
	w->sp = m->is_ruby ? at + 8 : w->sp + 8 * i;
	w->flags &= m->is_ruby ? WALK_FP : 0; /* PHP's compiler uses rbp as any other */
	return true;
}

#endif
#endif
