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

/* What stands for the functions that the loop of image NUMBER executed. */
static uint64_t loop_mark(const struct walk_input *in, uint32_t number)
{
	const uint32_t which = number < in->memory->n_images
				       ? in->memory->images[number].interpreter
				       : (uint32_t)INTERPRETER_NONE;
	const uint32_t language = INTERPRETER_IS_PHP(which)    ? (uint32_t)SCRIPT_PHP
				  : INTERPRETER_IS_PERL(which) ? (uint32_t)SCRIPT_PERL
				  : INTERPRETER_IS_RUBY(which) ? (uint32_t)SCRIPT_RUBY
							       : 0;

	return FRAME_SCRIPT((uint64_t)(language + SCRIPT_NOT_COPIED), SCRIPT_NO_OFF);
}

enum chain_cause walk_stack(const struct walk_input *in, uint64_t *frames, uint32_t max,
			    uint32_t *ret_n)
{
	struct walk w = {.entry_sp = in->entry_sp};
	uint32_t n = 0;
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
		if (w.loop && in->marks_loops && n < max)
			frames[n++] = loop_mark(in, w.loop);
		if (frame && n == max) {
			cause = CHAIN_TOO_DEEP;
			break;
		}
		if (frame)
			frames[n++] = frame;
		if (cause != WALK_ON)
			break;
	}
	*ret_n = n;
	return (enum chain_cause)cause;
}
