/* SPDX-License-Identifier: BSD-2-Clause */
/* HotSpot in an ELF file: libjvm.so.
 *
 * HotSpot describes itself to debuggers in tables that it exports, gHotSpotVMStructs and
 * gHotSpotVMTypes (share/runtime/vmStructs.hpp).  In the file are the addresses of static members,
 * by relocations, and the sizes of types; offsets of members are written by the library's
 * constructors.  So the version and where the code caches are come from the file, offsets from the
 * version (unwind/hotspot_state.h), and the sizes must agree with these. */
#include <elf.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rd.h"
#include "base/vec.h"
#include "resolve/interpreter_impl.h"
#include "unwind/hotspot_state.h"

#define STRUCTS "gHotSpotVMStructs"
#define TYPES	"gHotSpotVMTypes"

/* share/runtime/vmStructs.hpp VMStructEntry: names of type, member and its type, is it static,
 * offset, address; VMTypeEntry: names of type and superclass, three flags, size. */
#define STRUCT_BYTES   48
#define STRUCT_STATIC  24
#define STRUCT_ADDRESS 40
#define TYPE_BYTES     40
#define TYPE_SIZE      32
#define MOST_ENTRIES   8192
#define NAME_BYTES     32

enum hotspot_type {
	TYPE_NMETHOD,
	TYPE_BLOB,
	TYPE_METHOD,
	TYPE_CONST,
	TYPE_POOL,
	TYPE_KLASS,
	N_TYPES
};

static const char *const type_names[N_TYPES] = {
	[TYPE_NMETHOD] = "nmethod",   [TYPE_BLOB] = "CodeBlob",	    [TYPE_METHOD] = "Method",
	[TYPE_CONST] = "ConstMethod", [TYPE_POOL] = "ConstantPool", [TYPE_KLASS] = "InstanceKlass",
};

/* What the file says; svma, 0: not there. */
struct hotspot_facts {
	uint64_t structs, types; /* the variables that lead to the tables */
	uint64_t heaps, heap;	 /* CodeCache::_heaps, of 8 _heap */
	uint64_t major;		 /* Abstract_VM_Version::_vm_major_version */
	uint64_t sizes[N_TYPES];
};

/* The words of the file that are addresses: relative relocations, by ascending place. */
struct hotspot_words {
	VEC(struct hotspot_word) v;
};

struct hotspot_word {
	uint64_t svma, points_to;
};

static void hotspot_take_symbol(void *ctx, const char *name, uint64_t svma, uint64_t size)
{
	struct hotspot_facts *h = ctx;

	(void)size;
	if (strcmp(name, STRUCTS) == 0)
		h->structs = svma;
	else if (strcmp(name, TYPES) == 0)
		h->types = svma;
}

static int by_svma(const void *a, const void *b)
{
	const struct hotspot_word *x = a, *y = b;

	return (x->svma > y->svma) - (x->svma < y->svma);
}

/* gABI "Relocation", Elf64_Rela; x86-64 psABI: R_X86_64_RELATIVE. */
static void read_words(const struct elf_file *f, struct hotspot_words *ret)
{
	const struct elf_section *s = elf_file_find_type(f, SHT_RELA);
	_mem_ uint8_t *bytes = s ? elf_file_load_section(f, s) : NULL;
	struct rd r;

	if (!bytes)
		return;
	r = rd_init(bytes, (size_t)s->size);
	while (rd_left(&r) >= 24) {
		const uint64_t at = rd_le64(&r), info = rd_le64(&r), to = rd_le64(&r);

		if ((uint32_t)info == R_X86_64_RELATIVE)
			vec_push(&ret->v, ((struct hotspot_word){at, to}));
	}
	vec_sort(&ret->v, by_svma);
}

/* The address that the word at SVMA is; 0: it is none. */
static uint64_t hotspot_pointer(const struct hotspot_words *w, uint64_t svma)
{
	const struct hotspot_word key = {.svma = svma};
	const struct hotspot_word *found =
		w->v.n ? bsearch(&key, w->v.v, w->v.n, sizeof(key), by_svma) : NULL;

	return found ? found->points_to : 0;
}

/* Whether the text that the word at SVMA leads to is NAME. */
static bool hotspot_is(const struct elf_file *f, const struct hotspot_words *w, uint64_t svma,
		       const char *name)
{
	char text[NAME_BYTES];
	const size_t n = strlen(name) + 1;
	const uint64_t at = hotspot_pointer(w, svma);

	return at && n <= sizeof(text) && interpreter_read(f, at, text, n) &&
	       memcmp(text, name, n) == 0;
}

static bool hotspot_number(const struct elf_file *f, uint64_t svma, size_t n_bytes, uint64_t *ret)
{
	uint8_t bytes[8] = {0};
	struct rd r = rd_init(bytes, sizeof(bytes));

	if (!svma || !interpreter_read(f, svma, bytes, n_bytes))
		return false;
	*ret = rd_le64(&r);
	return true;
}

/* Looks for what H wants of the table of members at SVMA. */
static void read_structs(const struct elf_file *f, const struct hotspot_words *w, uint64_t svma,
			 struct hotspot_facts *h)
{
	for (uint32_t i = 0; i < MOST_ENTRIES; i++, svma += STRUCT_BYTES) {
		if (!hotspot_pointer(w, svma))
			return;
		if (hotspot_is(f, w, svma, "CodeCache") && hotspot_is(f, w, svma + 8, "_heaps"))
			h->heaps = hotspot_pointer(w, svma + STRUCT_ADDRESS);
		if (hotspot_is(f, w, svma, "CodeCache") && hotspot_is(f, w, svma + 8, "_heap"))
			h->heap = hotspot_pointer(w, svma + STRUCT_ADDRESS);
		if (hotspot_is(f, w, svma, "Abstract_VM_Version") &&
		    hotspot_is(f, w, svma + 8, "_vm_major_version"))
			h->major = hotspot_pointer(w, svma + STRUCT_ADDRESS);
	}
}

static void read_types(const struct elf_file *f, const struct hotspot_words *w, uint64_t svma,
		       struct hotspot_facts *h)
{
	for (uint32_t i = 0; i < MOST_ENTRIES; i++, svma += TYPE_BYTES) {
		if (!hotspot_pointer(w, svma))
			return;
		for (unsigned type = 0; type < N_TYPES; type++)
			if (hotspot_is(f, w, svma, type_names[type]))
				hotspot_number(f, svma + TYPE_SIZE, 8, &h->sizes[type]);
	}
}

static enum interpreter hotspot_interpreter(uint64_t major)
{
	switch (major) {
	case 8:
		return INTERPRETER_HOTSPOT_8;
	case 11:
		return INTERPRETER_HOTSPOT_11;
	case 17:
		return INTERPRETER_HOTSPOT_17;
	case 21:
		return INTERPRETER_HOTSPOT_21;
	default:
		return INTERPRETER_NONE;
	}
}

static bool hotspot_is_usual(const struct hotspot_facts *h, const struct hotspot_layout *l)
{
	const uint32_t want[N_TYPES] = {
		[TYPE_NMETHOD] = l->nmethod_bytes, [TYPE_BLOB] = l->blob_bytes,
		[TYPE_METHOD] = l->method_bytes,   [TYPE_CONST] = l->const_bytes,
		[TYPE_POOL] = l->pool_bytes,	   [TYPE_KLASS] = l->klass_bytes,
	};

	for (unsigned i = 0; i < N_TYPES; i++)
		if (h->sizes[i] != want[i])
			return false;
	return true;
}

bool interpreter_may_be_hotspot(const struct elf_file *f)
{
	return interpreter_may_export(f, STRUCTS);
}

static enum interpreter_refusal find_hotspot(const struct elf_file *f,
					     const struct hotspot_words *w, struct hotspot_facts *h,
					     struct unwind_input *in)
{
	uint64_t major = 0;
	enum interpreter number;

	read_structs(f, w, hotspot_pointer(w, h->structs), h);
	read_types(f, w, hotspot_pointer(w, h->types), h);
	/* Up to 8 the code cache was one heap, and the file does not say the version. */
	if (h->heap && !h->heaps)
		major = 8;
	else if (!h->heaps || !hotspot_number(f, h->major, 4, &major))
		return INTERPRETER_WITHOUT_TABLES;
	in->interpreter.version = INTERPRETER_VERSION_HOTSPOT | (major & 0xffff);
	number = hotspot_interpreter(major);
	if (number == INTERPRETER_NONE)
		return INTERPRETER_OTHER_VERSION;
	if (!hotspot_is_usual(h, HOTSPOT_LAYOUT(number)))
		return INTERPRETER_OTHER_OBJECTS;
	if (!in->n_segments)
		return INTERPRETER_DAMAGED;
	in->interpreter.number = number;
	/* As it is counted from any mapping of code. */
	in->interpreter.anchor =
		(h->heaps ? h->heaps : h->heap) - in->segments[0].svma + in->segments[0].off;
	return INTERPRETER_ACCEPTED;
}

enum interpreter_refusal interpreter_find_hotspot(struct elf_file *f, struct unwind_input *in)
{
	struct hotspot_facts h = {0};
	struct hotspot_words w = {0};
	enum interpreter_refusal refusal;

	interpreter_each_symbol(f, hotspot_take_symbol, &h);
	if (!h.structs || !h.types)
		return INTERPRETER_ACCEPTED; /* it is none */
	in->interpreter.version = INTERPRETER_VERSION_HOTSPOT;
	if (f->machine != EM_X86_64)
		return INTERPRETER_OTHER_MACHINE;
	read_words(f, &w);
	refusal = find_hotspot(f, &w, &h, in);
	vec_release(&w.v);
	return refusal;
}
