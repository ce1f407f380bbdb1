/* SPDX-License-Identifier: BSD-2-Clause */
/* The step over HotSpot's frames, on memory made here: a compiled method, called by an interpreted
 * one, called by a stub with a frame pointer. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "collect/calls/scripts.h"
#include "model/script.h"
#include "unwind/chain.h"
#include "unwind/hotspot_lines.h"
#include "unwind/hotspot_state.h"
#include "unwind/python_host.h"

#include "t.h"

#define BASE	0x100000ull
#define N_BYTES 0x8000u
#define AT(off) (BASE + (off))

/* Where things are. */
enum {
	HEAPS = 0,
	ARRAY = 0x10,
	DATA = 0x30,
	HEAP = 0x40,
	SEGMENTS = 0x200,
	CODE = 0x1000, /* the heap: 32 segments of 128 bytes */
	NAMES = 0x2000,
	METHOD = 0x3000, /* two, with all they need, 0x800 apart */
	STACK = 0x5000,
	CODE_BYTES = 0x1000,
	CODE_OFF = 384, /* of a blob's code, from its begin on */
	PCS_OFF = 640,
	METADATA_OFF = 720
};

/* Blobs in the heap, by segment. */
enum { COMPILED = 0, INTERPRETER = 8, STUB = 16, PIECES = 24 };

struct memory {
	const struct hotspot_layout *l;
	uint8_t bytes[N_BYTES];
	struct scripts scripts;
	uint32_t n_told;
};

static bool memory_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct memory *m = ctx;

	if (avma < BASE || avma - BASE > N_BYTES || n > N_BYTES - (avma - BASE))
		return false;
	memcpy(ret, m->bytes + (avma - BASE), n);
	return true;
}

static void memory_tell(void *ctx, const struct script_record *r, size_t n)
{
	struct memory *m = ctx;

	m->n_told++;
	EXPECT(scripts_add(&m->scripts, (const uint8_t *)r, n));
}

static void put(struct memory *m, uint32_t at, uint64_t v, uint32_t n)
{
	memcpy(m->bytes + at, &v, n);
}

static void put_symbol(struct memory *m, uint32_t at, const char *s)
{
	put(m, at + m->l->symbol_length, strlen(s), 2);
	memcpy(m->bytes + at + m->l->symbol_text, s, strlen(s));
}

/* Method I, called NAME of class a/b/C, in C.java: its bytecode 0 is of line 7, bytecode 5 of 9. */
static void put_method(struct memory *m, uint32_t i, const char *name)
{
	const struct hotspot_layout *l = m->l;
	const uint32_t method = METHOD + 0x800 * i, constants = method + 0x100,
		       pool = method + 0x200, klass = method + 0x300, texts = method + 0x500;

	put(m, method + l->const_method, AT(constants), 8);
	put(m, constants + l->pool, AT(pool), 8);
	put(m, constants + l->const_words, 10, 4);
	put(m, constants + l->flags, HOTSPOT_HAS_LINES, 2);
	put(m, constants + l->code_size, 8, 2);
	put(m, constants + l->name_index, 1, 2);
	put(m, constants + l->max_stack, 4, 2);
	put(m, constants + l->const_bytes + 8, 0x002a07, 3); /* 0 and 7; 5 and 2 */
	put(m, pool + l->holder, AT(klass), 8);
	put(m, (l->in_holder ? klass : pool) + l->source_index, 2, 2);
	put(m, klass + l->klass_name, AT(texts), 8);
	put(m, pool + l->pool_bytes + 8, AT(texts + 64), 8);
	put(m, pool + l->pool_bytes + 16, AT(texts + 128), 8);
	put_symbol(m, texts, "a/b/C");
	put_symbol(m, texts + 64, name);
	put_symbol(m, texts + 128, "C.java");
}

/* An address that the blob at AT has in its member MEMBER. */
static void put_address(struct memory *m, uint32_t at, uint32_t member, uint64_t avma)
{
	put(m, at + member, m->l->is_8 ? avma - AT(at) : avma, m->l->is_8 ? 4 : 8);
}

static void put_blob(struct memory *m, uint32_t segment, const char *name, uint32_t frame_words)
{
	const struct hotspot_layout *l = m->l;
	const uint32_t at = CODE + 128 * segment + HOTSPOT_HEADER_BYTES,
		       name_at = NAMES + 32 * segment;

	put_address(m, at, l->code_begin, AT(at + CODE_OFF));
	put_address(m, at, l->code_end, AT(at + CODE_OFF + 200));
	put(m, at + l->frame_size, frame_words, 4);
	put(m, at + l->frame_complete, 8, 4);
	put(m, at + l->name, AT(name_at), 8);
	memcpy(m->bytes + name_at, name, strlen(name));
	for (uint32_t i = 0; i < 8; i++)
		m->bytes[SEGMENTS + segment + i] = (uint8_t)i;
}

/* An address in the code of the blob at SEGMENT. */
static uint64_t code_at(uint32_t segment)
{
	return AT(CODE + 128 * segment + HOTSPOT_HEADER_BYTES + CODE_OFF + 32);
}

#define FP AT(STACK + 0x200)

static void memory_fill(struct memory *m, uint32_t interpreter)
{
	const struct hotspot_layout *l = m->l = HOTSPOT_LAYOUT(interpreter);

	put(m, HEAPS, l->is_8 ? AT(HEAP) : AT(ARRAY), 8);
	put(m, ARRAY, 1, 4);
	put(m, ARRAY + m->l->array_data, AT(DATA), 8);
	put(m, DATA, AT(HEAP), 8);
	put(m, HEAP + l->memory + HOTSPOT_SPACE_LOW, AT(CODE), 8);
	put(m, HEAP + l->memory + HOTSPOT_SPACE_HIGH, AT(CODE + CODE_BYTES), 8);
	put(m, HEAP + l->segments + HOTSPOT_SPACE_BEGIN, AT(SEGMENTS), 8);
	put(m, HEAP + l->log2_segment, 7, 4);
	memset(m->bytes + SEGMENTS, HOTSPOT_FREE, 32);
	put_blob(m, COMPILED, "nmethod", 4);
	put_blob(m, INTERPRETER, "Interpreter", 0);
	put_blob(m, STUB, "StubRoutines (1)", 0);
	put_method(m, 0, "inner");
	put_method(m, 1, "outer");
	put(m, CODE + HOTSPOT_HEADER_BYTES + l->method, AT(METHOD), 8);
	/* The stack: inner's frame of four words; outer's, by frame pointer; the stub's. */
	put(m, STACK + 16, FP, 8);
	put(m, STACK + 24, code_at(INTERPRETER), 8);
	put(m, STACK + 0x200 - HOTSPOT_METHOD, AT(METHOD + 0x800), 8);
	put(m, STACK + 0x200 - 8u * l->bcp, AT(METHOD + 0x800 + 0x100 + l->const_bytes + 6), 8);
	put(m, STACK + 0x200 - HOTSPOT_SENDER_SP, FP + 32, 8);
	put(m, STACK + 0x200, FP + 0x100, 8);
	put(m, STACK + 0x208, code_at(STUB), 8);
	put(m, STACK + 0x300, 0, 8);
	put(m, STACK + 0x308, 0x1234, 8);
}

/* A runtime's memory, and a walk over it. */
struct walk {
	struct memory m;
	uint64_t frames[8];
	struct python_frames found;
	struct python_input in;
};

/* A walk that begins in compiled code.  It is freed by the caller, whose scripts_release comes
 * first. */
static struct walk *walk_new(uint32_t interpreter)
{
	struct walk *w = xcalloc(1, sizeof(*w));

	memory_fill(&w->m, interpreter);
	w->found = (struct python_frames){.frames = w->frames, .max = n_elems(w->frames)};
	w->in = (struct python_input){
		.interpreter = interpreter,
		.runtime = AT(HEAPS),
		.ip = code_at(COMPILED),
		.sp = AT(STACK),
		.thread = 17, /* the compiler uses the register for something else */
		.read = memory_read,
		.tell = memory_tell,
		.ctx = &w->m};
	return w;
}

/* Returns how many frames are found. */
static uint32_t walk_frames(struct walk *w)
{
	hotspot_walk_frames(&w->in, &w->found);
	return w->found.n;
}

static void expect_place(struct memory *m, struct profile *p, uint64_t frame, const char *name,
			 const char *file, uint32_t line)
{
	place_id place = scripts_place(&m->scripts, p, frame);
	const struct script *s = profile_find_script(p, place);

	REQUIRE(s);
	EXPECT_STR(profile_str(p, s->name), name);
	EXPECT_STR(profile_str(p, s->language), "java");
	EXPECT_STR(p->images.v[p->places.v[place].image].path, file);
	EXPECT_EQ(p->places.v[place].svma & SCRIPT_LINE_UNKNOWN ? 0 : s->line, line);
}

TEST(frames_of_each_version)
{
	for (uint32_t i = INTERPRETER_HOTSPOT_FIRST; i <= INTERPRETER_HOTSPOT_8; i++) {
		_mem_ struct walk *w = walk_new(i);
		struct memory *m = &w->m;
		struct profile p;

		profile_init(&p);
		REQUIRE(walk_frames(w) == 3);
		EXPECT_EQ(m->n_told, 3);
		expect_place(m, &p, w->frames[0], "a.b.C.inner", "a/b/C.java", 0);
		expect_place(m, &p, w->frames[1], "a.b.C.outer", "a/b/C.java", 9);
		expect_place(m, &p, w->frames[2], "[StubRoutines (1)]", "[java]", 0);
		profile_release(&p);
		scripts_release(&m->scripts);
	}
}

/* A virtual thread whose outer frames lie in the heap: a chunk of which all is on the stack again,
 * and one that has one frame. */
TEST(frames_in_the_heap)
{
	enum { ENTRY = STACK + 32, CONTINUATION = 0x6000, EMPTY = 0x6100, CHUNK = 0x6200 };
	_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_21);
	struct memory *m = &w->m;
	struct profile p;

	profile_init(&p);
	put_blob(m, PIECES, "StubRoutines (2)", 0);
	put(m, (uint32_t)(code_at(PIECES) - BASE), 0xa78b49, 3); /* mov n(%r15), %rsp */
	put(m, STACK + 24, code_at(PIECES), 8);
	put(m, ENTRY + HOTSPOT_ENTRY_CONT, AT(CONTINUATION), 8);
	put(m, ENTRY + HOTSPOT_ENTRY_BYTES, FP, 8);
	put(m, ENTRY + HOTSPOT_ENTRY_BYTES + 8, code_at(INTERPRETER), 8);
	put(m, CONTINUATION + HOTSPOT_CONT_TAIL, AT(EMPTY) >> 3, 4);
	put(m, EMPTY + HOTSPOT_CHUNK_SP, 2, 4);
	put(m, EMPTY + HOTSPOT_CHUNK_BOTTOM, 2, 4);
	put(m, EMPTY + HOTSPOT_CHUNK_CONT, AT(CONTINUATION) >> 3, 4);
	put(m, EMPTY + HOTSPOT_CHUNK_PARENT, AT(CHUNK) >> 3, 4);
	put(m, CHUNK + HOTSPOT_CHUNK_PC, code_at(COMPILED), 8);
	put(m, CHUNK + HOTSPOT_CHUNK_SP, 1, 4);
	put(m, CHUNK + HOTSPOT_CHUNK_BOTTOM, 5, 4);
	put(m, CHUNK + HOTSPOT_CHUNK_CONT, AT(CONTINUATION) >> 3, 4);
	REQUIRE(walk_frames(w) == 4);
	expect_place(m, &p, w->frames[0], "a.b.C.inner", "a/b/C.java", 0);
	expect_place(m, &p, w->frames[1], "a.b.C.inner", "a/b/C.java", 0);
	expect_place(m, &p, w->frames[2], "a.b.C.outer", "a/b/C.java", 9);
	put(m, CHUNK + HOTSPOT_CHUNK_CONT, 0, 4); /* it is another one's */
	REQUIRE(walk_frames(w) == 4);
	expect_place(m, &p, w->frames[1], "[Java frames unreadable]", "[java]", 0);
	expect_place(m, &p, w->frames[2], "a.b.C.outer", "a/b/C.java", 9);
	profile_release(&p);
	scripts_release(&m->scripts);
}

/* It is put to sleep: its frames are in the chunk, and on the stack still. */
TEST(frames_in_the_heap_and_on_the_stack)
{
	enum { ENTRY = STACK + 64, CONTINUATION = 0x6000, CHUNK = 0x6200 };
	_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_21);
	struct memory *m = &w->m;
	struct profile p;

	profile_init(&p);
	put_blob(m, PIECES, "StubRoutines (2)", 0);
	put(m, (uint32_t)(code_at(PIECES) - BASE), 0xa78b49, 3); /* mov n(%r15), %rsp */
	put(m, STACK + 24, code_at(COMPILED), 8);
	put(m, STACK + 56, code_at(PIECES), 8);
	put(m, ENTRY + HOTSPOT_ENTRY_CONT, AT(CONTINUATION), 8);
	put(m, ENTRY + HOTSPOT_ENTRY_BYTES, FP, 8);
	put(m, ENTRY + HOTSPOT_ENTRY_BYTES + 8, code_at(INTERPRETER), 8);
	put(m, CONTINUATION + HOTSPOT_CONT_TAIL, AT(CHUNK) >> 3, 4);
	put(m, CHUNK + HOTSPOT_CHUNK_PC, code_at(COMPILED), 8);
	put(m, CHUNK + HOTSPOT_CHUNK_SP, 1, 4);
	put(m, CHUNK + HOTSPOT_CHUNK_BOTTOM, 9, 4);
	put(m, CHUNK + HOTSPOT_CHUNK_CONT, AT(CONTINUATION) >> 3, 4);
	/* It is just behind the call that put it to sleep, or in that call. */
	for (int i = 0; i < 2; i++) {
		w->in.is_called = i;
		REQUIRE(walk_frames(w) == 5);
		expect_place(m, &p, w->frames[1], "a.b.C.inner", "a/b/C.java", 0);
		expect_place(m, &p, w->frames[2], "[Java frames unreadable]", "[java]", 0);
		expect_place(m, &p, w->frames[3], "a.b.C.outer", "a/b/C.java", 9);
	}
	profile_release(&p);
	scripts_release(&m->scripts);
}

/* Two scopes: the compiler inlined `outer` into `inner`, from the code's byte 20 to 36. */
static void put_scopes(struct memory *m)
{
	const struct hotspot_layout *l = m->l;
	const uint32_t at = CODE + HOTSPOT_HEADER_BYTES, scopes = NAMES + 0x800,
		       extra = l->counts_on;
	static const struct {
		uint32_t pc, scope;
	} pcs[] = {{UINT32_MAX, 0}, {20, 3}, {36, 10}, {60, 3}, {INT32_MAX, 0}};

	put_address(m, at, l->scopes, AT(scopes));
	put(m, at + l->metadata, METADATA_OFF, 4);
	put(m, at + l->pcs, PCS_OFF, 4);
	put(m, at + l->pcs_end, PCS_OFF + 16 * (uint32_t)n_elems(pcs), 4);
	put(m, at + l->compile_id, 7, 4);
	put(m, at + METADATA_OFF, AT(METHOD), 8);
	put(m, at + METADATA_OFF + 8, AT(METHOD + 0x800), 8);
	for (uint32_t i = 0; i < n_elems(pcs); i++) {
		put(m, at + PCS_OFF + 16 * i, pcs[i].pc, 4);
		put(m, at + PCS_OFF + 16 * i + 4, pcs[i].scope, 4);
	}
	for (uint32_t i = 0; i < 3; i++) {
		put(m, scopes + 3 + i, "\0\1\1"[i] + extra, 1);	 /* by nobody, inner, 0 */
		put(m, scopes + 10 + i, "\3\2\6"[i] + extra, 1); /* by 3, outer, 5 */
	}
}

TEST(inlined)
{
	for (uint32_t i = INTERPRETER_HOTSPOT_FIRST; i <= INTERPRETER_HOTSPOT_8; i++) {
		_mem_ struct walk *w = walk_new(i);
		struct memory *m = &w->m;
		struct profile p;

		profile_init(&p);
		put_scopes(m);
		REQUIRE(walk_frames(w) == 4);
		EXPECT_EQ(m->n_told, 3);
		expect_place(m, &p, w->frames[0], "a.b.C.outer", "a/b/C.java", 9);
		expect_place(m, &p, w->frames[1], "a.b.C.inner", "a/b/C.java", 7);
		expect_place(m, &p, w->frames[2], "a.b.C.outer", "a/b/C.java", 9);
		w->in.ip += 4; /* behind it */
		REQUIRE(walk_frames(w) == 3);
		expect_place(m, &p, w->frames[0], "a.b.C.inner", "a/b/C.java", 7);
		w->in.ip += 40; /* nothing stops there */
		REQUIRE(walk_frames(w) == 3);
		expect_place(m, &p, w->frames[0], "a.b.C.inner", "a/b/C.java", 0);
		profile_release(&p);
		scripts_release(&m->scripts);
	}
}

/* Scopes that contradict themselves are not believed: the method is the nmethod's, without a
 * line. */
TEST(damaged_scopes)
{
	static const struct {
		uint32_t at; /* in the scopes' bytes */
		uint8_t byte;
	} cases[] = {{10, 10}, {10, 12}, {11, 0}, {11, 3}, {3, 2}, {4, 2}, {4, 0}};

	for (size_t i = 0; i < n_elems(cases); i++) {
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
		struct memory *m = &w->m;
		struct profile p;

		profile_init(&p);
		put_scopes(m);
		m->bytes[NAMES + 0x800 + cases[i].at] = cases[i].byte;
		REQUIRE(walk_frames(w) == 3);
		expect_place(m, &p, w->frames[0], "a.b.C.inner", "a/b/C.java", 0);
		profile_release(&p);
		scripts_release(&m->scripts);
	}
}

/* In the prologue and epilogue of a compiled method its frame is not whole. */
TEST(parts_of_a_frame)
{
	static const struct {
		uint8_t code[16]; /* from 8 bytes before where it was interrupted */
		uint32_t off;	  /* in the code */
		uint32_t n_words; /* that are left of its frame */
	} cases[] = {
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x89, 0x84}, 0, 1},
		{{0, 0, 0, 0, 0, 0, 0, 0x55, 0x48, 0x83, 0xec}, 7, 2},
		{{0, 0, 0, 0, 0x48, 0x83, 0xec, 16, 0x41, 0x81, 0x7f, 0x20}, 5, 4},
		{{0, 0x48, 0x81, 0xec, 16, 0, 0, 0, 0x66, 0x90}, 5, 4},
		{{0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 8, 0x90}, 6, 4},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x81, 0x7f, 0x20}, 6, 4},
		{{0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0, 0x75, 0x10}, 7, 4},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x5d, 0xc3}, 40, 2},
		{{0, 0, 0, 0, 0, 0, 0, 0x5d, 0xc3}, 40, 1},
		{{0, 0, 0, 0, 0, 0, 0, 0x5d, 0x0f, 0x87, 1, 0, 0, 0, 0xc3}, 40, 1},
		{{0, 0, 0, 0, 0, 0, 0, 0x5d, 0x41, 0x85, 0x02, 0xc3}, 40, 1},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x48, 0x8b, 0x04, 0x24}, 40, 4},
		{{0, 0, 0, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xe9}, 40, 1},
		{{0x48, 0x81, 0xc4, 0, 1, 0, 0, 0x5d, 0xe9}, 40, 1},
		{{0, 0, 0, 0, 0, 0, 0, 0x5d, 0xe9}, 40, 4}, /* the end of something else */
		{{0, 0x4d, 0x89, 0x97, 0x60, 3, 0, 0, 0xe9}, 40, 1},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x4d, 0x89, 0x97, 0x60, 3, 0, 0, 0xe9}, 40, 1},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x8f, 0x44, 0x24, 0x10}, 40, 5},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x48, 0x8f, 0x04, 0x24}, 40, 5},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0x48, 0x83, 0x2c, 0x24, 5}, 40, 5},
		{{0, 0, 0, 0, 0, 0, 0x41, 0x52, 0xe9}, 40, 5},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
		struct memory *m = &w->m;
		const uint32_t code = CODE + HOTSPOT_HEADER_BYTES + CODE_OFF + cases[i].off;

		memcpy(m->bytes + code - 8, cases[i].code, 16);
		w->in.ip = AT(code);
		w->in.sp = AT(STACK) + 32 - 8 * cases[i].n_words;
		w->in.thread = cases[i].n_words == 1 ? FP : 17;
		EXPECT_EQ(walk_frames(w), 3);
		scripts_release(&m->scripts);
	}
}

/* A stub that says nothing of its frames, and was interrupted: what its stack has of old, or of
 * registers, is no return address where the frame pointer or a call of the stub tells better. */
TEST(stubs_without_size)
{
	static const struct {
		uint32_t n_pushed; /* words below the return address */
		uint32_t fp; /* words from the stack pointer to the frame's; 0: none is made */
		uint32_t n;  /* frames */
	} cases[] = {{0, 0, 4}, {4, 0, 4}, {4, 3, 4}, {20, 19, 4}, {20, 0, 0}};

	for (size_t i = 0; i < n_elems(cases); i++) {
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
		struct memory *m = &w->m;
		const uint64_t ip = code_at(STUB) + 40, ret = code_at(COMPILED);
		const uint32_t n = cases[i].n_pushed, sp = STACK - 8 - 8 * n;

		put(m, (uint32_t)(ret - 5 - BASE), 0xe8, 1);
		put(m, (uint32_t)(ret - 4 - BASE), ip - 20 - ret, 4);
		put(m, STACK - 8, ret, 8);
		if (n > 2)
			put(m, sp + 16, code_at(INTERPRETER), 8);
		w->in.ip = ip;
		w->in.sp = AT(sp);
		w->in.thread = cases[i].fp ? AT(sp + 8 * cases[i].fp) : 17;
		EXPECT_EQ(walk_frames(w), cases[i].n);
		scripts_release(&m->scripts);
	}
}

/* Compiled code that calls the interpreter has the frame whole, and a return address to itself. */
TEST(calls_the_interpreter)
{
	for (uint32_t i = 0; i < 2; i++) { /* at mov $method, %rbx; at the jmp behind it */
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
		struct memory *m = &w->m;
		const uint32_t code = CODE + HOTSPOT_HEADER_BYTES + CODE_OFF + 100;

		memcpy(m->bytes + code, "\x48\xbb\1\2\3\4\5\6\7\0\xe9", 11);
		w->in.ip = AT(code) + (i ? 10 : 0);
		w->in.sp = AT(STACK) - 8;
		put(m, STACK - 8, code_at(COMPILED), 8);
		EXPECT_EQ(walk_frames(w), 3);
		scripts_release(&m->scripts);
	}
}

/* A stub's frame is not whole where it begins and ends; where it would be whole lies a return
 * address of old. */
TEST(parts_of_a_stub)
{
	static const char c2[] = "\x48\x81\xec\x18\0\0\0\x48\x89\x6c\x24\x10\x90\x90\x90\x90\x90"
				 "\x48\x83\xc4\x10\x5d\x5a\x41\xff\xe2\x48\x83\xc4\x10\x5d\x41\xff"
				 "\xe2\x90\xff\xe0",
			  c1[] = "\x55\x48\x8b\xec\x48\x81\xec\x80\0\0\0\x90\xc9\xc3",
			  safepoint[] = "\x53\x55\x48\x8b\xec\x90";
	static const struct {
		const char *code;
		size_t n_bytes;
		uint32_t off;
		int n_left;   /* words of its frame of twelve; -1: nothing tells */
		bool uses_fp; /* the frame pointer is not the caller's yet, or any more */
	} cases[] = {
		{c2, sizeof(c2), 0, 1, false},	 /* sub $n, %rsp */
		{c2, sizeof(c2), 7, 12, false},	 /* mov %rbp, n(%rsp) */
		{c2, sizeof(c2), 12, 12, true},	 /* in it */
		{c2, sizeof(c2), 21, 2, true},	 /* pop %rbp */
		{c2, sizeof(c2), 22, 1, false},	 /* pop %rdx */
		{c2, sizeof(c2), 23, 0, false},	 /* jmp *%r10 */
		{c2, sizeof(c2), 31, 1, false},	 /* jmp *%r10 */
		{c2, sizeof(c2), 35, -1, false}, /* jmp *%rax */
		{c1, sizeof(c1), 0, 1, false},	 /* push %rbp */
		{c1, sizeof(c1), 1, 2, true},	 /* mov %rsp, %rbp */
		{c1, sizeof(c1), 4, 3, true},	 /* sub $n, %rsp */
		{c1, sizeof(c1), 11, 4, true},	 /* in it */
		{c1, sizeof(c1), 13, 1, false},	 /* ret */
		{safepoint, sizeof(safepoint), 0, -1, false},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
		struct memory *m = &w->m;
		const uint32_t at = CODE + 128 * PIECES + HOTSPOT_HEADER_BYTES,
			       n = cases[i].n_left < 0 ? 0 : (uint32_t)cases[i].n_left;

		put_blob(m, PIECES, "_rethrow_Java", 12);
		put(m, at + m->l->frame_complete, UINT32_MAX, 4);
		memcpy(m->bytes + at + CODE_OFF, cases[i].code, cases[i].n_bytes);
		/* Called by `inner`: two words of the stub's frame, and then inner's. */
		put(m, STACK - 16, 17, 8);
		put(m, STACK - 8, code_at(COMPILED), 8);
		w->in.ip = AT(at + CODE_OFF + cases[i].off);
		w->in.sp = AT(STACK) - 8 * n;
		w->in.thread = cases[i].uses_fp && cases[i].code == c1 ? AT(STACK - 16) : 17;
		if (n != 12)
			put(m, STACK - 8 * n + 88, code_at(STUB), 8);
		EXPECT_EQ(walk_frames(w), cases[i].n_left < 0 ? 0 : 4);
		scripts_release(&m->scripts);
	}
}

/* The interpreter enters a method: its frame is not there, the return address is on the stack. */
TEST(interpreter_enters)
{
	_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
	struct memory *m = &w->m;

	w->in.ip = code_at(INTERPRETER) + 8;
	w->in.thread = FP;
	w->in.r13 = w->in.sp + 32;
	put(m, STACK, code_at(INTERPRETER), 8);
	EXPECT_EQ(walk_frames(w), 3); /* the interpreter, outer, the stub */
	w->in.r13 = AT(METHOD + 0x800 + 0x100 + m->l->const_bytes + 2);
	EXPECT_EQ(walk_frames(w), 2); /* it is in outer's bytecode */
	scripts_release(&m->scripts);
}

/* The frame pointer is made, the Method is not below it yet: what lies there is of old. */
TEST(interpreter_enters_with_frame_pointer)
{
	for (uint32_t n = 0; n < 3; n++) { /* words below the frame pointer */
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
		struct memory *m = &w->m;
		struct profile p;

		profile_init(&p);
		w->in.ip = code_at(INTERPRETER) + 8;
		w->in.thread = AT(STACK - 16);
		w->in.sp = w->in.thread - 8 * n;
		w->in.r13 = n ? AT(METHOD) : AT(STACK);
		put(m, STACK - 16, 17, 8);
		put(m, STACK - 8, code_at(COMPILED), 8); /* inner called it */
		put(m, STACK - 24, n ? AT(STACK) : 0x99999999, 8);
		put(m, STACK - 16 - HOTSPOT_METHOD, AT(METHOD + 0x800), 8);
		REQUIRE(walk_frames(w) == 4);
		expect_place(m, &p, w->frames[0], "[Interpreter]", "[java]", 0);
		expect_place(m, &p, w->frames[1], "a.b.C.inner", "a/b/C.java", 0);
		profile_release(&p);
		scripts_release(&m->scripts);
	}
}

/* Where an adapter has the return address depends on the instruction; what else is on the stack may
 * be a return address of old. */
TEST(adapters)
{
	static const struct {
		uint8_t code[8];
		bool in_rax;
		uint64_t r13; /* from sp on */
		uint32_t n;
	} cases[] = {
		{{0x58}, false, 8, 3},				/* pop %rax */
		{{0x4c, 0x8b, 0xec}, true, 0, 3},		/* mov %rsp, %r13 */
		{{0x48, 0x83, 0xec, 0x10}, true, 0, 3},		/* sub $16, %rsp */
		{{0x48, 0x81, 0xec, 0x00, 0x01}, true, 0, 3},	/* sub $256, %rsp */
		{{0x48, 0x89, 0x04, 0x24}, true, 24, 3},	/* mov %rax, (%rsp) */
		{{0x48, 0x83, 0xe4, 0xf0}, true, 8, 3},		/* and $-16, %rsp */
		{{0x50}, true, 16, 3},				/* push %rax */
		{{0x48, 0x89, 0x74, 0x24, 0x08}, false, 24, 3}, /* mov %rsi, 8(%rsp) */
		{{0x48, 0x89, 0x74, 0x24, 0x08}, true, 24, 0},	/* there is none */
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
		struct memory *m = &w->m;

		put_blob(m, PIECES, "I2C/C2I adapters", 0);
		w->in.ip = code_at(PIECES);
		w->in.thread = FP;
		w->in.r13 = w->in.sp + cases[i].r13;
		memcpy(m->bytes + (w->in.ip - BASE), cases[i].code, 8);
		put(m, STACK, cases[i].in_rax ? 0x1234 : code_at(INTERPRETER), 8);
		put(m, STACK + 16, code_at(STUB), 8);
		w->in.rax = cases[i].in_rax ? code_at(INTERPRETER) : 5;
		EXPECT_EQ(walk_frames(w), cases[i].n);
		scripts_release(&m->scripts);
	}
}

/* From an adapter to compiled code: before it has written r13 that is of the caller's own caller,
 * and then of the caller, whose frame has four words. */
TEST(adapters_to_compiled_code)
{
	static const struct {
		uint8_t code[8];
		uint32_t frame, r13; /* from sp on */
	} cases[] = {
		{{0x58}, 8, 40},			  /* pop %rax */
		{{0x58}, 8, 1},				  /* r13 is something else */
		{{0x48, 0x89, 0x74, 0x24, 0x08}, 32, 32}, /* mov %rsi, 8(%rsp) */
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_8);
		struct memory *m = &w->m;
		struct profile p;

		profile_init(&p);
		put_blob(m, PIECES, "I2C/C2I adapters", 0);
		w->in.ip = code_at(PIECES);
		w->in.thread = FP;
		w->in.r13 = w->in.sp + cases[i].r13;
		memcpy(m->bytes + (w->in.ip - BASE), cases[i].code, 8);
		put(m, STACK, code_at(COMPILED), 8);
		for (uint32_t at = 32; at < 128; at += 8) /* what calls of old left */
			put(m, STACK + at, code_at(STUB), 8);
		put(m, STACK + cases[i].frame + 16, FP, 8);
		put(m, STACK + cases[i].frame + 24, code_at(INTERPRETER), 8);
		REQUIRE(walk_frames(w) == 4);
		expect_place(m, &p, w->frames[1], "a.b.C.inner", "a/b/C.java", 0);
		expect_place(m, &p, w->frames[2], "a.b.C.outer", "a/b/C.java", 9);
		profile_release(&p);
		scripts_release(&m->scripts);
	}
}

/* A stub that takes frames off says nothing of where it was interrupted. */
TEST(exceptions)
{
	_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
	struct memory *m = &w->m;

	put_blob(m, PIECES, "unwind_exception Runtime1 stub", 2);
	w->in.ip = code_at(PIECES);
	w->in.thread = FP;
	put(m, STACK, code_at(INTERPRETER), 8);
	EXPECT_EQ(walk_frames(w), 0);
	scripts_release(&m->scripts);
}

TEST(nothing_known)
{
	_mem_ struct walk *w = walk_new(INTERPRETER_HOTSPOT_17);
	struct memory *m = &w->m;

	w->in.ip = code_at(PIECES);
	EXPECT_EQ(walk_frames(w), 0);
	w->in.ip = code_at(COMPILED);
	w->in.interpreter = N_INTERPRETERS;
	EXPECT_EQ(walk_frames(w), 0);
	w->in.interpreter = INTERPRETER_HOTSPOT_17;
	put(m, ARRAY, HOTSPOT_HEAPS + 1, 4);
	EXPECT_EQ(walk_frames(w), 0);
	EXPECT_EQ(m->n_told, 0);
}

TEST(lines)
{
	/* 0 of 300, by numbers: the sign is the lowest bit; 4 of 302; 9 of 301, by numbers
	 * again. */
	const uint8_t table[] = {0xff, 0, 0xd8, 0x06, 0x22, 0xff, 0x0a, 0x01, 0};

	EXPECT_EQ(hotspot_first_line(INTERPRETER_HOTSPOT_17, table, sizeof(table)), 300);
	EXPECT_EQ(hotspot_line(INTERPRETER_HOTSPOT_17, table, sizeof(table), 3), 300);
	EXPECT_EQ(hotspot_line(INTERPRETER_HOTSPOT_17, table, sizeof(table), 4), 302);
	EXPECT_EQ(hotspot_line(INTERPRETER_HOTSPOT_17, table, sizeof(table), 99), 301);
	EXPECT_EQ(hotspot_line(INTERPRETER_HOTSPOT_17, table, 0, 4), 0);
	EXPECT_EQ(hotspot_line(INTERPRETER_HOTSPOT_17, table, 2, 4), 0);
	/* Since 20 each byte is 1 more. */
	EXPECT_EQ(hotspot_line(INTERPRETER_HOTSPOT_21, (const uint8_t[]){0xff, 1, 0xd9, 0x07, 0}, 5,
			       0),
		  300);
}
