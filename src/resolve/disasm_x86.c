/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64 and i386 instructions through Zydis 4: decoding, kinds and targets, and Intel's syntax.
 * AT&T's is in disasm_att.c. */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "resolve/disasm_att.h"
#include "resolve/disasm_impl.h"

struct engine {
	ZydisDecoder decoder;
	ZydisFormatter intel;
};

static enum disasm_kind kind_of(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return DISASM_CALL;
	case ZYDIS_CATEGORY_RET:
		return DISASM_RETURN;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return DISASM_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		/* XBEGIN goes to its target when the transaction aborts; Zydis counts it here. */
		return DISASM_COND_JUMP;
	default:
		return DISASM_OTHER;
	}
}

/* The mnemonic is padded to 6, as everywhere; prefixes count as part of it. */
static void add_intel(struct disasm *d, const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *operands)
{
	const struct engine *e = d->engine;
	char text[256], *space;

	if (in->operand_count_visible && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    operands[0].imm.is_relative) {
		uint64_t svma = 0;

		ZydisCalcAbsoluteAddress(in, &operands[0], d->svma, &svma);
		if (in->attributes & ZYDIS_ATTRIB_HAS_BND)
			str_add(&d->text, "bnd ");
		str_addf(&d->text, "%-6s ", ZydisMnemonicGetString(in->mnemonic));
		disasm_add_address(d, svma);
		return;
	}
	if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&e->intel, in, operands,
							in->operand_count_visible, text,
							sizeof(text), d->svma, NULL))) {
		str_add(&d->text, ZydisMnemonicGetString(in->mnemonic));
		return;
	}
	space = in->operand_count_visible ? strchr(text, ' ') : NULL;
	if (space && space - text < 6) {
		*space = '\0';
		str_addf(&d->text, "%-6s %s", text, space + 1);
	} else {
		str_add(&d->text, text);
	}
}

/* `# HEX <name+off>` behind an instruction with a RIP-relative operand, as objdump has it. */
static void add_rip_note(struct disasm *d, const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < in->operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &operands[i];
		uint64_t svma;

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    (op->mem.base != ZYDIS_REGISTER_RIP && op->mem.base != ZYDIS_REGISTER_EIP) ||
		    ZYAN_FAILED(ZydisCalcAbsoluteAddress(in, op, d->svma, &svma)))
			continue;
		str_add(&d->text, "        # ");
		disasm_add_address(d, svma);
	}
}

/* Without operands, which are half of the work. */
static ZyanStatus decode_length(const struct disasm *d, ZydisDecodedInstruction *ret)
{
	const struct engine *e = d->engine;

	return ZydisDecoderDecodeInstruction(&e->decoder, NULL, d->p, (size_t)(d->end - d->p), ret);
}

static void disasm_x86_decode(struct disasm *d, struct disasm_insn *ret)
{
	struct engine *e = d->engine;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *first = &operands[0];
	ZyanStatus rc = d->only_lengths
				? decode_length(d, &in)
				: ZydisDecoderDecodeFull(&e->decoder, d->p, (size_t)(d->end - d->p),
							 &in, operands);

	if (ZYAN_FAILED(rc)) {
		ret->bad = true;
		ret->n_bytes = 1;
		if (d->want_text)
			str_add(&d->text, "(bad)");
		return;
	}
	ret->n_bytes = in.length;
	if (d->only_lengths)
		return;
	ret->kind = kind_of(&in);
	if (ret->kind != DISASM_OTHER && in.operand_count_visible &&
	    first->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && first->imm.is_relative)
		ret->has_target =
			ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&in, first, d->svma, &ret->target));
	if (!d->want_text)
		return;
	if (d->opts.intel)
		add_intel(d, &in, operands);
	else
		disasm_att_add(d, &in, operands);
	add_rip_note(d, &in, operands);
}

static void free_engine(struct disasm *d)
{
	free(d->engine);
}

int disasm_x86_init(struct disasm *d, struct err *err)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} settings[] = {
		{ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
		{ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
	};
	bool is_64 = d->opts.machine == EM_X86_64;
	struct engine *e = xcalloc(1, sizeof(*e));
	ZyanStatus rc;

	d->engine = e;
	d->decode = disasm_x86_decode;
	d->free_engine = free_engine;
	rc = ZydisDecoderInit(&e->decoder,
			      is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			      is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	if (ZYAN_SUCCESS(rc))
		rc = ZydisFormatterInit(&e->intel, ZYDIS_FORMATTER_STYLE_INTEL);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && ZYAN_SUCCESS(rc); i++)
		rc = ZydisFormatterSetProperty(&e->intel, settings[i].property, settings[i].value);
	if (ZYAN_SUCCESS(rc))
		return 0;
	free(e);
	return err_set(err, -ENOTSUP, "Zydis does not start (status %#x)", (unsigned)rc);
}
