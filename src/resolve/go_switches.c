/* SPDX-License-Identifier: BSD-2-Clause */
/* See go_switches.h.
 *
 * A goroutine's stack is small, so some functions of the runtime go on with the stack of the
 * thread.  For example, systemstack(fn) of Go 1.19:
 *
 *     mov   %fs:-8, %rax                 g
 *     mov   0x30(%rax), %rbx             g.m
 *     call  gosave_systemstack_switch    g.sched is where it is now
 *     mov   0x38(%rdx), %rbx             g0.sched.sp
 *     mov   %rbx, %rsp                   from here on it is the thread's stack
 *     call  *%rdi                        fn
 *     mov   0xc0(%rbx), %rax             m.curg: its place is read here
 *     mov   0x38(%rax), %rsp             up to here
 *
 * While nanotime and others call the vdso with that stack, m.vdsoSP is where they were called:
 *
 *     mov   %rdx, 0x348(%rbx)            from here on
 *     mov   0x38(%rdx), %rsp
 *     call  *%rax
 *     mov   %r12, %rsp                   up to here
 *
 * mcall and morestack do not come back: a goroutine goes on at g.sched.pc.  Where one of these
 * instructions is missing, this Go keeps things elsewhere, and nothing is told.
 *
 * Sources: Go's src/runtime/asm_amd64.s, sys_linux_amd64.s, time_linux_amd64.s of 1.15 to 1.24. */
#include "resolve/go_switches.h"

#include <elf.h>
#include <string.h>

#include "base/vec.h"
#include "resolve/interpreter_impl.h"
#include "unwind/gopclntab.h"

#define MOST_CODE 512 /* bytes of a function that switches; the longest has some 250 */

struct go_code {
	struct go_func f;
	uint8_t bytes[MOST_CODE];
	size_t n;
};

static bool read_func(const struct elf_file *f, const struct go_table *t, const char *name,
		      struct go_code *ret)
{
	if (!go_table_find_name(t, name, &ret->f))
		return false;
	ret->n = ret->f.end - ret->f.start < MOST_CODE ? (size_t)(ret->f.end - ret->f.start)
						       : MOST_CODE;
	return interpreter_read(f, ret->f.start, ret->bytes, ret->n);
}

/* Where in C, from FROM on, the N_WANTED bytes of WANTED are; c->n: nowhere. */
static size_t find_bytes(const struct go_code *c, size_t from, const char *wanted, size_t n_wanted)
{
	const uint8_t *at =
		from < c->n ? memmem(c->bytes + from, c->n - from, wanted, n_wanted) : NULL;

	return at ? (size_t)(at - c->bytes) : c->n;
}

/* Whether sp is loaded at AT, by `mov 0x38(%reg), %rsp` or from a register that got it so. */
static size_t switch_bytes(const struct go_code *c, size_t at)
{
	const uint8_t *b = c->bytes + at;

	if (c->n - at >= 4 && (b[0] == 0x48 || b[0] == 0x49) && b[1] == 0x8b &&
	    (b[2] & 0xf8) == 0x60 && b[2] != 0x64 && b[3] == 0x38)
		return 4;
	if (c->n - at >= 3 && b[0] == 0x48 && b[1] == 0x89 && (b[2] == 0xdc || b[2] == 0xf4))
		return 3;
	return 0;
}

/* Behind the next instruction from FROM on that loads sp; 0: there is none. */
static size_t find_switch(const struct go_code *c, size_t from)
{
	for (size_t at = from; at < c->n; at++)
		if (switch_bytes(c, at))
			return at + switch_bytes(c, at);
	return 0;
}

static void add_switch(struct unwind_input *in, const struct go_table *t, const struct go_code *c,
		       bool leaves, short goroutine_at)
{
	const size_t from = find_switch(c, 0), back = from ? find_switch(c, from) : 0;
	int32_t depth;

	if (!from || in->n_switches >= UNWIND_MAX_SWITCHES)
		return;
	/* The instruction before it was still on the stack that is left. */
	depth = go_table_value(t, &c->f, c->f.depths, c->f.start + from - 1, -1);
	if (depth < 0 || depth % 8)
		return;
	in->switches[in->n_switches++] = (struct unwind_switch){
		.start = c->f.start + from,
		.end = back && !leaves ? c->f.start + back : c->f.end,
		.depth = (uint32_t)depth,
		.how = leaves ? UNWIND_SWITCH_LEAVES : 0,
		.goroutine_at = goroutine_at,
	};
}

/* Adds what C does while it calls the vdso. */
static void add_keeper(struct unwind_input *in, const struct go_table *t, const struct go_code *c)
{
	const size_t at = find_bytes(c, 0, "\x48\x89\x93", 3), from = at + 7;
	size_t back = find_bytes(c, from, "\x4c\x89\xe4", 3);
	uint32_t off;
	int32_t depth;

	if (back == c->n) /* Go 1.15: mov %rbp, %rsp */
		back = find_bytes(c, from, "\x48\x89\xec", 3);
	if (back == c->n || in->n_switches >= UNWIND_MAX_SWITCHES)
		return;
	off = (uint32_t)c->bytes[at + 3] | (uint32_t)c->bytes[at + 4] << 8;
	depth = go_table_value(t, &c->f, c->f.depths, c->f.start + at, -1);
	if (c->bytes[at + 5] || c->bytes[at + 6] || off % 8 || depth <= 0 || depth % 8)
		return;
	in->switches[in->n_switches++] = (struct unwind_switch){
		.start = c->f.start + from,
		.end = c->f.start + back + 3,
		.depth = (uint32_t)depth,
		.how = UNWIND_SWITCH_KEEPS,
		.goroutine_at = (short)(off / 8),
	};
}

/* How many words from `m` on the goroutine is, by the code of systemstack; 0: it is not as it is
 * known. */
static short goroutine_at(const struct go_code *c)
{
	size_t at;
	uint32_t off;

	if (find_bytes(c, 0, "\x64\x48\x8b\x04\x25\xf8\xff\xff\xff", 9) == c->n || /* fs:-8 */
	    find_bytes(c, 0, "\x48\x8b\x58\x30", 4) == c->n ||			   /* g.m */
	    find_bytes(c, 0, "\x48\x8b\x60\x38", 4) == c->n)			   /* g.sched.sp */
		return 0;
	at = find_bytes(c, 0, "\x48\x8b\x83", 3); /* m.curg */
	if (at + 7 > c->n)
		return 0;
	off = (uint32_t)c->bytes[at + 3] | (uint32_t)c->bytes[at + 4] << 8;
	return c->bytes[at + 5] || c->bytes[at + 6] || off % 8 || off >= 8 * 1024
		       ? 0
		       : (short)(off / 8);
}

/* Whether mcall keeps the frame pointer in g.sched.bp: mov %reg, 0x68(%r14), or (%rax). */
static bool keeps_fp(const struct go_code *c)
{
	for (size_t at = 0; at + 4 <= c->n; at++) {
		const uint8_t *b = c->bytes + at;

		if (b[1] == 0x89 && b[3] == 0x68 &&
		    ((b[0] == 0x49 && (b[2] & 0xc7) == 0x46) || (b[0] == 0x48 && b[2] == 0x68)))
			return true;
	}
	return false;
}

void go_switches_find(const struct elf_file *f, struct unwind_input *in)
{
	static const char *const keepers[] = {"time.now", "runtime.nanotime1", "runtime.walltime",
					      "runtime.walltime1"};
	static const struct {
		const char *name;
		bool leaves;
	} known[] = {{"runtime.systemstack", false},
		     {"runtime.asmcgocall", false},
		     {"runtime.mcall", true},
		     {"runtime.morestack", true}};
	struct go_table t;
	struct go_code c;
	short at;

	if (f->machine != EM_X86_64 ||
	    go_table_open(&t, in->go.bytes, in->go.n_bytes, in->text_svma, NULL) < 0)
		return;
	at = read_func(f, &t, "runtime.systemstack", &c) ? goroutine_at(&c) : 0;
	if (!at || !read_func(f, &t, "runtime.mcall", &c) || !keeps_fp(&c))
		return;
	for (size_t i = 0; i < n_elems(known); i++)
		if (read_func(f, &t, known[i].name, &c))
			add_switch(in, &t, &c, known[i].leaves, at);
	for (size_t i = 0; i < n_elems(keepers); i++)
		if (read_func(f, &t, keepers[i], &c))
			add_keeper(in, &t, &c);
}
