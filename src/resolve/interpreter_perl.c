/* SPDX-License-Identifier: BSD-2-Clause */
/* Perl in an ELF file: the program, or libperl.so.
 *
 * A build with threads exports PL_thr_key, the key of each thread's interpreter; all export their
 * loop, Perl_runops_standard, and the numbers of their version, a byte each. */
#include <elf.h>
#include <string.h>

#include "resolve/interpreter_impl.h"
#include "unwind/perl_state.h"

struct perl_symbols {
	uint64_t key, loop, n_loop_bytes, major, minor; /* svma; 0: not there */
};

static void perl_take_symbol(void *ctx, const char *name, uint64_t svma, uint64_t size)
{
	struct perl_symbols *p = ctx;

	if (strcmp(name, "PL_thr_key") == 0) {
		p->key = svma;
	} else if (strcmp(name, "Perl_runops_standard") == 0) {
		p->loop = svma;
		p->n_loop_bytes = size;
	} else if (strcmp(name, "PL_revision") == 0) {
		p->major = svma;
	} else if (strcmp(name, "PL_version") == 0) {
		p->minor = svma;
	}
}

bool interpreter_may_be_perl(const struct elf_file *f)
{
	return interpreter_may_export(f, "Perl_runops_standard");
}

static enum interpreter perl_interpreter(uint32_t version)
{
	switch (version & 0xffff) {
	case 0x0520:
		return INTERPRETER_PERL_5_32;
	case 0x0524:
		return INTERPRETER_PERL_5_36;
	case 0x0528:
		return INTERPRETER_PERL_5_40;
	default:
		return INTERPRETER_NONE;
	}
}

enum interpreter_refusal interpreter_find_perl(struct elf_file *f, struct unwind_input *in)
{
	struct perl_symbols p = {0};
	uint8_t major = 0, minor = 0;
	enum interpreter number;

	interpreter_each_symbol(f, perl_take_symbol, &p);
	if (!p.loop)
		return INTERPRETER_ACCEPTED; /* it has names of Perl only */
	in->interpreter.version = INTERPRETER_VERSION_PERL;
	if (interpreter_read(f, p.major, &major, 1) && interpreter_read(f, p.minor, &minor, 1))
		in->interpreter.version |= (uint32_t)major << 8 | minor;
	if (f->machine != EM_X86_64)
		return INTERPRETER_OTHER_MACHINE;
	if (!p.key)
		return INTERPRETER_OTHER_THREADS;
	number = perl_interpreter(in->interpreter.version);
	if (number == INTERPRETER_NONE)
		return INTERPRETER_OTHER_VERSION;
	if (!p.n_loop_bytes || p.n_loop_bytes > INTERPRETER_MOST_LOOP_BYTES ||
	    !interpreter_set_anchor(p.key, p.loop, in))
		return INTERPRETER_DAMAGED;
	in->interpreter.number = number;
	interpreter_add_loop(f, p.loop, p.n_loop_bytes, in);
	return INTERPRETER_ACCEPTED;
}
