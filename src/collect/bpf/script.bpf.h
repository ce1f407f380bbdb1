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

/* Not static: it is verified once. */
__noinline int near_move(struct cpu_walk *w, __u32 which, __u64 avma)
{
	struct near_memory *near;

	if (!w)
		return 0;
	near = &w->near[BELOW(which, N_NEARS)];
	near->at = avma;
	near->is_there = !bpf_probe_read_user(near->words, NEAR_BYTES, (void *)avma);
	return near->is_there;
}

static __always_inline bool script_read_near(struct cpu_walk *w, const __u32 which, __u64 avma,
					     __u64 *ret, __u32 n_words, const __u32 most,
					     const __u32 before)
{
	const struct near_memory *near = &w->near[which];
	__u64 at = avma - near->at;

	if (!near->is_there || at > NEAR_BYTES - most * 8) {
		if (!near_move(w, which, avma - before))
			return script_read(w, avma, ret, n_words * 8, most * 8);
		at = before;
	}
	at = BELOW(at, NEAR_BYTES);
	for (__u32 i = 0; i < most; i++)
		ret[i] = *(const __u64 *)((const __u8 *)near->words + at + i * 8);
	return true;
}

static __always_inline struct python_walk *script_walk(struct cpu_walk *w)
{
	return &w->python;
}

static __always_inline __u64 script_thread(struct cpu_walk *w)
{
	return walk_thread(w);
}

static __always_inline __u64 script_mix(__u64 h, __u64 v)
{
	return mix(h, v);
}

__noinline int script_add(struct cpu_walk *w, __u64 frame)
{
	if (!w)
		return 0;
	put_frame(w, frame);
	w->n_scripts++;
	return 0;
}

static __always_inline void script_put(struct cpu_walk *w, __u64 frame)
{
	script_add(w, frame);
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

static __always_inline __u64 script_told_key(struct cpu_walk *w, __u64 key)
{
	return mix(key, scripts_epoch);
}

/* The word of the stack at AVMA; 0: it cannot be read. */
__noinline __u64 stack_word(struct cpu_walk *w, __u64 avma)
{
	__u64 word = 0;

	return w && walk_word(w, avma, &word) ? word : 0;
}

#include "unwind/python.h"
#include "unwind/v8.h"

static __always_inline struct hotspot_process *hotspot_slot(struct cpu_walk *w)
{
	return &w->hotspot_processes[BELOW(w->python.key >> 40, HOTSPOT_PROCESSES)];
}

static __always_inline const struct hotspot_process *hotspot_process_of(struct cpu_walk *w)
{
	return hotspot_slot(w);
}

static __always_inline struct hotspot_walk *hotspot_of(struct cpu_walk *w)
{
	return &w->hotspot;
}

static __always_inline struct hotspot_inlined *hotspot_inlined_of(struct cpu_walk *w, __u64 key)
{
	return &w->inlined[BELOW(key, HOTSPOT_INLINED)];
}

int hotspot_scope(struct cpu_walk *w);

/* bpf_loop: one scope. */
static int hotspot_next_scope(__u32 i, struct cpu_walk **walk)
{
	return !hotspot_scope(*walk);
}

static __always_inline void hotspot_each_scope(struct cpu_walk *w)
{
	bpf_loop(HOTSPOT_MOST_SCOPES + 1, hotspot_next_scope, &w, 0);
}

#include "unwind/hotspot.h"

/* bpf_loop: a segment of a heap. */
static int hotspot_next_hop(__u32 i, struct cpu_walk **walk)
{
	return !hotspot_hop(*walk);
}

static __always_inline void hotspot_each_hop(struct cpu_walk *w)
{
	bpf_loop(HOTSPOT_HOPS, hotspot_next_hop, &w, 0);
}

/* bpf_loop: a word of a stub's stack. */
static int hotspot_next_slot(__u32 i, struct cpu_walk **walk)
{
	return !hotspot_slot_step(*walk, i);
}

static __always_inline void hotspot_each_slot(struct cpu_walk *w)
{
	bpf_loop(HOTSPOT_SLOTS - 1, hotspot_next_slot, &w, 0);
}

/* bpf_loop: half of a table. */
static int hotspot_next_half(__u32 i, struct cpu_walk **walk)
{
	return !hotspot_halve(*walk);
}

static __always_inline void hotspot_each_half(struct cpu_walk *w)
{
	bpf_loop(SCRIPT_MOST_HALVES, hotspot_next_half, &w, 0);
}

__noinline int hotspot_is_code(struct cpu_walk *w, __u64 avma)
{
	const struct last_walk *last;

	if (!w)
		return 0;
	if (hotspot_holds(&w->hotspot, avma))
		return 1;
	last = &w->last[BELOW(w->last_at, LAST_WALKS)];
	for (int i = 0; i < LAST_REGIONS; i++)
		if (avma - last->regions[i].start < (last->regions[i].len_image & FRAME_OFF_MASK))
			return 1;
	return region_cached(w, avma) != NULL;
}

static __always_inline void hotspot_meet(struct cpu_walk *w, __u64 avma)
{
	struct walk_region region = {0};

	walk_region(w, avma, &region);
}

/* bpf_loop: one frame of the interpreter's. */
static int python_frame(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	if (w->n_frames >= CHAIN_MAX_FRAMES)
		return 1;
	return !python_step(w, &w->python);
}

static __always_inline struct go_labels *go_labels_of(struct cpu_walk *w)
{
	return &w->go;
}

static __always_inline void go_each_item(struct cpu_walk *w);

#include "unwind/php.h"
#include "unwind/perl.h"
#include "unwind/ruby.h"

static __always_inline __u32 script_string(struct cpu_walk *w, __u64 avma, void *ret,
					   const __u32 most)
{
	long n = bpf_probe_read_user_str(ret, most, (void *)avma);

	return n > 1 ? (__u32)n - 1 : 0;
}

static __always_inline __u64 script_register(struct cpu_walk *w, __u32 number)
{
	return w->walk.regs[BELOW(number, 16)];
}

static __always_inline void put_mark(struct cpu_walk *w, __u32 mark)
{
	if (w->n_frames < CHAIN_MAX_FRAMES)
		script_put(w, FRAME_SCRIPT(mark, SCRIPT_NO_OFF));
}

/* Whether no more frames are taken off an interpreter's list, of whose loop MAY_BE_MORE are on it.
 * The rest is taken whichever loop executes it. */
static __always_inline int script_ends(struct cpu_walk *w, bool may_be_more)
{
	return !may_be_more && (!w->python.is_rest || !w->python.frame);
}

static __always_inline bool script_is_full(const struct cpu_walk *w)
{
	return w->n_frames + w->n_kept >= CHAIN_MAX_FRAMES;
}

/* bpf_loop: one frame of PHP's. */
static int php_frame(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	return script_is_full(w) || script_ends(w, php_step(w, &w->python));
}

/* The functions that one call of PHP's loop executes; its globals are at GLOBALS. */
__noinline int php_frames(struct cpu_walk *w, __u64 globals)
{
	if (!w)
		return 0;
	if (w->python.anchor != globals)
		php_begin(w, &w->python, PHP_LAYOUT(w->python.interpreter), globals);
	bpf_loop(SCRIPT_MOST_STEPS, php_frame, &w, 0);
	if (w->python.failed)
		put_mark(w, w->python.failed + SCRIPT_PHP);
	return 0;
}

/* bpf_loop: one context of Perl's. */
static int perl_frame(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	return script_is_full(w) || script_ends(w, perl_step(w, &w->python));
}

/* The subs that one call of Perl's loop executes; PL_thr_key is at KEY. */
__noinline int perl_frames(struct cpu_walk *w, __u64 key)
{
	if (!w)
		return 0;
	if (w->python.anchor != key)
		perl_begin(w, &w->python, PERL_LAYOUT(w->python.interpreter), key);
	bpf_loop(SCRIPT_MOST_STEPS, perl_frame, &w, 0);
	if (w->python.failed)
		put_mark(w, w->python.failed + SCRIPT_PERL);
	return 0;
}

/* bpf_loop: an environment of Ruby's. */
static int ruby_next_environment(__u32 i, struct cpu_walk **walk)
{
	return !ruby_environment(*walk);
}

static __always_inline void ruby_each_environment(struct cpu_walk *w)
{
	bpf_loop(RUBY_MOST_OUTER, ruby_next_environment, &w, 0);
}

/* bpf_loop: one frame of Ruby's. */
static int ruby_frame(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	return script_is_full(w) || script_ends(w, ruby_step(w, &w->python));
}

/* The methods and blocks that one call of Ruby's loop executes; its threads are found by ANCHOR,
 * its names by SYMBOLS. */
__noinline int ruby_frames(struct cpu_walk *w, __u64 anchor, __u64 symbols)
{
	if (!w)
		return 0;
	if (w->python.anchor != anchor)
		ruby_begin(w, anchor, symbols);
	bpf_loop(SCRIPT_MOST_STEPS, ruby_frame, &w, 0);
	if (w->python.failed)
		put_mark(w, w->python.failed + SCRIPT_RUBY);
	return 0;
}

/* What is left on the list of an interpreter at the root of the walk: of CPython's a mark.  PHP's,
 * Perl's and Ruby's own lists are always in order, so there the rest is put, and a mark where that
 * fails. */
__noinline int script_rest(struct cpu_walk *w)
{
	if (!w || script_is_full(w))
		return 0;
	w->python.is_rest = 1;
	if (INTERPRETER_IS_RUBY(w->python.interpreter))
		ruby_frames(w, w->python.anchor, w->python.symbols);
	else if (INTERPRETER_IS_PHP(w->python.interpreter))
		php_frames(w, w->python.anchor);
	else if (INTERPRETER_IS_PERL(w->python.interpreter))
		perl_frames(w, w->python.anchor);
	else
		put_mark(w, SCRIPT_UNMATCHED);
	w->python.frame = 1; /* such a walk is not kept */
	return 0;
}

/* --- Code that PHP's and Ruby's compilers make --- */

static __always_inline struct made_loop *made_loop_of(struct cpu_walk *w)
{
	return &w->made_loops[BELOW(w->python.key >> 48, MADE_LOOPS)];
}

/* Remembers the loop that was stepped from.  In its prologue its frame is smaller. */
static __always_inline void made_note(struct cpu_walk *w, bool is_ruby)
{
	struct made_loop *m = made_loop_of(w);
	const __u64 n_bytes = w->walk.sp - w->walk.loop_sp;

	if (n_bytes < 8 || n_bytes > MADE_FRAME_BYTES ||
	    (m->key == w->python.key && n_bytes < m->frame_bytes))
		return;
	m->key = w->python.key;
	m->ip = w->walk.loop_ip;
	m->start = w->walk.region.start;
	m->end = w->walk.region.end;
	m->frame_bytes = (__u32)n_bytes;
	m->is_ruby = is_ruby;
}

/* bpf_loop: a word of the stack. */
static int made_next_word(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	w->left_made = made_word(w, &w->walk, made_loop_of(w), i);
	return w->left_made != 0;
}

__noinline int made_code_leave(struct cpu_walk *w)
{
	const struct made_loop *m;

	if (!w)
		return 0;
	m = made_loop_of(w);
	if (m->key != w->python.key)
		return 0;
	w->left_made = 0;
	bpf_loop(m->is_ruby ? MADE_WORDS : MADE_PHP_BYTES / 8 + 1, made_next_word, &w, 0);
	return w->left_made != 0;
}

static __always_inline bool walk_leaves_made(struct cpu_walk *w, struct walk *walk)
{
	return made_code_leave(w);
}

/* The functions that one call of CPython's loop executes; its _PyRuntime is at RUNTIME. */
__noinline int python_frames(struct cpu_walk *w, __u64 runtime)
{
	const struct python_layout *l;
	struct python_walk *p;
	__u32 n_frames, n_scripts;
	__u64 frame;

	if (!w)
		return 0;
	p = &w->python;
	l = PYTHON_LAYOUT(p->interpreter);
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

static __always_inline struct script_process *script_process_of(struct cpu_walk *w)
{
	return &w->script_processes[BELOW(w->python.key >> 40, SCRIPT_PROCESSES)];
}

static __always_inline void script_note_process(struct cpu_walk *w)
{
	struct script_process *known = script_process_of(w);

	known->key = w->python.key;
	known->image = w->walk.loop;
	known->bias = w->walk.loop_bias;
}

/* The interpreted frames of the loop in w->walk.loop. */
__noinline int script_frames(struct cpu_walk *w)
{
	const struct unwind_image *image;
	struct python_walk *p;
	__u64 runtime;
	__u32 number;

	if (!w)
		return 0;
	p = &w->python;
	number = w->walk.loop;
	image = bpf_map_lookup_elem(&unwind_images, &number);
	if (!image)
		return 0;
	p->interpreter = image->interpreter;
	if (!INTERPRETER_HAS_LIST(p->interpreter))
		return 0;
	script_note_process(w);
	runtime = image->anchor - w->walk.loop_bias;
	if (INTERPRETER_IS_PHP(p->interpreter)) {
		made_note(w, false);
		return php_frames(w, runtime);
	}
	if (INTERPRETER_IS_PERL(p->interpreter))
		return perl_frames(w, runtime);
	if (INTERPRETER_IS_RUBY(p->interpreter))
		made_note(w, true);
	if (INTERPRETER_IS_RUBY(p->interpreter))
		return ruby_frames(w, (__u32)image->anchor - w->walk.loop_bias,
				   image->anchor >> RUBY_SYMBOLS_SHIFT
					   ? (image->anchor >> RUBY_SYMBOLS_SHIFT) -
						     w->walk.loop_bias
					   : 0);
	return python_frames(w, runtime);
}

#ifdef STACKS_ARE_COPIED
/* bpf_loop: what one call of the loop executes, and where that ends. */
static int script_next_loop(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;
	struct python_walk *p = &w->python;
	const __u64 frame = p->frame, anchor = p->anchor;
	const __u32 n = w->n_frames, index = p->index;

	p->mark_at = 0;
	script_frames(w);
	if (w->n_frames >= CHAIN_MAX_FRAMES)
		return 1;
	if (w->n_frames == n && p->anchor == anchor && p->frame == frame && p->index == index)
		return 1;
	/* The process may have written anything there: no word of its own is a frame. */
	put_frame(w, p->mark_at & FRAME_OFF_MASK);
	return !p->frame || p->failed;
}

/* Puts an interpreter's whole list behind the frames of a walk that was left, for its copy
 * (record.h).  Which interpreter the process has is known by a loop that was met, or it is the
 * program itself.  Inlined: no more than 8 functions may call each other. */
static __always_inline void script_list(struct cpu_walk *w)
{
	const struct mm_struct *mm = (const void *)w->mm;
	struct script_process *known;
	struct walk_region region = {0};
	__u64 sp;
	__u32 n_frames, n_listed;

	known = script_process_of(w);
	w->walk.loop = known->image;
	w->walk.loop_bias = known->bias;
	if (known->key != w->python.key) {
		if (!region_known(w, BPF_CORE_READ(mm, start_code), &region))
			return;
		w->walk.loop = region.image;
		w->walk.loop_bias = region.bias;
	}
	n_frames = w->n_frames;
	sp = w->walk.sp;
	w->walk.loop_sp = 0;
	w->walk.sp = ~0ULL;
	w->python.anchor = 0;
	bpf_loop(CHAIN_MAX_FRAMES / 2, script_next_loop, &w, 0);
	n_listed = w->n_frames - n_frames;
	w->n_listed = n_listed < COPY_MAX_SCRIPTS ? n_listed : COPY_MAX_SCRIPTS;
	w->walk.sp = sp;
	w->n_frames = n_frames;
	w->n_scripts = 0;
}
#else
static __always_inline void script_list(struct cpu_walk *w)
{
}
#endif

/* --- Labels of Go's goroutines --- */

#include "unwind/go_labels.h"

/* bpf_loop: a place where a label may be. */
static int go_next_item(__u32 i, struct cpu_walk **walk)
{
	return !go_item(*walk, i);
}

static __always_inline void go_each_item(struct cpu_walk *w)
{
	__u64 n = w->go.n_items;

	bpf_loop(n < GO_MOST_ITEMS ? (__u32)n : GO_MOST_ITEMS, go_next_item, &w, 0);
}

/* Reads the labels of the thread's goroutine when the walk ended in Go's code, or did so before in
 * this process: of C that Go called, a walk may end in a frame that it took over. */
__noinline int go_labels_take(struct cpu_walk *w)
{
	const struct unwind_image *image;
	struct go_process *known;
	__u32 number;

	if (!w)
		return 0;
	number = w->walk.region.image;
	image = bpf_map_lookup_elem(&unwind_images, &number);
	known = &w->go_processes[BELOW(w->python.key >> 32, GO_PROCESSES)];
	if (image && INTERPRETER_IS_GO(image->interpreter)) {
		known->key = w->python.key;
		known->anchor = image->anchor;
		known->interpreter = image->interpreter;
	}
	if (known->key == w->python.key)
		w->labels = go_labels_read(w, known->anchor, known->interpreter);
	return 0;
}

/* --- V8 --- */

static __always_inline __u64 v8_stack_word(struct cpu_walk *w, __u64 avma)
{
	return stack_word(w, avma);
}

static __always_inline struct v8_walk *v8_of(struct cpu_walk *w)
{
	return &w->v8;
}

static __always_inline struct v8_inlined *v8_inlined_of(struct cpu_walk *w, __u64 key)
{
	return &w->v8_inlined[BELOW(key, V8_INLINED)];
}

/* bpf_loop: a byte of a table of positions. */
static int v8_next_byte(__u32 i, struct cpu_walk **walk)
{
	return !v8_byte(*walk, i);
}

static __always_inline void v8_each_byte(struct cpu_walk *w, __u32 n_bytes)
{
	bpf_loop(n_bytes, v8_next_byte, &w, 0);
}

/* bpf_loop: a place where code may begin. */
static int v8_next_begin(__u32 i, struct cpu_walk **walk)
{
	return v8_begins(*walk, i);
}

static __always_inline void v8_each_begin(struct cpu_walk *w)
{
	bpf_loop(V8_SEARCH_STEPS, v8_next_begin, &w, 0);
}

/* bpf_loop: a byte of a table of places. */
static int v8_next_place(__u32 i, struct cpu_walk **walk)
{
	return !v8_place(*walk, i);
}

static __always_inline void v8_each_place(struct cpu_walk *w, __u32 n_bytes)
{
	bpf_loop(n_bytes, v8_next_place, &w, 0);
}

/* bpf_loop: a bytecode. */
static int v8_next_bytecode(__u32 i, struct cpu_walk **walk)
{
	return !v8_bytecode(*walk);
}

static __always_inline void v8_each_bytecode(struct cpu_walk *w, __u32 n)
{
	bpf_loop(n, v8_next_bytecode, &w, 0);
}

/* bpf_loop: half of a table. */
static int v8_next_half(__u32 i, struct cpu_walk **walk)
{
	return !v8_halve(*walk);
}

static __always_inline void v8_each_half(struct cpu_walk *w)
{
	bpf_loop(SCRIPT_MOST_HALVES, v8_next_half, &w, 0);
}

/* bpf_loop: what called an inlined function. */
static int v8_next_outward(__u32 i, struct cpu_walk **walk)
{
	return !v8_outward(*walk);
}

static __always_inline void v8_each_outward(struct cpu_walk *w)
{
	bpf_loop(V8_MOST_INLINED, v8_next_outward, &w, 0);
}

/* bpf_loop: an inlined function. */
static int v8_next_inlined(__u32 i, struct cpu_walk **walk)
{
	return !v8_inlined(*walk);
}

static __always_inline void v8_each_inlined(struct cpu_walk *w)
{
	bpf_loop(V8_MOST_INLINED, v8_next_inlined, &w, 0);
}

/* bpf_loop: a slot of a frame. */
static int v8_next_slot(__u32 i, struct cpu_walk **walk)
{
	return !v8_slot(*walk, i);
}

static __always_inline void v8_each_slot(struct cpu_walk *w, __u32 n)
{
	bpf_loop(n, v8_next_slot, &w, 0);
}

/* bpf_loop: a function that awaits. */
static int v8_next_await(__u32 i, struct cpu_walk **walk)
{
	return (*walk)->n_frames >= CHAIN_MAX_FRAMES || !v8_await(*walk);
}

static __always_inline void v8_each_await(struct cpu_walk *w)
{
	bpf_loop(V8_MOST_AWAITS, v8_next_await, &w, 0);
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

/* The function of V8's frame that was stepped from, in place of its code; 1: it is there.  Code
 * that V8 makes lies in no file: which processes have V8 is learnt from its own frames. */
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
		if (!INTERPRETER_IS_V8(interpreter))
			return 0;
		known->key = w->python.key;
		known->interpreter = interpreter;
	} else if (known->key != w->python.key) {
		return 0;
	}
	w->v8.interpreter = known->interpreter;
	w->v8.may_search = !number;
	if (w->n_frames >= CHAIN_MAX_FRAMES || !v8_frame(w, w->walk.guessed_fp))
		return 0;
	return 1;
}

/* Whether the walk stands in code of V8's that is remembered: it keeps frame pointers. */
__noinline int v8_keeps_fp(struct cpu_walk *w)
{
	__u64 key;

	if (!w || w->walk.flags & WALK_EXACT ||
	    w->v8_processes[BELOW(w->python.key >> 32, V8_PROCESSES)].key != w->python.key)
		return 0;
	key = v8_key(w, &w->v8);
	return v8_inlined_of(w, key)->key == key || (w->v8.entry && w->v8.entry == w->v8.pc);
}

static __always_inline bool walk_keeps_fp(struct cpu_walk *w, struct walk *walk)
{
	return v8_keeps_fp(w);
}

/* --- HotSpot --- */

/* Puts what user space said of the process TASK, as in a log's slot, into its place. */
static __always_inline void hotspot_learn(struct cpu_walk *w, struct hotspot_process *p, __u64 task)
{
	struct image_probing found = {.key = {.ino = task, .dev = RUNTIME_DEV},
				      .hash = image_key_hash(task, RUNTIME_DEV, 0)};
	const struct image_key *k = &found.key;
	const struct unwind_image *image;

	p->n_heaps = p->interpreter = 0;
	bpf_loop(IMAGE_PROBES, image_probe, &found, 0);
	image = k->number ? bpf_map_lookup_elem(&unwind_images, &k->number) : NULL;
	if (!image || !INTERPRETER_IS_HOTSPOT(image->interpreter))
		return;
	p->interpreter = image->interpreter;
	hotspot_open(w, p, image->anchor - ((__u64)k->generation << 32 | k->spare));
}

/* Begins with process TASK, as in a log's slot, without its thread.  What is known of a process is
 * read again each cycle. */
__noinline int hotspot_begin(struct cpu_walk *w, __u64 task)
{
	const __u64 stamp = (__u64)unwind_clock << 32 | (__u32)images_epoch;
	struct hotspot_process *p;

	if (!w)
		return 0;
	p = hotspot_slot(w);
	if (p->key != w->python.key || p->stamp != stamp) {
		hotspot_learn(w, p, task);
		p->key = w->python.key;
		p->stamp = stamp;
	}
	hotspot_span(&w->hotspot, p);
	return 0;
}

/* Asks user space whether this process, which runs code that lies in no file, has HotSpot. */
__noinline int hotspot_ask(struct cpu_walk *w, __u64 task)
{
	struct image_request r = {.number = REQUEST_RUNTIME, .ino = task};

	if (!w || w->hotspot.low != w->hotspot.high ||
	    w->v8_processes[BELOW(w->python.key >> 32, V8_PROCESSES)].key == w->python.key ||
	    asked_lately(w, w->python.key, w->python.key >> 40))
		return 0;
	r.tgid = w->tgid;
	bpf_ringbuf_output(&requests, &r, sizeof(r), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* A step from a frame of code that HotSpot made; false: the frame is none that is known. */
__noinline int hotspot_frames(struct cpu_walk *w)
{
	struct hotspot_walk *h;

	if (!w)
		return false;
	h = &w->hotspot;
	h->ip = w->walk.ip;
	h->sp = w->walk.sp;
	h->fp = w->walk.fp;
	h->has_fp = w->walk.flags & WALK_FP;
	h->is_exact = w->walk.flags & WALK_EXACT;
	h->r13 = w->walk.regs[13];
	h->rax = w->walk.regs[0];
	h->met = 1;
	if (w->n_frames >= CHAIN_MAX_FRAMES || !hotspot_step(w))
		return false;
	w->walk.ip = h->ip;
	w->walk.sp = h->sp;
	w->walk.fp = h->fp;
	w->walk.flags = h->has_fp ? WALK_FP : 0;
	return true;
}

#endif
