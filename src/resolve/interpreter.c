/* SPDX-License-Identifier: BSD-2-Clause */
/* See interpreter.h.
 *
 * CPython exports _PyRuntime, its state, since 3.7.  Another file costs two small reads, of the
 * table by which the dynamic linker finds names.  Of one that has the name the exported symbols are
 * read: the loop is _PyEval_EvalFrameDefault, the version the number in Py_Version since 3.11; an
 * older one is known by the newest function of its interface.
 *
 * Compilers move a procedure's unlikely code elsewhere, where stripped files have no symbol for it:
 * a piece of frame information into whose middle the loop jumps.  Calls of other procedures' begins
 * that are written as jumps do not count. */
#include "resolve/interpreter_impl.h"

#include <elf.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rd.h"
#include "base/vec.h"
#include "resolve/disasm.h"
#include "resolve/symtab_elf.h"
#include "unwind/python_state.h"

/* What is looked for among the exported symbols. */
struct python_symbols {
	uint64_t runtime, version, loop, n_loop_bytes; /* svma; 0: not there */
	uint32_t at_least; /* the version, PY_VERSION_HEX's upper half, by its functions */
};

/* Functions that came with a version: CPython's Misc/stable_abi and "What's New". */
static const struct {
	const char *name;
	uint32_t version;
} newest[] = {
	{"PyCode_NewWithPosOnlyArgs", 0x0308},
	{"PyFrame_GetCode", 0x0309},
	{"PyIter_Send", 0x030a},
};

static void take_symbol(void *ctx, const char *name, uint64_t svma, uint64_t size)
{
	struct python_symbols *p = ctx;

	if (strcmp(name, "_PyRuntime") == 0)
		p->runtime = svma;
	else if (strcmp(name, "Py_Version") == 0)
		p->version = svma;
	else if (strcmp(name, "_PyEval_EvalFrameDefault") == 0) {
		p->loop = svma;
		p->n_loop_bytes = size;
	}
	for (size_t i = 0; i < n_elems(newest); i++)
		if (newest[i].version > p->at_least && strcmp(name, newest[i].name) == 0)
			p->at_least = newest[i].version;
}

/* Whether the file's table of names may have NAME: gABI "GNU hash table", whose Bloom filter is
 * asked. */
bool interpreter_may_export(const struct elf_file *f, const char *name)
{
	const struct elf_section *s = elf_file_find_section(f, ".gnu.hash");
	uint8_t head[16], word[8];
	struct rd r = rd_init(head, sizeof(head));
	uint32_t h = 5381, n_words, shift;
	uint64_t bits;

	if (!s || elf_file_pread(f, s->off, head, sizeof(head)) != sizeof(head))
		return elf_file_find_section(f, ".PyRuntime") != NULL;
	rd_le32(&r); /* nbuckets */
	rd_le32(&r); /* symoffset */
	n_words = rd_le32(&r);
	shift = rd_le32(&r);
	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	if (!n_words || shift > 31 ||
	    elf_file_pread(f, s->off + sizeof(head) + 8ull * (h / 64 % n_words), word, 8) != 8)
		return false;
	r = rd_init(word, sizeof(word));
	bits = rd_le64(&r);
	return bits >> h % 64 & bits >> (h >> shift) % 64 & 1;
}

/* gABI "Symbol Table", Elf64_Sym */
void interpreter_each_symbol(const struct elf_file *f, interpreter_symbol_fn *fn, void *ctx)
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
			fn(ctx, (const char *)names + name, svma, size);
	}
}

/* Reads N bytes of the file that are loaded at SVMA. */
bool interpreter_read(const struct elf_file *f, uint64_t svma, void *ret, size_t n)
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
	case 0x0308:
		return INTERPRETER_PYTHON_3_8;
	case 0x0309:
		return INTERPRETER_PYTHON_3_9;
	case 0x030a:
		return INTERPRETER_PYTHON_3_10;
	case 0x030b:
		return INTERPRETER_PYTHON_3_11;
	case 0x030c:
		return INTERPRETER_PYTHON_3_12;
	case 0x030d:
		return INTERPRETER_PYTHON_3_13;
	case 0x030e:
		return INTERPRETER_PYTHON_3_14;
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

void interpreter_add_loop(struct elf_file *f, uint64_t loop, uint64_t n_bytes,
			  struct unwind_input *in)
{
	const struct disasm_opts o = {.machine = f->machine};
	_mem_ uint8_t *code = xmalloc((size_t)n_bytes);
	struct disasm *d = disasm_new(&o, NULL);
	struct symtab_builder fdes = {0};
	struct disasm_insn insn;

	in->loops[in->n_loops++] = (struct unwind_loop){loop, n_bytes};
	if (d && interpreter_read(f, loop, code, (size_t)n_bytes)) {
		symtab_elf_read_frames(f, &fdes);
		disasm_begin(d, code, (size_t)n_bytes, loop);
		while (disasm_next(d, &insn))
			if (insn.has_target && insn.kind != DISASM_CALL &&
			    insn.target - loop >= n_bytes)
				add_part(in, &fdes, insn.target);
	}
	symtab_builder_release(&fdes);
	disasm_free(d);
}

bool interpreter_set_anchor(uint64_t variable, uint64_t loop, struct unwind_input *in)
{
	for (uint32_t i = 0; i < in->n_segments; i++) {
		const struct unwind_segment *s = &in->segments[i];

		if (loop - s->svma < s->n_bytes) {
			in->interpreter.anchor = variable - s->svma + s->off;
			return true;
		}
	}
	return false;
}

/* Where what a version says of itself begins, in words behind free_threaded. */
#define DEBUG_WORDS	 46
#define DEBUG_HEAD_BYTES 24

struct debug_groups {
	unsigned thread, frame, code;
};

/* Whether the state at RUNTIME describes itself as that of VERSION, with the global lock, and as L
 * has it: CPython since 3.13, Include/internal/pycore_debug_offsets.h: cookie, version,
 * free_threaded, then groups of words. */
static bool is_usual(const struct elf_file *f, uint64_t runtime, uint32_t version,
		     const struct python_layout *l)
{
	const bool is_3_13 = version >> 16 == 0x030d;
	const struct debug_groups g =
		is_3_13 ? (struct debug_groups){16, 25, 31} : (struct debug_groups){19, 28, 36};
	uint8_t bytes[DEBUG_HEAD_BYTES + 8 * DEBUG_WORDS];
	uint64_t w[DEBUG_WORDS];
	struct rd r = rd_init(bytes, sizeof(bytes));

	if (!interpreter_read(f, runtime, bytes, sizeof(bytes)) ||
	    memcmp(rd_bytes(&r, 8), "xdebugpy", 8) != 0 || rd_le64(&r) != version ||
	    rd_le64(&r) != 0)
		return false;
	for (unsigned i = 0; i < DEBUG_WORDS; i++)
		w[i] = rd_le64(&r);
	return w[g.thread + 4] == l->frame_at && w[g.thread + 5] == l->thread_id &&
	       w[g.frame + 1] == l->previous && w[g.frame + 2] == l->code &&
	       w[g.frame + 3] == l->instr && w[g.frame + 5] == l->mark &&
	       w[g.code + 1] == l->file && w[g.code + 3] == l->name && w[g.code + 4] == l->lines &&
	       w[g.code + 5] == l->first_line && w[g.code + 9] == l->bytecode;
}

/* Puts CPython's place into IN, whose version is set; else why not. */
static enum interpreter_refusal find_python(struct elf_file *f, struct unwind_input *in)
{
	struct python_symbols p = {0};
	uint8_t bytes[4];
	struct rd r = rd_init(bytes, sizeof(bytes));
	uint32_t version;

	interpreter_each_symbol(f, take_symbol, &p);
	if (!p.runtime && !p.loop && !elf_file_find_section(f, ".PyRuntime"))
		return INTERPRETER_ACCEPTED; /* none: the filter of names is right most of the time */
	if (f->machine != EM_X86_64)
		return INTERPRETER_OTHER_MACHINE;
	if (!p.runtime || !p.loop || !p.n_loop_bytes ||
	    p.n_loop_bytes > INTERPRETER_MOST_LOOP_BYTES)
		return INTERPRETER_WITHOUT_SYMBOLS;
	if (!p.version && !p.at_least)
		return INTERPRETER_TOO_OLD;
	if (p.version && !interpreter_read(f, p.version, bytes, sizeof(bytes)))
		return INTERPRETER_DAMAGED;
	in->interpreter.version = version = p.version ? rd_le32(&r) : p.at_least << 16;
	if (python_number(version) == INTERPRETER_NONE)
		return INTERPRETER_OTHER_VERSION;
	if (version >= 0x030d0000 &&
	    !is_usual(f, p.runtime, version, PYTHON_LAYOUT(python_number(version))))
		return INTERPRETER_OTHER_BUILD;
	if (!interpreter_set_anchor(p.runtime, p.loop, in))
		return INTERPRETER_DAMAGED;
	in->interpreter.number = python_number(version);
	interpreter_add_loop(f, p.loop, p.n_loop_bytes, in);
	return INTERPRETER_ACCEPTED;
}

void interpreter_find(struct elf_file *f, struct unwind_input *in)
{
	if (!f->is_64 || elf_file_read_sections(f, NULL) < 0)
		return;
	/* A file holds one at most; what the filter of names takes for another one is none. */
	if (interpreter_may_export(f, "_PyRuntime"))
		in->interpreter.refusal = find_python(f, in);
	if (!in->interpreter.number && !in->interpreter.refusal && interpreter_may_be_v8(f))
		in->interpreter.refusal = interpreter_find_v8(f, in);
	if (!in->interpreter.number && !in->interpreter.refusal && interpreter_may_be_hotspot(f))
		in->interpreter.refusal = interpreter_find_hotspot(f, in);
	if (!in->interpreter.number && !in->interpreter.refusal && interpreter_may_be_php(f))
		in->interpreter.refusal = interpreter_find_php(f, in);
	if (!in->interpreter.number && !in->interpreter.refusal && interpreter_may_be_perl(f))
		in->interpreter.refusal = interpreter_find_perl(f, in);
	if (!in->interpreter.number && !in->interpreter.refusal && interpreter_may_be_ruby(f))
		in->interpreter.refusal = interpreter_find_ruby(f, in);
}
