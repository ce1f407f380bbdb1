/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A thread's last walk, and how the next one joins it.
 *
 * Two samples of a thread share most outer frames.  A walk depends on the registers it begins
 * with, the words of the stack it reads, and what is mapped where.  So a new walk is done when it
 * comes to a frame with the very registers that the last walk had there, and when every word that
 * the last walk read from there outward still has its value: the remaining frames are known without
 * a look at mappings and tables.  Only those words are read again.
 *
 * - Only walks that were complete are kept, and of them the outer frames that were left by plain
 *   steps (walk_state.h): by a rule whose reads are the saved registers.  Rules mean the same for
 *   good; a guess, a signal's frame or a look at machine code may come out differently next time.
 * - The frame pointer and rbx count only where the walk goes on to use them: with code that has no
 *   frame pointers that is nearly nowhere, and a step has one word to look at.
 * - What is mapped is guarded as in the cache of regions: by w->mm_key.
 * - States lie outermost first, so that a tail stays where it is while the inner frames change; so
 *   does the hash, which is taken from the outermost frame inward.
 *
 * A CPU keeps LAST_WALKS threads, each in the one place its number says. */
#ifndef COLLECT_BPF_LAST_WALK_H
#define COLLECT_BPF_LAST_WALK_H

#include "walk.bpf.h"

#define FLAGS_SHIFT 56 /* in kept_state.step */

#define STEP_FP	       (0xffffULL << 16)
#define STEP_BX	       (0xffffULL << 32)
#define STEP_REGISTERS (STEP_FP | STEP_BX)

/* What check_words, keep_frame and send_frame work on: bpf_loop's context. */
struct path {
	struct cpu_walk *w;
	struct last_walk *last;
};

static __always_inline struct last_walk *last_walk_of(struct cpu_walk *w)
{
	return &w->last[BELOW(w->last_at, LAST_WALKS)];
}

/* Makes LAST that of thread TID in w->mm_key, empty if it was another's. */
static __always_inline void last_walk_open(struct cpu_walk *w, struct last_walk *last, __u32 tid)
{
	const __u64 key = mix(w->mm_key, tid);

	if (last->key != key) {
		last->key = key;
		last->n = 0;
		for (int i = 0; i < LAST_REGIONS; i++)
			last->regions[i].len_image = 0;
	}
	w->cursor = last->n && !w->alone ? last->n - 1 : 0;
}

/* bpf_loop: whether the words are the same by which the kept walk went on from w->cursor. */
static int check_words(__u32 i, struct path *p)
{
	struct cpu_walk *w = p->w;
	const struct kept_state *s = &p->last->states[BELOW(w->cursor, LAST_FRAMES)];
	const struct kept_state *caller = &p->last->states[BELOW(w->cursor - 1, LAST_FRAMES)];
	const __u64 step = s->step, cfa = caller->sp;
	__u64 word;

	if (WALK_STEP_RA(step) && (!walk_word(w, cfa + 8 * (__s64)WALK_STEP_RA(step), &word) ||
				   walk_strip(w, word) != caller->ip))
		return 1;
	if (step & STEP_REGISTERS) {
		if (WALK_STEP_FP(step) &&
		    (!walk_word(w, cfa + 8 * (__s64)WALK_STEP_FP(step), &word) ||
		     word != caller->fp))
			return 1;
		if (WALK_STEP_BX(step) &&
		    (!walk_word(w, cfa + 8 * (__s64)WALK_STEP_BX(step), &word) ||
		     word != caller->bx))
			return 1;
	}
	w->cursor--;
	return 0;
}

/* Whether the walk, which stands in w->walk, goes on as the last one: w->n_kept frames then. */
__noinline int joins_last(struct cpu_walk *w)
{
	struct path p = {w};
	const struct kept_state *s;
	__u32 at, used;

	if (!w || w->walk.flags & ~(WALK_FP | WALK_BX))
		return false;
	p.last = last_walk_of(w);
	at = w->cursor;
	for (int i = 0; i < 8; i++) {
		if (at == 0 || p.last->states[BELOW(at, LAST_FRAMES)].sp >= w->walk.sp)
			break;
		at--;
	}
	w->cursor = at;
	at = *(volatile __u32 *)&w->cursor; /* or the verifier follows each way here */
	s = &p.last->states[BELOW(at, LAST_FRAMES)];
	if (at == 0 || s->sp != w->walk.sp || s->ip != w->walk.ip ||
	    w->n_frames + at > CHAIN_MAX_FRAMES)
		return false;
	used = s->step >> FLAGS_SHIFT;
	if (used & ~w->walk.flags || (used & WALK_FP && s->fp != w->walk.fp) ||
	    (used & WALK_BX && s->bx != w->walk.bx))
		return false;
	bpf_loop(at, check_words, &p, 0);
	if (w->cursor) { /* it differs from there on */
		w->cursor--;
		return false;
	}
	w->n_kept = at;
	return true;
}

#endif
