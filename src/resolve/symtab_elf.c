/* SPDX-License-Identifier: BSD-2-Clause */
/* See symtab_elf.h.  Symbol tables are read whole and walked once with struct rd; a symbol counts
 * when it is a function, or has no type but lies in a section of code (labels of assembly). */
#include "resolve/symtab_elf.h"

#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rd.h"

#define MAX_DEBUGDATA (256u << 20) /* unpacked; Fedora's largest are some 10 MB */
#define XZ_MEMORY     (128u << 20) /* what the decoder may use */

/* The names of a table's symbols are 0.8 to 1.2 times as long as its strings (libLLVM, node,
 * libc). */
#define NAMES_OF_STRINGS 4
#define NAMES_AT_LEAST	 65536

struct symbol_reader {
	const struct elf_file *f;
	struct symtab_builder *b;
	const char *names;
	size_t n_names;
	bool data; /* of variables, not of code */
};

static bool is_code(const struct elf_section *s)
{
	return s->flags & SHF_EXECINSTR && s->flags & SHF_ALLOC;
}

/* Local names that stand for no procedure: the assembler's temporaries, and the mapping symbols of
 * "ELF for the Arm 64-bit Architecture" 5.5.4 ($x, $d, $x.NAME). */
static bool is_label(const char *name)
{
	return (name[0] == '.' && name[1] == 'L') ||
	       (name[0] == '$' &&
		(name[1] == 'x' || name[1] == 'd' || name[1] == 'a' || name[1] == 't') &&
		(name[2] == '\0' || name[2] == '.'));
}

/* Adds the symbol of a variable. */
static void add_variable(struct symbol_reader *sr, uint32_t name_off, uint8_t info, uint16_t shndx,
			 uint64_t svma, uint64_t size)
{
	const struct elf_file *f = sr->f;
	const uint32_t bind = ELF64_ST_BIND(info);
	const char *name, *at;
	size_t n;

	if (ELF64_ST_TYPE(info) != STT_OBJECT || shndx == SHN_UNDEF || !size || !name_off ||
	    name_off >= sr->n_names || f->type == ET_REL)
		return;
	if (shndx < f->n_sections && is_code(&f->sections[shndx]))
		return;
	name = sr->names + name_off;
	n = strnlen(name, SYMTAB_MAX_NAME);
	if (!n)
		return;
	at = memchr(name + 1, '@', n - 1); /* environ@@GLIBC_2.2.5 */
	symtab_builder_add(sr->b, svma, size, name, at ? (size_t)(at - name) : n,
			   bind == STB_LOCAL  ? PROC_LOCAL
			   : bind == STB_WEAK ? PROC_WEAK
					      : 0);
}

static void add_symbol(struct symbol_reader *sr, uint32_t name_off, uint8_t info, uint16_t shndx,
		       uint64_t svma, uint64_t size)
{
	const struct elf_file *f = sr->f;
	const struct elf_section *s = shndx < f->n_sections ? &f->sections[shndx] : NULL;
	uint32_t type = ELF64_ST_TYPE(info), bind = ELF64_ST_BIND(info);
	const char *name, *at;
	size_t n;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return;
	if (shndx == SHN_UNDEF || name_off == 0 || name_off >= sr->n_names)
		return;
	name = sr->names + name_off;
	if (!*name || (bind == STB_LOCAL && is_label(name)))
		return;
	if (s && !is_code(s))
		return;
	if (!s && (shndx != SHN_XINDEX || type == STT_NOTYPE))
		return;
	/* In relocatable files (kernel modules) addresses count from their section; only those of
	 * .text are known to keep their place. */
	if (f->type == ET_REL && (!s || strcmp(s->name, ".text") != 0))
		return;
	if (s && type == STT_NOTYPE && svma - s->svma >= s->size && f->type != ET_REL)
		return; /* _etext and its like stand behind the code */
	if (f->machine == EM_ARM)
		svma &= ~1ull; /* AAELF32 5.5.3: the lowest bit says Thumb */
	n = strnlen(name, SYMTAB_MAX_NAME);
	at = memchr(name + 1, '@', n - 1); /* memcpy@@GLIBC_2.14: ld writes versions into .symtab */
	symtab_builder_add(sr->b, svma, size, name, at ? (size_t)(at - name) : n,
			   bind == STB_LOCAL  ? PROC_LOCAL
			   : bind == STB_WEAK ? PROC_WEAK
					      : 0);
}

/* Reads one symbol table; tells whether there was one. */
static bool read_table(const struct elf_file *f, uint32_t type, struct symtab_builder *b, bool data)
{
	const struct elf_section *s = elf_file_find_type(f, type), *strings;
	size_t entsize = f->is_64 ? 24 : 16, n;
	struct symbol_reader sr = {.f = f, .b = b, .data = data};
	_mem_ uint8_t *table = NULL;
	_mem_ uint8_t *names = NULL;
	struct rd r;

	if (!s || s->link >= f->n_sections)
		return false;
	strings = &f->sections[s->link];
	table = elf_file_load_section(f, s);
	names = elf_file_load_section(f, strings);
	if (!table || !names)
		return false;
	sr.names = (char *)names; /* elf_file_load put a NUL behind */
	sr.n_names = (size_t)strings->size;
	/* Names may share their ends; but 30,000 symbols that share one string of 32 KiB are 1
	 * GiB. */
	b->most_names += NAMES_OF_STRINGS * strings->size + NAMES_AT_LEAST;
	n = (size_t)s->size / entsize;
	r = rd_init(table, n * entsize);
	for (size_t i = 0; i < n; i++) {
		uint32_t name = rd_le32(&r), value32, size32;
		uint8_t info;
		uint16_t shndx;
		uint64_t svma, size;

		if (f->is_64) { /* gABI "Symbol Table", Elf64_Sym */
			info = rd_u8(&r);
			rd_u8(&r);
			shndx = rd_le16(&r);
			svma = rd_le64(&r);
			size = rd_le64(&r);
		} else {
			value32 = rd_le32(&r);
			size32 = rd_le32(&r);
			info = rd_u8(&r);
			rd_u8(&r);
			shndx = rd_le16(&r);
			svma = value32;
			size = size32;
		}
		(data ? add_variable : add_symbol)(&sr, name, info, shndx, svma, size);
	}
	return n > 1;
}

int xz_unpack(const uint8_t *bytes, size_t n, size_t max, uint8_t **ret, size_t *ret_n,
	      struct err *err)
{
	lzma_stream z = LZMA_STREAM_INIT;
	VEC(uint8_t) out = {0};
	lzma_ret rc;

	if (lzma_stream_decoder(&z, XZ_MEMORY, 0) != LZMA_OK)
		return err_set(err, -ENOMEM, "xz decoder");
	z.next_in = bytes;
	z.avail_in = n;
	do {
		vec_reserve(&out, 65536);
		z.next_out = out.v + out.n;
		z.avail_out = out.cap - out.n;
		rc = lzma_code(&z, LZMA_FINISH);
		out.n = out.cap - z.avail_out;
	} while (rc == LZMA_OK && out.n <= max);
	lzma_end(&z);
	if (rc != LZMA_STREAM_END) {
		vec_release(&out);
		return rc == LZMA_OK
			       ? err_set(err, -E2BIG, "xz data unpacks to over %zu bytes", max)
			       : err_set(err, -EBADMSG, "damaged xz data");
	}
	*ret = out.v;
	*ret_n = out.n;
	return 0;
}

/* .gnu_debugdata: an xz-packed ELF file whose .symtab has what .dynsym lacks (GDB manual,
 * "MiniDebugInfo"). */
static bool read_minidebug(const struct elf_file *f, struct symtab_builder *b)
{
	const struct elf_section *s = elf_file_find_section(f, ".gnu_debugdata");
	_mem_ uint8_t *packed = s ? elf_file_load_section(f, s) : NULL;
	_mem_ uint8_t *bytes = NULL;
	struct elf_file mini;
	size_t n;
	bool found;

	if (!packed || xz_unpack(packed, (size_t)s->size, MAX_DEBUGDATA, &bytes, &n, NULL) < 0 ||
	    elf_file_open_bytes(&mini, bytes, n, NULL) < 0)
		return false;
	found = elf_file_read_sections(&mini, NULL) >= 0 && read_table(&mini, SHT_SYMTAB, b, false);
	elf_file_close(&mini);
	return found;
}

enum symtab_source symtab_elf_read(struct elf_file *f, struct symtab_builder *b)
{
	bool dynsym;

	if (elf_file_read_sections(f, NULL) < 0)
		return SYMTAB_NONE;
	for (uint32_t i = 0; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];

		if (is_code(s) && s->svma + s->size > s->svma &&
		    (f->type != ET_REL || strcmp(s->name, ".text") == 0))
			symtab_builder_add_range(b, s->svma, s->svma + s->size);
	}
	if (read_table(f, SHT_SYMTAB, b, false))
		return SYMTAB_FULL;
	dynsym = read_table(f, SHT_DYNSYM, b, false);
	if (read_minidebug(f, b))
		return SYMTAB_MINIDEBUG;
	return dynsym ? SYMTAB_DYNSYM : SYMTAB_NONE;
}

enum symtab_source symtab_elf_read_data(struct elf_file *f, struct symtab_builder *b)
{
	if (elf_file_read_sections(f, NULL) < 0)
		return SYMTAB_NONE;
	for (uint32_t i = 0; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];

		if (s->flags & SHF_ALLOC && !is_code(s) && s->svma + s->size > s->svma)
			symtab_builder_add_range(b, s->svma, s->svma + s->size);
	}
	if (read_table(f, SHT_SYMTAB, b, true))
		return SYMTAB_FULL;
	return read_table(f, SHT_DYNSYM, b, true) ? SYMTAB_DYNSYM : SYMTAB_NONE;
}
