/* SPDX-License-Identifier: BSD-2-Clause */
/* .sframe: what GNU as writes beside .eh_frame of the same code, and both versions byte by byte. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "resolve/elf_file.h"
#include "scratch_t.h"
#include "t.h"
#include "unwind_t.h"

#define AT(svma, rule) EXPECT_STR(rule_at(&t, TEXT_SVMA + (svma)), rule)
#define SFRAME_SVMA    0x402000

static const char source[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"int leaf(int a) { return a * 3 + 1; }\n"
	"int grown(int n) { char *p = __builtin_alloca(n); memset(p, n, n);\n"
	"	puts(p); return p[n - 1]; }\n"
	"int many(int a, int b, int c, int d) { for (int i = 0; i < a; i++)\n"
	"	b += printf(\"%d\", c * i) + rand(); return b + d + puts(\"x\"); }\n"
	"int big(int a) { char x[300000]; memset(x, a, sizeof(x)); puts(x); return x[a]; }\n"
	"int main(int argc, char **argv) { return many(argc, 2, 3, leaf(4)) + grown(5); }\n";

static struct unwind_section load(const struct elf_file *f, const char *name)
{
	const struct elf_section *s = elf_file_find_section(f, name);

	if (!s)
		return (struct unwind_section){0};
	return (struct unwind_section){elf_file_load_section(f, s), s->size, s->svma};
}

/* Both tables of the compiled program; false when it has not both sections. */
static bool build_both(struct unwind_table *eh, struct unwind_table *sframe, uint64_t *ret_size)
{
	struct unwind_input in = {.machine = EM_X86_64};
	struct unwind_section sections[2];
	struct elf_file f;
	_fd_ int fd = open(scratch_path("prog"), O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0 || elf_file_open(&f, fd, NULL) < 0 || elf_file_read_sections(&f, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < f.n_segments; i++)
		if (f.segments[i].type == PT_LOAD && f.segments[i].flags & PF_X)
			in.segments[in.n_segments++] = (struct unwind_segment){
				f.segments[i].svma, f.segments[i].off, f.segments[i].filesz};
	sections[0] = in.eh_frame = load(&f, ".eh_frame");
	rc = unwind_build(&in, eh, NULL);
	in.eh_frame = (struct unwind_section){0};
	sections[1] = in.sframe = load(&f, ".sframe");
	if (rc == 0 && unwind_build(&in, sframe, NULL) < 0) {
		unwind_table_release(eh);
		rc = -1;
	}
	*ret_size = f.size;
	free((void *)sections[0].bytes);
	free((void *)sections[1].bytes);
	elf_file_close(&f);
	return rc == 0;
}

TEST(like_eh_frame)
{
	static const char *const commands[] = {
		"gcc -O2 -Wa,--gsframe -Wl,-z,lazy -fcf-protection=none a.c -o prog",
		"gcc -O0 -Wa,--gsframe -Wl,-z,lazy a.c -o prog",
		"gcc -Os -Wa,--gsframe -fno-omit-frame-pointer a.c -o prog",
	};

	REQUIRE(scratch_open(source));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		uint32_t n_same = 0, n_other = 0, n_plt = 0;
		struct unwind_table eh, sframe;
		uint64_t size;

		REQUIRE(scratch_run("%s", commands[i]));
		REQUIRE(build_both(&eh, &sframe, &size));
		if (table_fault(&sframe))
			t_fail_("%s", table_fault(&sframe));
		for (uint64_t off = 0; off < size; off++) {
			struct unwind_rule s = *unwind_table_find(&sframe, off);
			struct unwind_rule e = *unwind_table_find(&eh, off);

			if (s.cfa == UNWIND_CFA_NONE)
				continue;
			EXPECT_EQ(s.bx_at, UNWIND_LOST);
			s.bx_at = e.bx_at;
			n_plt += s.cfa == UNWIND_CFA_PLT;
			n_same += memcmp(&s, &e, sizeof(s)) == 0;
			if (memcmp(&s, &e, sizeof(s)) != 0 && n_other++ < 5)
				t_fail_("%#llx: %s, .eh_frame %s", (unsigned long long)off,
					rule_text(&s), rule_text(&e));
		}
		EXPECT(n_same > 300);
		EXPECT(i == 2 || n_plt > 0);
		unwind_table_release(&eh);
		unwind_table_release(&sframe);
	}
	EXPECT(scratch_close());
}

/* A section of one function of 0x100 bytes at TEXT_SVMA and the rows of BYTES. */
static struct wr make(int version, uint8_t flags, uint16_t machine, uint8_t info, uint32_t n_fres,
		      const uint8_t *bytes, size_t n)
{
	struct wr w = {0};
	uint64_t from = SFRAME_SVMA;

	wr_le16(&w, 0xdee2);
	wr_u8(&w, (uint8_t)version);
	wr_u8(&w, flags);
	wr_u8(&w, machine == EM_X86_64 ? 3 : 2);
	wr_u8(&w, 0);
	wr_u8(&w, machine == EM_X86_64 ? 0xf8 : 0);
	wr_u8(&w, 4); /* bytes of an auxiliary header */
	wr_le32(&w, 1);
	wr_le32(&w, n_fres);
	wr_le32(&w, (uint32_t)n);
	wr_le32(&w, 0);
	wr_le32(&w, version == 1 ? 17 : 20);
	wr_le32(&w, 0xeeeeeeee);
	if (flags & 4)
		from += w.n;
	wr_le32(&w, (uint32_t)(TEXT_SVMA - from));
	wr_le32(&w, 0x100);
	wr_le32(&w, 0);
	wr_le32(&w, n_fres);
	wr_u8(&w, info);
	if (version > 1) {
		wr_u8(&w, 16);
		wr_le16(&w, 0);
	}
	wr_bytes(&w, bytes, n);
	return w;
}

static bool build(uint16_t machine, const struct wr *w, struct unwind_table *t)
{
	struct unwind_input in = input_of(machine, &(struct wr){0});

	in.sframe = (struct unwind_section){w->v, w->n, SFRAME_SVMA};
	return unwind_build(&in, t, NULL) == 0 && !table_fault(t);
}

TEST(both_versions_and_all_widths)
{
	/* sp+8; sp+16 fp@-16; fp+16 fp@-16; with addresses of 1, 2, 4 bytes, offsets of 1, 2, 4 */
	static const uint8_t narrow[] = {0, 3, 8, 1, 5, 16, 0xf0, 4, 4, 16, 0xf0};
	static const uint8_t middle[] = {0,    0,    0x23, 8, 0,    1,	0, 0x25, 16,  0,
					 0xf0, 0xff, 4,	   0, 0x24, 16, 0, 0xf0, 0xff};
	static const uint8_t wide[] = {0, 0,	0,    0,  0x43, 8, 0,	 0,    0,    1,	   0,	0,
				       0, 0x45, 16,   0,  0,	0, 0xf0, 0xff, 0xff, 0xff, 4,	0,
				       0, 0,	0x44, 16, 0,	0, 0,	 0xf0, 0xff, 0xff, 0xff};
	static const struct {
		const uint8_t *bytes;
		size_t n;
	} widths[] = {{narrow, sizeof(narrow)}, {middle, sizeof(middle)}, {wide, sizeof(wide)}};

	for (int version = 1; version <= 2; version++) {
		for (uint8_t k = 0; k < 3; k++) {
			struct wr w = make(version, version == 2 ? 4 : 0, EM_X86_64, k, 3,
					   widths[k].bytes, widths[k].n);
			struct unwind_table t;

			REQUIRE(build(EM_X86_64, &w, &t));
			AT(-1, "no fde");
			AT(0, "sp+8 ra@-1 bx?");
			AT(1, "sp+16 ra@-1 fp@-2 bx?");
			AT(3, "sp+16 ra@-1 fp@-2 bx?");
			AT(4, "fp+16 ra@-1 fp@-2 bx?");
			AT(0xff, "fp+16 ra@-1 fp@-2 bx?");
			AT(0x100, "no fde");
			EXPECT_EQ(t.n_damaged + t.n_too_complex, 0);
			unwind_table_release(&t);
			wr_release(&w);
		}
	}
}

TEST(aarch64)
{
	/* sp+0; sp+32, ra@-24, fp@-32; signed; fp+32; the outermost frame */
	static const uint8_t rows[] = {0,  3,	 0,    4,  7, 32, 0xe8, 0xe0, 8,  0x87,
				       32, 0xe8, 0xe0, 12, 6, 32, 0xe8, 0xe0, 16, 1};
	struct wr w = make(2, 0, EM_AARCH64, 0, 5, rows, sizeof(rows));
	struct unwind_table t;

	REQUIRE(build(EM_AARCH64, &w, &t));
	AT(0, "sp+0 lr");
	AT(4, "sp+32 ra@-3 fp@-4");
	AT(8, "sp+32 ra@-3 fp@-4 signed");
	AT(12, "fp+32 ra@-3 fp@-4");
	AT(16, "end");
	unwind_table_release(&t);
	wr_release(&w);
}

TEST(what_is_not_understood)
{
	static const struct {
		uint8_t info;
		uint32_t n_fres;
		uint8_t bytes[8];
		size_t n;
		const char *at_0, *at_8;
	} cases[] = {
		{0x10, 2, {0, 3, 8, 11, 3, 16}, 6, "plt+11 ra@-1 bx?", "plt+11 ra@-1 bx?"},
		{0x10, 2, {0, 3, 8, 11, 3, 24}, 6, "too complex", "too complex"},
		{0x10, 1, {0, 3, 8}, 3, "too complex", "too complex"},
		{0, 2, {0, 3, 8, 4, 5, 16, 4}, 7, "sp+8 ra@-1 bx?", "sp+16 ra@-1 fp? bx?"},
		{0, 2, {0, 3, 8, 4, 0x63, 16}, 6, "damaged", "damaged"},
		{0, 3, {0, 3, 8, 4, 3, 16}, 6, "sp+8 ra@-1 bx?", "damaged"},
		{0, 2, {0, 3, 8, 4, 3}, 5, "damaged", "damaged"},
		{0, 1, {4, 3, 8}, 3, "damaged", "damaged"}, /* begins late */
		{0, 0, {0, 3, 8}, 3, "damaged", "damaged"},
		{3, 1, {0, 0, 0, 0, 3, 8}, 6, "damaged", "damaged"}, /* unknown width */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wr w = make(2, 0, EM_X86_64, cases[i].info, cases[i].n_fres, cases[i].bytes,
				   cases[i].n);
		struct unwind_table t;

		REQUIRE(build(EM_X86_64, &w, &t));
		AT(0, cases[i].at_0);
		AT(8, cases[i].at_8);
		unwind_table_release(&t);
		wr_release(&w);
	}
}

TEST(damaged_headers)
{
	static const uint8_t row[] = {0, 3, 8};
	/* byte, value */
	static const uint8_t changes[][2] = {{0, 0}, {2, 3},  {4, 2},	  {7, 0xff},
					     {8, 2}, {16, 4}, {20, 0xff}, {24, 0xff}};
	struct wr w = make(2, 0, EM_X86_64, 0, 1, row, sizeof(row));
	struct unwind_table t;

	REQUIRE(build(EM_X86_64, &w, &t));
	unwind_table_release(&t);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint8_t was = w.v[changes[i][0]];

		w.v[changes[i][0]] = changes[i][1];
		if (build(EM_X86_64, &w, &t)) {
			t_fail_("change %zu is taken", i);
			unwind_table_release(&t);
		}
		w.v[changes[i][0]] = was;
	}
	wr_release(&w);
}
