/* SPDX-License-Identifier: BSD-2-Clause */
/* Ruby in an ELF file: libruby.so.
 *
 * It exports the numbers of its version, `ruby_api_version`.  What a thread's own variable is,
 * tells the code of ruby_native_thread_p(), which asks whether it is set; in 2.7 that is a key
 * of thread-specific data:
 *
 *     lea  module(%rip),%rdi          mov  key(%rip),%edi
 *     call __tls_get_addr             call pthread_getspecific
 *     cmpq $0,(%rax)                  test %rax,%rax
 *
 * The table of names is a variable that rb_id2str(), or what it jumps to, compares its argument
 * with; two words further on is the array that it reads next.
 *
 * Since 3.3 the loop is not exported.  The procedure that it calls has the instructions, each of
 * which jumps to the next one through the register that Ruby reserves for it, r14 (vm_exec.c):
 * no other has so many jumps by that register.  The loop is the one that calls it; what jumps
 * there asks for a table. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "base/rd.h"
#include "resolve/disasm.h"
#include "resolve/interpreter_impl.h"
#include "resolve/symtab_elf.h"
#include "unwind/ruby_state.h"

#define MOST_CODE_BYTES	 (64u << 20)
#define MOST_NAMES_BYTES 512u /* of rb_id2str, or of what it jumps to */
#define MOST_REFERENCES	 64u
#define LEAST_DISPATCHES 4u

struct ruby_symbols {
	uint64_t version, thread, names, loop, n_loop_bytes; /* svma; 0: not there */
};

static void ruby_take_symbol(void *ctx, const char *name, uint64_t svma, uint64_t size)
{
	struct ruby_symbols *p = ctx;

	if (strcmp(name, "ruby_api_version") == 0) {
		p->version = svma;
	} else if (strcmp(name, "ruby_native_thread_p") == 0) {
		p->thread = svma;
	} else if (strcmp(name, "rb_id2str") == 0) {
		p->names = svma;
	} else if (strcmp(name, "rb_vm_exec") == 0) {
		p->loop = svma;
		p->n_loop_bytes = size;
	}
}

bool interpreter_may_be_ruby(const struct elf_file *f)
{
	return interpreter_may_export(f, "ruby_native_thread_p") &&
	       interpreter_may_export(f, "ruby_api_version");
}

static uint32_t ruby_version(const struct elf_file *f, uint64_t svma)
{
	uint8_t bytes[8];
	struct rd r = rd_init(bytes, sizeof(bytes));
	uint32_t major, minor;

	if (!interpreter_read(f, svma, bytes, sizeof(bytes)))
		return INTERPRETER_VERSION_RUBY;
	major = rd_le32(&r);
	minor = rd_le32(&r);
	if (major > 255 || minor > 255)
		return INTERPRETER_VERSION_RUBY;
	return INTERPRETER_VERSION_RUBY | major << 8 | minor;
}

static enum interpreter ruby_interpreter(uint32_t version)
{
	switch (version & 0xffff) {
	case 0x0207:
		return INTERPRETER_RUBY_2_7;
	case 0x0300:
		return INTERPRETER_RUBY_3_0;
	case 0x0301:
		return INTERPRETER_RUBY_3_1;
	case 0x0302:
		return INTERPRETER_RUBY_3_2;
	case 0x0303:
		return INTERPRETER_RUBY_3_3;
	case 0x0304:
		return INTERPRETER_RUBY_3_4;
	default:
		return INTERPRETER_NONE;
	}
}

/* Where the key or the module and offset are that the code at SVMA, ruby_native_thread_p, takes;
 * 0: it is other code.  Instruction formats: Intel SDM volume 2. */
static uint64_t ruby_find_thread(const struct elf_file *f, uint64_t svma, bool is_key)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x3d}, mov[] = {0x8b, 0x3d},
			     cmp[] = {0x48, 0x83, 0x38, 0},
			     cmp_far[] = {0x48, 0x83, 0xb8, 0, 0, 0, 0, 0};
	const uint8_t *load = is_key ? mov : lea;
	const size_t n_load = is_key ? sizeof(mov) : sizeof(lea);
	uint8_t code[48];
	const uint8_t *at;
	struct rd r;

	if (!interpreter_read(f, svma, code, sizeof(code)))
		return 0;
	at = memmem(code, 24, load, n_load);
	if (!at)
		return 0;
	if (!is_key && !memmem(at, 24, cmp, sizeof(cmp)) &&
	    !memmem(at, 24, cmp_far, sizeof(cmp_far)))
		return 0;
	r = rd_init(at + n_load, 4);
	return svma + (uint64_t)(at - code) + n_load + 4 + (uint64_t)(int64_t)(int32_t)rd_le32(&r);
}

/* The addresses that code refers to. */
struct references {
	uint64_t v[MOST_REFERENCES];
	size_t n;
};

static const char *take_reference(void *ctx, uint64_t svma, uint64_t *ret_offset)
{
	struct references *refs = ctx;

	if (refs->n < n_elems(refs->v))
		refs->v[refs->n++] = svma;
	*ret_offset = 0;
	return NULL;
}

/* Reads the code at SVMA up to its return; the address it jumps to outside of itself, else 0. */
static uint64_t read_references(const struct elf_file *f, uint64_t svma, struct references *refs)
{
	const struct disasm_opts o = {.machine = EM_X86_64, .name = take_reference, .ctx = refs};
	uint8_t code[MOST_NAMES_BYTES];
	struct disasm_insn insn;
	uint64_t target = 0;
	struct disasm *d;

	if (!interpreter_read(f, svma, code, sizeof(code)))
		return 0;
	d = disasm_new(&o, NULL);
	if (!d)
		return 0;
	disasm_begin(d, code, sizeof(code), svma);
	while (!target && disasm_next(d, &insn)) {
		if (insn.kind == DISASM_RETURN)
			break;
		if (insn.kind == DISASM_JUMP && insn.has_target &&
		    insn.target - svma >= sizeof(code))
			target = insn.target;
	}
	disasm_free(d);
	return target;
}

/* Where `ruby_global_symbols` is; 0: not found. */
static uint64_t ruby_find_names(const struct elf_file *f, uint64_t svma)
{
	struct references refs = {.n = 0};
	const uint64_t next = svma ? read_references(f, svma, &refs) : 0;

	if (next)
		read_references(f, next, &refs);
	for (size_t i = 0; i < refs.n; i++)
		for (size_t k = 0; k < refs.n; k++)
			if (refs.v[k] == refs.v[i] + RUBY_SYMBOLS_IDS)
				return refs.v[i];
	return 0;
}

/* The piece of frame information that SVMA is in; NULL: none. */
static const struct symbol *find_piece(const struct symtab_builder *b, uint64_t svma)
{
	const struct symbol *v = b->symbols.v;
	const size_t after = lower_bound(i, 0, b->symbols.n, v[i].svma <= svma);

	return after && svma - v[after - 1].svma < v[after - 1].size ? &v[after - 1] : NULL;
}

static int compare_svma(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

/* The piece that has most jumps by r14 among the N bytes of CODE, which are at SVMA; NULL: there
 * is none, or two have as many. */
static const struct symbol *find_instructions(const struct symtab_builder *b, uint64_t svma,
					      const uint8_t *code, size_t n)
{
	static const uint8_t jump[] = {0x41, 0xff, 0x26}; /* jmp *(%r14) */
	_mem_ uint32_t *counts = xcalloc(b->symbols.n + 1, sizeof(*counts));
	const uint8_t *at = code;
	const struct symbol *s;
	size_t most = 0, second = 0;

	while ((at = memmem(at, (size_t)(code + n - at), jump, sizeof(jump)))) {
		s = find_piece(b, svma + (uint64_t)(at - code));
		if (s)
			counts[s - b->symbols.v]++;
		at += sizeof(jump);
	}
	for (size_t i = 1; i < b->symbols.n; i++)
		if (counts[i] > counts[most]) {
			second = most;
			most = i;
		} else if (second == most || counts[i] > counts[second]) {
			second = i;
		}
	if (!b->symbols.n || counts[most] < LEAST_DISPATCHES || counts[most] <= counts[second])
		return NULL;
	return &b->symbols.v[most];
}

/* The only piece among the N bytes of CODE, which are at SVMA, that calls TARGET; NULL: none
 * does, or several do. */
static const struct symbol *find_caller(const struct symtab_builder *b, uint64_t svma,
					const uint8_t *code, size_t n, uint64_t target)
{
	const uint8_t *at = code, *const end = code + n;
	const struct symbol *found = NULL, *s;

	for (; (at = memchr(at, 0xe8, (size_t)(end - at))); at++) {
		struct rd r = rd_init(at + 1, (size_t)(end - at - 1));
		const uint64_t from = svma + (uint64_t)(at - code);

		if (from + 5 + (uint64_t)(int64_t)(int32_t)rd_le32(&r) != target || r.bad)
			continue;
		s = find_piece(b, from);
		if (!s || (found && s != found))
			return NULL;
		found = s;
	}
	return found;
}

/* Puts the loop, which is not exported, into P. */
static void ruby_find_loop(struct elf_file *f, struct ruby_symbols *p)
{
	const struct elf_section *s = elf_file_find_section(f, ".text");
	struct symtab_builder fdes = {0};
	_mem_ uint8_t *code = NULL;
	const struct symbol *found;

	if (!s || s->size > MOST_CODE_BYTES)
		return;
	code = elf_file_load_section(f, s);
	if (!code)
		return;
	symtab_elf_read_frames(f, &fdes);
	qsort(fdes.symbols.v, fdes.symbols.n, sizeof(*fdes.symbols.v), compare_svma);
	found = find_instructions(&fdes, s->svma, code, (size_t)s->size);
	if (found)
		found = find_caller(&fdes, s->svma, code, (size_t)s->size, found->svma);
	if (found) {
		p->loop = found->svma;
		p->n_loop_bytes = found->size;
	}
	symtab_builder_release(&fdes);
}

/* Puts both anchors into IN; false when they lie too far from the code. */
static bool ruby_set_anchors(uint64_t thread, uint64_t names, uint64_t loop,
			     struct unwind_input *in)
{
	uint64_t upper = 0;

	if (names && interpreter_set_anchor(names, loop, in))
		upper = in->interpreter.anchor;
	if (!interpreter_set_anchor(thread, loop, in) || in->interpreter.anchor > UINT32_MAX ||
	    upper > UINT32_MAX)
		return false;
	in->interpreter.anchor |= upper << RUBY_SYMBOLS_SHIFT;
	return true;
}

enum interpreter_refusal interpreter_find_ruby(struct elf_file *f, struct unwind_input *in)
{
	struct ruby_symbols p = {0};
	enum interpreter number;
	uint64_t thread;

	interpreter_each_symbol(f, ruby_take_symbol, &p);
	if (!p.version || !p.thread)
		return INTERPRETER_ACCEPTED; /* it has names of Ruby only */
	in->interpreter.version = ruby_version(f, p.version);
	if (f->machine != EM_X86_64)
		return INTERPRETER_OTHER_MACHINE;
	number = ruby_interpreter(in->interpreter.version);
	if (number == INTERPRETER_NONE)
		return INTERPRETER_OTHER_VERSION;
	thread = ruby_find_thread(f, p.thread, RUBY_LAYOUT(number)->is_key);
	if (!p.loop)
		ruby_find_loop(f, &p);
	if (!thread || !p.loop || !p.n_loop_bytes || p.n_loop_bytes > INTERPRETER_MOST_LOOP_BYTES)
		return INTERPRETER_WITHOUT_LOOP;
	if (!ruby_set_anchors(thread, ruby_find_names(f, p.names), p.loop, in))
		return INTERPRETER_DAMAGED;
	in->interpreter.number = number;
	interpreter_add_loop(f, p.loop, p.n_loop_bytes, in);
	return INTERPRETER_ACCEPTED;
}
