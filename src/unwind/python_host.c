/* SPDX-License-Identifier: BSD-2-Clause */
/* See python_host.h. */
#include "unwind/python_host.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "unwind/python_state.h"
#include "unwind/v8_state.h"

/* Numbers told, so that each is told once of those told last. */
#define N_TOLD 256

struct python_env {
	const struct python_input *in;
	struct python_frames *out;
	uint64_t told[N_TOLD];
	struct python_walk walk;
	struct v8_walk v8;
};

#define SCRIPT_ENV struct python_env
#include "unwind/python.h"
#include "unwind/v8.h"

static bool script_read(struct python_env *env, __u64 avma, void *ret, __u32 n, const __u32 most)
{
	return n <= most && env->in->read(env->in->ctx, avma, ret, n);
}

static __u64 script_thread(struct python_env *env)
{
	return env->in->thread;
}

static __u64 script_mix(__u64 h, __u64 v)
{
	return hash_pair(h, v);
}

static void script_put(struct python_env *env, __u64 frame)
{
	if (env->out->n < env->out->max)
		env->out->frames[env->out->n++] = frame;
}

static bool script_is_told(struct python_env *env, __u64 number)
{
	return env->told[number % N_TOLD] == number;
}

static void script_note(struct python_env *env, __u64 number)
{
	env->told[number % N_TOLD] = number;
}

static bool script_send(struct python_env *env, struct python_walk *p)
{
	if (env->in->tell)
		env->in->tell(env->in->ctx, &p->record,
			      offsetof(struct script_record, lines) + p->record.n_line_bytes);
	return true;
}

void python_walk_frames(const struct python_input *in, struct python_frames *ret)
{
	struct python_env *env = xcalloc(1, sizeof(*env));
	struct python_walk *p = &env->walk;
	const struct python_layout *l = PYTHON_LAYOUT(in->interpreter);

	env->in = in;
	env->out = ret;
	ret->n = ret->n_loops = 0;
	p->interpreter = in->interpreter;
	if (in->interpreter != INTERPRETER_NONE && in->interpreter < N_INTERPRETERS)
		python_begin(env, p, l, in->runtime);
	while (p->frame && ret->n_loops < ret->max && ret->n < ret->max) {
		ret->n_loops++;
		python_enter(p, l, 0, UINT64_MAX);
		for (uint32_t i = 0; i < ret->max && python_step(env, p); i++)
			;
	}
	ret->failed = p->failed;
	free(env);
}

static __u64 v8_stack_word(struct python_env *env, __u64 avma)
{
	return python_word(env, avma);
}

static bool v8_each_chunk(struct python_env *env, struct v8_walk *v, struct python_walk *p,
			  __u32 n_chunks)
{
	for (__u32 i = 0; i < n_chunks; i++)
		if (!v8_chunk(env, v, p, i))
			return false;
	return true;
}

void v8_walk_frames(const struct python_input *in, struct python_frames *ret)
{
	struct python_env *env = xcalloc(1, sizeof(*env));
	uint64_t fp = in->thread, next;

	env->in = in;
	env->out = ret;
	ret->n = ret->n_loops = ret->failed = 0;
	env->v8.interpreter = in->interpreter;
	if (in->interpreter < INTERPRETER_V8_FIRST || in->interpreter >= N_INTERPRETERS)
		fp = 0;
	while (fp && ret->n_loops < ret->max) {
		ret->n_loops++;
		v8_frame(env, &env->v8, &env->walk, fp);
		next = python_word(env, fp);
		fp = next > fp ? next : 0;
	}
	free(env);
}
