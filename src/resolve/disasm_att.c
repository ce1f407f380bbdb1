/* SPDX-License-Identifier: BSD-2-Clause */
/* x86 instructions in AT&T syntax, as objdump writes them.
 *
 * Zydis has an AT&T formatter, but a dialect of its own (jnbe, movzxb, vmovups with size letters,
 * no prefixes of padding instructions): people compare listings with those of objdump, perf and
 * gdb, so the text is made here from the decoded operands.  The rules are those of binutils' "AT&T
 * Syntax versus Intel Syntax" and "AT&T Mnemonic versus Intel Mnemonic" (as manual, 9.16.3
 * and 9.16.4):
 *
 * - operands in reverse order, `%` before registers, `$` before immediates, `*` before an indirect
 *   target, memory as segment:disp(base,index,scale);
 * - a size letter (b w l q) only where no register tells the size;
 * - condition codes by their usual names (e, ne, a, ae, g, ge);
 * - movz/movs with both sizes, cltq and its family, swapped fsub/fsubr and fdiv/fdivr towards
 * st(i);
 * - compare predicates as part of the mnemonic (vpcmpltub) instead of an immediate.
 *
 * A test compares the result with objdump over the whole C library. */
#include "resolve/disasm_att.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"

struct alias {
	ZydisMnemonic from;
	const char *to;
};

#define CC(prefix, name, to)                                                                       \
	{                                                                                          \
		ZYDIS_MNEMONIC_##prefix##name, to                                                  \
	}

/* Where the usual name differs from Zydis's. */
static const struct alias aliases[] = {
	CC(J, Z, "je"),
	CC(J, NZ, "jne"),
	CC(J, NB, "jae"),
	CC(J, NBE, "ja"),
	CC(J, NL, "jge"),
	CC(J, NLE, "jg"),
	CC(SET, Z, "sete"),
	CC(SET, NZ, "setne"),
	CC(SET, NB, "setae"),
	CC(SET, NBE, "seta"),
	CC(SET, NL, "setge"),
	CC(SET, NLE, "setg"),
	CC(CMOV, Z, "cmove"),
	CC(CMOV, NZ, "cmovne"),
	CC(CMOV, NB, "cmovae"),
	CC(CMOV, NBE, "cmova"),
	CC(CMOV, NL, "cmovge"),
	CC(CMOV, NLE, "cmovg"),
	CC(FCMOV, NBE, "fcmovnbe"),
	{ZYDIS_MNEMONIC_CBW, "cbtw"},
	{ZYDIS_MNEMONIC_CWDE, "cwtl"},
	{ZYDIS_MNEMONIC_CDQE, "cltq"},
	{ZYDIS_MNEMONIC_CWD, "cwtd"},
	{ZYDIS_MNEMONIC_CDQ, "cltd"},
	{ZYDIS_MNEMONIC_CQO, "cqto"},
	{ZYDIS_MNEMONIC_PUSHFQ, "pushf"},
	{ZYDIS_MNEMONIC_POPFQ, "popf"},
	{ZYDIS_MNEMONIC_IRETD, "iret"},
	{ZYDIS_MNEMONIC_LODSB, "lods"},
	{ZYDIS_MNEMONIC_LODSW, "lods"},
	{ZYDIS_MNEMONIC_LODSD, "lods"},
	{ZYDIS_MNEMONIC_LODSQ, "lods"},
	{ZYDIS_MNEMONIC_STOSB, "stos"},
	{ZYDIS_MNEMONIC_STOSW, "stos"},
	{ZYDIS_MNEMONIC_STOSD, "stos"},
	{ZYDIS_MNEMONIC_STOSQ, "stos"},
	{ZYDIS_MNEMONIC_SCASB, "scas"},
	{ZYDIS_MNEMONIC_SCASW, "scas"},
	{ZYDIS_MNEMONIC_SCASD, "scas"},
	{ZYDIS_MNEMONIC_SCASQ, "scas"},
};

/* What the size letter of a memory operand follows. */
enum letters {
	LETTERS_NONE,
	LETTERS_INT,	 /* b w l q when no register tells */
	LETTERS_FLOAT,	 /* s l t: 32, 64, 80 bits */
	LETTERS_FPU_INT, /* s l ll: 16, 32, 64 bits */
};

static enum letters letters_of(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_CVTSI2SD:
	case ZYDIS_MNEMONIC_CVTSI2SS:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_VCVTSI2SD:
	case ZYDIS_MNEMONIC_VCVTSI2SS:
	case ZYDIS_MNEMONIC_XOR:
		return LETTERS_INT;
	case ZYDIS_MNEMONIC_FADD:
	case ZYDIS_MNEMONIC_FCOM:
	case ZYDIS_MNEMONIC_FCOMP:
	case ZYDIS_MNEMONIC_FDIV:
	case ZYDIS_MNEMONIC_FDIVR:
	case ZYDIS_MNEMONIC_FLD:
	case ZYDIS_MNEMONIC_FMUL:
	case ZYDIS_MNEMONIC_FST:
	case ZYDIS_MNEMONIC_FSTP:
	case ZYDIS_MNEMONIC_FSUB:
	case ZYDIS_MNEMONIC_FSUBR:
		return LETTERS_FLOAT;
	case ZYDIS_MNEMONIC_FIADD:
	case ZYDIS_MNEMONIC_FICOM:
	case ZYDIS_MNEMONIC_FICOMP:
	case ZYDIS_MNEMONIC_FIDIV:
	case ZYDIS_MNEMONIC_FIDIVR:
	case ZYDIS_MNEMONIC_FILD:
	case ZYDIS_MNEMONIC_FIMUL:
	case ZYDIS_MNEMONIC_FIST:
	case ZYDIS_MNEMONIC_FISTP:
	case ZYDIS_MNEMONIC_FISTTP:
	case ZYDIS_MNEMONIC_FISUB:
	case ZYDIS_MNEMONIC_FISUBR:
		return LETTERS_FPU_INT;
	default:
		return LETTERS_NONE;
	}
}

static const char *int_letter(unsigned n_bits)
{
	return n_bits == 8    ? "b"
	       : n_bits == 16 ? "w"
	       : n_bits == 32 ? "l"
	       : n_bits == 64 ? "q"
			      : "";
}

static const char *size_letter(enum letters kind, unsigned n_bits)
{
	switch (kind) {
	case LETTERS_INT:
		return int_letter(n_bits);
	case LETTERS_FLOAT:
		return n_bits == 32 ? "s" : n_bits == 64 ? "l" : n_bits == 80 ? "t" : "";
	case LETTERS_FPU_INT:
		return n_bits == 16 ? "s" : n_bits == 32 ? "l" : n_bits == 64 ? "ll" : "";
	default:
		return "";
	}
}

/* A general register among the operands, which makes a size letter needless; the count of a shift
 * and an SSE register say nothing about the size of memory. */
static bool has_sizing_register(const ZydisDecodedInstruction *in,
				const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < in->operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &operands[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		    ZydisRegisterGetClass(op->reg.value) != ZYDIS_REGCLASS_XMM)
			return true;
	}
	return false;
}

static const ZydisDecodedOperand *memory_operand(const ZydisDecodedInstruction *in,
						 const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < in->operand_count_visible; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &operands[i];
	return NULL;
}

/* SDM vol. 2, CMPPD table 3-1 and VPCMPUB table 5-21: predicates 0-7.  VCMP's 32 are named by the
 * same table; above 7 binutils' names follow from relation, quiet and ordered. */
static const char *const fp_predicates[] = {
	"eq",	 "lt",	   "le",     "unord",	 "neq",	   "nlt",    "nle",    "ord",
	"eq_uq", "nge",	   "ngt",    "false",	 "neq_oq", "ge",     "gt",     "true",
	"eq_os", "lt_oq",  "le_oq",  "unord_s",	 "neq_us", "nlt_uq", "nle_uq", "ord_s",
	"eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq",  "gt_oq",  "true_us",
};
static const char *const int_predicates[] = {"eq", "lt", "le", NULL, "neq", "nlt", "nle", NULL};

/* The predicate that becomes part of a compare's mnemonic, with the mnemonic's stem and ending
 * around it, or NULL. */
static const char *predicate_of(const ZydisDecodedInstruction *in, const char **stem,
				const char **ending)
{
	uint64_t imm = in->raw.imm[0].value.u;
	bool sse = in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;

	switch (in->mnemonic) {
#define FP(m, s, end)                                                                              \
	case ZYDIS_MNEMONIC_##m:                                                                   \
		*stem = s;                                                                         \
		*ending = end;                                                                     \
		if (!in->raw.imm[0].size)                                                          \
			return NULL; /* CMPSD, the string instruction */                           \
		return imm < (sse ? 8 : 32) ? fp_predicates[imm] : NULL;
#define INT(m, end)                                                                                \
	case ZYDIS_MNEMONIC_##m:                                                                   \
		*stem = "vpcmp";                                                                   \
		*ending = end;                                                                     \
		return imm < 8 ? int_predicates[imm] : NULL;
		FP(CMPPS, "cmp", "ps")
		FP(CMPPD, "cmp", "pd")
		FP(CMPSS, "cmp", "ss")
		FP(CMPSD, "cmp", "sd")
		FP(VCMPPS, "vcmp", "ps")
		FP(VCMPPD, "vcmp", "pd")
		FP(VCMPSS, "vcmp", "ss")
		FP(VCMPSD, "vcmp", "sd")
	case ZYDIS_MNEMONIC_PCLMULQDQ: /* which halves are multiplied: SDM vol. 2, table 4-13 */
	case ZYDIS_MNEMONIC_VPCLMULQDQ:
		*stem = sse ? "pclmul" : "vpclmul";
		*ending = "qdq";
		return imm == 0	     ? "lql"
		       : imm == 1    ? "hql"
		       : imm == 0x10 ? "lqh"
		       : imm == 0x11 ? "hqh"
				     : NULL;
		INT(VPCMPB, "b")
		INT(VPCMPW, "w")
		INT(VPCMPD, "d")
		INT(VPCMPQ, "q")
		INT(VPCMPUB, "ub")
		INT(VPCMPUW, "uw")
		INT(VPCMPUD, "ud")
		INT(VPCMPUQ, "uq")
#undef FP
#undef INT
	default:
		return NULL;
	}
}

/* fsub, fsubr, fdiv and fdivr change names when the result goes to st(i): as manual, 9.16.4. */
static ZydisMnemonic fpu_swapped(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_FSUB:
		return ZYDIS_MNEMONIC_FSUBR;
	case ZYDIS_MNEMONIC_FSUBR:
		return ZYDIS_MNEMONIC_FSUB;
	case ZYDIS_MNEMONIC_FSUBP:
		return ZYDIS_MNEMONIC_FSUBRP;
	case ZYDIS_MNEMONIC_FSUBRP:
		return ZYDIS_MNEMONIC_FSUBP;
	case ZYDIS_MNEMONIC_FDIV:
		return ZYDIS_MNEMONIC_FDIVR;
	case ZYDIS_MNEMONIC_FDIVR:
		return ZYDIS_MNEMONIC_FDIV;
	case ZYDIS_MNEMONIC_FDIVP:
		return ZYDIS_MNEMONIC_FDIVRP;
	case ZYDIS_MNEMONIC_FDIVRP:
		return ZYDIS_MNEMONIC_FDIVP;
	default:
		return m;
	}
}

/* Appends the mnemonic; *RET_SKIP_IMM is set when it has taken the immediate in. */
static void add_mnemonic(struct str *s, const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *operands, bool *ret_skip_imm)
{
	const ZydisDecodedOperand *memory = memory_operand(in, operands);
	const char *stem, *ending, *predicate = predicate_of(in, &stem, &ending);
	bool far = in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	ZydisMnemonic m = in->mnemonic;

	if (predicate) {
		*ret_skip_imm = true;
		str_addf(s, "%s%s%s", stem, predicate, ending);
		return;
	}
	switch (m) {
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		str_addf(s, "mov%c%s%s", m == ZYDIS_MNEMONIC_MOVZX ? 'z' : 's',
			 int_letter(operands[1].size), int_letter(operands[0].size));
		return;
	case ZYDIS_MNEMONIC_MOV:
		if (in->raw.imm[0].size == 64 || in->raw.disp.size == 64) {
			str_add(s, "movabs");
			return;
		}
		break;
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ:
		if (in->meta.category == ZYDIS_CATEGORY_STRINGOP) {
			str_addf(s, "%.4s%s", ZydisMnemonicGetString(m),
				 int_letter(operands[0].size));
			return;
		}
		break;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_JMP:
		if (far)
			str_add(s, "l");
		break;
	case ZYDIS_MNEMONIC_SYSRET:
		str_add(s, in->operand_width == 64 ? "sysretq" : "sysretl");
		return;
	default:
		break;
	}
	if (in->operand_count_visible && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    operands[0].reg.value != ZYDIS_REGISTER_ST0)
		m = fpu_swapped(m);
	for (size_t i = 0; i < n_elems(aliases); i++) {
		if (aliases[i].from == m) {
			str_add(s, aliases[i].to);
			return;
		}
	}
	str_add(s, ZydisMnemonicGetString(m));
	if (memory && (m == ZYDIS_MNEMONIC_NOP || !has_sizing_register(in, operands)))
		str_add(s, size_letter(letters_of(m), memory->size));
}

/* Prefixes that do nothing here are shown all the same: padding is made of them. */
static void add_prefixes(struct str *s, const ZydisDecodedInstruction *in)
{
	static const struct {
		ZydisInstructionAttributes attribute;
		const char *name;
	} named[] = {
		{ZYDIS_ATTRIB_HAS_XACQUIRE, "xacquire "}, {ZYDIS_ATTRIB_HAS_XRELEASE, "xrelease "},
		{ZYDIS_ATTRIB_HAS_LOCK, "lock "},	  {ZYDIS_ATTRIB_HAS_REP, "rep "},
		{ZYDIS_ATTRIB_HAS_REPE, "repz "},	  {ZYDIS_ATTRIB_HAS_REPNE, "repnz "},
		{ZYDIS_ATTRIB_HAS_BND, "bnd "},		  {ZYDIS_ATTRIB_HAS_NOTRACK, "notrack "},
	};
	static const struct {
		uint8_t byte;
		const char *name;
	} ignored[] = {
		{0x66, "data16 "}, {0x26, "es "}, {0x2e, "cs "},    {0x36, "ss "},   {0x3e, "ds "},
		{0x64, "fs "},	   {0x65, "gs "}, {0xf2, "repnz "}, {0xf3, "repz "},
	};

	for (unsigned i = 0; i < in->raw.prefix_count; i++) {
		uint8_t byte = in->raw.prefixes[i].value;

		if (in->raw.prefixes[i].type != ZYDIS_PREFIX_TYPE_IGNORED)
			continue;
		if (byte == 0x67)
			str_add(s, in->machine_mode == ZYDIS_MACHINE_MODE_LONG_64 ? "addr32 "
										  : "addr16 ");
		for (size_t k = 0; k < n_elems(ignored); k++)
			if (ignored[k].byte == byte)
				str_add(s, ignored[k].name);
	}
	for (size_t i = 0; i < n_elems(named); i++)
		if (in->attributes & named[i].attribute)
			str_add(s, named[i].name);
}

static void add_number(struct str *s, const char *prefix, uint64_t value)
{
	str_add(s, prefix);
	str_addx(s, value);
}

static void add_register(struct str *s, ZydisRegister r)
{
	if (r >= ZYDIS_REGISTER_ST0 && r <= ZYDIS_REGISTER_ST7) {
		str_addf(s, "%%st(%d)", r - ZYDIS_REGISTER_ST0);
	} else {
		str_addc(s, '%');
		str_add(s, ZydisRegisterGetString(r));
	}
}

static void add_memory(struct str *s, const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *op)
{
	const ZydisDecodedOperandMem *m = &op->mem;
	bool override = in->attributes & ZYDIS_ATTRIB_HAS_SEGMENT;
	bool string = op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
	int64_t disp = m->disp.has_displacement ? m->disp.value : 0;
	bool plain = m->base == ZYDIS_REGISTER_NONE && m->index == ZYDIS_REGISTER_NONE;

	if (m->segment != ZYDIS_REGISTER_NONE && (override || string)) {
		add_register(s, m->segment);
		str_addc(s, ':');
	}
	if (plain)
		add_number(s, "0x", (uint64_t)disp);
	else if (in->raw.disp.size && !string)
		add_number(s, disp < 0 ? "-0x" : "0x", disp < 0 ? -(uint64_t)disp : (uint64_t)disp);
	if (plain)
		return;
	str_addc(s, '(');
	if (m->base != ZYDIS_REGISTER_NONE)
		add_register(s, m->base);
	if (m->index != ZYDIS_REGISTER_NONE) {
		str_addc(s, ',');
		add_register(s, m->index);
		/* A multiple-index memory operand (bndldx) has no scale. */
		if (m->scale)
			str_addn(s, (const char[]){',', (char)('0' + m->scale)}, 2);
	}
	str_addc(s, ')');
}

/* Immediates are shown as the value that takes part, as wide as the operation. */
static void add_immediate(struct disasm *d, const ZydisDecodedInstruction *in,
			  const ZydisDecodedOperand *operands, const ZydisDecodedOperand *op)
{
	unsigned n_bits =
		operands[0].size > op->size && op->imm.is_signed ? operands[0].size : op->size;
	uint64_t value = op->imm.value.u, svma;

	if (op->imm.is_relative) {
		if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(in, op, d->svma, &svma)))
			disasm_add_address(d, svma);
		return;
	}
	if (operands == op && op->imm.is_signed) /* push */
		n_bits = in->operand_width;
	if (n_bits < 64)
		value &= ((uint64_t)1 << n_bits) - 1;
	add_number(&d->text, "$0x", value);
}

static void add_operand(struct disasm *d, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *operands, const ZydisDecodedOperand *op)
{
	bool branch = in->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;

	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		if (branch)
			str_addc(&d->text, '*');
		if (op->reg.value == ZYDIS_REGISTER_ST0 &&
		    op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			str_add(&d->text, "%st"); /* the stack's top, not encoded */
		else
			add_register(&d->text, op->reg.value);
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (branch)
			str_addc(&d->text, '*');
		add_memory(&d->text, in, op);
		break;
	case ZYDIS_OPERAND_TYPE_POINTER:
		str_addf(&d->text, "$0x%x,$0x%" PRIx32, op->ptr.segment, op->ptr.offset);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		add_immediate(d, in, operands, op);
		break;
	default:
		break;
	}
}

/* AVX-512's {%k1}{z} behind the destination, and {1to8} behind a broadcast memory operand. */
static void add_decorators(struct str *s, const ZydisDecodedInstruction *in,
			   const ZydisDecodedOperand *operands, unsigned i)
{
	static const unsigned lanes[] = {
		[ZYDIS_BROADCAST_MODE_1_TO_2] = 2,   [ZYDIS_BROADCAST_MODE_1_TO_4] = 4,
		[ZYDIS_BROADCAST_MODE_1_TO_8] = 8,   [ZYDIS_BROADCAST_MODE_1_TO_16] = 16,
		[ZYDIS_BROADCAST_MODE_1_TO_32] = 32,
	};
	bool broadcast =
		in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && !in->avx.broadcast.is_static &&
		in->avx.broadcast.mode < (int)n_elems(lanes) && lanes[in->avx.broadcast.mode];

	if (broadcast && operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
		str_addf(s, "{1to%u}", lanes[in->avx.broadcast.mode]);
	if (i == 0 && in->avx.mask.reg != ZYDIS_REGISTER_NONE &&
	    in->avx.mask.reg != ZYDIS_REGISTER_K0 &&
	    in->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED) {
		str_addf(s, "{%%%s}", ZydisRegisterGetString(in->avx.mask.reg));
		if (in->raw.evex.z)
			str_add(s, "{z}");
	}
}

/* Is OP, one of the explicit or implicit operands, part of the text? */
static bool is_shown(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
		     const ZydisDecodedOperand *op, bool skip_imm)
{
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK) /* a decorator */
		return false;
	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		/* `shr %eax`: a count of one that is not encoded. */
		return !skip_imm && (in->raw.imm[0].size || in->raw.imm[1].size);
	/* `nopl (%rax)`: the register field of a long nop is no operand. */
	return in->mnemonic != ZYDIS_MNEMONIC_NOP || op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	       !memory_operand(in, operands);
}

void disasm_att_add(struct disasm *d, const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *operands)
{
	struct str *s = &d->text;
	bool skip_imm = false, first = true;
	unsigned n = in->operand_count_visible;
	size_t start = s->n;

	if (in->mnemonic == ZYDIS_MNEMONIC_NOP && in->length == 2 && in->opcode == 0x90 &&
	    in->raw.prefixes[0].value == 0x66) {
		/* Padding: the assembler's two-byte nop is spelled so. */
		str_add(s, "xchg   %ax,%ax");
		return;
	}
	/* The memory and the accumulator of a string instruction are shown though not encoded; they
	 * come first. */
	if (in->meta.category == ZYDIS_CATEGORY_STRINGOP && in->operand_count >= 2)
		n = 2;
	add_prefixes(s, in);
	add_mnemonic(s, in, operands, &skip_imm);
	for (unsigned i = n; i-- > 0;) {
		if (!is_shown(in, operands, &operands[i], skip_imm))
			continue;
		if (first)
			while (s->n < start + 6)
				str_addc(s, ' ');
		str_addc(s, first ? ' ' : ',');
		first = false;
		add_operand(d, in, operands, &operands[i]);
		add_decorators(s, in, operands, i);
	}
}
