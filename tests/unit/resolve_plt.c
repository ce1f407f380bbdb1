/* SPDX-License-Identifier: BSD-2-Clause */
/* Stubs of aarch64, for which no compiler is at hand: a small ELF file made here, byte for byte. */
#include "base/wr.h"
#include "resolve/elf_file.h"
#include "resolve/symtab_elf.h"
#include "t.h"

#include <elf.h>

enum { PLT = 0x10400, GOT = 0x30fe8 };

struct part {
	const char *name;
	uint32_t type, link, info;
	uint64_t flags, svma, entsize;
	struct wr bytes;
	uint64_t off;
};

static void put_section(struct wr *w, uint32_t name, const struct part *p)
{
	wr_le32(w, name);
	wr_le32(w, p->type);
	wr_le64(w, p->flags);
	wr_le64(w, p->svma);
	wr_le64(w, p->off);
	wr_le64(w, p->bytes.n);
	wr_le32(w, p->link);
	wr_le32(w, p->info);
	wr_le64(w, 8);
	wr_le64(w, p->entsize);
}

/* An ELF file of the sections P, the last of which is filled with their names. */
static void put_elf(struct wr *w, struct part *p, unsigned n)
{
	static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1};
	uint32_t names[8];
	uint64_t off = 64;

	for (unsigned i = 0; i < n; i++) {
		names[i] = (uint32_t)p[n - 1].bytes.n;
		wr_bytes(&p[n - 1].bytes, p[i].name, strlen(p[i].name) + 1);
	}
	for (unsigned i = 0; i < n; i++) {
		p[i].off = off;
		off += p[i].bytes.n;
	}
	wr_bytes(w, ident, 16);
	wr_le16(w, ET_DYN);
	wr_le16(w, EM_AARCH64);
	wr_le32(w, 1);
	wr_le64(w, 0);
	wr_le64(w, 0);
	wr_le64(w, off); /* e_shoff */
	wr_le32(w, 0);
	wr_le16(w, 64);
	wr_le16(w, 56);
	wr_le16(w, 0);
	wr_le16(w, 64);
	wr_le16(w, (uint16_t)n);
	wr_le16(w, (uint16_t)(n - 1));
	for (unsigned i = 0; i < n; i++)
		wr_bytes(w, p[i].bytes.v, p[i].bytes.n);
	for (unsigned i = 0; i < n; i++)
		put_section(w, names[i], &p[i]);
}

static void put_stub(struct wr *w, uint64_t svma, uint64_t slot)
{
	uint64_t pages = (slot >> 12) - (svma >> 12);

	/* Arm ARM C6.2.11 ADRP, C6.2.166 LDR (immediate), C6.2.4 ADD, C6.2.37 BR */
	wr_le32(w,
		0x90000010 | (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5);
	wr_le32(w, 0xf9400211 | (uint32_t)(slot & 0xfff) / 8 << 10);
	wr_le32(w, 0x91000210 | (uint32_t)(slot & 0xfff) << 10);
	wr_le32(w, 0xd61f0220);
}

static void put_symbol(struct wr *w, uint32_t name)
{
	wr_le32(w, name);
	wr_u8(w, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	wr_u8(w, 0);
	wr_le16(w, SHN_UNDEF);
	wr_le64(w, 0);
	wr_le64(w, 0);
}

static void put_relocation(struct wr *w, uint64_t slot, uint32_t symbol)
{
	wr_le64(w, slot);
	wr_le64(w, (uint64_t)symbol << 32 | R_AARCH64_JUMP_SLOT);
	wr_le64(w, 0);
}

static const char *name_of(const struct symtab *st, uint64_t svma)
{
	uint32_t i = symtab_find(st, svma);

	return i == PROC_NONE ? "-" : symtab_get(st, i).name;
}

TEST(aarch64_stubs)
{
	struct part p[] = {
		{.name = "", .type = SHT_NULL},
		{.name = ".dynsym",
		 .type = SHT_DYNSYM,
		 .link = 2,
		 .flags = SHF_ALLOC,
		 .entsize = 24},
		{.name = ".dynstr", .type = SHT_STRTAB, .flags = SHF_ALLOC},
		{.name = ".rela.plt",
		 .type = SHT_RELA,
		 .link = 1,
		 .flags = SHF_ALLOC,
		 .entsize = 24},
		{.name = ".plt",
		 .type = SHT_PROGBITS,
		 .flags = SHF_ALLOC | SHF_EXECINSTR,
		 .svma = PLT},
		{.name = ".shstrtab", .type = SHT_STRTAB},
	};
	struct wr w = {0}, *plt = &p[4].bytes;
	struct symtab_builder b = {0};
	struct symtab st;
	struct elf_file f;

	wr_bytes(&p[2].bytes, "\0malloc\0free", 13);
	put_symbol(&p[1].bytes, 0);
	put_symbol(&p[1].bytes, 1);
	put_symbol(&p[1].bytes, 8);
	put_relocation(&p[3].bytes, GOT + 8, 1);
	put_relocation(&p[3].bytes, GOT + 0x18, 2); /* on the next page */
	wr_le32(plt, 0xa9bf7bf0);		    /* the header: stp x16, x30, [sp, #-16]! */
	put_stub(plt, PLT + 4, GOT);
	while (plt->n < 32)
		wr_le32(plt, 0xd503201f); /* nop */
	put_stub(plt, PLT + 32, GOT + 8);
	wr_le32(plt, 0xd503245f); /* bti c */
	put_stub(plt, PLT + 52, GOT + 0x18);
	wr_le32(plt, 0xd503201f);
	put_elf(&w, p, n_elems(p));

	REQUIRE(elf_file_open_bytes(&f, w.v, w.n, NULL) == 0);
	symtab_elf_read_plt(&f, &b);
	elf_file_close(&f);
	symtab_builder_finish(&b, &st);
	EXPECT_STR(name_of(&st, PLT + 4), "-"); /* the header is nobody's */
	EXPECT_STR(name_of(&st, PLT + 31), "-");
	EXPECT_STR(name_of(&st, PLT + 32), "malloc@plt");
	EXPECT_STR(name_of(&st, PLT + 47), "malloc@plt");
	EXPECT_STR(name_of(&st, PLT + 48), "free@plt"); /* from its bti on */
	EXPECT_STR(name_of(&st, PLT + 71), "free@plt");
	EXPECT_EQ(st.n, 2);
	symtab_release(&st);
	wr_release(&w);
	for (size_t i = 0; i < n_elems(p); i++)
		wr_release(&p[i].bytes);
}
