/* SPDX-License-Identifier: BSD-2-Clause */
/* PHP in an ELF file: the program, or a server's module.
 *
 * A build for one thread exports executor_globals and its loop, execute_ex.  The version stands in
 * the text of an HTTP header, among the constants.  Within a version extensions stay loadable, so
 * what they see keeps its place; executor_globals only grows at its end (8.2.32: 1,776 bytes,
 * 8.2.36: 1,800), so its size must be near the version's. */
#include <elf.h>
#include <string.h>

#include "base/cleanup.h"
#include "resolve/interpreter_impl.h"
#include "unwind/php_state.h"

#define HEADER "X-Powered-By: PHP/"

/* How far executor_globals of two releases of a version may differ. */
#define MOST_GROWN_BYTES 128u

struct php_symbols {
	uint64_t globals, n_globals_bytes, loop, n_loop_bytes; /* svma; 0: not there */
};

static void php_take_symbol(void *ctx, const char *name, uint64_t svma, uint64_t size)
{
	struct php_symbols *p = ctx;

	if (strcmp(name, "executor_globals") == 0) {
		p->globals = svma;
		p->n_globals_bytes = size;
	} else if (strcmp(name, "execute_ex") == 0) {
		p->loop = svma;
		p->n_loop_bytes = size;
	}
}

bool interpreter_may_be_php(const struct elf_file *f)
{
	return interpreter_may_export(f, "execute_ex") && interpreter_may_export(f, "zend_vm_kind");
}

/* The number of decimal digits at *AT, before END; *AT is behind it then. */
static uint32_t php_number(const char **at, const char *end)
{
	uint32_t n = 0;

	while (*at < end && **at >= '0' && **at <= '9' && n < 100)
		n = 10 * n + (uint32_t)(*(*at)++ - '0');
	return n;
}

/* The version, as unwind_interpreter has it. */
static uint32_t php_version(const struct elf_file *f)
{
	const struct elf_section *s = elf_file_find_section(f, ".rodata");
	_mem_ uint8_t *bytes = s ? elf_file_load_section(f, s) : NULL;
	const char *at, *end;
	uint32_t major;

	at = bytes ? memmem(bytes, (size_t)s->size, HEADER, strlen(HEADER)) : NULL;
	if (!at)
		return INTERPRETER_VERSION_PHP;
	end = (const char *)bytes + s->size;
	at += strlen(HEADER);
	major = php_number(&at, end);
	at += at < end;
	return INTERPRETER_VERSION_PHP | major << 8 | php_number(&at, end);
}

static enum interpreter php_interpreter(uint32_t version)
{
	switch (version & 0xffff) {
	case 0x0704:
		return INTERPRETER_PHP_7_4;
	case 0x0802:
		return INTERPRETER_PHP_8_2;
	case 0x0804:
		return INTERPRETER_PHP_8_4;
	default:
		return INTERPRETER_NONE;
	}
}

enum interpreter_refusal interpreter_find_php(struct elf_file *f, struct unwind_input *in)
{
	struct php_symbols p = {0};
	enum interpreter number;

	interpreter_each_symbol(f, php_take_symbol, &p);
	if (!p.loop)
		return INTERPRETER_ACCEPTED; /* it has names of PHP only */
	in->interpreter.version = php_version(f);
	if (f->machine != EM_X86_64)
		return INTERPRETER_OTHER_MACHINE;
	if (!p.globals)
		return INTERPRETER_OTHER_THREADS;
	number = php_interpreter(in->interpreter.version);
	if (number == INTERPRETER_NONE)
		return INTERPRETER_OTHER_VERSION;
	if (p.n_globals_bytes - PHP_LAYOUT(number)->globals_bytes + MOST_GROWN_BYTES >
	    2 * MOST_GROWN_BYTES)
		return INTERPRETER_OTHER_BUILD;
	if (!p.n_loop_bytes || p.n_loop_bytes > INTERPRETER_MOST_LOOP_BYTES ||
	    !interpreter_set_anchor(p.globals, p.loop, in))
		return INTERPRETER_DAMAGED;
	in->interpreter.number = number;
	interpreter_add_loop(f, p.loop, p.n_loop_bytes, in);
	return INTERPRETER_ACCEPTED;
}
