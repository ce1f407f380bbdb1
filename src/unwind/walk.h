/* SPDX-License-Identifier: BSD-2-Clause */
/* One step of a stack walk: from the registers of a frame to those of its caller, by a table's rule
 * (table.h) or, where there is none, by frame pointer.  One source for two compilers: the BPF
 * program walks with it in the kernel, the host in tests, on copied stacks and under the fuzzer.
 * No libc, no recursion; a caller bounds the number of steps.
 *
 * A whole walk: walk_begin, then walk_step until it returns a cause.  Each step says what the frame
 * it started from is called (chain.h).  Every step but those out of a signal's frame must raise the
 * stack pointer, so that a hostile stack ends by itself.
 *
 * An includer that walks defines WALK_ENV, a struct, and WALK_AARCH64, whether the code walked is
 * AArch64's, else x86-64's, and provides what a walk reads: the functions declared below. */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "unwind/walk_state.h"

#ifdef WALK_ENV

#ifdef __bpf__
#define WALK_HOT  static inline __attribute__((always_inline))
#define WALK_COLD static __attribute__((noinline)) /* translated once */
#define WALK_ONCE __attribute__((noinline))	   /* and verified once: ENV may be NULL */
#else
#define WALK_HOT  static inline
#define WALK_COLD static inline
#define WALK_ONCE static inline
#endif

/* Provided by the includer. */
static bool walk_word(WALK_ENV *env, __u64 avma, __u64 *ret); /* of the stack */
static bool walk_code(WALK_ENV *env, __u64 avma, __u64 *ret); /* a word of machine code */

/* The thread's pointer, 0 when it is not known. */
static __u64 walk_thread(WALK_ENV *env);

/* What is mapped executable at AVMA. */
static bool walk_region(WALK_ENV *env, __u64 avma, struct walk_region *ret);

static __u32 walk_table_word(WALK_ENV *env, __u32 at); /* of those of all tables */
static const struct unwind_image *walk_image(WALK_ENV *env, __u32 number); /* or NULL */
static const struct unwind_rule *walk_rule(WALK_ENV *env, __u32 number);   /* or NULL */

/* A memory of rules by the names of frames: NULL when it has none, or is none.  RULE holds for
 * FRAME, the N_BEFORE bytes before it and N_FROM bytes from it on.  What a name means never
 * changes. */
static const struct unwind_rule *walk_recall(WALK_ENV *env, __u64 frame);
static void walk_remember(WALK_ENV *env, __u64 frame, __u32 n_before, __u32 n_from,
			  const struct unwind_rule *rule);

/* Image number IMAGE, mapped at AVMA, has no table (any more). */
static void walk_want(WALK_ENV *env, __u32 image, __u64 avma);

/* Whether the walk is left, to be taken up later, where a table is missing.  Else it goes on by
 * frame pointer. */
static bool walk_is_left(WALK_ENV *env);

/* From code that an interpreter's compiler made to the interpreter's loop (made_code.h); false: W
 * stands in no such code. */
static bool walk_leaves_made(WALK_ENV *env, struct walk *w);

/* Whether W stands in code that is known to keep frame pointers until it returns. */
static bool walk_keeps_fp(WALK_ENV *env, struct walk *w);

/* What walk_step returns besides an enum chain_cause. */
#define WALK_ON (-1)

/* Starts at the interrupted registers in w->regs; w->entry_sp is set too.  EXACT: ip is where it
 * was interrupted; else it is where the kernel will return to after a system call. */
WALK_HOT void walk_begin(WALK_ENV *env, struct walk *w, bool exact)
{
	w->ip = w->regs[WALK_AARCH64 ? WALK_ARM_IP : WALK_X86_IP];
	w->sp = w->regs[WALK_AARCH64 ? WALK_ARM_SP : WALK_X86_SP];
	w->fp = w->regs[WALK_AARCH64 ? WALK_ARM_FP : WALK_X86_FP];
	w->bx = w->regs[WALK_X86_BX];
	w->flags = (exact ? WALK_EXACT : 0) | WALK_FULL | WALK_FP | WALK_BX;
	w->n_falls = w->n_switches = 0;
	w->step = 0;
	w->anonymous = 0;
	w->region.start = w->region.end = 0;
}

/* Where in the tables the rule for the LOW 10 bits of an offset in block BLOCK is: its number, from
 * bit 16 on where in the block it begins to hold and from bit 32 on where it ceases. */
WALK_ONCE __u64 walk_search(WALK_ENV *env, __u32 blocks_at, __u32 rows_at, __u32 block, __u32 low)
{
	__u64 start = 0, end = UNWIND_BLOCK;
	__u32 first, next, n, half, row, own;

	if (!env)
		return UNWIND_NO_RULE;
	own = first = walk_table_word(env, blocks_at + block); /* that begins in the block */
	next = walk_table_word(env, blocks_at + block + 1);
	n = next - first;
	if (first) { /* the row before the block's first one */
		first--;
		n++;
	}
	if (n == 0 || n > UNWIND_BLOCK + 1)
		return UNWIND_NO_RULE;
	/* Row `first` starts at or before the offset; so does the one this
	 * ends at.  2^11 > 1025. */
	for (int i = 0; i < 11; i++) {
		if (n < 2)
			break;
		half = n >> 1;
		if ((walk_table_word(env, rows_at + first + half) & (UNWIND_BLOCK - 1)) <= low)
			first += half;
		n -= half;
	}
	row = walk_table_word(env, rows_at + first);
	if (first >= own)
		start = row & (UNWIND_BLOCK - 1);
	if (first + 1 < next)
		end = walk_table_word(env, rows_at + first + 1) & (UNWIND_BLOCK - 1);
	return row >> 16 | start << 16 | end << 32;
}

/* The rule for PC, which lies in w->region; else NULL, and in *WHY the cause.  FRAME: the name to
 * remember it by; 0: not at all. */
WALK_COLD const struct unwind_rule *walk_find_rule(WALK_ENV *env, const struct walk *w, __u64 pc,
						   __u64 frame, int *why)
{
	const struct unwind_image *image;
	const struct unwind_rule *rule;
	__u64 rel, found;
	__u32 n_blocks, low;

	*why = CHAIN_NO_RULE;
	if (w->region.image == WALK_ANONYMOUS)
		return 0;
	*why = CHAIN_NO_TABLE;
	if (w->region.image == WALK_UNKNOWN_FILE)
		return 0;
	image = walk_image(env, w->region.image);
	if (!image)
		return 0;
	n_blocks = image->n_blocks;
	if (n_blocks == 0) {
		walk_want(env, w->region.image, pc);
		return 0;
	}
	*why = CHAIN_NO_RULE;
	rel = pc + w->region.bias - image->first_off;
	if (rel >> UNWIND_BLOCK_SHIFT >= n_blocks)
		return 0;
	low = (__u32)rel & (UNWIND_BLOCK - 1);
	found = walk_search(env, image->blocks_at, image->rows_at,
			    (__u32)(rel >> UNWIND_BLOCK_SHIFT), low);
	rule = walk_rule(env, (__u16)found);
	if (!rule)
		return 0;
	if (rule->cfa == UNWIND_CFA_NONE) {
		*why = rule->why == UNWIND_TOO_COMPLEX ? CHAIN_TOO_COMPLEX : CHAIN_NO_RULE;
		return 0;
	}
	if (frame)
		walk_remember(env, frame, low - (__u16)(found >> 16), (__u32)(found >> 32) - low,
			      rule);
	return rule;
}

/* Where a signal's return trampoline finds a register, in words from sp: the offsets of struct
 * rt_sigframe behind what `ret` took off (arch/x86/include/asm/sigframe.h: pretcode, then struct
 * ucontext; uapi/asm/ucontext.h, uapi/asm/sigcontext.h: r8-r15, di, si, bp, bx, dx, ax, cx, sp,
 * ip). */
#define WALK_X86_SIGCONTEXT (40 / 8)

/* arch/arm64/kernel/signal.c struct rt_sigframe: siginfo of 128 bytes, then struct ucontext with
 * the sigcontext at 176 (uapi/asm/ucontext.h: 40 bytes, 128 of mask, 16 aligned), in it
 * fault_address, regs[31], sp, pc (uapi/asm/sigcontext.h). */
#define WALK_ARM_SIGCONTEXT ((128 + 176 + 8) / 8)

/* The word at AVMA of a signal's frame into W's register REG. */
WALK_ONCE int walk_signal_word(WALK_ENV *env, struct walk *w, __u64 avma, __u32 reg)
{
	return env && w && reg < WALK_MAX_REGISTERS && walk_word(env, avma, &w->regs[reg]);
}

/* The registers a signal interrupted, from its frame at w->sp.  GO: its handler is that of Go's
 * runtime, which pushes the address that was interrupted and then writes another one into the
 * frame, to which the thread is to return (src/runtime/signal_amd64.go, pushCall).  Between the two
 * the frame's stack pointer is already below that word. */
WALK_ONCE int walk_signal(WALK_ENV *env, struct walk *w, bool go)
{
	static const unsigned char x86[] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
					    4, 6, 3,  1,  0,  2,  7,  16};
	__u64 at, old_sp, pushed;

	if (!env || !w)
		return CHAIN_UNREADABLE;
	old_sp = w->sp;
	at = old_sp + 8 * (WALK_AARCH64 ? WALK_ARM_SIGCONTEXT : WALK_X86_SIGCONTEXT);
	if (WALK_AARCH64) {
		for (__u32 i = 0; i < WALK_MAX_REGISTERS; i++)
			if (!walk_signal_word(env, w, at + 8 * i, i))
				return CHAIN_UNREADABLE;
	} else {
		for (__u32 i = 0; i < sizeof(x86); i++)
			if (!walk_signal_word(env, w, at + 8 * i, x86[i]))
				return CHAIN_UNREADABLE;
	}
	w->ip = w->regs[WALK_AARCH64 ? WALK_ARM_IP : WALK_X86_IP];
	w->sp = w->regs[WALK_AARCH64 ? WALK_ARM_SP : WALK_X86_SP];
	w->fp = w->regs[WALK_AARCH64 ? WALK_ARM_FP : WALK_X86_FP];
	w->bx = w->regs[WALK_X86_BX];
	w->flags = WALK_EXACT | WALK_FULL | WALK_FP | WALK_BX;
	if (go && walk_word(env, w->sp, &pushed) && pushed == w->ip)
		w->sp += 8;
	if (w->sp <= old_sp && ++w->n_falls > WALK_MAX_FALLS)
		return CHAIN_NOT_RISING;
	return WALK_ON;
}

/* Whether a signal's return trampoline without frame information (musl's) is at AVMA. */
WALK_ONCE int walk_is_trampoline(WALK_ENV *env, __u64 avma)
{
	__u64 code, rest;

	if (!env || !walk_code(env, avma, &code))
		return false;
	if (WALK_AARCH64) /* mov x8, #139; svc #0 */
		return code == 0xd4000001d2801168ULL;
	if ((code & 0xffffffffffffffULL) == 0x050f0000000fb8ULL) /* mov $15, %eax; syscall */
		return true;
	/* mov $15, %rax; syscall: nine bytes */
	return code == 0x0f0000000fc0c748ULL && walk_code(env, avma + 1, &rest) &&
	       rest >> 56 == 0x05;
}

/* AArch64: without the pointer authentication code and tag, which are above the 48 bits of an
 * address (Documentation/arch/arm64/pointer-authentication.rst). */
WALK_HOT __u64 walk_strip(WALK_ENV *env, __u64 avma)
{
	return WALK_AARCH64 ? avma & FRAME_OFF_MASK : avma;
}

/* Makes sure that w->region is what is mapped at AVMA. */
WALK_HOT bool walk_enter(WALK_ENV *env, struct walk *w, __u64 avma)
{
	return (avma >= w->region.start && avma < w->region.end) ||
	       walk_region(env, avma, &w->region);
}

/* To the caller of generated code that keeps no frame pointer, as CPython's trampolines do not
 * (Python/asm_trampoline.S: sub $8,%rsp; call; add $8,%rsp; ret): what stands at a return address
 * is what will run, so where that is an epilogue it tells for certain.  x86-64. */
WALK_ONCE int walk_epilogue(WALK_ENV *env, struct walk *w)
{
	__u64 code, ip, fp, at;
	__u32 flags;

	if (!env || !w)
		return CHAIN_NO_RULE;
	fp = w->fp;
	at = w->sp;
	flags = w->flags & (WALK_FP | WALK_BX);
	if (WALK_AARCH64 || w->flags & WALK_EXACT || !walk_code(env, w->ip, &code))
		return CHAIN_NO_RULE;
	if ((code & 0x80ffffff) == 0xc48348) { /* add $imm8, %rsp */
		at += code >> 24 & 0x7f;
		code >>= 32;
	}
	if ((code & 0xff) == 0x5d) { /* pop %rbp */
		if (!walk_word(env, at, &fp))
			return CHAIN_UNREADABLE;
		flags |= WALK_FP;
		at += 8;
		code >>= 8;
	}
	if ((code & 0xff) != 0xc3) /* ret */
		return CHAIN_NO_RULE;
	if (!walk_word(env, at, &ip))
		return CHAIN_UNREADABLE;
	if (!walk_enter(env, w, ip - 1))
		return CHAIN_NO_MAPPING;
	w->ip = ip;
	w->sp = at + 8;
	w->fp = fp;
	w->flags = flags;
	return WALK_ON;
}

/* To the caller by frame pointer, for code of which the tables say nothing because of WHY, the
 * cause when it does not work.  What it finds must look like a frame. */
WALK_ONCE int walk_guess(WALK_ENV *env, struct walk *w, int why)
{
	__u64 fp, next, ip;

	if (!env || !w)
		return why;
	fp = w->fp;
	/* Nothing called the entry of the process: the stack began there, but for what that pushed
	 * or aligned itself (psABI: "Process Initialization"). */
	if (w->entry_sp && w->sp <= w->entry_sp && w->sp + 32 >= w->entry_sp)
		return CHAIN_COMPLETE;
	if (!(w->flags & WALK_FP))
		return why;
	if (fp == 0)
		return w->flags & WALK_GUESSED ? CHAIN_COMPLETE : why;
	if (fp < w->sp || fp & 7 || !walk_word(env, fp, &next) || !walk_word(env, fp + 8, &ip))
		return why;
	ip = walk_strip(env, ip);
	if (ip == 0)
		return next == 0 && w->flags & WALK_GUESSED ? CHAIN_COMPLETE : why;
	if (!walk_enter(env, w, ip - 1))
		return why;
	w->ip = ip;
	w->sp = fp + 16;
	w->fp = next;
	w->flags = WALK_FP | WALK_GUESSED;
	return WALK_ON;
}

/* The CFA by rule R into *RET; else the cause. */
WALK_HOT int walk_cfa(WALK_ENV *env, const struct walk *w, const struct unwind_rule *r, __u64 *ret)
{
	__u64 base;

	switch (r->cfa) {
	case UNWIND_CFA_SP:
	case UNWIND_CFA_SP_DEREF:
	case UNWIND_CFA_GOROUTINE: /* whose sp is known by now */
		base = w->sp;
		break;
	case UNWIND_CFA_FP:
	case UNWIND_CFA_FP_DEREF:
		if (!(w->flags & WALK_FP))
			return CHAIN_REGISTER_LOST;
		base = w->fp;
		break;
	case UNWIND_CFA_REG:
		if (!WALK_AARCH64 && r->cfa_reg == WALK_X86_BX) {
			if (!(w->flags & WALK_BX))
				return CHAIN_REGISTER_LOST;
			base = w->bx;
			break;
		}
		if (!(w->flags & WALK_FULL) || r->cfa_reg >= WALK_MAX_REGISTERS)
			return CHAIN_REGISTER_LOST;
		base = w->regs[r->cfa_reg];
		break;
	case UNWIND_CFA_PLT:
		*ret = w->sp + 8 + ((w->ip & 15) >= (__u64)r->cfa_off ? 8 : 0);
		return WALK_ON;
	default:
		return CHAIN_NO_RULE;
	}
	base += (__u64)(long long)r->cfa_off;
	if (r->cfa == UNWIND_CFA_FP_DEREF || r->cfa == UNWIND_CFA_SP_DEREF) {
		if (!walk_word(env, base, &base))
			return CHAIN_UNREADABLE;
		base += r->cfa_add;
	}
	*ret = base;
	return WALK_ON;
}

/* A register that is saved AT words from BASE.  FLAG says in w->flags whether its value *REG is
 * known.  One that cannot be read is lost, which may not matter any more. */
WALK_HOT void walk_restore(WALK_ENV *env, struct walk *w, __u64 base, short at, __u32 flag,
			   __u64 *reg)
{
	if (at != UNWIND_LOST && walk_word(env, base + (__u64)(8 * (long long)at), reg))
		w->flags |= flag;
	else
		w->flags &= ~flag;
}

/* Whether the registers that R finds by frame pointer are back already.  In the epilogue of a frame
 * that realigned the stack gcc's frame information goes on saying where they were saved, though
 * the frame pointer is the caller's again: at lea -8(%r10), %rsp (or %r13) and at ret. */
WALK_ONCE int walk_is_popped(WALK_ENV *env, const struct walk *w, const struct unwind_rule *r)
{
	__u64 code;

	if (!env || !w || !r)
		return false;
	if (r->cfa == UNWIND_CFA_SP)
		return true;
	return !WALK_AARCH64 && r->cfa == UNWIND_CFA_REG && w->flags & WALK_EXACT &&
	       walk_code(env, w->ip, &code) && (code & 0xfff8ffff) == 0xf8608d49;
}

/* What a step by rule R depended on, as w->step has it.  W stands in the caller already. */
WALK_HOT __u64 walk_plain(const struct walk *w, const struct unwind_rule *r)
{
	__u64 step = WALK_PLAIN;

	if (r->by_fp || r->ra != UNWIND_RA_SAVED || r->ra_at == 0 ||
	    r->cfa == UNWIND_CFA_GOROUTINE || r->cfa == UNWIND_CFA_FP_DEREF ||
	    r->cfa == UNWIND_CFA_SP_DEREF)
		return 0;
	if (r->cfa == UNWIND_CFA_FP)
		step |= WALK_STEP_BY_FP;
	else if (r->cfa == UNWIND_CFA_REG) /* rbx; the others only in an innermost frame */
		step |= WALK_STEP_BY_BX;
	step |= (__u16)r->ra_at;
	if (r->fp_at != UNWIND_SAME && r->fp_at != UNWIND_LOST) {
		if (!(w->flags & WALK_FP)) /* it could not be read */
			return 0;
		step |= (__u64)(__u16)r->fp_at << 16;
	}
	if (r->bx_at != UNWIND_SAME && r->bx_at != UNWIND_LOST) {
		if (!(w->flags & WALK_BX))
			return 0;
		step |= (__u64)(__u16)r->bx_at << 32;
	}
	return step;
}

/* From a frame to its caller by rule R. */
WALK_ONCE int walk_apply(WALK_ENV *env, struct walk *w, const struct unwind_rule *r)
{
	__u64 frame_fp, cfa, ip;
	__u32 by_fp;
	int rc;

	if (!env || !w || !r)
		return CHAIN_NO_RULE;
	frame_fp = w->fp;
	by_fp = r->by_fp;
	rc = walk_cfa(env, w, r, &cfa);
	if (rc != WALK_ON)
		return rc;
	if (r->ra == UNWIND_RA_REGISTER) {
		const __u32 reg = (__u16)r->ra_at;

		if (!(w->flags & WALK_FULL) || reg >= WALK_MAX_REGISTERS)
			return CHAIN_REGISTER_LOST;
		ip = w->regs[reg];
		if (cfa < w->sp)
			return CHAIN_NOT_RISING;
	} else {
		if (cfa <= w->sp)
			return CHAIN_NOT_RISING;
		if (!walk_word(env, cfa + (__u64)(8 * (long long)r->ra_at), &ip))
			return CHAIN_UNREADABLE;
	}
	ip = walk_strip(env, ip);
	if (ip == 0) { /* what thread and process entries push, or lr there */
		w->step = walk_plain(w, r) & ~0xffffffff0000ULL;
		w->ip = 0;
		w->sp = cfa;
		return CHAIN_COMPLETE;
	}

	if (by_fp && walk_is_popped(env, w, r))
		by_fp = 0;
	else if (by_fp && !(w->flags & WALK_FP)) /* not before the frame pointer is known */
		return CHAIN_REGISTER_LOST;
	if (by_fp & UNWIND_BX_BY_FP)
		walk_restore(env, w, frame_fp, r->bx_at, WALK_BX, &w->bx);
	else if (r->bx_at != UNWIND_SAME && !(r->by_fp & UNWIND_BX_BY_FP))
		walk_restore(env, w, cfa, r->cfa == UNWIND_CFA_GOROUTINE ? UNWIND_LOST : r->bx_at,
			     WALK_BX, &w->bx);
	if (by_fp & UNWIND_FP_BY_FP)
		walk_restore(env, w, frame_fp, r->fp_at, WALK_FP, &w->fp);
	else if (r->fp_at != UNWIND_SAME && !(r->by_fp & UNWIND_FP_BY_FP))
		walk_restore(env, w, cfa, r->fp_at, WALK_FP, &w->fp);
	w->ip = ip;
	w->sp = cfa;
	w->flags = (w->flags & (WALK_FP | WALK_BX)) | UNWIND_IS_STOPS(r->why) * WALK_EXACT;
	w->step = walk_plain(w, r);
	return WALK_ON;
}

/* Where a thread of Go's has its `g`, from its pointer on, and what that has where, in bytes:
 * src/runtime/runtime2.go g.m, g.sched.sp, .pc, .bp; src/runtime/sys_linux_amd64.s settls. */
#define WALK_GO_G	 (-8)
#define WALK_GO_M	 0x30
#define WALK_GO_SCHED_SP 0x38
#define WALK_GO_SCHED_PC 0x40
#define WALK_GO_SCHED_BP 0x68

/* No function that leaves a goroutine's stack has more code (mcall, morestack). */
#define WALK_GO_LEAVES_BYTES 256

/* From the stack that Go's runtime went on with, by rule R, back to that of the goroutine. */
WALK_ONCE int walk_goroutine(WALK_ENV *env, struct walk *w, const struct unwind_rule *r)
{
	__u64 thread, g, m, sp, fp, ip, called, code;

	if (!env || !w || !r)
		return CHAIN_UNREADABLE;
	thread = walk_thread(env);
	ip = w->ip;
	if (!thread || !walk_code(env, thread + WALK_GO_G, &g) ||
	    !walk_code(env, g + WALK_GO_M, &m) ||
	    !walk_code(env, m + (__u64)(8 * (long long)r->bx_at), &g))
		return CHAIN_UNREADABLE;
	if (r->cfa_reg & UNWIND_SWITCH_KEEPS) {
		w->sp = g - (__u64)(long long)r->cfa_off;
		return g ? WALK_ON : CHAIN_UNREADABLE;
	}
	if (w->n_switches) /* it has one place only to remember where it was */
		return CHAIN_NOT_RISING;
	if (!g) /* it parked its goroutine and looks for another one */
		return CHAIN_COMPLETE;
	if (!walk_code(env, g + WALK_GO_SCHED_SP, &sp) ||
	    !walk_code(env, g + WALK_GO_SCHED_BP, &fp) ||
	    (r->cfa_reg & UNWIND_SWITCH_LEAVES && !walk_code(env, g + WALK_GO_SCHED_PC, &ip)) ||
	    !sp || sp & 7)
		return CHAIN_UNREADABLE;
	w->n_switches = 1;
	w->flags = WALK_FP;
	/* Where it left by a call, that call's return address is below (src/runtime/asm_amd64.s,
	 * mcall, morestack).  A goroutine that recovers from a panic goes on behind a return
	 * instead: the runtime writes where into its sp and then into its pc
	 * (src/runtime/panic.go, recovery).  Between the two its pc is still behind the call of the
	 * code that W stands in. */
	if (r->cfa_reg & UNWIND_SWITCH_LEAVES &&
	    (!walk_word(env, sp - 8, &called) || called != ip)) {
		w->flags |= WALK_EXACT;
		if (walk_code(env, ip - 8, &code) && (code >> 24 & 0xff) == 0xe8 &&
		    w->ip - (ip + (__u64)(long long)(int)(code >> 32)) < WALK_GO_LEAVES_BYTES)
			return CHAIN_REGISTER_LOST;
	}
	w->ip = ip;
	w->sp = sp;
	w->fp = fp;
	return WALK_ON;
}

/* Whether the return address is the beginning of glibc's __start_context, which makecontext puts on
 * a fresh stack for when its procedure returns: nobody called from there.  Known by what it begins
 * with; that some procedure begins there would not do, for addresses of procedures are on every
 * stack. */
WALK_ONCE int walk_is_planted(WALK_ENV *env, const struct walk *w)
{
	__u64 code;

	if (!env || !w || w->flags & WALK_EXACT || !walk_code(env, w->ip, &code))
		return false;
	if (WALK_AARCH64) /* mov x0, x19; cbnz x0, ... */
		return (code & 0xff00001fffffffff) == 0xb5000000aa1303e0;
	return code == 0x48243c8b48dc8948; /* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi */
}

/* The rule before the system call that the innermost frame is in, when there is none behind it:
 * glibc ends clone3's frame information there (sysdeps/unix/sysv/linux/x86_64/clone3.S), since it
 * is not true for the child.  For the parent it is. */
WALK_COLD const struct unwind_rule *walk_before_call(WALK_ENV *env, const struct walk *w, __u64 pc)
{
	int why;

	if (WALK_AARCH64 || (w->flags & (WALK_EXACT | WALK_FULL)) != WALK_FULL)
		return 0;
	/* A system call's instruction has two bytes, PC is the second. */
	return walk_find_rule(env, w, pc - 2, 0, &why);
}

/* From the frame W stands in to its caller.  Returns WALK_ON, or the cause why there is none:
 * CHAIN_COMPLETE for the outermost frame.  *RET_FRAME is what the frame stepped from is called, 0
 * when it is none: its address lies in no executable mapping. */
WALK_HOT int walk_step(WALK_ENV *env, struct walk *w, __u64 *ret_frame)
{
	__u64 pc = w->ip - (w->flags & WALK_EXACT ? 0 : 1), frame;
	const struct unwind_rule *rule;
	int rc = WALK_ON;
	bool signal;

	*ret_frame = 0;
	w->step = 0;
	w->loop = 0;
	w->guessed_fp = 0;
	if (!walk_enter(env, w, pc))
		return CHAIN_NO_MAPPING;
	frame = w->region.image == WALK_ANONYMOUS || w->region.image == WALK_UNKNOWN_FILE
			? pc & FRAME_OFF_MASK
			: (__u64)w->region.image << FRAME_IMAGE_SHIFT |
				  ((pc + w->region.bias) & FRAME_OFF_MASK);
	w->anonymous |= w->region.image == WALK_ANONYMOUS;
	rule = walk_recall(env, frame);
	if (!rule) {
		rule = walk_find_rule(env, w, pc, frame, &rc);
		if (!rule && rc == CHAIN_NO_RULE) {
			rule = walk_before_call(env, w, pc);
			/* The call returns 0 to the thread that it made, on whose new stack there
			 * is no return address. */
			if (rule && w->regs[WALK_X86_AX] == 0) {
				*ret_frame = frame;
				return CHAIN_COMPLETE;
			}
		}
	}
	if (rule)
		rc = WALK_ON;
	signal = rule ? rule->cfa == UNWIND_CFA_SIGNAL
		      : w->region.image != WALK_ANONYMOUS && walk_is_trampoline(env, w->ip);
	if (signal) /* its frame information begins one byte early; nobody called it */
		frame += w->ip - pc;
	frame |= w->flags & WALK_GUESSED ? FRAME_GUESSED : 0;
	*ret_frame = frame;
	if (signal)
		return walk_signal(env, w, rule && UNWIND_IS_STOPS(rule->why));
	if (!rule && walk_keeps_fp(env, w)) {
		w->guessed_fp = w->fp;
		w->guessed_image = w->region.image;
		return walk_guess(env, w, rc);
	}
	if (!rule && walk_leaves_made(env, w)) {
		*ret_frame = 0; /* its functions are on the interpreter's list */
		return WALK_ON;
	}
	if (w->region.image == WALK_ANONYMOUS && walk_epilogue(env, w) == WALK_ON)
		return WALK_ON;
	if (rc == CHAIN_NO_RULE && walk_is_planted(env, w)) {
		*ret_frame = frame + 1;
		return CHAIN_COMPLETE;
	}
	if (rc == CHAIN_NO_TABLE && walk_is_left(env))
		return rc;
	if (!rule) {
		w->guessed_fp = w->fp;
		w->guessed_image = w->region.image;
		return walk_guess(env, w, rc);
	}
	*ret_frame += UNWIND_IS_BEGIN(rule->why);
	if (rule->ra == UNWIND_RA_NONE) {
		w->step = WALK_PLAIN;
		return CHAIN_COMPLETE;
	}
	if (rule->cfa == UNWIND_CFA_GOROUTINE) {
		rc = walk_goroutine(env, w, rule);
		if (rc != WALK_ON || rule->cfa_reg & UNWIND_SWITCH_LEAVES)
			return rc;
	}
	if (rule->why == UNWIND_LOOP) {
		w->loop = w->region.image;
		w->loop_bias = w->region.bias;
		w->loop_sp = w->sp;
		w->loop_ip = pc + 1;
	}
	return walk_apply(env, w, rule);
}

#endif
#endif
