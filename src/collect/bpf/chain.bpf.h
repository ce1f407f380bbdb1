/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A sample's callers: the kernel's, then the user's, hashed as they are found and sent once.
 *
 * Frames are written behind the head of this CPU's chain ring while they are hashed; only a chain
 * whose hash is not among those remembered as sent moves the head, so that nothing is copied. */
#ifndef COLLECT_BPF_CHAIN_H
#define COLLECT_BPF_CHAIN_H

#include "copy.bpf.h"
#include "exit.bpf.h"
#include "script.bpf.h"

MMAPABLE_ARRAY(chain_words, __u64);
MMAPABLE_ARRAY(chain_cpus, struct chain_cpu);
MMAPABLE_ARRAY(slot_chains, __u64);

static __always_inline void put_word(struct cpu_walk *w, __u64 at, __u64 word)
{
	__u32 i = w->ring_at + ((w->head + at) & (n_chain_words - 1));
	__u64 *slot = bpf_map_lookup_elem(&chain_words, &i);

	if (slot)
		*slot = word;
}

/* bpf_loop: one user frame. */
static int walk_frame(__u32 i, struct path *p)
{
	struct cpu_walk *w = p->w;
	struct kept_state *s = &w->fresh[BELOW(i, LAST_FRAMES)];
	const __u64 flags = w->walk.flags;
	__u64 frame;
	int cause;

	s->ip = w->walk.ip;
	s->sp = w->walk.sp;
	s->fp = w->walk.fp;
	s->bx = w->walk.bx;
	w->v8.pc = s->ip;
	w->v8.sp = s->sp;
	w->v8.is_exact = (flags & WALK_EXACT) != 0;
	w->walk.step = w->walk.loop = w->walk.guessed_fp = w->left_made = 0;
	if (w->walk.ip - w->hotspot.low < w->hotspot.high - w->hotspot.low) {
		frame = 0;
		cause = CHAIN_NO_RULE;
		if (hotspot_frames(w)) {
			cause = WALK_ON;
			w->n_scripts -= !w->at_leaf; /* in place of the frame */
		}
	} else {
		cause = walk_step(w, &w->walk, &frame);
		w->n_scripts -= w->left_made && !w->at_leaf; /* its functions come with the loop */
	}
	s->step = w->walk.step | flags << FLAGS_SHIFT;
	if (w->is_left) {
		w->left_in = w->at_leaf ? 0 : frame;
		w->cause = cause;
		return 1;
	}
	if (w->walk.loop) {
		s->step = 0; /* what it executes is not on the stack: never taken over */
		script_frames(w);
	}
	if ((cause == WALK_ON || cause == CHAIN_COMPLETE) &&
	    V8_FRAME_IS_MADE(w->walk.guessed_fp, s->sp) && v8_frames(w)) {
		w->n_scripts -= !w->at_leaf; /* in place of the frame */
		frame = 0;
	}
	if (frame && !w->at_leaf) {
		if (w->n_frames >= CHAIN_MAX_FRAMES) {
			w->cause = CHAIN_TOO_DEEP;
			return 1;
		}
		if (!(frame >> FRAME_IMAGE_SHIFT & FRAME_MAX_IMAGES))
			w->has_raw = 1;
		put_frame(w, frame);
	}
	w->at_leaf = 0;
	if (cause == WALK_ON) {
		if (!joins_last(w))
			return 0;
		cause = CHAIN_COMPLETE;
	}
	w->cause = cause;
	return 1;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline bool in_user_mode(const struct sample_ctx *ctx)
{
	return ctx->words[CS] & 3;
}

static __always_inline void user_registers(struct cpu_walk *w)
{
	const __u64 *r = w->words;
	__u64 *to = w->walk.regs;

	to[0] = r[10];
	to[1] = r[12];
	to[2] = r[11];
	to[3] = r[5];
	to[4] = r[13];
	to[5] = r[14];
	to[6] = r[4];
	to[7] = r[19];
	to[8] = r[9];
	to[9] = r[8];
	to[10] = r[7];
	to[11] = r[6];
	to[12] = r[3];
	to[13] = r[2];
	to[14] = r[1];
	to[15] = r[0];
	to[16] = r[16];
}

static __always_inline bool in_32_bit(const struct cpu_walk *w)
{
	return (w->words[CS] & 0xffff) == 0x23; /* __USER32_CS: arch/x86/include/asm/segment.h */
}

/* Exceptions and interrupts leave -1 where a system call has its number; the instruction leaves its
 * return address in rcx too (arch/x86/entry/entry_64.S).  Where these differ the kernel has just
 * put something else there: the first instruction of a signal's handler or of a program. */
static __always_inline bool in_system_call(const struct cpu_walk *w, struct pt_regs *regs)
{
	return (__s64)w->words[ORIG_AX] >= 0 && w->words[CX] == w->words[IP];
}
#else
static __always_inline bool in_user_mode(const struct sample_ctx *ctx)
{
	return !(ctx->words[PSTATE] & 0xf); /* PSR_MODE_EL0t */
}

static __always_inline void user_registers(struct cpu_walk *w)
{
	for (int i = 0; i < WALK_MAX_REGISTERS; i++) /* the same order */
		w->walk.regs[i] = w->words[i];
}

static __always_inline bool in_32_bit(const struct cpu_walk *w)
{
	return w->words[PSTATE] & 0x10; /* PSR_MODE32_BIT */
}

/* NO_SYSCALL is -1: arch/arm64/include/asm/ptrace.h. */
static __always_inline bool in_system_call(const struct cpu_walk *w, struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, syscallno) >= 0;
}
#endif

/* Begins with the user's registers; returns WALK_ON, or the cause why there is nothing to walk. */
static __noinline int user_begin(struct sample_ctx *ctx, struct cpu_walk *w, __u64 task)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task_btf();
	struct mm_struct *mm = t->mm;
	struct pt_regs *regs;
	bool user = ctx && in_user_mode(ctx), exact = true;

	if (t->flags & PF_KTHREAD)
		return CHAIN_COMPLETE;
	if (!mm) {
		regs = (struct pt_regs *)bpf_task_pt_regs(t);
		if (bpf_probe_read_kernel(w->words, sizeof(w->words), regs))
			return CHAIN_EXITING;
		return exit_callers(w, t, false);
	}
	w->mm = (__u64)mm;
	w->mm_key = mix(mix(mix(*(volatile __u64 *)&w->mm, mm->start_stack),
			    mm->start_code ^ (__u64)LOG_GENERATION(task) << 44),
			mm->exec_vm ^ images_epoch << 40 ^ (__u64)unwind_clock << 20);
	if (user) {
		for (int i = 0; i < N_REGS; i++)
			w->words[i] = ctx->words[i];
	} else {
		regs = (struct pt_regs *)bpf_task_pt_regs(t);
		if (bpf_probe_read_kernel(w->words, sizeof(w->words), regs))
			return CHAIN_EXITING;
		exact = !in_system_call(w, regs);
	}
	if (in_32_bit(w))
		return CHAIN_32_BIT;
	user_registers(w);
	w->n_scripts = 0;
	w->python.anchor = w->python.frame = 0;
	w->python.n_steps = 0;
	w->near[0].is_there = w->near[1].is_there = 0;
	w->v8.shared_map = w->v8.script = w->v8.id = 0;
	w->v8.n_steps = w->v8.is_handler = 0;
	w->v8.checked = w->v8.entry = w->v8.bytes_map = 0;
	w->hotspot.met = w->hotspot.other_sp = 0;
	w->python.key = w->v8.key = mix(script_seed, task & ~((__u64)LOG_PID_MASK << LOG_PID_BITS));
	hotspot_begin(w, task & ~((__u64)LOG_PID_MASK << LOG_PID_BITS));
	w->walk.entry_sp = mm->start_stack;
	walk_begin(w, &w->walk, exact);
	if (!w->walk.ip) /* a worker of io_uring or vhost never was in user mode */
		return CHAIN_COMPLETE;
	w->window_bytes = 0;
	w->at_leaf = w->first_state = user;
	w->cause = CHAIN_TOO_DEEP;
	last_walk_open(w, last_walk_of(w), LOG_TID(task));
	return WALK_ON;
}

/* Ends the walk of the user's callers; returns its cause. */
__noinline int user_end(struct cpu_walk *w, __u64 task)
{
	if (!w)
		return CHAIN_EXITING;
	if (go_labels)
		go_labels_take(w);
	if (w->walk.anonymous)
		hotspot_ask(w, task & ~((__u64)LOG_PID_MASK << LOG_PID_BITS));
	if (w->cause == CHAIN_COMPLETE && w->python.frame)
		script_rest(w);
	/* In exec the memory that the registers speak of goes first. */
	if (w->cause == CHAIN_NO_MAPPING && w->n_kernel && w->n_frames == w->n_kernel)
		return exit_callers(w, (struct task_struct *)bpf_get_current_task_btf(), true);
	w->keeps = w->cause == CHAIN_COMPLETE && (w->n_kept || w->walk.step) && !w->python.frame;
	return w->cause;
}

/* The user's part; returns the cause.  CTX is NULL where the kernel runs.  Its parts have stacks of
 * their own: what is on this function's lies below each frame of the walk. */
static __always_inline int user_callers(struct sample_ctx *ctx, struct cpu_walk *w, __u64 task)
{
	struct path p = {w, last_walk_of(w)};
	const int cause = user_begin(ctx, w, task);

	if (cause != WALK_ON)
		return cause;
	bpf_loop(CHAIN_MAX_FRAMES + 2, walk_frame, &p, 0);
	return user_end(w, task);
}

/* bpf_loop: one kernel frame.  The first of w->kernel is the leaf itself. */
static int kernel_frame(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;

	if (i >= CHAIN_MAX_KERNEL)
		return 1;
	put_frame(w, (w->kernel[i + 1] - 1) | FRAME_KERNEL);
	return 0;
}

/* The kernel's part, innermost caller first; false when it is deeper than there is room for. */
static __always_inline bool kernel_callers(struct sample_ctx *ctx, struct cpu_walk *w)
{
	long n_bytes = bpf_get_stack(ctx, w->kernel, sizeof(w->kernel), 0);

	if (n_bytes > 8)
		bpf_loop((__u32)n_bytes / 8 - 1, kernel_frame, &w, 0);
	return n_bytes < (long)sizeof(w->kernel);
}

/* bpf_loop: one of the frames walked, the outermost first: hashed, and its state kept. */
static int keep_frame(__u32 i, struct path *p)
{
	struct cpu_walk *w = p->w;
	struct last_walk *last = p->last;
	const __u32 at = w->n_frames - 1 - i, n = last->n;
	const __u64 frame = w->frames[BELOW(at, CHAIN_MAX_FRAMES)];
	const struct kept_state *s =
		&w->fresh[BELOW(at - w->n_kernel - w->n_scripts + w->first_state, LAST_FRAMES)];
	struct kept_state *to;
	__u64 step;

	w->hash = mix(w->hash, frame);
	if (!w->keeps)
		return 0;
	if (at < w->n_kernel || i >= LAST_FRAMES || n >= LAST_FRAMES || !(s->step & WALK_PLAIN) ||
	    s->step >> FLAGS_SHIFT & ~(__u64)(WALK_FP | WALK_BX)) {
		w->keeps = false;
		return 0;
	}
	/* Which registers the walk used from here on: those its callers did, but for what this step
	 * restored, and those by which it found the caller. */
	step = s->step & ~STEP_REGISTERS & (1ULL << FLAGS_SHIFT) - 1;
	if (w->used & WALK_FP)
		step |= s->step & STEP_FP;
	if (w->used & WALK_BX)
		step |= s->step & STEP_BX;
	if (step & STEP_FP)
		w->used &= ~WALK_FP;
	if (step & STEP_BX)
		w->used &= ~WALK_BX;
	if (step & WALK_STEP_BY_FP)
		w->used |= WALK_FP;
	if (step & WALK_STEP_BY_BX)
		w->used |= WALK_BX;
	to = &last->states[BELOW(n, LAST_FRAMES)];
	to->ip = s->ip;
	to->sp = s->sp;
	to->fp = s->fp;
	to->bx = s->bx;
	to->step = step | (__u64)w->used << FLAGS_SHIFT;
	last->hashes[BELOW(n, LAST_FRAMES)] = w->hash;
	last->frames[BELOW(n, LAST_FRAMES)] = frame;
	last->n = n + 1;
	return 0;
}

/* Hashes the path, and keeps the walk for the next one. */
__noinline int fold_path(struct cpu_walk *w)
{
	struct path p = {w};

	if (!w)
		return 0;
	p.last = last_walk_of(w);
	w->hash = 0;
	if (w->n_kept) {
		w->hash = p.last->hashes[BELOW(w->n_kept, LAST_FRAMES)];
		w->used = p.last->states[BELOW(w->n_kept, LAST_FRAMES)].step >> FLAGS_SHIFT;
		p.last->n = w->n_kept + 1;
	} else if (w->keeps) {
		p.last->states[0].ip = w->walk.ip;
		p.last->states[0].sp = w->walk.sp;
		p.last->n = 1;
		w->used = 0;
	}
	bpf_loop(w->n_frames, keep_frame, &p, 0);
	return 0;
}

/* Adds the user's callers to the kernel's; returns the cause. */
static __always_inline int add_user(struct sample_ctx *ctx, struct cpu_walk *w,
				    struct chain_cpu *ring, __u64 task)
{
	__u32 n_frames;
	__u64 hash;
	int cause, again;

	w->alone = false;
	cause = user_callers(ctx, w, task);
	ring->n_walked += w->n_frames - w->n_kernel;
	ring->n_kept += w->n_kept;
	if (!check_walks || !w->n_kept)
		return cause;

	fold_path(w);
	hash = w->hash;
	n_frames = w->n_frames + w->n_kept;
	w->n_frames = w->n_kernel;
	w->n_kept = w->has_raw = 0;
	w->alone = true;
	again = user_callers(ctx, w, task);
	w->keeps = false;
	fold_path(w);
	ring->n_checked++;
	if (cause != again || hash != w->hash || n_frames != w->n_frames)
		ring->n_differing++;
	return again;
}

/* bpf_loop: a frame of the chain that is sent. */
static int send_frame(__u32 i, struct path *p)
{
	struct cpu_walk *w = p->w;
	__u32 beyond = i - w->n_frames;

	put_word(w, CHAIN_HEAD_WORDS + i,
		 i < w->n_frames ? w->frames[BELOW(i, CHAIN_MAX_FRAMES)]
				 : p->last->frames[BELOW(w->n_kept - beyond, LAST_FRAMES)]);
	return 0;
}

/* Begins a chain in CPU's ring. */
static __always_inline void begin_path(struct cpu_walk *w, const struct chain_cpu *ring, __u32 cpu,
				       __u32 tgid, __u64 task)
{
	w->last_at = LOG_TID(task) * 0x9e3779b97f4a7c15ULL >> 40;
	w->tgid = tgid;
	w->head = ring->head;
	w->room = n_chain_words - (ring->head - ring->tail);
	w->ring_at = cpu * n_chain_words;
	w->n_frames = w->n_kernel = w->n_kept = w->hash = w->has_raw = w->labels = 0;
	w->keeps = w->copies = w->is_left = false;
	w->link = w->n_listed = 0;
	w->copy_ring = cpu;
	w->copy_n = n_copy_chunks;
	w->copy_from = cpu * n_copy_chunks;
}

/* The hash of the chain that ended for CAUSE, which is in the ring if it never was; 0 for one of no
 * frames, CHAIN_LOST when there was no room.  TASK is as in the log's slot. */
__noinline __u64 end_path(struct cpu_walk *w, struct chain_cpu *ring, __u64 task, __u32 cause)
{
	struct path p = {w};
	__u64 hash, set, info, labels;
	__u32 n_frames;

	if (!w || !ring)
		return CHAIN_LOST;
	p.last = last_walk_of(w);
	n_frames = w->n_frames + w->n_kept;
	labels = w->labels ? FRAME_SCRIPT(w->labels, 0) : 0;
	if (n_frames == 0 && cause == CHAIN_COMPLETE && !labels)
		return 0;
	fold_path(w);

	info = n_frames | cause << 16 | w->n_kernel << 24;
	if (labels)
		info = (info + 1) | CHAIN_HAS_LABELS;
	hash = mix(w->hash, info);
	if (labels)
		hash = mix(hash, labels);
	if (w->has_raw) /* of this process, whichever of its threads */
		hash = mix(hash, LOG_TASK(LOG_TGID(task), 0, LOG_GENERATION(task)));
	if (hash == 0 || hash == CHAIN_LOST)
		hash = 1;
	if (p.last->sent == hash)
		return hash;
	set = BELOW(hash >> 40, KNOWN_SETS) * KNOWN_WAYS;
	for (int i = 0; i < KNOWN_WAYS; i++)
		if (w->known[set + i] == hash) {
			p.last->sent = hash;
			return hash;
		}
	if (CHAIN_HEAD_WORDS + n_frames + 1 > w->room) {
		ring->lost++;
		return CHAIN_LOST;
	}
	for (int i = KNOWN_WAYS - 1; i > 0; i--)
		w->known[set + i] = w->known[set + i - 1];
	w->known[set] = hash;
	p.last->sent = hash;
	put_word(w, CHAIN_HASH, hash);
	put_word(w, CHAIN_TASK, task);
	put_word(w, CHAIN_INFO, info);
	bpf_loop(n_frames, send_frame, &p, 0);
	if (labels)
		put_word(w, CHAIN_HEAD_WORDS + n_frames++, labels);
	/* An atomic add orders the words before the head for the reader on another CPU. */
	__sync_fetch_and_add(&ring->head, CHAIN_HEAD_WORDS + n_frames);
	return hash;
}

/* The hash of the current sample's callers, as end_path has it. */
static __noinline __attribute__((unused)) __u64 call_path(struct sample_ctx *ctx, __u64 task,
							  __u32 tgid)
{
	__u32 cpu = bpf_get_smp_processor_id(), cause = CHAIN_TOO_DEEP;
	struct cpu_walk *w = bpf_map_lookup_elem(&walks, &cpu);
	struct chain_cpu *ring = bpf_map_lookup_elem(&chain_cpus, &cpu);
	bool whole = true;
	__u64 hash;

	if (!w || !ring)
		return CHAIN_LOST;
	begin_path(w, ring, cpu, tgid, task);
	if (!in_user_mode(ctx))
		whole = kernel_callers(ctx, w);
	w->n_kernel = w->n_frames;
	w->copies = n_copy_chunks > 1;
	if (whole)
		cause = add_user(ctx, w, ring, task);
	if (w->is_left || w->link) {
		if (w->is_left)
			script_list(w);
		hash = copy_stack(w, task);
		if (hash)
			return hash;
		if (w->is_left && w->left_in) {
			w->has_raw |= !(w->left_in >> FRAME_IMAGE_SHIFT & FRAME_MAX_IMAGES);
			put_frame(w, w->left_in);
		}
	}
	return end_path(w, ring, task, cause);
}

#ifdef EXITS_ARE_WALKED
/* bpf_loop */
static int exit_frame_keep(__u32 i, struct exit_copy *c)
{
	c->path->frames[BELOW(i, EXIT_FRAMES)] = c->w->frames[BELOW(i, CHAIN_MAX_FRAMES)];
	return 0;
}

/* Keeps the user's callers of the current thread T, which is about to give its memory up. */
static __noinline void exit_walk(struct task_struct *t, __u64 task, __u32 tgid)
{
	__u32 cpu = bpf_get_smp_processor_id(), at = n_walk_cpus + cpu % EXIT_WALKS, pid = t->pid;
	struct cpu_walk *w = bpf_map_lookup_elem(&walks, &at);
	struct exit_copy c = {w};
	bool is_kept;
	int cause;

	if (!w || __sync_val_compare_and_swap(&w->is_taken, 0, 1))
		return;
	c.path = &w->exit;
	w->tgid = tgid;
	w->last_at = 0;
	w->n_frames = w->n_kernel = w->n_kept = w->has_raw = 0;
	w->keeps = w->is_left = false;
	w->copies = n_copy_chunks > 1;
	w->copy_ring = at;
	w->copy_n = n_exit_chunks;
	w->copy_from = n_walk_cpus * n_copy_chunks + (at - n_walk_cpus) * n_exit_chunks;
	w->link = w->exit.link = w->n_listed = 0;
	w->alone = true;
	cause = user_callers(NULL, w, task);
	is_kept = w->n_frames <= EXIT_FRAMES && cause != CHAIN_NO_TABLE;
	if (w->is_left) {
		script_list(w);
		w->exit.link = copy_stack(w, task);
		is_kept = w->exit.link;
		cause = CHAIN_EXITING;
		w->n_frames = 0; /* the copy has them */
	}
	if (is_kept) {
		w->exit.start = t->start_time;
		w->exit.ip = w->words[IP];
		w->exit.sp = w->words[SP];
		w->exit.n_frames = w->n_frames;
		w->exit.cause = cause;
		w->exit.has_raw = w->has_raw;
		bpf_loop(w->n_frames, exit_frame_keep, &c, 0);
		bpf_map_update_elem(&exit_paths, &pid, &w->exit, BPF_ANY);
	} else {
		bpf_map_delete_elem(&exit_paths, &pid);
	}
	__sync_fetch_and_and(&w->is_taken, 0);
}
#endif

#endif
