/* SPDX-License-Identifier: BSD-2-Clause */
/* Where frame information is found in ELF files: with and without sections, in the vdso; and
 * AArch64's signed return addresses, as clang describes them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/rd.h"
#include "resolve/elf_file.h"
#include "resolve/elf_unwind.h"
#include "scratch_t.h"
#include "t.h"
#include "unwind_t.h"

static const char source[] =
	"extern void take(void *); extern int more(int);\n"
	"int leaf(int a) { return a * 3 + 1; }\n"
	"int plain(int a, int b) { int x[9]; take(x); if (x[0]) return more(a) + x[a];\n"
	"	return more(b) * 2; }\n"
	"int grown(int n) { char *p = __builtin_alloca(n); take(p); return p[n - 1]; }\n"
	"#ifdef MAIN\n"
	"int main(int argc, char **argv) { return plain(argc, 1) + grown(3); }\n"
	"void take(void *p) {} int more(int a) { return a; }\n"
	"#endif\n";

static char *load_file(const char *name, size_t *ret_n)
{
	char *bytes = NULL;

	file_load(scratch_path(name), 64 << 20, &bytes, ret_n, NULL);
	return bytes;
}

static bool is_same(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->first_off == b->first_off && a->n_blocks == b->n_blocks &&
	       a->n_rows == b->n_rows && a->n_rules == b->n_rules &&
	       memcmp(a->blocks, b->blocks, (a->n_blocks + 1) * sizeof(*a->blocks)) == 0 &&
	       memcmp(a->rows, b->rows, a->n_rows * sizeof(*a->rows)) == 0 &&
	       memcmp(a->rules, b->rules, a->n_rules * sizeof(*a->rules)) == 0;
}

/* Whether A and B say the same where both say something, which is most of the code.  How much is
 * read off code without frame information depends on sections and symbols. */
static bool agree(const struct unwind_table *a, const struct unwind_table *b)
{
	const uint64_t end = a->first_off + (uint64_t)a->n_blocks * UNWIND_BLOCK;
	uint64_t n_both = 0;

	for (uint64_t off = a->first_off; off < end; off++) {
		const struct unwind_rule *x = unwind_table_find(a, off),
					 *y = unwind_table_find(b, off);

		if (x->cfa == UNWIND_CFA_NONE || y->cfa == UNWIND_CFA_NONE)
			continue;
		n_both++;
		if (memcmp(x, y, sizeof(*x)) != 0)
			return false;
	}
	return a->n_fdes == b->n_fdes && n_both * 10 > a->n_text_bytes * 9;
}

TEST(with_sections_and_without)
{
	static const char *const commands[] = {
		"gcc -O2 -DMAIN a.c -o prog",
		"gcc -O2 -DMAIN -static-pie a.c -o prog",
		"gcc -O2 -DMAIN -no-pie -Wl,-z,noseparate-code a.c -o prog && strip prog",
		/* Without .eh_frame_hdr .sframe is all there is to find. */
		"gcc -O2 -DMAIN -nostdlib -static -e main -Wa,--gsframe a.c -o prog && objcopy "
		"-R .eh_frame -R .eh_frame_hdr prog",
	};

	REQUIRE(scratch_open(source));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct unwind_table from_file, from_bytes, bare;
		_mem_ char *bytes = NULL;
		struct err err = {0};
		_fd_ int fd = -1;
		size_t n = 0;

		REQUIRE(scratch_run("%s", commands[i]));
		fd = open(scratch_path("prog"), O_RDONLY | O_CLOEXEC);
		bytes = load_file("prog", &n);
		REQUIRE(fd >= 0 && bytes && n > 64);
		REQUIRE(elf_unwind_load(fd, &from_file, &err) == 0);
		EXPECT(!table_fault(&from_file));
		EXPECT(from_file.n_text_bytes > 50);
		REQUIRE(elf_unwind_load_bytes((uint8_t *)bytes, n, &from_bytes, &err) == 0);
		EXPECT(is_same(&from_file, &from_bytes));
		memset(bytes + 40, 0, 8); /* e_shoff */
		if (elf_unwind_load_bytes((uint8_t *)bytes, n, &bare, &err) == 0) {
			EXPECT(agree(&from_file, &bare));
			EXPECT_EQ(bare.n_damaged, 0);
			unwind_table_release(&bare);
		} else {
			t_fail_("command %zu: %s", i, err.msg);
		}
		unwind_table_release(&from_file);
		unwind_table_release(&from_bytes);
	}
	EXPECT(scratch_close());
}

TEST(the_vdso)
{
	const uint8_t *bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_table t;
	struct err err = {0};
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end = 0;
	char line[512];

	REQUIRE(bytes && maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			break;
	fclose(maps);
	REQUIRE(end > (uintptr_t)bytes);
	if (elf_unwind_load_bytes(bytes, end - (uintptr_t)bytes, &t, &err) < 0) {
		t_fail_("%s", err.msg);
		return;
	}
	EXPECT(!table_fault(&t));
	EXPECT(t.n_fdes > 3 && t.n_damaged == 0);
	unwind_table_release(&t);
}

static void put_segment(struct wr *w, uint32_t type, uint32_t flags, uint64_t off, uint64_t n)
{
	wr_le32(w, type);
	wr_le32(w, flags);
	wr_le64(w, off);
	wr_le64(w, 0x10000 + off);
	wr_le64(w, 0);
	wr_le64(w, n);
	wr_le64(w, n);
	wr_le64(w, 4096);
}

/* An ELF file of one segment of code at 0x1000, which CODE fills from 0x1010 on. */
static struct wr make_elf(uint16_t machine, const uint32_t *code, size_t n)
{
	static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1};
	struct wr w = {0};

	wr_bytes(&w, ident, 16);
	wr_le16(&w, ET_DYN);
	wr_le16(&w, machine);
	wr_le32(&w, 1);
	wr_le64(&w, 0);
	wr_le64(&w, 64); /* e_phoff */
	wr_le64(&w, 0);
	wr_le32(&w, 0);
	wr_le16(&w, 64);
	wr_le16(&w, 56);
	wr_le16(&w, 1);
	wr_le16(&w, 64);
	wr_le32(&w, 0);
	put_segment(&w, PT_LOAD, PF_R | PF_X, 0x1000, 0x100);
	while (w.n < 0x1010)
		wr_u8(&w, 0);
	for (size_t i = 0; i < n; i++)
		wr_le32(&w, code[i]);
	while (w.n < 0x1100)
		wr_u8(&w, 0);
	return w;
}

TEST(the_trampoline_of_arm64s_vdso)
{
	static const uint32_t code[] = {0xd503201f, 0xd2801168, 0xd503201f,
					0xd2801168, 0xd4000001, 0xd65f03c0};
	struct wr w = make_elf(EM_AARCH64, code, 6);
	struct unwind_table t;

	REQUIRE(elf_unwind_load_bytes(w.v, w.n, &t, NULL) == 0);
	EXPECT(!table_fault(&t));
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x1017)), "no fde");
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x1018)), "signal"); /* just before */
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x101c)), "signal");
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x1023)), "signal");
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x1024)), "no fde");
	unwind_table_release(&t);
	w.v[18] = EM_X86_64; /* e_machine */
	EXPECT_EQ(elf_unwind_load_bytes(w.v, w.n, &t, NULL), -ENOENT);
	wr_release(&w);
}

TEST(files_without)
{
	struct wr w = make_elf(EM_X86_64, NULL, 0);
	struct unwind_table t;
	struct err err = {0};

	EXPECT_EQ(elf_unwind_load_bytes(w.v, w.n, &t, &err), -ENOENT);
	EXPECT_STR(err.msg, "no frame information");
	EXPECT_EQ(elf_unwind_load_bytes(w.v, 10, &t, &err), -EBADMSG);
	w.v[18] = EM_RISCV;
	EXPECT_EQ(elf_unwind_load_bytes(w.v, w.n, &t, &err), -ENOTSUP);
	w.v[4] = ELFCLASS32;
	w.v[44] = 0; /* e_phnum of 32 bits */
	w.v[45] = 0;
	EXPECT_EQ(elf_unwind_load_bytes(w.v, w.n, &t, &err), -ENOTSUP);
	wr_release(&w);
}

/* R_AARCH64_PREL32 ("ELF for the Arm 64-bit Architecture" 5.7.5): symbols' values and addends are
 * offsets in .text here. */
static void relocate(struct wr *eh, const struct wr *rela, const struct wr *symtab)
{
	struct rd r = rd_init(rela->v, rela->n);

	while (rd_left(&r) >= 24) {
		uint64_t off = rd_le64(&r), info = rd_le64(&r), addend = rd_le64(&r);
		struct rd symbol = rd_init(symtab->v + (info >> 32) * 24 + 8, 8);
		uint64_t v = TEXT_SVMA + rd_le64(&symbol) + addend - (EH_SVMA + off);

		for (int i = 0; (uint32_t)info == 261 && i < 4; i++)
			eh->v[off + (uint64_t)i] = (uint8_t)(v >> 8 * i);
	}
}

static struct wr load_section(const struct elf_file *f, const char *name)
{
	const struct elf_section *s = elf_file_find_section(f, name);

	if (!s)
		return (struct wr){0};
	return (struct wr){.v = elf_file_load_section(f, s), .n = s->size};
}

TEST(signed_return_addresses)
{
	struct wr text, eh, rela, symtab;
	struct unwind_input in;
	struct unwind_table t;
	struct elf_file f;
	_fd_ int fd = -1;
	unsigned n_signed = 0, n_plain = 0;
	bool is_signed = false, is_known = true;
	struct rd r;

	REQUIRE(scratch_open(source));
	REQUIRE(scratch_run("clang -target aarch64-linux-gnu -O2 -mbranch-protection=pac-ret "
			    "-fasynchronous-unwind-tables -c a.c -o a.o"));
	fd = open(scratch_path("a.o"), O_RDONLY | O_CLOEXEC);
	REQUIRE(fd >= 0 && elf_file_open(&f, fd, NULL) == 0);
	REQUIRE(elf_file_read_sections(&f, NULL) == 0);
	text = load_section(&f, ".text");
	eh = load_section(&f, ".eh_frame");
	rela = load_section(&f, ".rela.eh_frame");
	symtab = load_section(&f, ".symtab");
	elf_file_close(&f);
	REQUIRE(text.v && eh.v && rela.v && symtab.v);
	relocate(&eh, &rela, &symtab);
	in = input_of(EM_AARCH64, &eh);
	REQUIRE(unwind_build(&in, &t, NULL) == 0);
	EXPECT_EQ(t.n_fdes, 3);
	r = rd_init(text.v, text.n);
	while (rd_left(&r)) {
		uint64_t off = rd_off(&r);
		uint32_t instruction = rd_le32(&r);
		const struct unwind_rule *rule = unwind_table_find(&t, TEXT_OFF + off);

		if (is_known) {
			EXPECT_EQ(rule->signed_ra, is_signed);
			n_signed += is_signed;
			n_plain += !is_signed;
		}
		if (instruction == 0xd503233f) /* Arm ARM C6.2 PACIASP */
			is_signed = true;
		if (instruction == 0xd50323bf) /* AUTIASP; clang 14 does not describe epilogues */
			is_known = false;
		if (instruction == 0xd65f03c0) { /* RET: the next function */
			is_signed = false;
			is_known = true;
		}
	}
	EXPECT(n_signed > 20);
	EXPECT(n_plain >= 5);
	unwind_table_release(&t);
	wr_release(&text);
	wr_release(&eh);
	wr_release(&rela);
	wr_release(&symtab);
	EXPECT(scratch_close());
}
