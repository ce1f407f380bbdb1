/* SPDX-License-Identifier: BSD-2-Clause */
/* The step over Ruby's frames, on memory made here. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "model/script.h"
#include "unwind/chain.h"
#include "unwind/python_host.h"
#include "unwind/ruby_state.h"

#define HEAP_WORDS 4096 /* 128 objects */
#include "script_objects_t.h"

enum {
	ANCHOR = 1,
	TLS_BLOCK,
	RUBY_THREAD,
	EC,
	STACK, /* with the frames at its end, in two objects */
	ENVS = 7,
	BLOCK_CODE = 8, /* iseq, body, entries, positions: four objects each */
	WORK_CODE = 12,
	MAIN_CODE = 16,
	METHODS = 20, /* and definitions: two objects each */
	CLASSES = 26, /* and what they have besides, their tables: three objects each */
	NAMES = 35,   /* the table, its array, that array's */
	TEXTS = 40,
	VM = 55, /* six of them; where the threads' owner is too */
	OBJECTS = 61,
	THREAD = 62 /* and its table of modules, or its keys: to 0x360 */
};

static uint64_t text(struct heap *h, const struct ruby_layout *l, unsigned i, const char *s)
{
	const size_t n = strlen(s);
	uint64_t *w = heap_at(h, TEXTS + i, 0);

	if (n <= 23) { /* within the object */
		w[0] = RUBY_T_STRING | (l->has_length ? 0 : (uint64_t)n << 14);
		w[2] = l->has_length ? n : 0;
		memcpy(w + (l->has_length ? 3 : 2), s, n);
	} else {
		w[0] = RUBY_T_STRING | RUBY_STRING_IS_APART;
		w[2] = n;
		w[3] = OBJECT(TEXTS + i) + 64;
		memcpy(w + 8, s, n);
	}
	return OBJECT(TEXTS + i);
}

/* A class of the name in text TEXT; SINGLE_OF: a singleton class of that object. */
static uint64_t class(struct heap *h, const struct ruby_layout *l, unsigned i, uint64_t name,
		      uint64_t single_of)
{
	const unsigned at = CLASSES + 3 * i;
	const uint64_t value = single_of ? single_of : name;
	uint64_t *w = heap_at(h, at, 0);

	w[0] = RUBY_T_CLASS | (single_of ? RUBY_CLASS_IS_SINGLE : 0);
	if (l->class_path) {
		*heap_at(h, at, single_of ? l->attached : l->class_path) = value;
	} else {
		w[RUBY_CLASS_EXT / 8] = OBJECT(at + 1);
		*heap_at(h, at + 1, RUBY_EXT_VARIABLES) = OBJECT(at + 2);
		*heap_at(h, at + 2, RUBY_TABLE_FIRST) = 1;
		*heap_at(h, at + 2, RUBY_TABLE_ENTRIES) = OBJECT(at + 2) + 64;
		heap_at(h, at + 2, 64)[3 + 1] = 0x1230; /* the second one; a local identifier */
		heap_at(h, at + 2, 64)[3 + 2] = value;
	}
	return OBJECT(at);
}

static uint64_t method(struct heap *h, unsigned i, uint64_t owner, uint64_t code, uint64_t id)
{
	uint64_t *w = heap_at(h, METHODS + 2 * i, 0), *def = heap_at(h, METHODS + 2 * i + 1, 0);

	w[0] = RUBY_T_IMEMO | RUBY_IMEMO_METHOD << 12;
	w[RUBY_METHOD_DEF] = OBJECT(METHODS + 2 * i + 1);
	w[RUBY_METHOD_OWNER] = owner;
	def[0] = code ? RUBY_DEF_CODE : 1;
	def[1] = code;
	def[RUBY_DEF_ID / 8] = id;
	return OBJECT(METHODS + 2 * i);
}

/* Code of 600 instructions: entries of lines FIRST at 0, FIRST + 1 at 3, FIRST + 2 at 60 and
 * FIRST + 3 at 200. */
static uint64_t code(struct heap *h, const struct ruby_layout *l, unsigned at, uint64_t path,
		     uint64_t label, uint32_t first, uint64_t local)
{
	uint64_t *body = heap_at(h, at + 1, 0), *starts = heap_at(h, at + 3, 0);

	*heap_at(h, at, RUBY_ISEQ_BODY) = OBJECT(at + 1);
	body[RUBY_BODY_SIZE] = 600ull << 32;
	body[RUBY_BODY_CODE] = 0x900000;
	body[RUBY_BODY_PATH] = path;
	body[RUBY_BODY_LABEL] = label;
	body[RUBY_BODY_LINE] = l->is_line_plain ? first : 2 * first + 1;
	body[l->info / 8] = OBJECT(at + 2);
	body[l->info / 8 + 2] = 4;
	body[l->info / 8 + 3] = OBJECT(at + 3);
	body[l->info / 8 + RUBY_INFO_TO_LOCAL] = local ? local : OBJECT(at);
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t line = first + i;

		memcpy((char *)heap_at(h, at + 2, 0) + i * l->entry_bytes, &line, 4);
	}
	for (unsigned i = 0; i < RUBY_NEAR; i++)
		starts[i / 9] |= (i < 3 ? 1ull : 2ull) << i % 9 * 7;
	starts[6] = 2;						 /* before this block */
	starts[7] = 1 | 1 << 9 | 2 << 18 | 2 << 27 | 2ull << 36; /* in words before each */
	starts[8] = 1ull << (60 - RUBY_NEAR);
	starts[8 + 2] = 1ull << (200 - RUBY_NEAR - 128);
	return OBJECT(at);
}

/* Frame I, the innermost is 0; its environment. */
static uint64_t frame(struct heap *h, const struct ruby_layout *l, unsigned i, uint64_t iseq,
		      uint64_t pc, uint64_t method, uint64_t outer, uint64_t flags)
{
	const uint64_t end = OBJECT(STACK) + 512;
	uint64_t *f = &h->words[(end - HEAP) / 8 - (5 - i) * l->frame_words];
	uint64_t *env = heap_at(h, ENVS, 32 * i);

	f[RUBY_FRAME_PC] = pc;
	f[RUBY_FRAME_ISEQ] = iseq;
	f[RUBY_FRAME_EP] = OBJECT(ENVS) + 32 * i + 16;
	env[RUBY_ENV_METHOD] = method;
	env[RUBY_ENV_OUTER] = outer;
	env[RUBY_ENV_FLAGS] = flags;
	return OBJECT(ENVS) + 32 * i + 16;
}

#define AT(instruction) (0x900000 + 8 * (instruction))

/* A block in C.work, which Array#each calls, which C.work calls, which <main> calls. */
static void fill(struct heap *h, const struct ruby_layout *l)
{
	const uint64_t path = OBJECT(TEXTS + 14), c = text(h, l, 0, "C"),
		       array = text(h, l, 1, "Array");
	const uint64_t single = class(h, l, 1, 0, class(h, l, 0, c, 0));
	const uint64_t work_code = code(h, l, WORK_CODE, path, text(h, l, 2, "work"), 10, 0);
	const uint64_t block_code =
		code(h, l, BLOCK_CODE, path, text(h, l, 3, "block in work"), 12, work_code);
	const uint64_t main_code =
		code(h, l, MAIN_CODE, text(h, l, 4, "a.rb"), text(h, l, 5, "<main>"), 1, 0);
	const uint64_t work = method(h, 0, single, work_code, 0),
		       each = method(h, 1, class(h, l, 2, array, 0), 0, 513ull << 4);
	uint64_t *w = heap_at(h, TEXTS + 14, 0), work_env;

	/* the path as it was given, and the real one */
	w[0] = RUBY_T_ARRAY | RUBY_ARRAY_EMBEDDED;
	w[2] = text(h, l, 6, "b.rb");
	w[3] = text(h, l, 7, "/a/path/of/many/characters/b.rb");
	/* the names of identifiers 512 and on */
	*heap_at(h, NAMES, RUBY_SYMBOLS_IDS) = OBJECT(NAMES + 1);
	w = heap_at(h, NAMES + 1, 0);
	w[0] = RUBY_T_ARRAY;
	w[2] = 2;
	w[4] = OBJECT(NAMES + 1) + 64;
	w[8 + 1] = OBJECT(NAMES + 2);
	w = heap_at(h, NAMES + 2, 0);
	w[0] = RUBY_T_ARRAY;
	w[2] = 1024;
	w[4] = OBJECT(NAMES + 2) + 64;
	w[8 + 2] = text(h, l, 8, "each");

	work_env = frame(h, l, 2, work_code, AT(4), work, 0, RUBY_MAGIC_METHOD | RUBY_FLAG_LOCAL);
	frame(h, l, 0, block_code, AT(201), 0, work_env | 1, 0x22220001 | RUBY_FLAG_FINISH);
	frame(h, l, 1, 0, 0, each, 0, RUBY_MAGIC_CFUNC | RUBY_FLAG_CFRAME | RUBY_FLAG_LOCAL);
	frame(h, l, 3, main_code, AT(61), 0, 0, 0x77770001 | RUBY_FLAG_FINISH | RUBY_FLAG_LOCAL);
	frame(h, l, 4, 0, 0, 0, 0, RUBY_MAGIC_DUMMY | RUBY_FLAG_FINISH | RUBY_FLAG_LOCAL);
	w = heap_at(h, EC, 0);
	w[0] = OBJECT(STACK);
	w[1] = 64;
	w[2] = OBJECT(STACK) + 512 - 5 * 8 * l->frame_words;
	*heap_at(h, EC, l->thread) = OBJECT(RUBY_THREAD);
	*heap_at(h, RUBY_THREAD, l->thread_ec) = OBJECT(EC);
	if (l->is_key) {
		*heap_at(h, ANCHOR, 0) = 3;
		h->words[(256 * THREAD + 0x310 + 16 * 3 + 8) / 8] = OBJECT(RUBY_THREAD);
		return;
	}
	*heap_at(h, ANCHOR, 0) = 2; /* module and offset */
	*heap_at(h, ANCHOR, 8) = 16;
	*heap_at(h, THREAD, 8) = OBJECT(THREAD + 1);
	*heap_at(h, THREAD + 1, 16 * 2) = OBJECT(TLS_BLOCK);
	*heap_at(h, TLS_BLOCK, 16) = OBJECT(RUBY_THREAD);
}

static void ruby(uint32_t interpreter)
{
	const struct ruby_layout *l = RUBY_LAYOUT(interpreter);
	_mem_ struct heap *h = xcalloc(1, sizeof(*h));
	uint64_t frames[8];
	struct python_frames out = {.frames = frames, .max = 8};
	struct python_input in = {.interpreter = interpreter,
				  .runtime = OBJECT(ANCHOR),
				  .symbols = OBJECT(NAMES),
				  .thread = OBJECT(THREAD),
				  .read = heap_read,
				  .tell = heap_tell,
				  .ctx = h};
	const char *c = l->names_classes ? "C." : "", *array = l->names_classes ? "Array#" : "";
	_mem_ char *all = xasprintf("block in %swork /a/path/of/many/characters/b.rb:15\n"
				    "%seach [ruby]:0\n"
				    "%swork /a/path/of/many/characters/b.rb:11\n"
				    "<main> a.rb:3\n",
				    c, array, c);
	_mem_ char *more = NULL;
	uint64_t *innermost;

	profile_init(&h->p);
	fill(h, l);
	ruby_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, 0);
	EXPECT_EQ(out.n_loops, 2);
	EXPECT_EQ(h->n_told, 4);
	expect_frames(h, &out, all);

	/* The thread that runs collects garbage; another one that is met meanwhile does not. */
	if (l->objects) {
		const uint64_t self = l->is_key ? OBJECT(RUBY_THREAD) : OBJECT(EC);
		uint64_t *thread = heap_at(h, RUBY_THREAD, RUBY_THREAD_LOCK);

		thread[0] = OBJECT(VM);
		thread[1] = l->is_key ? thread[1] : OBJECT(VM);
		*heap_at(h, VM, l->objects) = OBJECT(OBJECTS);
		*heap_at(h, VM, l->running) = self;
		*heap_at(h, OBJECTS, RUBY_OBJECTS_FLAGS) = RUBY_COLLECTS;
		ruby_walk_frames(&in, &out);
		more = xasprintf("[garbage collection] [ruby]:0\n%s", all);
		expect_frames(h, &out, more);
		*heap_at(h, VM, l->running) = self + 8;
		ruby_walk_frames(&in, &out);
		expect_frames(h, &out, all);
	}

	/* A frame that is half made: its code is not that of its method, or its instruction no
	 * one of its code. */
	innermost = &h->words[(*heap_at(h, EC, 16) - HEAP) / 8];
	innermost[RUBY_FRAME_PC] = AT(700);
	ruby_walk_frames(&in, &out);
	EXPECT_EQ(out.n, 3);
	innermost[RUBY_FRAME_PC] = AT(201);
	*heap_at(h, METHODS + 1, 8) = 0x1230;
	ruby_walk_frames(&in, &out);
	EXPECT_EQ(out.n, 3);
	*heap_at(h, METHODS + 1, 8) = OBJECT(WORK_CODE);

	/* Without the table of names, methods that C wrote have none. */
	in.symbols = 0;
	ruby_walk_frames(&in, &out);
	EXPECT_EQ(out.n, 3);
	in.symbols = OBJECT(NAMES);

	/* What cannot be read is named. */
	h->hole = OBJECT(TEXTS + 2);
	ruby_walk_frames(&in, &out);
	EXPECT_EQ(out.n, 4);
	EXPECT_EQ(SCRIPT_CODE(frames[2]), SCRIPT_RUBY + SCRIPT_UNREADABLE);
	h->hole = OBJECT(ENVS) + 32;
	ruby_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, SCRIPT_UNREADABLE);
	h->hole = 0;
	*heap_at(h, EC, l->thread) = 0; /* what the thread says it executes knows another thread */
	ruby_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, SCRIPT_NO_STATE);
	EXPECT_EQ(out.n, 0);
	profile_release(&h->p);
	scripts_release(&h->scripts);
}

TEST(ruby_2_7)
{
	ruby(INTERPRETER_RUBY_2_7);
}

TEST(ruby_3_0)
{
	ruby(INTERPRETER_RUBY_3_0);
}

TEST(ruby_3_1)
{
	ruby(INTERPRETER_RUBY_3_1);
}

TEST(ruby_3_2)
{
	ruby(INTERPRETER_RUBY_3_2);
}

TEST(ruby_3_3)
{
	ruby(INTERPRETER_RUBY_3_3);
}

TEST(ruby_3_4)
{
	ruby(INTERPRETER_RUBY_3_4);
}
