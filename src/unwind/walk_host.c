/* SPDX-License-Identifier: BSD-2-Clause */
/* See walk_host.h: what walk.h reads, from copies in memory.  Every index is checked, because
 * tables may be anything under the fuzzer and are rewritten while they are read otherwise. */
#include "unwind/walk_host.h"

#include <elf.h>
#include <string.h>

#define WALK_ENV     const struct walk_input
#define WALK_AARCH64 (env->machine == EM_AARCH64)
#include "unwind/walk.h"

static bool walk_word(const struct walk_input *in, __u64 avma, __u64 *ret)
{
	uint64_t at = avma - in->stack_avma;

	if (in->n_bytes < 8 || at > in->n_bytes - 8)
		return false;
	if (in->hole_bytes && at / in->hole_bytes < 64 && in->holes >> at / in->hole_bytes & 1)
		return false;
	memcpy(ret, in->stack + at, 8);
	return true;
}

static bool walk_code(const struct walk_input *in, __u64 avma, __u64 *ret)
{
	uint64_t code;

	if (!in->read_code || !in->read_code(in->ctx, avma, &code))
		return false;
	*ret = code;
	return true;
}

static __u64 walk_thread(const struct walk_input *in)
{
	return in->thread;
}

static bool walk_region(const struct walk_input *in, __u64 avma, struct walk_region *ret)
{
	struct walk_region r;

	if (!in->find_region(in->ctx, avma, &r) || avma < r.start || avma >= r.end)
		return false;
	*ret = r;
	return true;
}

static __u32 walk_table_word(const struct walk_input *in, __u32 at)
{
	if (at >= in->memory->n_words)
		return 0;
	if (in->memory->words)
		return in->memory->words[at];
	return in->table_word ? in->table_word(in->ctx, at) : 0;
}

static const struct unwind_image *walk_image(const struct walk_input *in, __u32 number)
{
	struct unwind_image *image;

	if (number >= in->memory->n_images)
		return NULL;
	image = &in->memory->images[number];
	if (in->memory->clock)
		image->last_used = *in->memory->clock;
	return image;
}

static const struct unwind_rule *walk_rule(const struct walk_input *in, __u32 number)
{
	return number < UNWIND_N_RULES ? &in->memory->rules[number] : NULL;
}

static const struct unwind_rule *walk_recall(const struct walk_input *in, __u64 frame)
{
	return NULL;
}

static void walk_remember(const struct walk_input *in, __u64 frame, __u32 n_before, __u32 n_from,
			  const struct unwind_rule *rule)
{
}

static void walk_want(const struct walk_input *in, __u32 image, __u64 avma)
{
	if (in->want)
		in->want(in->ctx, image, avma);
}

static bool walk_is_left(const struct walk_input *in)
{
	return in->leaves;
}

static bool walk_keeps_fp(const struct walk_input *in, struct walk *w)
{
	(void)in, (void)w;
	return false;
}

static bool walk_leaves_made(const struct walk_input *in, struct walk *w)
{
	return false;
}

/* Where the marks begin of the interpreter that image NUMBER holds; 0: Python's. */
static uint32_t first_mark(const struct walk_input *in, uint32_t number)
{
	const uint32_t which = number < in->memory->n_images
				       ? in->memory->images[number].interpreter
				       : (uint32_t)INTERPRETER_NONE;

	return INTERPRETER_IS_PHP(which)    ? (uint32_t)SCRIPT_PHP
	       : INTERPRETER_IS_PERL(which) ? (uint32_t)SCRIPT_PERL
	       : INTERPRETER_IS_RUBY(which) ? (uint32_t)SCRIPT_RUBY
					    : 0;
}

/* Whether image NUMBER holds the interpreter whose list was copied: a file may have several
 * numbers. */
static bool has_list(const struct walk_input *in, uint32_t number)
{
	const struct unwind_image *images = in->memory->images, *a, *b;

	if (!in->n_scripts || number >= in->memory->n_images ||
	    in->script_image >= in->memory->n_images)
		return false;
	a = &images[number];
	b = &images[in->script_image];
	return a->interpreter == b->interpreter && a->anchor == b->anchor;
}

struct frame_list {
	uint64_t *v;
	uint32_t n, max;
};

/* A frame that does not fit is left out: the walk is too deep then. */
static void put_frame(struct frame_list *f, uint64_t frame)
{
	if (f->n < f->max)
		f->v[f->n++] = frame;
}

static void put_mark(struct frame_list *f, uint32_t mark)
{
	put_frame(f, FRAME_SCRIPT((uint64_t)mark, SCRIPT_NO_OFF));
}

/* The list of a copy's interpreter: AT is the next function's place. */
struct script_list {
	uint32_t at;
	bool is_met, is_cut; /* its loop, and the end of what was copied */
};

/* The functions that the loop executes from which W was stepped, as collect/bpf/script.bpf.h
 * (python_frames, script_frames) finds them. */
static void put_loop(const struct walk_input *in, struct script_list *l, const struct walk *w,
		     struct frame_list *f)
{
	const uint32_t mark = first_mark(in, w->loop);
	const bool is_inner = !l->is_met;
	uint32_t end = l->at;
	uint64_t closed;

	if (l->is_cut || !has_list(in, w->loop)) {
		put_mark(f, mark + SCRIPT_NOT_COPIED);
		return;
	}
	l->is_met = true;
	while (end < in->n_scripts && FRAME_IS_SCRIPT(in->scripts[end]))
		end++;
	closed = end < in->n_scripts ? in->scripts[end] : 0;
	if (l->at == in->n_scripts || (closed && (closed < w->loop_sp || closed >= w->sp))) {
		/* Only the innermost may be in its prologue. */
		if (!is_inner && !mark) {
			put_mark(f, SCRIPT_UNMATCHED);
			l->at = in->n_scripts;
		}
		return;
	}
	for (uint32_t i = l->at; i < end; i++)
		put_frame(f, in->scripts[i]);
	l->is_cut = end == in->n_scripts;
	if (l->is_cut)
		put_mark(f, mark + SCRIPT_NOT_COPIED);
	l->at = end + !l->is_cut;
}

/* What is left on the list at the root, as script_rest has it. */
static void put_rest(const struct walk_input *in, const struct script_list *l, struct frame_list *f)
{
	if (!l->is_met || l->is_cut || l->at == in->n_scripts)
		return;
	if (!first_mark(in, in->script_image)) {
		put_mark(f, SCRIPT_UNMATCHED);
		return;
	}
	for (uint32_t i = l->at; i < in->n_scripts; i++)
		if (FRAME_IS_SCRIPT(in->scripts[i]))
			put_frame(f, in->scripts[i]);
}

enum chain_cause walk_stack(const struct walk_input *in, uint64_t *frames, uint32_t max,
			    uint32_t *ret_n)
{
	struct walk w = {.entry_sp = in->entry_sp};
	struct frame_list f = {frames, 0, max};
	struct script_list list = {0};
	int cause;

	memcpy(w.regs, in->regs, sizeof(w.regs));
	walk_begin(in, &w, !in->in_call);
	w.flags &= ~in->lacks;
	if (in->is_taken_up) {
		w.ip = in->ip;
		w.sp = in->sp;
		w.fp = in->fp;
		w.bx = in->bx;
		w.flags = in->flags;
		w.n_falls = in->n_falls;
	}
	for (;;) {
		__u64 frame;

		cause = walk_step(in, &w, &frame);
		if (w.loop && in->marks_loops)
			put_loop(in, &list, &w, &f);
		if (frame && f.n == max) {
			cause = CHAIN_TOO_DEEP;
			break;
		}
		if (frame)
			put_frame(&f, frame);
		if (cause != WALK_ON)
			break;
	}
	if (cause == CHAIN_COMPLETE)
		put_rest(in, &list, &f);
	*ret_n = f.n;
	return (enum chain_cause)cause;
}
