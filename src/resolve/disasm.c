/* SPDX-License-Identifier: BSD-2-Clause */
/* See disasm.h.  This file walks the bytes and prints addresses; what an instruction is, the files
 * disasm_x86.c and disasm_arm64.c know. */
#include "resolve/disasm.h"

#include <elf.h>
#include <errno.h>

#include "base/vec.h"
#include "resolve/disasm_impl.h"

struct disasm *disasm_new(const struct disasm_opts *opts, struct err *err)
{
	struct disasm *d = xcalloc(1, sizeof(*d));
	int rc;

	d->opts = *opts;
	switch (opts->machine) {
	case EM_386:
	case EM_X86_64:
		rc = disasm_x86_init(d, err);
		break;
	case EM_AARCH64:
		rc = disasm_arm64_init(d, err);
		break;
	default:
		rc = err_set(err, -ENOTSUP, "no disassembler for ELF machine %u", opts->machine);
	}
	if (rc >= 0)
		return d;
	free(d);
	return NULL;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	d->free_engine(d);
	str_release(&d->text);
	free(d);
}

void disasm_begin(struct disasm *d, const void *bytes, size_t n_bytes, uint64_t svma)
{
	d->p = bytes;
	d->end = d->p + n_bytes;
	d->svma = svma;
	d->want_text = true;
	d->only_lengths = false;
}

void disasm_begin_lengths(struct disasm *d, const void *bytes, size_t n_bytes, uint64_t svma)
{
	disasm_begin(d, bytes, n_bytes, svma);
	d->want_text = false;
	d->only_lengths = true;
}

bool disasm_next(struct disasm *d, struct disasm_insn *ret)
{
	if (d->p == d->end)
		return false;
	*ret = (struct disasm_insn){.svma = d->svma};
	str_reset(&d->text);
	d->decode(d, ret);
	ret->text = str_get(&d->text);
	d->p += ret->n_bytes;
	d->svma += ret->n_bytes;
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

size_t disasm_targets(struct disasm *d, const void *bytes, size_t n_bytes, uint64_t svma,
		      uint64_t **ret)
{
	VEC(uint64_t) found = {0};
	struct disasm_insn insn;
	size_t n = 0;

	disasm_begin(d, bytes, n_bytes, svma);
	d->want_text = false;
	while (disasm_next(d, &insn)) {
		if (insn.has_target && insn.kind != DISASM_CALL && insn.target - svma < n_bytes)
			vec_push(&found, insn.target);
	}
	vec_sort(&found, by_value);
	for (size_t i = 0; i < found.n; i++)
		if (n == 0 || found.v[n - 1] != found.v[i])
			found.v[n++] = found.v[i];
	*ret = found.v;
	return n;
}

void disasm_add_address(struct disasm *d, uint64_t svma)
{
	uint64_t offset = 0;
	const char *name = d->opts.name ? d->opts.name(d->opts.ctx, svma, &offset) : NULL;

	str_addx(&d->text, svma);
	if (!name)
		return;
	str_add(&d->text, " <");
	str_add(&d->text, name);
	if (offset) {
		str_add(&d->text, "+0x");
		str_addx(&d->text, offset);
	}
	str_addc(&d->text, '>');
}
