/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow of control in small procedures, assembled here, and in all those of a library. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/str.h"
#include "flow_t.h"
#include "libc_t.h"

/* Blocks by number: how each ends, where it goes; "+" before further roots. */
static void describe(const struct flow *f, struct str *ret)
{
	static const char *const ends[] = {"falls",   "jumps",	"branches", "table",
					   "unknown", "leaves", "stops",    "broken"};

	for (uint32_t b = 0; b < f->blocks.n; b++) {
		str_add(ret, b ? " " : "");
		for (size_t r = 1; r < f->roots.n; r++)
			if (f->roots.v[r] == b)
				str_add(ret, "+");
		str_add(ret, ends[f->blocks.v[b].how]);
		for (uint32_t e = f->first[b]; e < f->first[b + 1]; e++)
			str_addf(ret, "%c%u", e == f->first[b] ? ':' : ',', f->succ[e]);
	}
}

static void expect_flow(struct program *p, const char *name, const char *expected)
{
	struct str text = {0};
	struct procedure proc;
	struct flow f;

	REQUIRE(program_find(p, name, &proc));
	REQUIRE(program_follow(p, &proc, &f) == 0);
	describe(&f, &text);
	if (strcmp(str_get(&text), expected) != 0)
		t_fail_("%s: %s, expected %s", name, str_get(&text), expected);
	str_release(&text);
	flow_release(&f);
}

struct asm_case {
	const char *name, *text, *expected;
};

/* Assembles all the cases into one file with COMMAND. */
static bool assemble(struct program *p, const struct asm_case *c, size_t n, const char *command)
{
	struct str s = {0};
	bool ok;

	if (!scratch_open(""))
		return false;
	for (size_t i = 0; i < n; i++)
		str_addf(&s,
			 "	.text\n	.globl %s\n	.type %s, %%function\n%s:\n%s\n"
			 "	.size %s, . - %s\n	.p2align 4\n",
			 c[i].name, c[i].name, c[i].name, c[i].text, c[i].name, c[i].name);
	str_add(&s, "	.globl other\n	.type other, %function\nother: ret\n"
		    "	.size other, . - other\n");
	ok = scratch_write("code.s", str_get(&s));
	str_release(&s);
	ok = ok && scratch_run("%s code.s -o code.so", command);
	ok = ok && program_open(p, "code.so");
	scratch_close();
	return ok;
}

static void expect_all(struct program *p, const struct asm_case *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_flow(p, c[i].name, c[i].expected);
	program_close(p);
}

static const struct asm_case x86[] = {
	{"loop", "mov $9,%eax; 1: dec %eax; jne 1b; ret", "falls:1 branches:1,2 leaves"},
	{"again", "test %edi,%edi; jne again; ret", "branches:0,1 leaves"},
	{"tail_call", "test %edi,%edi; je 1f; jmp other; 1: ret", "branches:1,2 leaves leaves"},
	{"tail_if", "test %edi,%edi; je other; ret", "branches:1 leaves"},
	{"stops", "test %edi,%edi; je 1f; ret; 1: push %rax; call abort@plt",
	 "branches:1,2 leaves stops"},
	{"behind_stop", "call abort@plt; 1: dec %eax; jne 1b; ret", "stops +branches:1,2 leaves"},
	{"call_comes_back", "push %rax; call other; pop %rax; ret", "leaves"},
	{"call_at_the_end", "push %rax; call other", "stops"},
	{"traps", "test %edi,%edi; je 1f; ud2; 1: hlt", "branches:1,2 stops stops"},
	{"falls_out", "nop; nop", "broken"},
	{"no_instruction", "test %edi,%edi; je 1f; .byte 6; 1: ret", "branches:1,2 broken leaves"},
	/* The C library jumps over lock prefixes. */
	{"over_a_prefix", "test %edi,%edi; je 1f; lock; 1: incl (%rdi); ret",
	 "branches:1,2 falls:3 falls:3 leaves"},
	{"transaction", "xbegin 1f; xend; ret; 1: ret", "branches:1,2 leaves leaves"},
	{"padding", "jmp 1f; nopw 0(%rax,%rax,1); int3; 1: ret", "jumps:1 leaves"},
	/* gcc -O2 -fpic */
	{"table",
	 "cmp $3,%edi; ja 9f; lea 8f(%rip),%rdx; mov %edi,%edi; movslq (%rdx,%rdi,4),%rax;"
	 "add %rdx,%rax; notrack jmp *%rax; 1: mov $1,%eax; ret; 2: mov $2,%eax; ret; 9: ret\n"
	 ".section .rodata; .p2align 2; 8: .long 1b-8b,2b-8b,1b-8b,9b-8b,1b-8b; .text",
	 "branches:1,4 table:2,3,4 leaves leaves leaves"},
	/* without optimisation the index is in memory and the table's start named twice */
	{"plain_table",
	 "push %rbp; mov %rsp,%rbp; mov %edi,-4(%rbp); cmpl $1,-4(%rbp); ja 9f;"
	 "mov -4(%rbp),%eax; lea 0(,%rax,4),%rdx; lea 8f(%rip),%rax; mov (%rdx,%rax),%eax; cltq;"
	 "lea 8f(%rip),%rdx; add %rdx,%rax; notrack jmp *%rax; 1: pop %rbp; ret; 2: pop %rbp; ret;"
	 "9: pop %rbp; ret\n"
	 ".section .rodata; .p2align 2; 8: .long 1b-8b,2b-8b; .text",
	 "branches:1,4 table:2,3 leaves leaves leaves"},
	/* the table's start in a register from before the loop; the bound behind a jump */
	{"table_in_a_loop",
	 "push %rbx; push %r12; lea 8f(%rip),%rbx; mov %rdi,%r12;"
	 "0: movzbl (%r12),%eax; inc %r12; sub $97,%eax; cmp $2,%eax; jbe 1f; pop %r12; pop %rbx;"
	 "ret; 1: movslq (%rbx,%rax,4),%rax; add %rbx,%rax; jmp *%rax;"
	 "2: call other; jmp 0b; 3: call other; call other; jmp 0b; 4: inc %esi; jmp 0b\n"
	 ".section .rodata; .p2align 2; 8: .long 2b-8b,3b-8b,4b-8b,2b-8b; .text",
	 "falls:1 branches:2,3 leaves table:4,5,6 jumps:1 jumps:1 jumps:1"},
	/* an index out of a table of bytes, nothing said of how many; the next table ends it */
	{"two_tables",
	 "lea 7f(%rip),%rcx; movzbl (%rcx,%rdi),%eax; lea 8f(%rip),%rdx;"
	 "movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; 1: ret; 2: nop; ret\n"
	 ".section .rodata; 7: .byte 0,1,1,0; .p2align 2; 8: .long 1b-8b,2b-8b; .long 1; .text",
	 "table:1,2 leaves leaves"},
	/* addresses, which the loader writes */
	{"addresses",
	 "and $1,%edi; lea 8f(%rip),%rax; notrack jmp *(%rax,%rdi,8); 1: ret; 2: nop; ret\n"
	 ".section .data.rel.ro,\"aw\"; .p2align 3; 8: .quad 1b,2b,other; .text",
	 "table:1,2 leaves leaves"},
	{"table_of_procedures",
	 "cmp $1,%edi; ja 1f; mov %edi,%edi; lea 8f(%rip),%rax; jmp *(%rax,%rdi,8); 1: ret\n"
	 ".section .data.rel.ro,\"aw\"; .p2align 3; 8: .quad other,other; .text",
	 "branches:1,2 leaves leaves"},
	/* through a pointer: a tail call where the frame is gone, else nobody knows */
	{"pointer", "push %rbx; mov (%rdi),%rax; pop %rbx; jmp *%rax", "leaves"},
	{"method", "mov (%rdi),%rax; jmp *16(%rax)", "leaves"},
	{"import", "push %rbx; jmp *abort@GOTPCREL(%rip)", "leaves"},
	{"threaded", "push %rbx; mov %rdi,%rbx; jmp *(%rbx); add $8,%rbx; jmp *(%rbx)",
	 "unknown +unknown"},
};

TEST(x86_procedures_flow)
{
	struct program p;

	REQUIRE(assemble(&p, x86, n_elems(x86), "gcc -nostdlib -shared -Wl,--build-id"));
	expect_all(&p, x86, n_elems(x86));
}

static const struct asm_case arm64[] = {
	{"loop", "mov w0, 9; 1: subs w0, w0, 1; b.ne 1b; ret", "falls:1 branches:1,2 leaves"},
	{"branches", "cbz x0, 1f; tbnz w1, 3, 2f; 1: ret; 2: brk 1",
	 "branches:1,2 branches:2,3 leaves stops"},
	{"tail_call", "cbz x0, 1f; b other; 1: br x16", "branches:1,2 leaves leaves"},
	{"stops", "cbz x0, 1f; ret; 1: bl abort", "branches:1,2 leaves stops"},
	/* gcc: bytes, in words from a label */
	{"table_of_bytes",
	 "cmp w0, 2; b.hi 9f; adrp x1, 8f; add x1, x1, :lo12:8f; ldrb w1, [x1, w0, uxtw];"
	 "adr x0, 7f; add x1, x0, w1, sxtb 2; br x1; 7: mov w0, 1; ret; 6: mov w0, 2; ret;"
	 "5: mov w0, 3; ret; 9: ret\n"
	 ".section .rodata; 8: .byte 0, (6b - 7b) / 4, (5b - 7b) / 4; .text",
	 "branches:1,5 table:2,3,4 leaves leaves leaves leaves"},
	/* and shorts, backwards too */
	{"table_of_shorts",
	 "5: cmp w0, 2; b.hi 9f; adrp x1, 8f; add x1, x1, :lo12:8f; ldrh w1, [x1, w0, uxtw 1];"
	 "adr x0, 7f; add x1, x0, w1, sxth 2; br x1; 7: mov w0, 1; ret; 6: mov w0, 2; ret; 9: ret\n"
	 ".section .rodata; .p2align 1; 8: .hword 0, (6b - 7b) / 4, (5b - 7b) / 4; .text",
	 "branches:1,4 table:0,2,3 leaves leaves leaves"},
	/* clang: words, from the table */
	{"table_of_words",
	 "cmp w0, 1; b.hi 9f; mov w8, w0; adrp x9, 8f; add x9, x9, :lo12:8f;"
	 "ldrsw x10, [x9, x8, lsl 2]; add x9, x9, x10; br x9; 7: mov w0, 1; ret; 6: ret; 9: ret\n"
	 ".section .rodata; .p2align 2; 8: .word 7b - 8b, 6b - 8b; .text",
	 "branches:1,4 table:2,3 leaves leaves leaves"},
	/* -O0: the index is in memory; the bound says which ones are meant */
	{"plain_table",
	 "sub sp, sp, 16; str w0, [sp, 12]; ldr w0, [sp, 12]; subs w0, w0, 3; cmp w0, 1; b.hi 9f;"
	 "adrp x1, 8f; add x1, x1, :lo12:8f; ldrb w0, [x1, w0, uxtw]; adr x1, 7f;"
	 "add x0, x1, w0, sxtb 2; br x0; 7: add sp, sp, 16; ret; 6: add sp, sp, 16; ret;"
	 "9: add sp, sp, 16; ret\n"
	 ".section .rodata; 8: .byte 0, (6b - 7b) / 4; .text",
	 "branches:1,4 table:2,3 leaves leaves leaves"},
	{"pointer", "stp x29, x30, [sp, -16]!; ldr x1, [x0]; ldp x29, x30, [sp], 16; br x1",
	 "leaves"},
	{"threaded", "stp x29, x30, [sp, -16]!; ldr x1, [x19], 8; br x1; ldr x1, [x19]; br x1",
	 "unknown +unknown"},
};

TEST(arm64_procedures_flow)
{
	struct program p;

	if (system("command -v clang > /dev/null && command -v ld.lld > /dev/null"))
		SKIP("clang or lld is not there");
	REQUIRE(assemble(&p, arm64, n_elems(arm64),
			 "clang -target aarch64-linux-gnu -fuse-ld=lld -nostdlib -shared "
			 "-Wl,--build-id"));
	expect_all(&p, arm64, n_elems(arm64));
}

struct words {
	const uint8_t *bytes;
	uint64_t start;
	size_t n;
};

static bool read_words(void *ctx, uint64_t svma, uint8_t *ret, size_t n)
{
	const struct words *w = ctx;

	if (svma < w->start || svma - w->start + n > w->n)
		return false;
	memcpy(ret, w->bytes + (svma - w->start), n);
	return true;
}

static bool has_word(void *ctx, uint64_t svma)
{
	uint8_t byte;

	return read_words(ctx, svma, &byte, 1);
}

/* Arm without its compiler: words of the Arm Architecture Reference Manual, C6.2.  The table behind
 * them can be read or not. */
TEST(arm64_words_flow)
{
	static const uint32_t words[] = {
		0x7100081f, /* cmp w0, #2 */
		0x540000e8, /* b.hi . + 28 */
		0x10000121, /* adr x1, . + 36: the table */
		0x38604821, /* ldrb w1, [x1, w0, uxtw] */
		0x10000060, /* adr x0, . + 12 */
		0x8b218801, /* add x1, x0, w1, sxtb #2 */
		0xd61f0020, /* br x1 */
		0x17fffff9, /* b . - 28: back to the start */
		0xd503201f, /* nop */
		0xd65f03c0, /* ret */
		0xd4200020, /* brk #1 */
		0x00020100, /* the table: words 7, 8, 9; with a word that is no case */
	};
	static const char *const expected[] = {
		"branches:1,3 unknown +jumps:0 leaves +stops",
		"branches:1,3 table:2,3,4 jumps:0 falls:4 leaves +stops",
	};
	uint8_t bytes[sizeof(words)];
	struct words w = {.bytes = bytes, .start = 0x1000, .n = sizeof(bytes)};

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(words[i / 4] >> (i % 4 * 8));
	for (unsigned readable = 0; readable < 2; readable++) {
		struct flow_code code = {.machine = EM_AARCH64, .n_parts = 1, .ctx = &w};
		struct str text = {0};
		struct loops l;
		struct flow f;

		code.read = readable ? read_words : NULL;
		code.has = readable ? has_word : NULL;
		code.parts[0] = (struct flow_part){
			.start = 0x1000, .end = 0x1000 + sizeof(bytes) - 4, .bytes = bytes};
		REQUIRE(flow_init(&f, &code) == 0);
		EXPECT_EQ(f.n_unknown, !readable);
		describe(&f, &text);
		EXPECT_STR(str_get(&text), expected[readable]);
		REQUIRE(loops_init(&l, &f) == 0);
		EXPECT_EQ(l.incomplete, !readable);
		EXPECT_EQ(loops_find(&l, 0x1004), readable ? 0 : LOOP_NONE);
		EXPECT_EQ(loops_find(&l, 0x101c), readable ? 0 : LOOP_NONE);
		EXPECT_EQ(loops_find(&l, 0x1020), LOOP_NONE);
		EXPECT_EQ(loops_find(&l, 0xfff), LOOP_NONE);
		EXPECT_EQ(loops_find(&l, 0x9000), LOOP_NONE);
		if (readable)
			EXPECT_EQ(l.v.v[0].header, 0x1000);
		loops_release(&l);
		flow_release(&f);
		str_release(&text);
	}
}

TEST(what_cannot_be_followed_is_refused)
{
	uint8_t byte = 0xc3;
	struct flow_code code = {.machine = EM_S390, .n_parts = 1};
	struct flow f;

	code.parts[0] = (struct flow_part){.start = 0, .end = 1, .bytes = &byte};
	EXPECT_EQ(flow_init(&f, &code), -ENOTSUP);
	code.machine = EM_X86_64;
	code.parts[0].end = 0;
	EXPECT_EQ(flow_init(&f, &code), -EINVAL);
	code.parts[0].end = FLOW_MAX_BYTES + 1;
	EXPECT_EQ(flow_init(&f, &code), -E2BIG);
	EXPECT_EQ(f.blocks.n, 0);
	code.n_parts = 0;
	EXPECT_EQ(flow_init(&f, &code), -EINVAL);
}

/* 10^5 blocks, each of which jumps back to the start: one loop; or anywhere: loops that have many
 * ways in, too tangled to be told. */
TEST(a_hundred_thousand_blocks)
{
	enum { N = 100000, BYTES = 6 };
	uint8_t *code_bytes = malloc(N * BYTES + 1);
	struct flow_code code = {.machine = EM_X86_64, .n_parts = 1};
	uint64_t random = 1;

	REQUIRE(code_bytes);
	for (unsigned anywhere = 0; anywhere < 2; anywhere++) {
		struct loops l;
		struct flow f;

		for (uint32_t i = 0; i < N; i++) {
			uint32_t to = 0, off;

			random = random * 6364136223846793005u + 1442695040888963407u;
			if (anywhere)
				to = (uint32_t)(random >> 33) % N;
			off = (to - i - 1) * BYTES; /* jne */
			memcpy(code_bytes + i * BYTES, (uint8_t[]){0x0f, 0x85}, 2);
			memcpy(code_bytes + i * BYTES + 2, &off, 4);
		}
		code_bytes[N * BYTES] = 0xc3;
		code.parts[0] = (struct flow_part){
			.start = 0x1000, .end = 0x1000 + N * BYTES + 1, .bytes = code_bytes};
		REQUIRE(flow_init(&f, &code) == 0);
		EXPECT_EQ(f.blocks.n, N + 1);
		EXPECT_EQ(f.n_unknown, 0);
		EXPECT_EQ(loops_init(&l, &f), anywhere ? -E2BIG : 0);
		EXPECT_EQ(l.v.n, anywhere ? 0 : 1);
		if (!anywhere)
			EXPECT_EQ(loops_find(&l, 0x1000), 0);
		loops_release(&l);
		flow_release(&f);
	}
	free(code_bytes);
}

/* Two parts: the second begins where the first's jump leads, and jumps back. */
TEST(parts_flow_into_each_other)
{
	static const uint8_t hot[] = {0xff, 0xcf,			  /* dec %edi */
				      0x0f, 0x84, 0xf8, 0x0f, 0x00, 0x00, /* je 2000 */
				      0xeb, 0xf6,			  /* jmp 1000 */
				      0xc3};
	static const uint8_t cold[] = {0x90, 0xe9, 0xfa, 0xef, 0xff, 0xff}; /* nop; jmp 1000 */
	struct flow_code code = {.machine = EM_X86_64, .n_parts = 1};
	struct str text = {0};
	struct loops l;
	struct flow f;

	code.parts[0] =
		(struct flow_part){.start = 0x1000, .end = 0x1000 + sizeof(hot), .bytes = hot};
	code.parts[1] =
		(struct flow_part){.start = 0x2000, .end = 0x2000 + sizeof(cold), .bytes = cold};
	REQUIRE(flow_init(&f, &code) == 0);
	EXPECT_EQ(f.exits.n, 1);
	EXPECT_EQ(f.exits.v[0], 0x2000);
	flow_release(&f);
	code.n_parts = 2;
	REQUIRE(flow_init(&f, &code) == 0);
	describe(&f, &text);
	EXPECT_STR(str_get(&text), "branches:1,3 jumps:0 +leaves jumps:0");
	EXPECT_EQ(f.exits.n, 0);
	REQUIRE(loops_init(&l, &f) == 0);
	EXPECT_EQ(loops_find(&l, 0x2003), 0);
	EXPECT_EQ(loops_find(&l, 0x100a), LOOP_NONE);
	EXPECT_EQ(loops_find(&l, 0x1500), LOOP_NONE);
	loops_release(&l);
	flow_release(&f);
	str_release(&text);
}

/* An interpreter whose cases each end in the jump to the next is one loop. */
TEST(jumps_through_one_table_are_one_loop)
{
	static const struct asm_case c = {
		"interpreter",
		"push %rbx; lea 8f(%rip),%rbx; movzbl (%rdi),%eax; and $3,%eax; jmp *(%rbx,%rax,8);"
		"1: inc %rdi; movzbl (%rdi),%eax; and $3,%eax; jmp *(%rbx,%rax,8);"
		"2: inc %rdi; 7: dec %esi; jne 7b; movzbl (%rdi),%eax; and $3,%eax;"
		"jmp *(%rbx,%rax,8);"
		"3: add $2,%rdi; movzbl (%rdi),%eax; and $3,%eax; jmp *(%rbx,%rax,8);"
		"4: pop %rbx; ret\n"
		".section .data.rel.ro,\"aw\"; .p2align 3; 8: .quad 1b,2b,3b,4b; .text",
		NULL};
	struct procedure proc;
	struct program p;
	struct loops l;
	struct flow f;

	REQUIRE(assemble(&p, &c, 1, "gcc -nostdlib -shared -Wl,--build-id"));
	REQUIRE(program_find(&p, "interpreter", &proc));
	REQUIRE(program_follow(&p, &proc, &f) == 0);
	EXPECT_EQ(f.n_tables, 4);
	REQUIRE(loops_init(&l, &f) == 0);
	REQUIRE(l.v.n == 2);
	EXPECT(!l.v.v[0].irreducible && !l.v.v[1].irreducible);
	EXPECT_EQ(l.v.v[1].parent, 0);
	EXPECT_EQ(loops_find(&l, proc.start), LOOP_NONE);
	EXPECT_EQ(loops_find(&l, l.v.v[0].header), 0);
	EXPECT_EQ(loops_find(&l, proc.end - 1), LOOP_NONE);
	loops_release(&l);
	flow_release(&f);
	program_close(&p);
}

/* Follows every procedure of the file PATH: blocks lie in the procedure and cover what was decoded,
 * edges lead to starts of blocks, nearly all jumps through tables are understood. */
static void check_library(const char *path)
{
	size_t n_tables = 0, n_unknown = 0, n_loops = 0, n_procedures = 0;
	struct program p;

	REQUIRE(program_open(&p, path));
	for (uint32_t i = 0; i < p.st->n; i++) {
		struct procedure proc = symtab_get(p.st, i);
		struct loops l;
		struct flow f;

		if (proc.flags & (PROC_ALIAS | PROC_PLT))
			continue;
		REQUIRE(program_follow(&p, &proc, &f) == 0);
		REQUIRE(loops_init(&l, &f) == 0);
		EXPECT(f.roots.n >= 1 && f.blocks.v[f.roots.v[0]].start == proc.start);
		vec_each (b, &f.blocks) {
			EXPECT(proc.start <= b->start && b->start <= b->last && b->last < b->end &&
			       b->end <= proc.end);
			EXPECT(b == f.blocks.v || b[-1].start < b->start);
			EXPECT((b->how == FLOW_TABLE) == (b->table != 0));
		}
		for (uint32_t e = 0; e < f.first[f.blocks.n]; e++)
			EXPECT(f.succ[e] < f.blocks.n);
		vec_each (loop, &l.v)
			EXPECT_EQ(loops_find(&l, loop->header), (uint32_t)(loop - l.v.v));
		n_tables += f.n_tables;
		n_unknown += f.n_unknown;
		n_loops += l.v.n;
		n_procedures++;
		loops_release(&l);
		flow_release(&f);
		if (t_failed > 20)
			break;
	}
	printf("# %s: %zu procedures, %zu loops, jumps through %zu tables, %zu unknown\n", path,
	       n_procedures, n_loops, n_tables, n_unknown);
	EXPECT(n_procedures > 1000 && n_loops > 1000);
	EXPECT(n_unknown * 10 < n_tables);
	program_close(&p);
}

TEST(a_whole_library_flows)
{
#ifndef __x86_64__
	SKIP("no x86 library here");
#endif
	check_library(libc_path());
}

TEST(a_whole_arm64_library_flows)
{
	const char *path = "/usr/aarch64-linux-gnu/lib/libc.so.6";

	if (access(path, R_OK) < 0)
		SKIP("no arm64 library here");
	check_library(path);
}

TEST(names_that_never_return)
{
	static const char *const yes[] = {
		"abort",
		"abort@plt",
		"exit@GLIBC_2.2.5",
		"__GI_abort",
		"__cxa_throw",
		"_ZSt20__throw_length_errorPKc",
		"_ZN4core9panicking5panic17h0123456789abcdefE",
		"_RNvNtCs1234_4core9panicking5panic",
		"_ZN5alloc5alloc18handle_alloc_error17h0123456789abcdefE",
		"runtime.panicIndex",
		"verrx",
		"_Exit",
		"__longjmp_chk",
		"____longjmp_chk",
		"__libc_longjmp",
	};
	static const char *const no[] = {
		"",
		"aborted",
		"exits",
		"_ZSt4sortv",
		"_ZN4core3fmt5write17h0123456789abcdefE",
		"runtime.x",
		"error",
		"main",
		"_ZdlPv",
	};

	for (size_t i = 0; i < n_elems(yes); i++)
		if (!noreturn_is(yes[i]))
			t_fail_("%s returns", yes[i]);
	for (size_t i = 0; i < n_elems(no); i++)
		if (noreturn_is(no[i]))
			t_fail_("%s never returns", no[i]);
}
