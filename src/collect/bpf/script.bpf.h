/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The frames of interpreters in a walk over the current task's stack: what unwind/python.h reads,
 * and where its frames go.
 *
 * One global function handles one loop, so that the verifier looks at it once, not once for each
 * way through a step of the native walk.  Native frames stay as they are: an interpreter's frames
 * come before the frame of the loop that executes them. */
#ifndef COLLECT_BPF_SCRIPT_H
#define COLLECT_BPF_SCRIPT_H

#include "walk.bpf.h"

static __always_inline void put_frame(struct cpu_walk *w, __u64 frame)
{
	if (w->n_frames < CHAIN_MAX_FRAMES)
		w->frames[BELOW(w->n_frames, CHAIN_MAX_FRAMES)] = frame;
	w->n_frames++;
}

#define SCRIPT_ENV struct cpu_walk

static __always_inline bool script_read(struct cpu_walk *w, __u64 avma, void *ret, __u32 n,
					const __u32 most)
{
	/* The verifier must see the bound on the very register it is asked about. */
	asm volatile("" : "+r"(n));
	if (n > most)
		return false;
	return !bpf_probe_read_user(ret, n, (void *)avma);
}

static __always_inline __u64 script_thread(struct cpu_walk *w)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *t = (struct task_struct *)bpf_get_current_task_btf();

	return t->thread.fsbase;
#else
	return 0;
#endif
}

static __always_inline __u64 script_mix(__u64 h, __u64 v)
{
	return mix(h, v);
}

static __always_inline void script_put(struct cpu_walk *w, __u64 frame)
{
	put_frame(w, frame);
	w->n_scripts++;
}

static __always_inline __u64 *told_set(struct cpu_walk *w, __u64 number)
{
	return &w->told[BELOW(number, TOLD_SETS) * TOLD_WAYS];
}

static __always_inline bool script_is_told(struct cpu_walk *w, __u64 number)
{
	const __u64 *set = told_set(w, number), key = number | (__u64)scripts_epoch << 44;

	return set[0] == key || set[1] == key || set[2] == key || set[3] == key;
}

static __always_inline bool script_send(struct cpu_walk *w, struct python_walk *p)
{
	__u32 n = p->record.n_line_bytes;
	__u64 flags = bpf_ringbuf_query(&scripts, BPF_RB_AVAIL_DATA) < SCRIPTS_WAKE_BYTES
			      ? BPF_RB_NO_WAKEUP
			      : BPF_RB_FORCE_WAKEUP;

	asm volatile("" : "+r"(n));
	if (n > SCRIPT_LINE_BYTES)
		return false;
	n += __builtin_offsetof(struct script_record, lines);
	return !bpf_ringbuf_output(&scripts, &p->record, n, flags);
}

static __always_inline void script_note(struct cpu_walk *w, __u64 number)
{
	__u64 *set = told_set(w, number);

	set[3] = set[2];
	set[2] = set[1];
	set[1] = set[0];
	set[0] = number | (__u64)scripts_epoch << 44;
}

#include "unwind/python.h"
#include "unwind/v8.h"

/* bpf_loop: one frame of the interpreter's. */
static int python_frame(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	if (w->n_frames >= CHAIN_MAX_FRAMES)
		return 1;
	return !python_step(w, &w->python);
}

static __always_inline void put_mark(struct cpu_walk *w, __u32 mark)
{
	if (w->n_frames < CHAIN_MAX_FRAMES)
		script_put(w, FRAME_SCRIPT(mark, SCRIPT_NO_OFF));
}

/* The interpreted frames of the loop in w->walk.loop. */
__noinline int script_frames(struct cpu_walk *w)
{
	const struct python_layout *l;
	const struct unwind_image *image;
	struct python_walk *p;
	__u64 runtime, frame;
	__u32 number, n_frames, n_scripts;

	if (!w)
		return 0;
	p = &w->python;
	number = w->walk.loop;
	image = bpf_map_lookup_elem(&unwind_images, &number);
	if (!image)
		return 0;
	p->interpreter = image->interpreter;
	if (p->interpreter == INTERPRETER_NONE || p->interpreter >= INTERPRETER_V8_FIRST)
		return 0;
	l = PYTHON_LAYOUT(p->interpreter);
	runtime = image->anchor - w->walk.loop_bias;
	if (p->anchor != runtime)
		python_begin(w, p, l, runtime);
	frame = p->frame;
	n_frames = w->n_frames;
	n_scripts = w->n_scripts;
	if (python_enter(p, l, w->walk.loop_sp, w->walk.sp))
		bpf_loop(CHAIN_MAX_FRAMES, python_frame, &w, 0);
	if (p->failed) {
		put_mark(w, p->failed);
	} else if (!p->is_closed && w->n_frames < CHAIN_MAX_FRAMES) {
		w->n_frames = n_frames;
		w->n_scripts = n_scripts;
		p->frame = p->is_inner ? frame : 0;
		if (!p->is_inner) /* only the innermost may be in its prologue */
			put_mark(w, SCRIPT_UNMATCHED);
	}
	p->is_inner = 0;
	return 0;
}

/* --- V8 --- */

static __always_inline __u64 v8_stack_word(struct cpu_walk *w, __u64 avma)
{
	__u64 word = 0;

	return walk_word(w, avma, &word) ? word : 0;
}

/* bpf_loop: a piece of a source. */
static int v8_next_chunk(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	w->v8.n_told += v8_chunk(w, &w->v8, &w->python, i);
	return w->v8.n_told <= i;
}

static __always_inline bool v8_each_chunk(struct cpu_walk *w, struct v8_walk *v,
					  struct python_walk *p, __u32 n_chunks)
{
	v->n_told = 0;
	bpf_loop(n_chunks, v8_next_chunk, &w, 0);
	return v->n_told == n_chunks;
}

/* The function of V8's frame that was stepped from, in place of its code; 1: it is there.  Code that
 * V8 makes lies in no file: which processes have V8 is learnt from its own frames. */
__noinline int v8_frames(struct cpu_walk *w)
{
	const struct unwind_image *image;
	struct v8_process *known;
	__u32 number, interpreter;

	if (!w)
		return 0;
	known = &w->v8_processes[BELOW(w->python.key >> 32, V8_PROCESSES)];
	number = w->walk.guessed_image;
	if (number) {
		image = bpf_map_lookup_elem(&unwind_images, &number);
		interpreter = image ? image->interpreter : 0;
		if (interpreter < INTERPRETER_V8_FIRST || interpreter >= N_INTERPRETERS)
			return 0;
		known->key = w->python.key;
		known->interpreter = interpreter;
	} else if (known->key != w->python.key) {
		return 0;
	}
	w->v8.interpreter = known->interpreter;
	if (w->n_frames >= CHAIN_MAX_FRAMES || !v8_frame(w, &w->v8, &w->python, w->walk.guessed_fp))
		return 0;
	return 1;
}

#endif
