/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames read off the code, beside what call frame information says of the same code. */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "resolve/code_frames.h"
#include "resolve/elf_unwind.h"
#include "t.h"

struct judge {
	const struct unwind_table *t;
	const char *path;
	uint64_t off, svma; /* of the stretch */
	uint64_t last;
	struct unwind_rule rule;
	uint64_t n_same, n_different, n_apart; /* bytes; n_apart: in other registers */
};

/* A register can be in two places: it is saved before it is changed, and where it was saved it also
 * is when the stack pointer has left that behind. */
static bool is_different(const struct unwind_rule *rule, int read, int told)
{
	if (read == UNWIND_SAME)
		return told != UNWIND_SAME && told * 8 >= -rule->cfa_off;
	return read != told && read != UNWIND_LOST && told != UNWIND_SAME;
}

static void judge_row(struct judge *j, const struct unwind_rule *told, uint64_t n)
{
	const struct unwind_rule *read = &j->rule;

	if (told->cfa != read->cfa || told->by_fp) {
		j->n_apart += n;
	} else if (told->cfa_off != read->cfa_off || told->ra != read->ra ||
		   is_different(read, read->fp_at, told->fp_at) ||
		   is_different(read, read->bx_at, told->bx_at)) {
		if (j->n_different < 100)
			printf("# %s: at %#llx read cfa %u %d fp %d bx %d, told cfa %u %d ra %u fp "
			       "%d bx %d\n",
			       j->path, (unsigned long long)(j->svma + (j->last - j->off)),
			       read->cfa, read->cfa_off, read->fp_at, read->bx_at, told->cfa,
			       told->cfa_off, told->ra, told->fp_at, told->bx_at);
		j->n_different += n;
	} else {
		j->n_same += n;
	}
}

static void take_rule(void *owner, uint64_t svma, const struct unwind_rule *rule)
{
	struct judge *j = owner;
	const uint64_t off = j->off + (svma - j->svma);
	const struct unwind_rule *told = unwind_table_find(j->t, j->last);

	EXPECT(off >= j->last);
	if (j->rule.cfa != UNWIND_CFA_NONE && told->cfa != UNWIND_CFA_NONE)
		judge_row(j, told, off - j->last);
	j->last = off;
	j->rule = *rule;
}

/* The code from a function on, up to STRETCH bytes of it: what follows is as real. */
#define STRETCH 4096

static void judge_function(struct judge *j, const struct elf_file *f, uint64_t svma)
{
	struct code_frames none = {.has_entries = true};

	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];
		const uint64_t at = svma - s->svma;
		const uint64_t n =
			at < s->filesz && s->filesz - at < STRETCH ? s->filesz - at : STRETCH;
		_mem_ uint8_t *code = NULL;

		if (s->type != PT_LOAD || !(s->flags & PF_X) || at >= s->filesz)
			continue;
		code = elf_file_load(f, s->off + at, n);
		EXPECT(code);
		if (!code)
			return;
		j->off = j->last = s->off + at;
		if (unwind_table_find(j->t, j->off)->cfa_off != 8) /* a part split off */
			return;
		j->svma = svma;
		j->rule = (struct unwind_rule){0};
		code_frames_find(code, (size_t)n, svma, &none, take_rule, j);
	}
}

/* The address of the function that an FDE at BYTES, SVMA in memory, speaks of: compilers write
 * pointers relative to where they are (LSB 5.0, 10.6.1: DW_EH_PE_pcrel, sdata4). */
static uint64_t function_of(const uint8_t *bytes, uint64_t svma)
{
	int32_t rel;

	memcpy(&rel, bytes, sizeof(rel));
	return svma + (uint64_t)(int64_t)rel;
}

/* Each function of the file at PATH, if that is there. */
static void judge_file(const char *path, int *ret_n)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct elf_section *s;
	_mem_ uint8_t *bytes = NULL;
	struct judge j = {.path = path};
	struct unwind_table t;
	struct elf_file f;
	struct err err;

	if (fd < 0)
		return;
	REQUIRE(elf_unwind_load(fd, &t, &err) == 0 && elf_file_open(&f, fd, &err) == 0 &&
		elf_file_read_sections(&f, &err) == 0);
	j.t = &t;
	s = elf_file_find_section(&f, ".eh_frame");
	bytes = s ? elf_file_load_section(&f, s) : NULL;
	REQUIRE(bytes);
	for (uint64_t at = 0; at + 16 <= s->size;) {
		uint32_t n_bytes, cie;

		memcpy(&n_bytes, bytes + at, 4);
		memcpy(&cie, bytes + at + 4, 4);
		if (n_bytes > s->size - at - 4)
			break;
		if (cie)
			judge_function(&j, &f, function_of(bytes + at + 8, s->svma + at + 8));
		at += 4 + n_bytes;
	}
	printf("# %s: of %llu bytes %llu the same, %llu by another register, %llu different\n",
	       path, (unsigned long long)t.n_text_bytes, (unsigned long long)j.n_same,
	       (unsigned long long)j.n_apart, (unsigned long long)j.n_different);
	/* Some assembler code of OpenSSL and of glibc (its mpn) is told wrongly. */
	EXPECT(j.n_different * 1000 <= j.n_same);
	EXPECT((j.n_same + j.n_apart) * 8 > t.n_text_bytes);
	elf_file_close(&f);
	unwind_table_release(&t);
	++*ret_n;
}

TEST(code_says_what_its_frame_information_says)
{
	char self[64];
	int n = 0;

	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	judge_file(self, &n);
	judge_file("/usr/lib/x86_64-linux-gnu/libc.so.6", &n);
	if (!t_quick())
		judge_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", &n);
	judge_file("/bin/bash", &n);
#ifdef __x86_64__
	EXPECT(n >= 2);
#endif
}

#define SVMA	  0x401000
#define CODE(...) ((const uint8_t[]){__VA_ARGS__})

struct row {
	uint64_t off;
	struct unwind_rule rule;
};

struct found {
	size_t n;
	struct row rows[64];
};

static void keep_rule(void *owner, uint64_t svma, const struct unwind_rule *rule)
{
	struct found *f = owner;

	if (f->n < 64)
		f->rows[f->n++] = (struct row){svma - SVMA, *rule};
}

/* The rule that holds at OFF. */
static struct unwind_rule rule_at(const struct found *f, uint64_t off)
{
	struct unwind_rule ret = {0};

	for (size_t i = 0; i < f->n && f->rows[i].off <= off; i++)
		ret = f->rows[i].rule;
	return ret;
}

static struct found find(const uint8_t *code, size_t n, const code_entries *told)
{
	struct code_frames c = {.has_entries = true};
	struct found f = {0};

	if (told)
		c.entries = *told;
	code_frames_find(code, n, SVMA, &c, keep_rule, &f);
	return f;
}

static void expect_rule(const struct found *f, uint64_t off, int cfa, int cfa_off, int fp_at,
			int bx_at)
{
	const struct unwind_rule r = rule_at(f, off);

	EXPECT_EQ(r.cfa, cfa);
	EXPECT_EQ(r.cfa_off, cfa_off);
	EXPECT_EQ(r.fp_at, fp_at);
	EXPECT_EQ(r.bx_at, bx_at);
}

TEST(registers_saved_above_an_aligned_stack)
{
	const uint8_t *code = CODE(0x53,			 /* 0: push %rbx */
				   0x55,			 /* 1: push %rbp */
				   0x48, 0x89, 0xe5,		 /* 2: mov %rsp, %rbp */
				   0x48, 0x83, 0xe4, 0xc0,	 /* 5: and $-64, %rsp */
				   0x31, 0xdb,			 /* 9: xor %ebx, %ebx */
				   0x48, 0xff, 0xcf, 0x75, 0xfb, /* 11: dec %rdi; jnz 11 */
				   0xc9,			 /* 16: leave */
				   0x5b,			 /* 17: pop %rbx */
				   0xc3, 0x90);			 /* 18: ret; nop */
	struct found f = find(code, 20, NULL);

	expect_rule(&f, 0, UNWIND_CFA_SP, 8, UNWIND_SAME, UNWIND_SAME);
	expect_rule(&f, 1, UNWIND_CFA_SP, 16, UNWIND_SAME, -2);
	expect_rule(&f, 2, UNWIND_CFA_SP, 24, -3, -2);
	expect_rule(&f, 9, UNWIND_CFA_FP, 24, -3, -2);
	expect_rule(&f, 16, UNWIND_CFA_FP, 24, -3, -2);
	expect_rule(&f, 17, UNWIND_CFA_SP, 16, UNWIND_SAME, -2);
	expect_rule(&f, 18, UNWIND_CFA_SP, 8, UNWIND_SAME, UNWIND_SAME);
	expect_rule(&f, 19, UNWIND_CFA_NONE, 0, 0, 0);
}

TEST(a_copy_of_the_stack_pointer)
{
	/* mov %rsp, %r11; sub $16, %rsp; mov %rbx, 8(%rsp); and $-32, %rsp; ... */
	const uint8_t *code =
		CODE(0x49, 0x89, 0xe3, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x5c, 0x24, 0x08, 0x31,
		     0xdb, 0x49, 0x8b, 0x5b, 0xf8, 0x4c, 0x89, 0xdc, 0xc3);
	struct found f = find(code, 22, NULL);

	expect_rule(&f, 7, UNWIND_CFA_SP, 24, UNWIND_SAME, UNWIND_SAME);
	expect_rule(&f, 12, UNWIND_CFA_SP, 24, UNWIND_SAME, -2);
	expect_rule(&f, 18, UNWIND_CFA_SP, 24, UNWIND_SAME, UNWIND_SAME);
	expect_rule(&f, 21, UNWIND_CFA_SP, 8, UNWIND_SAME, UNWIND_SAME);
}

TEST(nothing_is_said_of_what_does_not_fit)
{
	/* A return with 8 bytes left; rbx that is not given back; the return address popped. */
	EXPECT_EQ(find(CODE(0x50, 0xc3), 2, NULL).n, 0);
	EXPECT_EQ(find(CODE(0x31, 0xdb, 0xc3), 3, NULL).n, 0);
	EXPECT_EQ(find(CODE(0x5f, 0x57, 0xc3), 3, NULL).n, 0);
	/* push %rbp; jmp *%rax; a branch into the middle of an instruction; code that ends. */
	EXPECT_EQ(find(CODE(0x55, 0xff, 0xe0, 0x5d, 0xc3), 5, NULL).n, 0);
	EXPECT_EQ(find(CODE(0x74, 0x01, 0xb8, 0, 0, 0, 0, 0xc3), 8, NULL).n, 0);
	EXPECT_EQ(find(CODE(0x48, 0x83, 0xec), 3, NULL).n, 0);
	EXPECT_EQ(find(CODE(0x90), 0, NULL).n, 0);
}

/* A walk knows a signal's trampoline where no rule holds, and one byte before it. */
TEST(trampolines_stay_without_rules)
{
	const uint8_t *code = CODE(0x55, 0x5d, 0xc3, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xc3, 0x90);
	struct found f = find(code, 12, NULL);

	expect_rule(&f, 1, UNWIND_CFA_SP, 16, -2, UNWIND_SAME);
	for (uint64_t off = 2; off < 12; off++)
		expect_rule(&f, off, UNWIND_CFA_NONE, 0, 0, 0);
}

TEST(the_next_function)
{
	/* One that is not understood, one that a symbol tells of, one that follows it. */
	const uint8_t *code = CODE(0x50, 0xc3, 0x90, 0x90, 0x53, 0x5b, 0xc3, 0x0f, 0x1f, 0x40, 0x00,
				   0x55, 0x5d, 0xc3);
	code_entries told = {0};
	struct found f;

	EXPECT_EQ(find(code, 14, NULL).n, 0);
	vec_push(&told, SVMA - 8);
	vec_push(&told, SVMA + 4);
	vec_push(&told, SVMA + 100);
	f = find(code, 14, &told);
	expect_rule(&f, 0, UNWIND_CFA_NONE, 0, 0, 0);
	expect_rule(&f, 5, UNWIND_CFA_SP, 16, UNWIND_SAME, -2);
	expect_rule(&f, 8, UNWIND_CFA_NONE, 0, 0, 0);
	expect_rule(&f, 12, UNWIND_CFA_SP, 16, -2, UNWIND_SAME);
	vec_release(&told);
}
