/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs code it wrote itself, and tells of it as run-times do.
 *
 * generated trampolines SECONDS: as CPython 3.12 with -X perf (docs.python.org, "Python support for
 * the Linux perf profiler"): py::outer calls the evaluator, which calls py::inner for three
 * quarters of the time and py::aside for one; /tmp/perf-PID.map has lines "START SIZE
 * py::NAME:FILE".
 *
 * generated calls SECONDS: the same, but the time is spent in what py::inner and py::aside call; on
 * x86-64 the trampolines have no frame pointer, like CPython's (Python/asm_trampoline.S).
 *
 * generated dump SECONDS: a jitdump in the working directory (Linux,
 * tools/perf/Documentation/jitdump-specification.txt).  For half of the time the procedure "before"
 * runs, then "after" at its very address. */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

/* void f(uint64_t n, void (*next)(void)): counts n down to 0 and calls NEXT;
 * with a frame pointer. */
#if defined(__x86_64__)
static const uint8_t code[] = {0x55,		 /*    push %rbp */
			       0x48, 0x89, 0xe5, /*    mov %rsp,%rbp */
			       0x48, 0xff, 0xcf, /* 0: dec %rdi */
			       0x75, 0xfb,	 /*    jne 0 */
			       0xff, 0xd6,	 /*    call *%rsi */
			       0x5d,		 /*    pop %rbp */
			       0xc3};		 /*    ret */
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
static const uint8_t code[] = {0xfd, 0x7b, 0xbf, 0xa9,	/*    stp x29, x30, [sp, #-16]! */
			       0xfd, 0x03, 0x00, 0x91,	/*    mov x29, sp */
			       0x00, 0x04, 0x00, 0xf1,	/* 0: subs x0, x0, #1 */
			       0xe1, 0xff, 0xff, 0x54,	/*    b.ne 0 */
			       0x20, 0x00, 0x3f, 0xd6,	/*    blr x1 */
			       0xfd, 0x7b, 0xc1, 0xa8,	/*    ldp x29, x30, [sp], #16 */
			       0xc0, 0x03, 0x5f, 0xd6}; /*    ret */
#define MACHINE EM_AARCH64
#endif

/* A loop that calls, without a frame pointer. */
#if defined(__x86_64__)
static const uint8_t bare[] = {0x48, 0x83, 0xec, 0x08, /*    sub $8,%rsp */
			       0x48, 0xff, 0xcf,       /* 0: dec %rdi */
			       0x75, 0xfb,	       /*    jne 0 */
			       0xff, 0xd6,	       /*    call *%rsi */
			       0x48, 0x83, 0xc4, 0x08, /*    add $8,%rsp */
			       0xc3};		       /*    ret */
#else
#define bare code
#endif

typedef void procedure(uint64_t n, void (*next)(void));

static uint8_t *page;

static void protect(int prot)
{
	if (mprotect(page, 4096, prot) < 0)
		_exit(1);
}

/* Writes a procedure at offset AT of the page. */
static procedure *make(unsigned at, const uint8_t *bytes, size_t n)
{
	protect(PROT_READ | PROT_WRITE);
	memcpy(page + at, bytes, n);
	protect(PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)page, (char *)page + 4096);
	return (procedure *)(uintptr_t)(page + at);
}

static void nothing(void)
{
}

static procedure *outer, *inner, *aside;

NOINLINE static void evaluate(void)
{
	static struct uneven three = {3}, one = {1};

	inner(uneven(&three, 3000000), nothing);
	aside(uneven(&one, 1000000), nothing);
	__asm__ volatile("");
}

static volatile uint64_t sink;

NOINLINE static void spend(void)
{
	sink = spin(sink, 1000000);
}

NOINLINE static void evaluate_calls(void)
{
	inner(1, spend);
	inner(1, spend);
	inner(1, spend);
	aside(1, spend);
	__asm__ volatile("");
}

static int trampolines(double end, bool calls)
{
	const uint8_t *bytes = calls ? bare : code;
	size_t n = calls ? sizeof(bare) : sizeof(code);
	char path[64];
	FILE *map;

	outer = make(0, bytes, n);
	inner = make(64, bytes, n);
	aside = make(128, bytes, n);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %zx py::outer:/srv/my app.py\n", (unsigned long)page, n);
	fprintf(map, "%lx %zx py::inner:/srv/my app.py\n", (unsigned long)page + 64, n);
	fprintf(map, "%lx %zx py::aside:/srv/my app.py\n", (unsigned long)page + 128, n);
	fclose(map);
	puts(path); /* for whoever cleans up */
	fflush(stdout);
	while (cpu_seconds() < end)
		outer(1, calls ? evaluate_calls : evaluate);
	return 0;
}

static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void put64(FILE *f, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static uint64_t now_ns(void)
{
	return (uint64_t)(seconds() * 1e9);
}

static FILE *start_dump(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	f = fopen(path, "w+");
	if (!f || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		_exit(1);
	put32(f, 0x4a695444); /* magic, version, size, machine, padding, pid, time, flags */
	put32(f, 1);
	put32(f, 40);
	put32(f, MACHINE);
	put32(f, 0);
	put32(f, (uint32_t)getpid());
	put64(f, now_ns());
	put64(f, 0);
	return f;
}

static procedure *load(FILE *f, const char *name)
{
	static uint64_t index;
	procedure *p = make(64, code, sizeof(code));

	put32(f,
	      0); /* JIT_CODE_LOAD: size, time, pid, tid, address twice, size, index, name, code */
	put32(f, (uint32_t)(56 + strlen(name) + 1 + sizeof(code)));
	put64(f, now_ns());
	put32(f, (uint32_t)getpid());
	put32(f, (uint32_t)getpid());
	put64(f, (uintptr_t)p);
	put64(f, (uintptr_t)p);
	put64(f, sizeof(code));
	put64(f, index++);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, sizeof(code), 1, f);
	fflush(f);
	return p;
}

static int dump(double start, double end)
{
	FILE *f = start_dump();
	procedure *p = load(f, "before");

	while (cpu_seconds() < (start + end) / 2)
		p(1000000, nothing);
	p = load(f, "after");
	while (cpu_seconds() < end)
		p(1000000, nothing);
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	double start = cpu_seconds(), end = start + (argc > 2 ? atof(argv[2]) : 1);

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || argc < 2)
		return 1;
	if (strcmp(argv[1], "dump") == 0)
		return dump(start, end);
	return trampolines(end, strcmp(argv[1], "calls") == 0);
}
