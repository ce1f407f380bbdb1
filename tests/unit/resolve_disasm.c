/* SPDX-License-Identifier: BSD-2-Clause */
/* The disassembler against objdump over a whole library, and its own additions on written bytes.
 *
 * How the comparison is normalised: from objdump's line the address and the text are taken, from
 * both texts ` <name+off>` is removed (the two know different names) and blanks at the end. Nothing
 * else is changed: operands, size letters and padding prefixes have to agree. */
#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"
#include "resolve/disasm.h"
#include "libc_t.h"
#include "t.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

/* Finds section .text of a 64-bit ELF file made by the system's own linker. */
static bool find_text(const struct file_map *m, Elf64_Shdr *ret)
{
	Elf64_Ehdr eh;
	Elf64_Shdr names;

	memcpy(&eh, m->bytes, sizeof(eh));
	memcpy(&names, m->bytes + eh.e_shoff + eh.e_shstrndx * sizeof(names), sizeof(names));
	for (unsigned i = 0; i < eh.e_shnum; i++) {
		memcpy(ret, m->bytes + eh.e_shoff + i * sizeof(*ret), sizeof(*ret));
		if (!strcmp((const char *)m->bytes + names.sh_offset + ret->sh_name, ".text"))
			return true;
	}
	return false;
}

/* Removes every ` <...>` and the blanks at the end. */
static void normalise(char *s)
{
	char *out = s;

	for (char *p = s; *p && *p != '\n'; p++) {
		if (p[0] == ' ' && p[1] == '<') {
			p = strchrnul(p, '>');
			if (!*p)
				break;
			continue;
		}
		*out++ = *p;
	}
	while (out > s && out[-1] == ' ')
		out--;
	*out = '\0';
}

TEST(a_whole_library_reads_as_objdump_reads_it)
{
	struct disasm_opts opts = {.machine = EM_X86_64};
	struct disasm *d = disasm_new(&opts, NULL);
	struct disasm_insn insn;
	struct file_map m;
	Elf64_Shdr text;
	char cmd[512], line[1024], ours[1024];
	unsigned long n = 0, n_boundary = 0, n_differ = 0;
	FILE *objdump;

#ifndef __x86_64__
	SKIP("no x86 library here");
#endif
	REQUIRE(d && file_map_open(&m, AT_FDCWD, libc_path(), false, NULL) == 0);
	REQUIRE(find_text(&m, &text));
	snprintf(cmd, sizeof(cmd), "objdump -d -j .text --no-show-raw-insn %s", libc_path());
	objdump = popen(cmd, "r");
	REQUIRE(objdump);
	disasm_begin(d, m.bytes + text.sh_offset, text.sh_size, text.sh_addr);
	REQUIRE(disasm_next(d, &insn));
	while (fgets(line, sizeof(line), objdump)) {
		char *tab = strstr(line, ":\t");
		uint64_t svma;

		if (line[0] != ' ' || !tab)
			continue;
		svma = strtoull(line, NULL, 16);
		n++;
		while (insn.svma < svma && disasm_next(d, &insn))
			;
		if (insn.svma != svma) {
			n_boundary++;
			continue;
		}
		normalise(tab + 2);
		snprintf(ours, sizeof(ours), "%s", insn.text);
		normalise(ours);
		if (strcmp(ours, tab + 2) != 0 && n_differ++ < 5)
			printf("# %s %" PRIx64 ": \"%s\", objdump \"%s\"\n", libc_path(), svma,
			       ours, tab + 2);
	}
	EXPECT_EQ(pclose(objdump), 0);
	EXPECT(n > 100000);
	printf("# %lu instructions, %lu other boundaries, %lu other texts\n", n, n_boundary,
	       n_differ);
	EXPECT((n_boundary + n_differ) * 1000 < n);
	file_map_close(&m);
	disasm_free(d);
}

static const char *one_name(void *ctx, uint64_t svma, uint64_t *ret_offset)
{
	if (svma < 0x1000 || svma >= 0x1100)
		return NULL;
	*ret_offset = svma - 0x1000;
	return "main";
}

struct expected {
	const char *text;
	enum disasm_kind kind;
	uint64_t target; /* 0: none */
};

static void expect_all(struct disasm_opts opts, const void *bytes, size_t n_bytes, uint64_t svma,
		       const struct expected *e, size_t n)
{
	struct disasm *d = disasm_new(&opts, NULL);
	struct disasm_insn insn;
	uint64_t next = svma;
	size_t i = 0;

	REQUIRE(d);
	disasm_begin(d, bytes, n_bytes, svma);
	for (; disasm_next(d, &insn); i++) {
		REQUIRE(i < n);
		EXPECT_STR(insn.text, e[i].text);
		EXPECT_EQ(insn.kind, e[i].kind);
		EXPECT_EQ(insn.has_target, e[i].target != 0);
		if (insn.has_target)
			EXPECT_EQ(insn.target, e[i].target);
		EXPECT_EQ(insn.svma, next);
		next += insn.n_bytes;
	}
	EXPECT_EQ(i, n);
	EXPECT_EQ(next, svma + n_bytes);
	disasm_free(d);
}

static const uint8_t x86_code[] = {
	0x75, 0x27,				  /* jne 1029 */
	0xe8, 0xf9, 0xff, 0xff, 0xff,		  /* call 1000 */
	0xe9, 0xf4, 0x0f, 0x00, 0x00,		  /* jmp 2000 */
	0x48, 0x8d, 0x05, 0x01, 0x00, 0x00, 0x00, /* lea 0x1(%rip),%rax */
	0xff, 0x24, 0xc5, 0x00, 0x20, 0x00, 0x00, /* jmp *0x2000(,%rax,8) */
	0xff, 0xd0,				  /* call *%rax */
	0x06,					  /* no instruction in 64-bit mode */
	0xc3,					  /* ret */
	0x0f,					  /* cut short */
};

TEST(x86_names_targets_and_bad_bytes)
{
	static const struct expected att[] = {
		{"jne    1029 <main+0x29>", DISASM_COND_JUMP, 0x1029},
		{"call   1000 <main>", DISASM_CALL, 0x1000},
		{"jmp    2000", DISASM_JUMP, 0x2000},
		{"lea    0x1(%rip),%rax        # 1014 <main+0x14>", DISASM_OTHER, 0},
		{"jmp    *0x2000(,%rax,8)", DISASM_JUMP, 0},
		{"call   *%rax", DISASM_CALL, 0},
		{"(bad)", DISASM_OTHER, 0},
		{"ret", DISASM_RETURN, 0},
		{"(bad)", DISASM_OTHER, 0},
	};
	static const struct expected intel[] = {
		{"jnz    1029 <main+0x29>", DISASM_COND_JUMP, 0x1029},
		{"call   1000 <main>", DISASM_CALL, 0x1000},
		{"jmp    2000", DISASM_JUMP, 0x2000},
		{"lea    rax, [rip+0x1]        # 1014 <main+0x14>", DISASM_OTHER, 0},
		{"jmp    [rax*8+0x2000]", DISASM_JUMP, 0},
		{"call   rax", DISASM_CALL, 0},
		{"(bad)", DISASM_OTHER, 0},
		{"ret", DISASM_RETURN, 0},
		{"(bad)", DISASM_OTHER, 0},
	};
	struct disasm_opts opts = {.machine = EM_X86_64, .name = one_name};

	expect_all(opts, x86_code, sizeof(x86_code), 0x1000, att, n_elems(att));
	opts.intel = true;
	expect_all(opts, x86_code, sizeof(x86_code), 0x1000, intel, n_elems(intel));
}

/* Where instructions begin is the same without the rest: of the code above, and of any bytes. */
TEST(x86_lengths_alone)
{
	struct disasm_opts opts = {.machine = EM_X86_64};
	struct disasm *whole = disasm_new(&opts, NULL), *d = disasm_new(&opts, NULL);
	struct disasm_insn a, b;
	uint8_t bytes[65536];
	uint64_t x = 1;

	REQUIRE(whole && d);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		bytes[i] = i < sizeof(x86_code) ? x86_code[i] : (uint8_t)(x >> 56);
	}
	disasm_begin(whole, bytes, sizeof(bytes), 0x1000);
	disasm_begin_lengths(d, bytes, sizeof(bytes), 0x1000);
	while (disasm_next(whole, &a)) {
		REQUIRE(disasm_next(d, &b));
		EXPECT_EQ(b.svma, a.svma);
		EXPECT_EQ(b.n_bytes, a.n_bytes);
		EXPECT_EQ(b.bad, a.bad);
	}
	EXPECT(!disasm_next(d, &b));
	disasm_free(whole);
	disasm_free(d);
}

TEST(x86_targets_inside_a_range)
{
	static const uint8_t code[] = {
		0x75, 0x03,		      /* jne 1005 */
		0xeb, 0x01,		      /* jmp 1005 */
		0x90,			      /* nop */
		0xe8, 0xf6, 0xff, 0xff, 0xff, /* call 1000: no jump */
		0x74, 0xf8,		      /* je 1004 */
		0x74, 0x70,		      /* je outside */
	};
	struct disasm_opts opts = {.machine = EM_X86_64};
	struct disasm *d = disasm_new(&opts, NULL);
	uint64_t *targets = NULL;

	REQUIRE(d);
	REQUIRE(disasm_targets(d, code, sizeof(code), 0x1000, &targets) == 2);
	EXPECT_EQ(targets[0], 0x1004);
	EXPECT_EQ(targets[1], 0x1005);
	free(targets);
	disasm_free(d);
}

/* Words as the Arm Architecture Reference Manual encodes them (C6.2). */
static const uint32_t arm64_code[] = {
	0xd503233f, /* paciasp */
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0x90000000, /* adrp x0, . */
	0x94000003, /* bl . + 12 */
	0x54000061, /* b.ne . + 12 */
	0xb4000040, /* cbz x0, . + 8 */
	0x37000020, /* tbnz w0, #0, . + 4 */
	0x58000040, /* ldr x0, . + 8 */
	0xd63f0020, /* blr x1 */
	0xd61f0220, /* br x17 */
	0x17ffffff, /* b . - 4 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0x00000000, /* no instruction that Capstone knows */
	0xd65f03c0, /* ret */
};

TEST(arm64_names_targets_and_bad_words)
{
	static const struct expected e[] = {
		{"paciasp", DISASM_OTHER, 0},
		{"stp    x29, x30, [sp, #-0x10]!", DISASM_OTHER, 0},
		{"mov    x29, sp", DISASM_OTHER, 0},
		{"adrp   x0, 1000 <main>", DISASM_OTHER, 0},
		{"bl     101c <main+0x1c>", DISASM_CALL, 0x101c},
		{"b.ne   1020 <main+0x20>", DISASM_COND_JUMP, 0x1020},
		{"cbz    x0, 1020 <main+0x20>", DISASM_COND_JUMP, 0x1020},
		{"tbnz   w0, #0, 1020 <main+0x20>", DISASM_COND_JUMP, 0x1020},
		{"ldr    x0, 1028 <main+0x28>", DISASM_OTHER, 0},
		{"blr    x1", DISASM_CALL, 0},
		{"br     x17", DISASM_JUMP, 0},
		{"b      1028 <main+0x28>", DISASM_JUMP, 0x1028},
		{"ldp    x29, x30, [sp], #0x10", DISASM_OTHER, 0},
		{".inst  0x00000000", DISASM_OTHER, 0},
		{"ret", DISASM_RETURN, 0},
	};
	uint8_t bytes[sizeof(arm64_code)];
	struct disasm_opts opts = {.machine = EM_AARCH64, .name = one_name};

	for (size_t i = 0; i < n_elems(arm64_code); i++)
		for (unsigned k = 0; k < 4; k++)
			bytes[i * 4 + k] = (uint8_t)(arm64_code[i] >> (8 * k));
	expect_all(opts, bytes, sizeof(bytes), 0x1000, e, n_elems(e));
}

TEST(another_machine_is_refused_by_number)
{
	struct disasm_opts opts = {.machine = EM_S390};
	struct err err;

	EXPECT(!disasm_new(&opts, &err));
	EXPECT(strstr(err.msg, "22"));
}
