/* SPDX-License-Identifier: BSD-2-Clause */
/* arm64 instructions through Capstone 4.
 *
 * Capstone knows the text.  What a listing needs beside it (is this a jump, where to, which address
 * does this form) is read from the instruction word itself: a handful of fixed encodings, cheaper
 * than Capstone's details.  Their patterns are in the Arm Architecture Reference Manual (DDI 0487),
 * C4.1 "A64 instruction set encoding".
 *
 * Capstone is opened with dlopen when the first arm64 code is shown.  Linked, its 77,000 relative
 * relocations cost every start of the program, whatever it is about to do, 0.5 ms and 1.5 MB of
 * private memory (measured: Debian 12's libcapstone4 4.0.2, 424 page faults instead of 48). */
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "resolve/arm64.h"
#include "resolve/disasm_impl.h"

struct engine {
	void *library;
	csh handle;
	cs_insn *insn;
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_free) free;
	__typeof__(&cs_disasm_iter) disasm_iter;
};

/* Fills kind and target. */
static void classify(uint32_t w, struct disasm_insn *ret)
{
	static const enum disasm_kind kinds[] = {
		[ARM64_JUMP] = DISASM_JUMP,
		[ARM64_BRANCH] = DISASM_COND_JUMP,
		[ARM64_CALL] = DISASM_CALL,
		[ARM64_RETURN] = DISASM_RETURN,
	};
	const struct arm64_branch b = arm64_branch_of(w, ret->svma);

	if (b.kind == ARM64_PLAIN)
		return;
	ret->kind = kinds[b.kind];
	ret->has_target = b.has_target;
	ret->target = b.target;
}

/* The address an instruction other than a branch names relative to itself. */
static bool pc_relative(uint32_t w, uint64_t svma, uint64_t *ret)
{
	uint64_t imm21 = arm64_sign_extend(arm64_bits(w, 5, 19) << 2 | arm64_bits(w, 29, 2), 21);

	if ((w & 0x9f000000) == 0x10000000) /* ADR */
		*ret = svma + imm21;
	else if ((w & 0x9f000000) == 0x90000000) /* ADRP */
		*ret = (svma & ~(uint64_t)4095) + (imm21 << 12);
	else if ((w & 0x3b000000) == 0x18000000) /* LDR, LDRSW, PRFM (literal) */
		*ret = svma + arm64_sign_extend(arm64_bits(w, 5, 19), 19) * 4;
	else
		return false;
	return true;
}

/* Hints that Capstone 4 has no names for: C6.2 "HINT", PACIASP, AUTIASP, BTI. */
static const char *hint_name(uint32_t w)
{
	switch (w) {
	case 0xd503233f:
		return "paciasp";
	case 0xd50323bf:
		return "autiasp";
	case 0xd503237f:
		return "pacibsp";
	case 0xd50323ff:
		return "autibsp";
	case 0xd503241f:
		return "bti";
	case 0xd503245f:
		return "bti    c";
	case 0xd503249f:
		return "bti    j";
	case 0xd50324df:
		return "bti    jc";
	}
	return NULL;
}

/* Capstone's operands, with the last one replaced by the address it stands for. */
static void add_operands(struct disasm *d, const char *operands, bool has_address, uint64_t address)
{
	const char *hash = has_address ? strrchr(operands, '#') : NULL;

	if (!hash) {
		str_add(&d->text, operands);
		return;
	}
	str_addn(&d->text, operands, (size_t)(hash - operands));
	disasm_add_address(d, address);
}

static void disasm_arm64_decode(struct disasm *d, struct disasm_insn *ret)
{
	struct engine *e = d->engine;
	const uint8_t *code = d->p;
	size_t n_left = (size_t)(d->end - d->p);
	uint64_t svma = d->svma, address = 0;
	const char *hint;
	uint32_t w;
	bool has_address;

	if (n_left < 4) { /* the tail of something that is no code */
		ret->bad = true;
		ret->n_bytes = 1;
		if (d->want_text)
			str_addf(&d->text, ".byte  0x%02x", *d->p);
		return;
	}
	/* A64 instructions are little-endian whatever the data are: B2.6.2. */
	w = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	    (uint32_t)code[3] << 24;
	ret->n_bytes = 4;
	classify(w, ret);
	if (!d->want_text)
		return;
	hint = hint_name(w);
	if (hint) {
		str_add(&d->text, hint);
		return;
	}
	n_left = 4;
	if (!e->disasm_iter(e->handle, &code, &n_left, &svma, e->insn)) {
		ret->bad = true;
		ret->kind = DISASM_OTHER;
		ret->has_target = false;
		str_addf(&d->text, ".inst  0x%08" PRIx32, w);
		return;
	}
	has_address = ret->has_target || pc_relative(w, d->svma, &address);
	if (ret->has_target)
		address = ret->target;
	str_addf(&d->text, e->insn->op_str[0] ? "%-6s " : "%s", e->insn->mnemonic);
	add_operands(d, e->insn->op_str, has_address, address);
}

static void free_engine(struct disasm *d)
{
	struct engine *e = d->engine;

	if (e->insn)
		e->free(e->insn, 1);
	if (e->handle)
		e->close(&e->handle);
	if (e->library)
		dlclose(e->library);
	free(e);
}

int disasm_arm64_init(struct disasm *d, struct err *err)
{
	struct engine *e = xcalloc(1, sizeof(*e));

	d->engine = e;
	d->decode = disasm_arm64_decode;
	d->free_engine = free_engine;
	e->library = dlopen("libcapstone.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!e->library) {
		free_engine(d);
		return err_set(err, -ENOTSUP,
			       "arm64 code needs the library libcapstone.so.4 "
			       "(package libcapstone4)");
	}
	e->open = (__typeof__(e->open))dlsym(e->library, "cs_open");
	e->close = (__typeof__(e->close))dlsym(e->library, "cs_close");
	e->malloc = (__typeof__(e->malloc))dlsym(e->library, "cs_malloc");
	e->free = (__typeof__(e->free))dlsym(e->library, "cs_free");
	e->disasm_iter = (__typeof__(e->disasm_iter))dlsym(e->library, "cs_disasm_iter");
	if (!e->open || !e->close || !e->malloc || !e->free || !e->disasm_iter ||
	    e->open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &e->handle) != CS_ERR_OK ||
	    !(e->insn = e->malloc(e->handle))) {
		free_engine(d);
		return err_set(err, -ENOTSUP, "libcapstone.so.4 does not know arm64");
	}
	return 0;
}
