/* SPDX-License-Identifier: BSD-2-Clause */
/* The step over V8's frames, on heaps made here. */
#include <string.h>

#include "base/cleanup.h"
#include "model/script.h"
#include "unwind/chain.h"
#include "unwind/python_host.h"
#include "unwind/v8_state.h"

#define HEAP_WORDS 1024
#include "script_heap_t.h"

/* Objects lie 128 bytes apart; a pointer to one has bit 0 set. */
#define OBJECT(i) (HEAP + 128 * (i) + 1)

enum {
	FUNCTION = 1,
	SHARED,
	SCRIPT,
	SCOPE,
	NAME,
	MORE,
	WHOLE,
	FILE_NAME,
	SOURCE,
	BYTES,
	MAPS = 12,
	LINES = 19, /* the stack's words below fp lie behind it */
	STACK,
	RETURN,
	CODE,
	DATA,
	TABLE,
	LITERALS,
	POSITIONS,
	START = 29,
	SAFEPOINTS,
	CALL = 32, /* of an async function */
	PROMISE,
	REACTION,
	HANDLER,
	CONTEXT,
	AWAITING,
	LAST,
	ALL,
	ALL_HANDLER,
	ALL_CONTEXT,
	ALL_REACTION,
	ALL_PROMISE,
	MORE_MAPS = 45
};

static uint64_t *heap_at(struct heap *h, unsigned object, unsigned bytes)
{
	return &h->words[(128 * object + bytes) / 8];
}

/* Makes OBJECT one of TYPE. */
static void heap_type(struct heap *h, unsigned object, unsigned map, unsigned type)
{
	*heap_at(h, object, 0) = OBJECT(MAPS + map);
	*heap_at(h, MAPS + map, 8) = (uint64_t)type << 32;
}

static void heap_text(struct heap *h, unsigned object, const char *s)
{
	heap_type(h, object, 3, V8_ONE_BYTE | V8_SEQUENTIAL);
	*heap_at(h, object, 8) = (uint64_t)strlen(s) << 32;
	memcpy(heap_at(h, object, V8_STRING_DATA), s, strlen(s));
}

/* A function `f.g` in /a.js, whose name is made of two strings, and one frame of it. */
static void heap_fill(struct heap *h, uint32_t interpreter)
{
	const struct v8_layout *l = V8_LAYOUT(interpreter);
	uint64_t *scope;

	*heap_at(h, FUNCTION, l->shared) = OBJECT(SHARED);
	heap_type(h, SHARED, 0, l->shared_type);
	*heap_at(h, SHARED, l->name) = OBJECT(SCOPE);
	*heap_at(h, SHARED, l->script) = OBJECT(SCRIPT);
	*heap_at(h, SCRIPT, V8_SCRIPT_NAME) = OBJECT(FILE_NAME);
	*heap_at(h, SCRIPT, V8_SCRIPT_SOURCE) = OBJECT(SOURCE);
	*heap_at(h, SCRIPT, V8_SCRIPT_ID) = 7ull << 32;
	heap_type(h, SCOPE, 1, l->scope_type);
	scope = heap_at(h, SCOPE, 8u * (1 + l->first_local));
	scope[0] = OBJECT(WHOLE);
	scope[2] = OBJECT(NAME);
	scope[3] = 13ull << 32;
	scope[4] = 20ull << 32;
	if (l->positions) {
		*heap_at(h, SCOPE, 8u * (1 + l->positions)) = 13ull << 32;
		*heap_at(h, SCOPE, 8u * (2 + l->positions)) = 20ull << 32;
	}
	heap_type(h, WHOLE, 2, V8_ONE_BYTE | V8_CONS);
	*heap_at(h, WHOLE, 8) = 3ull << 32;
	*heap_at(h, WHOLE, V8_STRING_DATA) = OBJECT(NAME);
	*heap_at(h, WHOLE, V8_STRING_DATA_2) = OBJECT(MORE);
	heap_text(h, NAME, "f.");
	heap_text(h, MORE, "g");
	heap_text(h, FILE_NAME, "/a.js");
	heap_text(h, SOURCE, "one();\ntwo();\nfunction\n");
	*heap_at(h, STACK, 0) = OBJECT(FUNCTION); /* fp is 16 behind */
	*heap_at(h, STACK, 8) = OBJECT(SCOPE);
}

static struct python_input input_of(struct heap *h, uint32_t interpreter)
{
	return (struct python_input){.interpreter = interpreter,
				     .thread = HEAP + 128 * STACK + 16,
				     .read = heap_read,
				     .tell = heap_tell,
				     .ctx = h};
}

TEST(a_function_of_each_version)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		struct heap h = {0};
		struct python_input in;
		uint64_t frames[4];
		struct python_frames found = {.frames = frames, .max = 4};
		const struct script *s;
		struct profile p;
		place_id place;

		profile_init(&p);
		heap_fill(&h, i);
		in = input_of(&h, i);
		v8_walk_frames(&in, &found);
		REQUIRE(found.n == 1);
		EXPECT_EQ(h.n_told, 2); /* the source, the function */
		place = scripts_place(&h.scripts, &p, frames[0]);
		s = profile_find_script(&p, place);
		REQUIRE(s);
		EXPECT_STR(profile_str(&p, s->name), "f.g");
		EXPECT_STR(profile_str(&p, s->language), "javascript");
		EXPECT_STR(p.images.v[p.places.v[place].image].path, "/a.js");
		EXPECT_EQ(p.places.v[place].svma >> SCRIPT_PROCEDURE_BITS,
			  script_svma("f.g", 2) >> SCRIPT_PROCEDURE_BITS);
		profile_release(&p);
		scripts_release(&h.scripts);
	}
}

/* Appends N as V8's tables have it. */
static uint8_t *put_number(uint8_t *to, int64_t n)
{
	uint64_t left = (uint64_t)n << 1 ^ (uint64_t)(n >> 63);

	for (; left > 0x7f; left >>= 7)
		*to++ = (uint8_t)(left | 0x80);
	*to++ = (uint8_t)left;
	return to;
}

#define POSITION(character, inlined) ((int64_t)((character) + 1) << 1 | (int64_t)(inlined) << 31)

/* Gives the function optimised code that calls at 0x28 and 0x48, into which it was inlined itself:
 * at 0x28 runs character 8 of that, called from 15.  Unless IS_OWN, the function does not tell of
 * it.  Returns where the code begins. */
static uint64_t heap_optimise(struct heap *h, uint32_t interpreter, bool is_own)
{
	const struct v8_layout *l = V8_LAYOUT(interpreter);
	const uint64_t start = HEAP + 128 * START;
	const uint64_t code = l->is_inline ? start - l->start : HEAP + 128 * CODE;
	const uint32_t size = (uint32_t)(HEAP + 128 * SAFEPOINTS - start);
	uint8_t *bytes = (uint8_t *)heap_at(h, TABLE, 16), *at = bytes;
	uint8_t *safepoints = (uint8_t *)heap_at(h, SAFEPOINTS, 0) + 4 * l->is_new;

	uint64_t *words = &h->words[(code - HEAP) / 8];

	if (is_own)
		*heap_at(h, FUNCTION, l->code) = code + 1;
	words[0] = OBJECT(MAPS + 4);
	*heap_at(h, MAPS + 4, 8) = (uint64_t)l->code_type << 32;
	words[l->data / 8] = OBJECT(DATA);
	words[l->table / 8] = OBJECT(TABLE);
	if (!l->is_inline) {
		words[l->start / 8] = start;
		h->words[(start - l->header - HEAP) / 8] = OBJECT(MAPS);
		h->words[(start - l->header - HEAP) / 8 + 1] = code + 1;
	} else {
		words[1] = OBJECT(MAPS); /* its relocation */
	}
	memcpy((uint8_t *)words + l->size, &size, 4);
	heap_type(h, DATA, 5, l->data_type);
	*heap_at(h, DATA, 8) = 9ull << 32;
	*heap_at(h, DATA, 16 + 8 * (2u + l->is_new)) = OBJECT(LITERALS);
	*heap_at(h, DATA, 16 + 8 * (5u + l->is_new)) = 1ull << 32;
	*heap_at(h, DATA, 16 + 8 * (6u + l->is_new)) = OBJECT(SHARED);
	*heap_at(h, DATA, 16 + 8 * (7u + l->is_new)) = OBJECT(POSITIONS);
	*heap_at(h, LITERALS, 16 + 8 * 3) = OBJECT(SHARED);
	*heap_at(h, POSITIONS, 8) = 16ull << 32;
	*heap_at(h, POSITIONS, 16) = POSITION(15, 0);
	*heap_at(h, POSITIONS, 24) = 3;
	at = put_number(at, -1 - 0x11); /* 0x10: no statement begins there */
	at = put_number(at, POSITION(8, 1));
	at = put_number(at, 0x28 - 0x10);
	at = put_number(at, POSITION(13, 0) - POSITION(8, 1));
	*heap_at(h, TABLE, 8) = (uint64_t)(at - bytes) << 32;
	if (l->is_old) {
		const uint32_t old[] = {2, 1, 0x28, 1, 0x80, 0x48, 0, 0xffffffff};

		memcpy(safepoints, old, sizeof(old));
	} else { /* entries of pc, index, where to go */
		const uint8_t three[] = {2, 0, 0, 0, 0x91, 4, 0, 0, 0x28, 1, 0x81, 0x48, 0, 0};

		memcpy(safepoints, three, sizeof(three));
	}
	return start;
}

/* Walks from AVMA, where it was interrupted if IS_EXACT; the lines of the two innermost frames. */
static uint32_t walk_lines_at(struct heap *h, uint32_t interpreter, uint64_t avma, bool is_exact,
			      uint64_t lines[2])
{
	struct python_input in = input_of(h, interpreter);
	uint64_t frames[4];
	struct python_frames found = {.frames = frames, .max = 4};
	struct profile p;

	profile_init(&p);
	in.ip = avma;
	in.is_exact = is_exact;
	v8_walk_frames(&in, &found);
	for (uint32_t i = 0; i < found.n && i < 2; i++) {
		const place_id place = scripts_place(&h->scripts, &p, frames[i]);

		lines[i] = p.places.v[place].svma & SCRIPT_LINE_UNKNOWN
				   ? 0
				   : profile_find_script(&p, place)->line;
	}
	profile_release(&p);
	scripts_release(&h->scripts);
	memset(&h->scripts, 0, sizeof(h->scripts));
	return found.n;
}

/* walk_lines_at for a frame that is in a call, which returns to AVMA. */
static uint32_t walk_lines(struct heap *h, uint32_t interpreter, uint64_t avma, uint64_t lines[2])
{
	return walk_lines_at(h, interpreter, avma, false, lines);
}

/* The line of the frame that was interrupted at AVMA. */
static uint64_t line_at(struct heap *h, uint32_t interpreter, uint64_t avma)
{
	uint64_t lines[2] = {0};

	EXPECT_EQ(walk_lines_at(h, interpreter, avma, true, lines), 1);
	return lines[0];
}

/* What is interrupted has the line of the last position before, in the code's own function. */
static void near_lines(struct heap *h, uint32_t i, uint64_t start)
{
	uint64_t *shared = heap_at(h, DATA, 16 + 8 * (6u + V8_LAYOUT(i)->is_new));

	EXPECT_EQ(line_at(h, i, start + 0xf), 0); /* before the first one */
	EXPECT_EQ(line_at(h, i, start + 0x10), 3);
	EXPECT_EQ(line_at(h, i, start + 0x27), 3);
	EXPECT_EQ(line_at(h, i, start + 0x28), 2);
	EXPECT_EQ(line_at(h, i, HEAP + 128 * SAFEPOINTS), 0);
	*shared = OBJECT(WHOLE); /* which leads to it */
	*heap_at(h, WHOLE, 8) = OBJECT(SHARED);
	EXPECT_EQ(line_at(h, i, start + 0x28), 2);
	*shared = OBJECT(SCRIPT); /* another function's code */
	EXPECT_EQ(line_at(h, i, start + 0x28), 0);
	*shared = OBJECT(SHARED);
	*heap_at(h, WHOLE, 8) = 3ull << 32;
}

static void inlined_functions(uint32_t i, bool is_own)
{
	struct heap h = {0};
	uint64_t start, lines[2];

	heap_fill(&h, i);
	start = heap_optimise(&h, i, is_own);
	EXPECT_EQ(walk_lines(&h, i, start + 0x28, lines), 2);
	EXPECT_EQ(lines[0], 2);
	EXPECT_EQ(lines[1], 3);
	/* The compiler's own call, no call, what was interrupted, other code. */
	EXPECT_EQ(walk_lines(&h, i, start + 0x48, lines), 1);
	EXPECT_EQ(walk_lines(&h, i, start + 0x27, lines), 1);
	EXPECT_EQ(walk_lines(&h, i, 0, lines), 1);
	EXPECT_EQ(walk_lines(&h, i, HEAP + 128 * SAFEPOINTS, lines), 1);
	EXPECT_EQ(walk_lines(&h, i, start - 1, lines), 1);
	near_lines(&h, i, start);
	/* An inlined function that there is none of: nothing is believed. */
	*heap_at(&h, POSITIONS, 8) = 0;
	EXPECT_EQ(walk_lines(&h, i, start + 0x28, lines), 1);
}

TEST(inlined_functions_of_optimised_code)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		if (V8_LAYOUT(i)->code)
			inlined_functions(i, true);
		inlined_functions(i, false);
	}
}

/* Gives the function four bytecodes, at 0, 2 (of twice the room), 6 (of four times) and 12, which
 * are of lines 2, 2, 3 and 2. */
static void heap_compile(struct heap *h, uint32_t interpreter)
{
	const struct v8_layout *l = V8_LAYOUT(interpreter);
	const uint8_t codes[] = {11, 0, 0, 11, 0, 0, 1, 11, 0, 0, 0, 0, 11, 0};
	uint8_t *bytes = (uint8_t *)heap_at(h, LINES, 16), *at = bytes;

	heap_type(h, BYTES, 6, l->bytes_type);
	*heap_at(h, BYTES, 8) = (uint64_t)sizeof(codes) << 32;
	*heap_at(h, BYTES, l->lines) = OBJECT(LINES);
	memcpy((uint8_t *)heap_at(h, BYTES, 0) + l->bytecodes, codes, sizeof(codes));
	at = put_number(at, -1); /* -1: the function's entry */
	at = put_number(at, POSITION(1, 0));
	at = put_number(at, 1);
	at = put_number(at, POSITION(8, 0) - POSITION(1, 0));
	at = put_number(at, -1 - 6); /* no statement begins there */
	at = put_number(at, POSITION(15, 0) - POSITION(8, 0));
	at = put_number(at, 6);
	at = put_number(at, POSITION(9, 0) - POSITION(15, 0));
	*heap_at(h, LINES, 8) = (uint64_t)(at - bytes) << 32;
}

/* The line of a frame that the interpreter executes, at OFF. */
static uint64_t interpreted_line(struct heap *h, uint32_t interpreter, uint64_t off)
{
	uint64_t lines[2] = {0}, *fp = heap_at(h, STACK, 16);

	*heap_at(h, RETURN, 0) = 0xdc4d8b44e0658b4cull;
	fp[-4] = OBJECT(BYTES);
	fp[-5] = (off + V8_LAYOUT(interpreter)->bytecodes - 1) << 32;
	EXPECT_EQ(walk_lines(h, interpreter, HEAP + 128 * RETURN, lines), 1);
	return lines[0];
}

TEST(lines_of_the_interpreter)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		struct heap h = {0};

		heap_fill(&h, i);
		heap_compile(&h, i);
		EXPECT_EQ(interpreted_line(&h, i, 0), 2);
		EXPECT_EQ(interpreted_line(&h, i, 2), 2);
		EXPECT_EQ(interpreted_line(&h, i, 6), 3);
		EXPECT_EQ(interpreted_line(&h, i, 12), 2);
		EXPECT_EQ(interpreted_line(&h, i, 14), 0);
		/* No table, another object, and a callee that returns elsewhere. */
		*heap_at(&h, BYTES, V8_LAYOUT(i)->lines) = 2;
		EXPECT_EQ(interpreted_line(&h, i, 12), 0);
		heap_compile(&h, i);
		heap_type(&h, BYTES, 6, V8_LAYOUT(i)->bytes_type + 1u);
		EXPECT_EQ(interpreted_line(&h, i, 12), 0);
		heap_compile(&h, i);
		EXPECT_EQ(interpreted_line(&h, i, 12), 2);
		*heap_at(&h, RETURN, 0) = 0;
		EXPECT_EQ(walk_lines(&h, i, HEAP + 128 * RETURN, (uint64_t[2]){0}), 1);
	}
}

/* What no call returns to is remembered apart from the bytecodes of the same number. */
TEST(a_word_that_is_no_address)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		struct heap h = {0};
		uint64_t lines[2] = {0}, *outer = heap_at(&h, STACK, 80);

		heap_fill(&h, i);
		heap_compile(&h, i);
		*heap_at(&h, RETURN, 0) = 0xdc4d8b44e0658b4cull;
		*heap_at(&h, STACK, 16) = HEAP + 128 * STACK + 80;
		*heap_at(&h, STACK, 24) = HEAP + 128 * RETURN;
		outer[-2] = OBJECT(FUNCTION);
		outer[-1] = OBJECT(SCOPE);
		outer[-4] = OBJECT(BYTES);
		outer[-5] = (6ull + V8_LAYOUT(i)->bytecodes - 1) << 32;
		EXPECT_EQ(walk_lines(&h, i, 6, lines), 2);
		EXPECT_EQ(lines[0], 0);
		EXPECT_EQ(lines[1], 3);
	}
}

/* Makes the code of heap_optimise() the function's baseline code. */
static uint64_t heap_baseline(struct heap *h, uint32_t interpreter)
{
	const struct v8_layout *l = V8_LAYOUT(interpreter);
	const uint64_t start = heap_optimise(h, interpreter, false);
	const uint64_t code = l->is_inline ? start - l->start : HEAP + 128 * CODE;
	const uint8_t places[] = {0x80 | 0x3f, 0, 0x10, 0x20, 8, 9};

	heap_compile(h, interpreter);
	*heap_at(h, SHARED, V8_SHARED_DATA) = code + 1;
	h->words[(code - HEAP) / 8 + l->data / 8] = OBJECT(BYTES);
	memcpy(heap_at(h, TABLE, 16), places, sizeof(places));
	*heap_at(h, TABLE, 8) = (uint64_t)sizeof(places) << 32;
	return start;
}

static uint64_t baseline_line(struct heap *h, uint32_t interpreter, uint64_t avma)
{
	uint64_t lines[2] = {0};

	EXPECT_EQ(walk_lines(h, interpreter, avma, lines), 1);
	return lines[0];
}

TEST(lines_of_baseline_code)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		struct heap h = {0};
		uint64_t start;

		heap_fill(&h, i);
		start = heap_baseline(&h, i);
		EXPECT_EQ(baseline_line(&h, i, start + 0x20), 2); /* before all bytecodes */
		EXPECT_EQ(baseline_line(&h, i, start + 0x50), 2);
		EXPECT_EQ(baseline_line(&h, i, start + 0x6f), 2); /* behind a call */
		EXPECT_EQ(baseline_line(&h, i, start + 0x70), 3);
		EXPECT_EQ(baseline_line(&h, i, start + 0x77), 3);
		EXPECT_EQ(baseline_line(&h, i, start + 0x78), 2);
		*heap_at(&h, TABLE, 8) = 5ull << 32; /* the table ends before it */
		EXPECT_EQ(baseline_line(&h, i, start + 0x78), 0);
		*heap_at(&h, TABLE, 8) = 6ull << 32;
		*heap_at(&h, BYTES, 8) = 12ull << 32; /* and so do the bytecodes */
		EXPECT_EQ(baseline_line(&h, i, start + 0x78), 0);
	}
}

/* Makes OBJECT a call of the function, in STATE, at bytecode 6, whose promise is PROMISE. */
static void heap_call(struct heap *h, const struct v8_layout *l, unsigned object, uint64_t state,
		      unsigned promise)
{
	heap_type(h, object, MORE_MAPS - MAPS, l->async_type);
	*heap_at(h, object, 8 * V8_ASYNC_FUNCTION) = OBJECT(FUNCTION);
	*heap_at(h, object, 8 * V8_ASYNC_STATE) = state;
	*heap_at(h, object, 8 * V8_ASYNC_AT) = (6ull + l->bytecodes - 1) << 32;
	*heap_at(h, object, 8 * V8_ASYNC_PROMISE) = OBJECT(promise);
}

/* Makes PROMISE one with REACTION, whose HANDLER has CONTEXT, which has WORD at place AT. */
static void heap_promise(struct heap *h, const struct v8_layout *l, unsigned promise, unsigned at,
			 unsigned word)
{
	const unsigned reaction = promise == PROMISE ? REACTION : ALL_REACTION;
	const unsigned handler = promise == PROMISE ? HANDLER : ALL_HANDLER;
	const unsigned context = promise == PROMISE ? CONTEXT : ALL_CONTEXT;

	heap_type(h, promise, MORE_MAPS - MAPS + 1, l->promise_type);
	*heap_at(h, promise, 8 * V8_PROMISE_REACTIONS) = OBJECT(reaction);
	*heap_at(h, reaction, 8u * (l->next + V8_REACTION_HANDLER)) = OBJECT(handler);
	*heap_at(h, handler, l->shared + 8u) = OBJECT(context);
	*heap_at(h, context, 8 * V8_CONTEXT_AWAITS) = 0;
	*heap_at(h, context, 8 * at) = OBJECT(word);
}

static uint32_t n_awaiting(struct heap *h, uint32_t interpreter)
{
	uint64_t lines[2] = {0};
	const uint32_t n = walk_lines(h, interpreter, 0, lines);

	EXPECT_EQ(lines[1], n == 2 ? 3 : 0);
	return n - 1;
}

TEST(functions_that_await)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		const struct v8_layout *l = V8_LAYOUT(i);
		struct heap h = {0};

		heap_fill(&h, i);
		heap_compile(&h, i);
		*heap_at(&h, SHARED, V8_SHARED_DATA) = OBJECT(BYTES);
		*heap_at(&h, SHARED, l->cookie + V8_FLAGS) = 13; /* kAsyncFunction */
		heap_at(&h, STACK, 16)[-5] = OBJECT(CALL);
		heap_call(&h, l, CALL, V8_ASYNC_EXECUTING, PROMISE);
		heap_call(&h, l, AWAITING, 1ull << 32, LAST);
		heap_promise(&h, l, PROMISE, V8_CONTEXT_AWAITS, AWAITING);
		EXPECT_EQ(n_awaiting(&h, i), 1);
		/* Another kind of function, another call's frame, one that does not run. */
		*heap_at(&h, SHARED, l->cookie + V8_FLAGS) = 0;
		EXPECT_EQ(n_awaiting(&h, i), 0);
		*heap_at(&h, SHARED, l->cookie + V8_FLAGS) = 13;
		*heap_at(&h, CALL, 8 * V8_ASYNC_FUNCTION) = OBJECT(SHARED);
		EXPECT_EQ(n_awaiting(&h, i), 0);
		heap_call(&h, l, CALL, 1ull << 32, PROMISE);
		EXPECT_EQ(n_awaiting(&h, i), 0);
		heap_call(&h, l, CALL, V8_ASYNC_EXECUTING, PROMISE);
		/* A promise that is kept; two that wait for it; one who waits no more. */
		*heap_at(&h, PROMISE, 8 * V8_PROMISE_FLAGS) = 1ull << 32;
		EXPECT_EQ(n_awaiting(&h, i), 0);
		*heap_at(&h, PROMISE, 8 * V8_PROMISE_FLAGS) = 0;
		*heap_at(&h, REACTION, 8u * l->next) = OBJECT(REACTION);
		EXPECT_EQ(n_awaiting(&h, i), 0);
		*heap_at(&h, REACTION, 8u * l->next) = 0;
		heap_call(&h, l, AWAITING, V8_ASYNC_EXECUTING, LAST);
		EXPECT_EQ(n_awaiting(&h, i), 0);
		heap_call(&h, l, AWAITING, 1ull << 32, LAST);
		/* Promise.all, and then(), are awaited in its place. */
		heap_promise(&h, l, ALL_PROMISE, V8_CONTEXT_AWAITS, AWAITING);
		heap_promise(&h, l, PROMISE, V8_CONTEXT_ALL, ALL);
		EXPECT_EQ(n_awaiting(&h, i), 0);
		heap_type(&h, ALL, MORE_MAPS - MAPS + 2, l->capability_type);
		*heap_at(&h, ALL, 8) = OBJECT(ALL_PROMISE);
		EXPECT_EQ(n_awaiting(&h, i), 1);
		*heap_at(&h, CONTEXT, 8 * V8_CONTEXT_ALL) = 0;
		EXPECT_EQ(n_awaiting(&h, i), 0);
		*heap_at(&h, REACTION, 8u * (l->next + V8_REACTION_PROMISE)) = OBJECT(ALL_PROMISE);
		EXPECT_EQ(n_awaiting(&h, i), 1);
		/* Promises in a ring. */
		*heap_at(&h, ALL_CONTEXT, 8 * V8_CONTEXT_AWAITS) = 0;
		*heap_at(&h, ALL_REACTION, 8u * (l->next + V8_REACTION_PROMISE)) = OBJECT(PROMISE);
		EXPECT_EQ(n_awaiting(&h, i), 0);
	}
}

TEST(what_is_no_string_has_no_name)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		struct heap h = {0};
		struct python_input in;
		uint64_t frames[4];
		struct python_frames found = {.frames = frames, .max = 4};
		struct profile p;
		place_id place;

		profile_init(&p);
		heap_fill(&h, i);
		/* `undefined`: the first type behind those of strings, and three. */
		heap_type(&h, WHOLE, 2, i == INTERPRETER_V8_9_4 ? 67 : 131);
		*heap_at(&h, SCOPE, 8u * (1 + V8_LAYOUT(i)->first_local) + 16) = OBJECT(WHOLE);
		in = input_of(&h, i);
		v8_walk_frames(&in, &found);
		REQUIRE(found.n == 1);
		place = scripts_place(&h.scripts, &p, frames[0]);
		EXPECT_STR(profile_str(&p, profile_find_script(&p, place)->name), "(anonymous)");
		profile_release(&p);
		scripts_release(&h.scripts);
	}
}

/* The name of the function of H's frame. */
static const char *name_found(struct heap *h, uint32_t interpreter, struct profile *p)
{
	struct python_input in = input_of(h, interpreter);
	uint64_t frames[4];
	struct python_frames found = {.frames = frames, .max = 4};
	const struct script *s;

	v8_walk_frames(&in, &found);
	s = found.n == 1 ? profile_find_script(p, scripts_place(&h->scripts, p, frames[0])) : NULL;
	return s ? profile_str(p, s->name) : "";
}

/* While objects are moved, those that were begin with where they are now. */
TEST(moved_objects_have_names)
{
	const unsigned moved[] = {FUNCTION, SHARED, SCRIPT, SCOPE, WHOLE, NAME, MORE, FILE_NAME};

	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		struct heap h = {0};
		struct profile p;

		profile_init(&p);
		heap_fill(&h, i);
		for (unsigned k = 0; k < sizeof(moved) / sizeof(moved[0]); k++) {
			memcpy(heap_at(&h, CODE, 32 * k), heap_at(&h, moved[k], 0), 32);
			*heap_at(&h, moved[k], 0) = HEAP + 128 * CODE + 32 * k;
		}
		EXPECT_STR(name_found(&h, i, &p), "f.g");
		/* A string made of a whole and nothing becomes the whole. */
		heap_text(&h, CODE, "whole");
		*heap_at(&h, WHOLE, 0) = HEAP + 128 * CODE;
		scripts_release(&h.scripts);
		memset(&h.scripts, 0, sizeof(h.scripts));
		EXPECT_STR(name_found(&h, i, &p), "whole");
		*heap_at(&h, WHOLE, 0) = HEAP + 128 * CODE + 32 * 4;
		/* Nothing is there. */
		*heap_at(&h, NAME, 0) = 8;
		scripts_release(&h.scripts);
		memset(&h.scripts, 0, sizeof(h.scripts));
		EXPECT_STR(name_found(&h, i, &p), "[JavaScript function unreadable]");
		profile_release(&p);
		scripts_release(&h.scripts);
	}
}

#define DEEP	   200
#define DEEP_STACK 0x1000000ull
#define DEEP_CODE  0x8000000ull /* 64 KiB a frame */

struct deep {
	struct heap h;
	uint32_t n_looked; /* places where code may begin */
};

/* A stack of DEEP frames of one function; nothing in memory says where their code begins. */
static bool deep_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct deep *d = ctx;
	const uint64_t off = avma - DEEP_STACK, words[8] = {[0] = OBJECT(FUNCTION),
							    [1] = OBJECT(SCOPE),
							    [2] = avma + 64,
							    [3] = DEEP_CODE + (off / 64 << 16)};

	if (avma >> 16 >= DEEP_CODE >> 16 && avma >> 16 <= (DEEP_CODE >> 16) + DEEP) {
		d->n_looked++;
		memset(ret, 1, n);
		return true;
	}
	if (off / 64 >= DEEP || n != 8)
		return heap_read(&d->h, avma, ret, n);
	memcpy(ret, &words[off % 64 / 8], 8);
	return true;
}

TEST(a_deep_stack_takes_bounded_steps)
{
	for (uint32_t i = INTERPRETER_V8_FIRST; i < INTERPRETER_HOTSPOT_FIRST; i++) {
		struct deep d = {0};
		struct python_input in;
		uint64_t frames[DEEP];
		struct python_frames found = {.frames = frames, .max = DEEP};

		heap_fill(&d.h, i);
		in = input_of(&d.h, i);
		in.thread = DEEP_STACK + 16;
		in.read = deep_read;
		v8_walk_frames(&in, &found);
		EXPECT_EQ(found.n, DEEP);
		EXPECT(d.n_looked >= V8_MOST_STEPS && d.n_looked < V8_MOST_STEPS + V8_SEARCH_STEPS);
		scripts_release(&d.h.scripts);
	}
}

TEST(no_function)
{
	struct heap h = {0};
	struct python_input in;
	uint64_t frames[4];
	struct python_frames found = {.frames = frames, .max = 4};

	heap_fill(&h, INTERPRETER_V8_11_3);
	in = input_of(&h, INTERPRETER_V8_11_3);
	*heap_at(&h, STACK, 8) = 26; /* a frame's type in place of a context */
	v8_walk_frames(&in, &found);
	EXPECT_EQ(found.n, 0);
	*heap_at(&h, STACK, 8) = OBJECT(SCOPE);
	heap_type(&h, SHARED, 0, V8_LAYOUT(INTERPRETER_V8_11_3)->shared_type + 1u);
	v8_walk_frames(&in, &found);
	EXPECT_EQ(found.n, 0);
	EXPECT_EQ(h.n_told, 0);
	in.interpreter = N_INTERPRETERS;
	v8_walk_frames(&in, &found);
	EXPECT_EQ(found.n, 0);
}
