/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs whose stack is not the usual one: stacks CASE SECONDS burns time in work(), called by a
 * procedure of the case's name, on a stack of its own making. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "spin.h"

static double end;
static volatile uint64_t sink;
static int n_children;

static int time_is_left(void)
{
	return cpu_seconds() < end;
}

NOINLINE void work(void)
{
	sink = spin(sink, 20000);
}

/* --- Other stacks --- */

#define STACK_BYTES 262144
static char low_stack[STACK_BYTES] __attribute__((aligned(64)));
static ucontext_t back, there;

NOINLINE void in_context(void)
{
	while (time_is_left()) {
		work();
		swapcontext(&there, &back);
	}
}

static void at_once(void)
{
}

/* The walk knows the code a context begins in by reading it, and may do so only where the page is
 * there: it is when a context has returned. */
static void begin_and_return(void)
{
	static char stack[1 << 16];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &back;
	makecontext(&there, at_once, 0);
	swapcontext(&back, &there);
}

NOINLINE void contexts(void)
{
	begin_and_return();
	getcontext(&there);
	there.uc_stack.ss_sp = low_stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &back;
	makecontext(&there, in_context, 0);
	while (time_is_left()) {
		work();
		swapcontext(&back, &there);
	}
}

/* Calls FN on the stack that ends at TOP.  The first one tells of it: its frame is found by rbx. */
void call_on(void *top, void (*fn)(void));
void call_on_silently(void *top, void (*fn)(void));
__asm__(".text\n"
	".globl call_on\n"
	".type call_on, @function\n"
	"call_on:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbx, -16\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa_register %rbx\n"
	"	mov %rdi, %rsp\n"
	"	call *%rsi\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_on, . - call_on\n"
	".globl call_on_silently\n"
	".type call_on_silently, @function\n"
	"call_on_silently:\n"
	"	push %rbx\n"
	"	mov %rsp, %rbx\n"
	"	mov %rdi, %rsp\n"
	"	call *%rsi\n"
	"	mov %rbx, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size call_on_silently, . - call_on_silently\n"
	".section .note.GNU-stack,\"\",@progbits\n"
	".text\n");

NOINLINE void moved(void)
{
	while (time_is_left())
		work();
}

NOINLINE void low(void)
{
	call_on(low_stack + STACK_BYTES, moved);
	sink++;
}

NOINLINE void silent(void)
{
	call_on_silently(low_stack + STACK_BYTES, moved);
	sink++;
}

static void *high_stack;

static void *on_thread(void *arg)
{
	call_on((char *)arg + STACK_BYTES, moved);
	sink++;
	return NULL;
}

/* A thread's stack, and above it the one that it moves to: the caller's frame lies below. */
NOINLINE void high(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	char *both = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	high_stack = both + STACK_BYTES;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, both, STACK_BYTES);
	pthread_create(&thread, &attr, on_thread, high_stack);
	pthread_join(thread, NULL);
}

static int in_clone(void *arg)
{
	(void)arg;
	moved();
	return 0;
}

NOINLINE void cloned(void)
{
	pid_t pid;

	end -= cpu_seconds(); /* of its own process */
	pid = clone(in_clone, low_stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL);

	waitpid(pid, NULL, 0);
}

NOINLINE void vforked(void)
{
	for (int i = 0; i < n_children; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			for (int j = 0; j < 100; j++)
				work();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

NOINLINE void forked(void)
{
	for (int i = 0; i < n_children; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int j = 0; j < 100; j++)
				work();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static jmp_buf jump;

NOINLINE void jump_deep(int n)
{
	char local[64];

	memset(local, n, sizeof(local));
	__asm__ volatile("" : : "r"(local) : "memory");
	work();
	if (n == 0)
		longjmp(jump, 1);
	jump_deep(n - 1);
	__asm__ volatile("" : : "r"(local) : "memory");
}

NOINLINE void jumps(void)
{
	while (time_is_left()) {
		if (setjmp(jump) == 0)
			jump_deep(5);
		work();
	}
}

/* --- Frames of every kind --- */

NOINLINE void variable(size_t n)
{
	char *p = alloca(n);

	memset(p, 1, n);
	__asm__ volatile("" : : "r"(p) : "memory");
	while (time_is_left())
		work();
	__asm__ volatile("" : : "r"(p) : "memory");
}

NOINLINE void realigned(void)
{
	char local[128] __attribute__((aligned(64)));

	__asm__ volatile("" : : "r"(local) : "memory");
	while (time_is_left()) {
		work();
		__asm__ volatile("" : : "r"(local) : "memory");
	}
}

/* Both: the frame pointer leads to a word that leads to the frame. */
NOINLINE void realigned_leaf(size_t n)
{
	char local[128] __attribute__((aligned(64)));
	char *p = alloca(n);

	for (int i = 0; i < 100; i++) {
		__asm__ volatile("" : : "r"(local), "r"(p) : "memory");
		sink = spin(sink, 200);
	}
}

NOINLINE void realigned_calls(size_t n)
{
	char local[128] __attribute__((aligned(64)));
	char *p = alloca(n);

	while (time_is_left()) {
		__asm__ volatile("" : : "r"(local), "r"(p) : "memory");
		realigned_leaf(n);
	}
}

NOINLINE void big(void)
{
	volatile char local[1 << 20];

	local[0] = local[sizeof(local) - 1] = 1;
	while (time_is_left()) {
		work();
		local[0]++;
	}
}

NOINLINE void big_leaf(void)
{
	volatile char local[3 << 20];

	local[0] = local[sizeof(local) - 1] = 1;
	while (local[0]) {
		sink = spin(sink, 20000);
		if (!time_is_left())
			local[0] = 0;
	}
}

static jmp_buf out;

__attribute__((noreturn)) NOINLINE void never_returns(void)
{
	while (time_is_left())
		work();
	longjmp(out, 1);
}

/* The call is the last instruction: the return address is the next procedure's. */
__attribute__((noreturn, optimize("align-functions=1"))) NOINLINE void last_call(void)
{
	never_returns();
}

__attribute__((optimize("align-functions=1"))) NOINLINE void after_last_call(void)
{
	sink++;
}

NOINLINE void noreturn(void)
{
	if (setjmp(out) == 0)
		last_call();
	after_last_call();
}

NOINLINE void tail_end(void)
{
	while (time_is_left())
		work();
	sink++;
}

NOINLINE void tail_middle(void)
{
	sink += 2;
	tail_end();
}

NOINLINE void tails(void)
{
	tail_middle();
	sink++;
}

NOINLINE void usual(void)
{
	while (time_is_left())
		work();
	sink++;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"contexts", contexts}, {"low", low},		{"silent", silent},
		{"high", high},		{"cloned", cloned},	{"vforked", vforked},
		{"forked", forked},	{"jumps", jumps},	{"realigned", realigned},
		{"big", big},		{"big_leaf", big_leaf}, {"noreturn", noreturn},
		{"tails", tails},	{"usual", usual},
	};

	if (argc < 3)
		return 2;
	n_children = (int)(atof(argv[2]) * 300);
	end = cpu_seconds() + atof(argv[2]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	if (strcmp(argv[1], "variable") == 0)
		variable(1000 + (size_t)argc);
	if (strcmp(argv[1], "realigned_calls") == 0)
		realigned_calls(1000 + (size_t)argc);
	return 0;
}
