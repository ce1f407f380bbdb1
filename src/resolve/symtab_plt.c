/* SPDX-License-Identifier: BSD-2-Clause */
/* Names the stubs of the procedure linkage table (symtab_elf_read_plt).
 *
 * Linkers lay these sections out in many ways (.plt, .plt.sec, .plt.got; with or without IBT or
 * BTI), so no layout is assumed: the code is searched for the jump through a slot of the global
 * offset table, and the slot's relocation names the procedure.  The one form without such a jump,
 * IBT's lazy .plt on x86-64, pushes the number of its relocation instead. */
#include "resolve/symtab_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rd.h"
#include "base/str.h"

#define MAX_STUBS  (1u << 20)
#define RELA_BYTES 24

struct plt_reader {
	struct elf_file *f;
	struct symtab_builder *b;
	VEC(struct slot {
		uint64_t svma; /* of the GOT entry */
		uint32_t symbol;
		uint32_t lazy; /* number in .rela.plt, or UINT32_MAX */
		uint64_t addend;
	})
	slots;
	VEC(struct stub {
		uint64_t svma;
		uint32_t symbol;
		uint64_t addend;
	})
	stubs;
	uint8_t *symbols, *names;
	size_t n_symbols, n_names;
};

static void take_relocations(struct plt_reader *p, struct rd *r, uint64_t first, bool lazy)
{
	for (uint64_t i = first; rd_left(r) >= RELA_BYTES && p->slots.n < MAX_STUBS; i++) {
		uint64_t svma = rd_le64(r), info = rd_le64(r), addend = rd_le64(r); /* Elf64_Rela */
		uint32_t type = (uint32_t)info;

		/* psABI x86-64 table 4.9, AArch64 ELF 5.7.11: GLOB_DAT, JUMP_SLOT, IRELATIVE. */
		if (p->f->machine == EM_X86_64
			    ? type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT &&
				      type != R_X86_64_IRELATIVE
			    : type != R_AARCH64_GLOB_DAT && type != R_AARCH64_JUMP_SLOT &&
				      type != R_AARCH64_IRELATIVE)
			continue;
		vec_push(&p->slots, (struct slot){svma, (uint32_t)(info >> 32),
						  lazy ? (uint32_t)i : UINT32_MAX, addend});
	}
}

/* In pieces: a large library has hundreds of thousands, nearly all of them of data. */
static void read_relocations(struct plt_reader *p, const struct elf_section *s, bool lazy)
{
	enum { PIECE = 2048 };
	const uint64_t n = s->size / RELA_BYTES;
	uint8_t b[PIECE * RELA_BYTES];

	if (s->type == SHT_NOBITS || s->flags & SHF_COMPRESSED || s->off + s->size < s->off ||
	    s->off + s->size > p->f->size)
		return;
	for (uint64_t i = 0; i < n; i += PIECE) {
		size_t n_bytes = (size_t)(n - i < PIECE ? n - i : PIECE) * RELA_BYTES;
		struct rd r = rd_init(b, elf_file_pread(p->f, s->off + i * RELA_BYTES, b, n_bytes));

		take_relocations(p, &r, i, lazy);
		if (rd_left(&r))
			break; /* MAX_STUBS, or the file was truncated meanwhile */
	}
}

static int by_slot(const void *x, const void *y)
{
	const struct slot *a = x, *b = y;

	return a->svma < b->svma ? -1 : a->svma > b->svma;
}

static const struct slot *find_slot(const struct plt_reader *p, uint64_t svma)
{
	return p->slots.n ? bsearch(&(struct slot){.svma = svma}, p->slots.v, p->slots.n,
				    sizeof(*p->slots.v), by_slot)
			  : NULL;
}

static const struct slot *find_lazy(const struct plt_reader *p, uint32_t number)
{
	/* .rela.plt is nearly always in the order of its slots: try there first. */
	if (number < p->slots.n && p->slots.v[number].lazy == number)
		return &p->slots.v[number];
	vec_each (s, &p->slots)
		if (s->lazy == number)
			return s;
	return NULL;
}

static void add_stub(struct plt_reader *p, uint64_t svma, const struct slot *s)
{
	if (s && p->stubs.n < MAX_STUBS)
		vec_push(&p->stubs, (struct stub){svma, s->symbol, s->addend});
}

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Intel SDM: [F3 0F 1E FA endbr64] [F2 bnd] FF 25 disp32 = jmp *disp(%rip); 68 imm32 = push. */
static void scan_x86(struct plt_reader *p, const uint8_t *b, size_t n, uint64_t svma)
{
	for (size_t at = 0; at + 8 <= n; at += 8) {
		size_t i = at;

		if (i + 4 <= n && le32(b + i) == 0xfa1e0ff3)
			i += 4;
		if (i < n && b[i] == 0xf2)
			i++;
		if (i + 6 <= n && b[i] == 0xff && b[i + 1] == 0x25)
			add_stub(p, svma + at,
				 find_slot(p, svma + i + 6 + (uint64_t)(int32_t)le32(b + i + 2)));
		else if (i == at + 4 && i + 5 <= n && b[i] == 0x68)
			add_stub(p, svma + at, find_lazy(p, le32(b + i + 1)));
	}
}

/* Arm ARM C6.2: adrp x16, PAGE; ldr x17, [x16, #OFF]; BTI c before it with branch protection. */
static void scan_arm64(struct plt_reader *p, const uint8_t *b, size_t n, uint64_t svma)
{
	for (size_t i = 0; i + 8 <= n; i += 4) {
		uint32_t adrp = le32(b + i), ldr = le32(b + i + 4);
		uint64_t page;

		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		page = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
		page = (page ^ 1 << 20) - (1 << 20); /* sign of 21 bits */
		add_stub(p, svma + i - (i >= 4 && le32(b + i - 4) == 0xd503245f ? 4 : 0),
			 find_slot(p, ((svma + i) & ~0xfffull) + (page << 12) +
					      (uint64_t)(ldr >> 10 & 0xfff) * 8));
	}
}

static void load_symbols(struct plt_reader *p)
{
	const struct elf_section *s = elf_file_find_type(p->f, SHT_DYNSYM);

	if (!s || s->link >= p->f->n_sections)
		return;
	p->symbols = elf_file_load_section(p->f, s);
	p->names = elf_file_load_section(p->f, &p->f->sections[s->link]);
	if (p->symbols && p->names) {
		p->n_symbols = (size_t)s->size / 24;
		p->n_names = (size_t)p->f->sections[s->link].size;
	}
}

/* The name of the procedure stub S jumps to; "" when it has none. */
static void target_name(const struct plt_reader *p, const struct stub *s, struct str *ret)
{
	uint32_t name;

	str_reset(ret);
	if (s->symbol == 0) { /* IRELATIVE: the addend is the resolver's address */
		vec_each (y, &p->b->symbols)
			if (y->svma == s->addend && y->size) {
				str_add(ret, p->b->pool.v + y->name);
				return;
			}
		return;
	}
	if (s->symbol >= p->n_symbols)
		return;
	name = le32(p->symbols + (size_t)s->symbol * 24);
	if (name < p->n_names)
		str_add(ret, (char *)p->names + name);
}

void symtab_elf_read_plt(struct elf_file *f, struct symtab_builder *b)
{
	struct plt_reader p = {.f = f, .b = b};
	struct str name = {0};

	if (!f->is_64 || (f->machine != EM_X86_64 && f->machine != EM_AARCH64) ||
	    elf_file_read_sections(f, NULL) < 0)
		return;
	load_symbols(&p);
	for (uint32_t i = 0; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];

		if (s->type == SHT_RELA && s->flags & SHF_ALLOC)
			read_relocations(&p, s, strcmp(s->name, ".rela.plt") == 0);
	}
	vec_sort(&p.slots, by_slot);
	for (uint32_t i = 0; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		size_t first = p.stubs.n;
		uint8_t *code;

		if (!str_starts(s->name, ".plt") && !str_starts(s->name, ".iplt"))
			continue;
		code = s->flags & SHF_EXECINSTR ? elf_file_load_section(f, s) : NULL;
		if (code && f->machine == EM_X86_64)
			scan_x86(&p, code, (size_t)s->size, s->svma);
		else if (code)
			scan_arm64(&p, code, (size_t)s->size, s->svma);
		free(code);
		for (size_t k = first; k < p.stubs.n; k++) {
			uint64_t start = p.stubs.v[k].svma;
			uint64_t end =
				k + 1 < p.stubs.n ? p.stubs.v[k + 1].svma : s->svma + s->size;

			target_name(&p, &p.stubs.v[k], &name);
			if (name.n == 0 || end <= start)
				continue;
			str_add(&name, "@plt");
			symtab_builder_add(b, start, end - start, str_get(&name), name.n, PROC_PLT);
		}
	}
	str_release(&name);
	vec_release(&p.slots);
	vec_release(&p.stubs);
	free(p.symbols);
	free(p.names);
}
