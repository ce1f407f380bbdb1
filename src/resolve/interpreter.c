/* SPDX-License-Identifier: BSD-2-Clause */
/* See interpreter.h.
 *
 * CPython since 3.10 has a section .PyRuntime, in stripped files too, whose one object is
 * _PyRuntime (CPython, Python/pylifecycle.c).  A file without that section costs nothing more.  Of
 * one that has it the exported symbols are read: the loop is _PyEval_EvalFrameDefault, the version
 * the number in Py_Version (since 3.11).
 *
 * Compilers move a procedure's unlikely code elsewhere, where stripped files have no symbol for it:
 * a piece of frame information into whose middle the loop jumps.  Calls of other procedures' begins
 * that are written as jumps do not count. */
#include "resolve/interpreter.h"

#include <elf.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rd.h"
#include "base/vec.h"
#include "resolve/disasm.h"
#include "resolve/symtab_elf.h"

#define MOST_LOOP_BYTES (1u << 20)

/* What is looked for among the exported symbols. */
struct python_symbols {
	uint64_t runtime, version, loop, n_loop_bytes; /* svma; 0: not there */
};

static void take_symbol(struct python_symbols *p, const char *name, uint64_t svma, uint64_t size)
{
	if (strcmp(name, "_PyRuntime") == 0)
		p->runtime = svma;
	else if (strcmp(name, "Py_Version") == 0)
		p->version = svma;
	else if (strcmp(name, "_PyEval_EvalFrameDefault") == 0) {
		p->loop = svma;
		p->n_loop_bytes = size;
	}
}

/* gABI "Symbol Table", Elf64_Sym */
static void read_symbols(const struct elf_file *f, struct python_symbols *ret)
{
	const struct elf_section *s = elf_file_find_type(f, SHT_DYNSYM);
	_mem_ uint8_t *table = NULL;
	_mem_ uint8_t *names = NULL;
	uint64_t n_names;
	struct rd r;

	if (!s || s->link >= f->n_sections)
		return;
	table = elf_file_load_section(f, s);
	names = elf_file_load_section(f, &f->sections[s->link]);
	n_names = f->sections[s->link].size;
	if (!table || !names)
		return;
	r = rd_init(table, (size_t)s->size);
	while (rd_left(&r) >= 24) {
		uint32_t name = rd_le32(&r);
		uint16_t section;
		uint64_t svma, size;

		rd_le16(&r);
		section = rd_le16(&r);
		svma = rd_le64(&r);
		size = rd_le64(&r);
		if (section != SHN_UNDEF && name < n_names)
			take_symbol(ret, (const char *)names + name, svma, size);
	}
}

/* Reads N bytes of the file that are loaded at SVMA. */
static bool read_svma(const struct elf_file *f, uint64_t svma, void *ret, size_t n)
{
	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type == PT_LOAD && svma >= s->svma && svma - s->svma < s->filesz &&
		    n <= s->filesz - (svma - s->svma))
			return elf_file_pread(f, s->off + (svma - s->svma), ret, n) == n;
	}
	return false;
}

/* The interpreter of version HEX, Include/patchlevel.h: PY_VERSION_HEX. */
static enum interpreter python_number(uint32_t hex)
{
	switch (hex >> 16) {
	case 0x030b:
		return INTERPRETER_PYTHON_3_11;
	case 0x030c:
		return INTERPRETER_PYTHON_3_12;
	case 0x030d:
		return INTERPRETER_PYTHON_3_13;
	default:
		return INTERPRETER_NONE;
	}
}

/* Adds the piece of frame information into whose middle the jump to TARGET goes. */
static void add_part(struct unwind_input *in, const struct symtab_builder *fdes, uint64_t target)
{
	for (uint32_t i = 0; i < in->n_loops; i++)
		if (target - in->loops[i].svma < in->loops[i].n_bytes)
			return;
	vec_each (s, &fdes->symbols) {
		if (target <= s->svma || target - s->svma >= s->size)
			continue;
		if (in->n_loops < UNWIND_MAX_LOOPS)
			in->loops[in->n_loops++] = (struct unwind_loop){s->svma, s->size};
		return;
	}
}

static void find_parts(struct elf_file *f, const struct python_symbols *p, struct unwind_input *in)
{
	const struct disasm_opts o = {.machine = f->machine};
	_mem_ uint8_t *code = xmalloc((size_t)p->n_loop_bytes);
	struct disasm *d = disasm_new(&o, NULL);
	struct symtab_builder fdes = {0};
	struct disasm_insn insn;

	if (d && read_svma(f, p->loop, code, (size_t)p->n_loop_bytes)) {
		symtab_elf_read_frames(f, &fdes);
		disasm_begin(d, code, (size_t)p->n_loop_bytes, p->loop);
		while (disasm_next(d, &insn))
			if (insn.has_target && insn.kind != DISASM_CALL &&
			    insn.target - p->loop >= p->n_loop_bytes)
				add_part(in, &fdes, insn.target);
	}
	symtab_builder_release(&fdes);
	disasm_free(d);
}

/* Where the state is, as unwind_interpreter has it; false when the loop is in no segment. */
static bool find_anchor(const struct python_symbols *p, struct unwind_input *in)
{
	for (uint32_t i = 0; i < in->n_segments; i++) {
		const struct unwind_segment *s = &in->segments[i];

		if (p->loop - s->svma < s->n_bytes) {
			in->interpreter.anchor = p->runtime - s->svma + s->off;
			return true;
		}
	}
	return false;
}

/* Whether the state at RUNTIME describes itself as that of VERSION, with the global lock: CPython
 * since 3.13, Include/internal/pycore_debug_offsets.h: cookie, version, free_threaded. */
static bool is_usual(const struct elf_file *f, uint64_t runtime, uint32_t version)
{
	uint8_t bytes[24];
	struct rd r = rd_init(bytes, sizeof(bytes));

	return read_svma(f, runtime, bytes, sizeof(bytes)) &&
	       memcmp(rd_bytes(&r, 8), "xdebugpy", 8) == 0 && rd_le64(&r) == version &&
	       rd_le64(&r) == 0;
}

/* Puts CPython's place into IN, whose version is set; else why not. */
static enum interpreter_refusal find_python(struct elf_file *f, struct unwind_input *in)
{
	struct python_symbols p = {0};
	uint8_t bytes[4];
	struct rd r = rd_init(bytes, sizeof(bytes));
	uint32_t version;

	if (f->machine != EM_X86_64)
		return INTERPRETER_OTHER_MACHINE;
	read_symbols(f, &p);
	if (!p.runtime || !p.loop || !p.n_loop_bytes || p.n_loop_bytes > MOST_LOOP_BYTES)
		return INTERPRETER_WITHOUT_SYMBOLS;
	if (!p.version || !read_svma(f, p.version, bytes, sizeof(bytes)))
		return INTERPRETER_TOO_OLD;
	in->interpreter.version = version = rd_le32(&r);
	if (python_number(version) == INTERPRETER_NONE)
		return INTERPRETER_OTHER_VERSION;
	if (version >= 0x030d0000 && !is_usual(f, p.runtime, version))
		return INTERPRETER_OTHER_BUILD;
	if (!find_anchor(&p, in))
		return INTERPRETER_DAMAGED;
	in->interpreter.number = python_number(version);
	in->loops[in->n_loops++] = (struct unwind_loop){p.loop, p.n_loop_bytes};
	find_parts(f, &p, in);
	return INTERPRETER_ACCEPTED;
}

void interpreter_find(struct elf_file *f, struct unwind_input *in)
{
	if (f->is_64 && elf_file_read_sections(f, NULL) >= 0 &&
	    elf_file_find_section(f, ".PyRuntime"))
		in->interpreter.refusal = find_python(f, in);
}
