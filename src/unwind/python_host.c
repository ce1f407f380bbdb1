/* SPDX-License-Identifier: BSD-2-Clause */
/* See python_host.h. */
#include "unwind/python_host.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "unwind/go_labels_state.h"
#include "unwind/hotspot_state.h"
#include "unwind/perl_state.h"
#include "unwind/php_state.h"
#include "unwind/python_state.h"
#include "unwind/ruby_state.h"
#include "unwind/v8_state.h"

/* Numbers told, so that each is told once of those told last. */
#define N_TOLD 256

struct python_env {
	const struct python_input *in;
	struct python_frames *out;
	uint64_t told[N_TOLD];
	struct python_walk walk;
	struct v8_walk v8;
	struct hotspot_process process;
	struct hotspot_walk hotspot;
	struct hotspot_inlined inlined[HOTSPOT_INLINED];
	struct v8_inlined v8_inlined[V8_INLINED];
	struct go_labels go;
};

#define SCRIPT_ENV struct python_env
#include "unwind/python.h"
#include "unwind/v8.h"
#include "unwind/hotspot.h"
#include "unwind/perl.h"
#include "unwind/php.h"
#include "unwind/ruby.h"
#include "unwind/go_labels.h"

static bool script_read(struct python_env *env, __u64 avma, void *ret, __u32 n, const __u32 most)
{
	return n <= most && env->in->read(env->in->ctx, avma, ret, n);
}

static bool script_read_near(struct python_env *env, const __u32 which, __u64 avma, __u64 *ret,
			     __u32 n_words, const __u32 most, const __u32 before)
{
	(void)which, (void)before;
	return script_read(env, avma, ret, n_words * 8, most * 8);
}

static struct python_walk *script_walk(struct python_env *env)
{
	return &env->walk;
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

static struct v8_walk *v8_of(struct python_env *env)
{
	return &env->v8;
}

static struct v8_inlined *v8_inlined_of(struct python_env *env, __u64 key)
{
	return &env->v8_inlined[key % V8_INLINED];
}

static void v8_each_byte(struct python_env *env, __u32 n_bytes)
{
	for (__u32 i = 0; i < n_bytes && v8_byte(env, i); i++)
		;
}

static void v8_each_place(struct python_env *env, __u32 n_bytes)
{
	for (__u32 i = 0; i < n_bytes && v8_place(env, i); i++)
		;
}

static void v8_each_bytecode(struct python_env *env, __u32 n)
{
	for (__u32 i = 0; i < n && v8_bytecode(env); i++)
		;
}

static void v8_each_begin(struct python_env *env)
{
	for (__u32 i = 0; i < V8_SEARCH_STEPS && !v8_begins(env, i); i++)
		;
}

static void v8_each_half(struct python_env *env)
{
	for (uint32_t i = 0; i < SCRIPT_MOST_HALVES && v8_halve(env); i++)
		;
}

static void v8_each_outward(struct python_env *env)
{
	for (uint32_t i = 0; i < V8_MOST_INLINED && v8_outward(env); i++)
		;
}

static void v8_each_inlined(struct python_env *env)
{
	for (__u32 i = 0; i < V8_MOST_INLINED && v8_inlined(env); i++)
		;
}

static void v8_each_slot(struct python_env *env, __u32 n)
{
	for (__u32 i = 0; i < n && v8_slot(env, i); i++)
		;
}

static void v8_each_await(struct python_env *env)
{
	for (__u32 i = 0; i < V8_MOST_AWAITS && v8_await(env); i++)
		;
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
	env->v8.pc = in->ip;
	env->v8.is_exact = in->is_exact || !in->ip;
	env->v8.may_search = 1;
	if (!INTERPRETER_IS_V8(in->interpreter))
		fp = 0;
	while (fp && ret->n_loops < ret->max) {
		ret->n_loops++;
		v8_frame(env, fp);
		env->v8.pc = python_word(env, fp + 8);
		env->v8.is_exact = 0;
		next = python_word(env, fp);
		fp = next > fp ? next : 0;
	}
	free(env);
}

static const struct hotspot_process *hotspot_process_of(struct python_env *env)
{
	return &env->process;
}

static struct hotspot_walk *hotspot_of(struct python_env *env)
{
	return &env->hotspot;
}

static __u64 script_told_key(struct python_env *env, __u64 key)
{
	return hash_pair(key, 0);
}

static struct hotspot_inlined *hotspot_inlined_of(struct python_env *env, __u64 key)
{
	return &env->inlined[key % HOTSPOT_INLINED];
}

static void hotspot_each_scope(struct python_env *env)
{
	for (uint32_t i = 0; i <= HOTSPOT_MOST_SCOPES && hotspot_scope(env); i++)
		;
}

static void ruby_each_environment(struct python_env *env)
{
	for (uint32_t i = 0; i < RUBY_MOST_OUTER && ruby_environment(env); i++)
		;
}

static void hotspot_each_hop(struct python_env *env)
{
	for (uint32_t i = 0; i < HOTSPOT_HOPS && hotspot_hop(env); i++)
		;
}

static void hotspot_each_slot(struct python_env *env)
{
	for (uint32_t i = 0; i < HOTSPOT_SLOTS - 1 && hotspot_slot_step(env, i); i++)
		;
}

static void hotspot_each_half(struct python_env *env)
{
	for (uint32_t i = 0; i < SCRIPT_MOST_HALVES && hotspot_halve(env); i++)
		;
}

static int hotspot_is_code(struct python_env *env, __u64 avma)
{
	return hotspot_holds(&env->hotspot, avma);
}

static void hotspot_meet(struct python_env *env, __u64 avma)
{
}

void hotspot_walk_frames(const struct python_input *in, struct python_frames *ret)
{
	struct python_env *env = xcalloc(1, sizeof(*env));
	struct hotspot_walk *h = &env->hotspot;

	env->in = in;
	env->out = ret;
	ret->n = ret->n_loops = ret->failed = 0;
	env->process.interpreter = in->interpreter;
	if (INTERPRETER_IS_HOTSPOT(in->interpreter))
		hotspot_open(env, &env->process, in->runtime);
	hotspot_span(h, &env->process);
	h->ip = in->ip;
	h->sp = in->sp;
	h->fp = in->thread;
	h->r13 = in->r13;
	h->rax = in->rax;
	h->is_exact = !in->is_called;
	h->has_fp = 1;
	while (ret->n_loops < ret->max && hotspot_holds(h, h->ip) && hotspot_step(env)) {
		ret->n_loops++;
		h->is_exact = 0;
	}
	free(env);
}

static __u32 script_string(struct python_env *env, __u64 avma, void *ret, const __u32 most)
{
	char *to = ret;

	for (__u32 i = 0; i < most; i++)
		if (!env->in->read(env->in->ctx, avma + i, to + i, 1) || !to[i]) {
			to[i] = 0;
			return i;
		}
	return most;
}

static __u64 script_register(struct python_env *env, __u32 number)
{
	return number == 14 ? env->in->sp : number == 15 ? env->in->ip : 0;
}

/* Takes the frames of each loop off P's list by STEP. */
static void each_loop(struct python_env *env, struct python_frames *ret,
		      bool (*step)(struct python_env *, struct python_walk *))
{
	struct python_walk *p = &env->walk;

	while (p->frame && !p->failed && ret->n < ret->max) {
		ret->n_loops++;
		while (ret->n < ret->max && step(env, p))
			;
	}
	ret->failed = p->failed;
}

void php_walk_frames(const struct python_input *in, struct python_frames *ret)
{
	struct python_env *env = xcalloc(1, sizeof(*env));

	env->in = in;
	env->out = ret;
	ret->n = ret->n_loops = ret->failed = 0;
	env->walk.interpreter = in->interpreter;
	if (INTERPRETER_IS_PHP(in->interpreter))
		php_begin(env, &env->walk, PHP_LAYOUT(in->interpreter), in->runtime);
	each_loop(env, ret, php_step);
	free(env);
}

void perl_walk_frames(const struct python_input *in, struct python_frames *ret)
{
	struct python_env *env = xcalloc(1, sizeof(*env));

	env->in = in;
	env->out = ret;
	ret->n = ret->n_loops = ret->failed = 0;
	env->walk.interpreter = in->interpreter;
	if (INTERPRETER_IS_PERL(in->interpreter))
		perl_begin(env, &env->walk, PERL_LAYOUT(in->interpreter), in->runtime);
	each_loop(env, ret, perl_step);
	free(env);
}

void ruby_walk_frames(const struct python_input *in, struct python_frames *ret)
{
	struct python_env *env = xcalloc(1, sizeof(*env));

	env->in = in;
	env->out = ret;
	ret->n = ret->n_loops = ret->failed = 0;
	env->walk.interpreter = in->interpreter;
	if (INTERPRETER_IS_RUBY(in->interpreter))
		ruby_begin(env, in->runtime, in->symbols);
	each_loop(env, ret, ruby_step);
	free(env);
}

static struct go_labels *go_labels_of(struct python_env *env)
{
	return &env->go;
}

static void go_each_item(struct python_env *env)
{
	for (uint32_t i = 0; i < env->go.n_items && go_item(env, i); i++)
		;
}

uint64_t go_labels_number(const struct python_input *in)
{
	struct python_env *env = xcalloc(1, sizeof(*env));
	uint64_t number = 0;

	env->in = in;
	if (INTERPRETER_IS_GO(in->interpreter))
		number = go_labels_read(env, in->runtime, in->interpreter);
	free(env);
	return number;
}
