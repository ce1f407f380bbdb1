/* SPDX-License-Identifier: BSD-2-Clause */
/* See call_sites.h.  Procedures are decoded from their start, once each, up to the last call in
 * them that is asked for. */
#include "hpc/call_sites.h"

#include <elf.h>
#include <stdlib.h>

#include "query/samples/code.h"

/* Larger procedures are not decoded. */
#define MOST_BYTES (4u << 20)

struct finder {
	struct image_code code;
	const struct symtab *st;
	const struct spot *spots;
	const bool *is_caller;
	uint64_t *ret;
};

/* The places [FIRST, END) are in procedure P. */
static void find_in(struct finder *f, const struct procedure *p, size_t first, size_t end)
{
	uint64_t stop = f->spots[end - 1].svma + 16 < p->end ? f->spots[end - 1].svma + 16 : p->end;
	uint8_t *bytes = stop - p->start <= MOST_BYTES ? code_load(&f->code, p->start, stop) : NULL;
	struct disasm_insn insn;
	size_t i = first;

	if (!bytes)
		return;
	disasm_begin_lengths(f->code.disasm, bytes, (size_t)(stop - p->start), p->start);
	while (i < end && disasm_next(f->code.disasm, &insn))
		for (; i < end && f->spots[i].svma < insn.svma + insn.n_bytes; i++)
			if (f->is_caller[f->spots[i].place] && !insn.bad)
				f->ret[i] = insn.svma;
	free(bytes);
}

static void find_all(struct finder *f, size_t n)
{
	for (size_t i = 0, next; i < n; i = next) {
		uint32_t proc = symtab_find(f->st, f->spots[i].svma);
		struct procedure p;
		bool any = false;

		next = i + 1;
		if (proc == PROC_NONE)
			continue;
		p = symtab_get(f->st, proc);
		for (next = i; next < n && f->spots[next].svma < p.end; next++)
			any |= f->is_caller[f->spots[next].place];
		if (any)
			find_in(f, &p, i, next);
	}
}

void call_sites_find(struct query *q, image_id image, const struct spot *spots, size_t n,
		     const bool *is_caller, uint64_t *ret)
{
	struct finder f = {.spots = spots, .is_caller = is_caller, .ret = ret};
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		ret[i] = spots[i].svma;
		any |= is_caller[spots[i].place];
	}
	if (!any)
		return;
	code_open(&f.code, q, image);
	f.st = resolver_image(q->resolver, &q->profile->images.v[image])->symtab;
	if (f.code.disasm && f.code.file.elf.machine == EM_AARCH64)
		for (size_t i = 0; i < n; i++)
			ret[i] &= ~(uint64_t)3;
	else if (f.code.disasm)
		find_all(&f, n);
	code_close(&f.code);
}
