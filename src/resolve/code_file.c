/* SPDX-License-Identifier: BSD-2-Clause */
/* See code_file.h.  Small reads go through one window; nothing is mapped, see elf_file.h. */
#include "resolve/code_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rd.h"

#define MAX_RELOCS (1u << 22)

int code_file_open(struct code_file *c, int fd, struct err *err)
{
	int rc;

	rc = code_file_borrow(c, fd, err);
	c->is_borrowed = false;
	if (rc < 0)
		close(fd);
	return rc;
}

int code_file_borrow(struct code_file *c, int fd, struct err *err)
{
	int rc;

	*c = (struct code_file){.fd = fd, .is_borrowed = true};
	rc = elf_file_open(&c->elf, fd, err);
	if (rc < 0)
		c->fd = -1;
	return rc;
}

void code_file_keep(struct code_file *c, const struct kept_code *kept)
{
	*c = (struct code_file){.fd = -1, .kept = kept};
	c->elf.machine = kept->info.machine;
	c->elf.type = kept->info.type;
}

void code_file_close(struct code_file *c)
{
	if (c->fd >= 0) {
		elf_file_close(&c->elf);
		if (!c->is_borrowed)
			close(c->fd);
	}
	vec_release(&c->relocs);
	c->fd = -1;
}

static const struct elf_segment *find_segment(const struct code_file *c, uint64_t svma)
{
	for (uint32_t i = 0; i < c->elf.n_segments; i++) {
		const struct elf_segment *s = &c->elf.segments[i];

		if (s->type == PT_LOAD && svma >= s->svma && svma - s->svma < s->filesz)
			return s;
	}
	return NULL;
}

uint64_t code_file_end(const struct code_file *c, uint64_t svma)
{
	const struct kept_proc *p = c->kept ? kept_code_find(c->kept, svma) : NULL;
	const struct elf_segment *s = find_segment(c, svma);

	return p ? p->end : s ? s->svma + s->filesz : svma;
}

static uint8_t *load_kept(const struct kept_code *kept, uint64_t start, uint64_t end)
{
	uint8_t *bytes;

	if (end < start || end - start > KEPT_MOST_PROC)
		return NULL;
	bytes = xcalloc(end - start + 1, 1);
	if (kept_code_bytes(kept, start, bytes, end - start))
		return bytes;
	free(bytes);
	return NULL;
}

uint8_t *code_file_load(const struct code_file *c, uint64_t start, uint64_t end)
{
	const struct elf_segment *s = find_segment(c, start);

	if (c->kept)
		return load_kept(c->kept, start, end);

	if (!s || end < start || end - s->svma > s->filesz)
		return NULL;
	return elf_file_load(&c->elf, s->off + (start - s->svma), end - start);
}

static int by_svma(const void *a, const void *b)
{
	const struct code_reloc *x = a, *y = b;

	return (x->svma > y->svma) - (x->svma < y->svma);
}

/* ELF gABI "Relocation": Elf64_Rela.  The types: psABIs of x86-64 (R_X86_64_RELATIVE) and arm64
 * (R_AARCH64_RELATIVE).  Relocations without an addend of their own, and packed ones (RELR), have
 * the value in place. */
static void read_relocs(struct code_file *c)
{
	uint32_t type = c->elf.machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
	const struct elf_section *s = NULL;
	uint8_t *bytes;
	bool sorted = true;
	struct rd r;

	c->has_relocs = true;
	if (c->elf.is_64 && elf_file_read_sections(&c->elf, NULL) >= 0)
		s = elf_file_find_section(&c->elf, ".rela.dyn");
	bytes = s ? elf_file_load_section(&c->elf, s) : NULL;
	if (!bytes)
		return;
	r = rd_init(bytes, s->size);
	while (rd_left(&r) >= 24 && c->relocs.n < MAX_RELOCS) {
		uint64_t svma = rd_le64(&r), info = rd_le64(&r), value = rd_le64(&r);

		if ((uint32_t)info != type)
			continue;
		sorted &= !c->relocs.n || c->relocs.v[c->relocs.n - 1].svma <= svma;
		vec_push(&c->relocs, (struct code_reloc){.svma = svma, .value = value});
	}
	if (!sorted)
		vec_sort(&c->relocs, by_svma);
	free(bytes);
}

bool code_file_has(const struct code_file *c, uint64_t svma)
{
	uint8_t byte;

	return c->kept ? kept_code_bytes(c->kept, svma, &byte, 1) : find_segment(c, svma) != NULL;
}

bool code_file_read(struct code_file *c, uint64_t svma, uint8_t *ret, size_t n)
{
	const struct elf_segment *s = find_segment(c, svma);
	const struct code_reloc *found = NULL;
	struct code_reloc key = {.svma = svma};
	uint64_t off;

	if (c->kept)
		return kept_code_bytes(c->kept, svma, ret, n);
	if (!s || n > s->filesz - (svma - s->svma) || n > CODE_FILE_WINDOW)
		return false;
	if (n == 8 && c->elf.type == ET_DYN) {
		if (!c->has_relocs)
			read_relocs(c);
		/* Tables are read in order. */
		if (c->next_reloc < c->relocs.n && c->relocs.v[c->next_reloc].svma == svma)
			found = &c->relocs.v[c->next_reloc];
		else if (c->relocs.n)
			found = bsearch(&key, c->relocs.v, c->relocs.n, sizeof(key), by_svma);
	}
	if (found) {
		c->next_reloc = (size_t)(found - c->relocs.v) + 1;
		for (unsigned i = 0; i < 8; i++)
			ret[i] = (uint8_t)(found->value >> (8 * i));
		return true;
	}
	off = s->off + (svma - s->svma);
	if (off < c->window_off || off - c->window_off + n > c->n_window) {
		c->window_off = off;
		c->n_window = elf_file_pread(&c->elf, off, c->window, CODE_FILE_WINDOW);
		if (n > c->n_window)
			return false;
	}
	memcpy(ret, c->window + (off - c->window_off), n);
	return true;
}
