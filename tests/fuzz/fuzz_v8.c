/* SPDX-License-Identifier: BSD-2-Clause */
/* A heap of V8's that says anything, and another thing each time it is read: the walk ends, what it
 * tells is taken or refused, and every frame has a place. */
#include <string.h>

#include "base/wr.h"
#include "script_fuzz.h"
#include "unwind/v8_state.h"

#define FP	  0x7ffd00001000ull
#define V8_RETURN 0xdc4d8b44e0658b4cull /* what the interpreter's entry does next */

static void put_words(struct wr *w, const uint64_t *words, int n)
{
	for (int i = 0; i < n; i++)
		wr_le64(w, words[i]);
}

/* A string of one byte a character, as it is read: the object, its type, its characters. */
static void put_text(struct wr *w, const char *s)
{
	const uint64_t words[4] = {0x101, (uint64_t)strlen(s) << 32};

	put_words(w, words, 4);
	wr_le16(w, V8_ONE_BYTE | V8_SEQUENTIAL);
	wr_bytes(w, s, strlen(s));
}

/* A Code of 0x80 bytes. */
static void put_code_object(struct wr *w, const struct v8_layout *l)
{
	uint64_t words[V8_DATA_WORDS] = {0x8101};

	words[l->data / 8] = 0x8201;
	words[l->table / 8] = 0x8301;
	words[l->size / 8] |= 0x80ull << 8 * (l->size & 4);
	if (!l->is_inline)
		words[l->start / 8] = 0x9000;
	put_words(w, words, V8_CODE_WORDS);
	wr_le16(w, l->code_type);
	wr_le64(w, 0x8401);
}

/* What the walk reads of the second frame's code, in that order: optimised code that calls at 0x28
 * in the function itself. */
static void put_code(struct wr *w, const struct v8_layout *l)
{
	uint64_t words[V8_DATA_WORDS] = {9ull << 32};
	const uint8_t table[] = {0x22, 0x24}; /* offset 17, character 17 */

	put_code_object(w, l);
	wr_le16(w, l->data_type);
	words[3] = 0x8501;
	words[8] = 0x8601;
	put_words(w, words, V8_DATA_WORDS);
	wr_le32(w, 1);
	wr_le32(w, 0x491);
	wr_u8(w, 0x28);
	wr_u8(w, 0x81);
	wr_le64(w, sizeof(table) * (1ull << 32));
	wr_bytes(w, table, sizeof(table));
}

/* What the walk reads of bytecodes whose second is at 2, which is character 17. */
static void put_bytes(struct wr *w, const struct v8_layout *l, bool is_baseline)
{
	uint64_t words[5] = {0x8401, 4ull << 32};
	const uint8_t codes[] = {11, 0, 11, 0}, lines[] = {2, 0x22, 4, 2};

	words[l->lines / 8] = 0x8701;
	put_words(w, words, 5);
	wr_le16(w, l->bytes_type);
	if (is_baseline)
		wr_bytes(w, codes, sizeof(codes));
	wr_le64(w, sizeof(lines) * (1ull << 32));
	wr_bytes(w, lines, sizeof(lines));
}

/* What the walk reads of the second frame's baseline code: its place 0x28 is the second
 * bytecode. */
static void put_baseline(struct wr *w, const struct v8_layout *l)
{
	const uint8_t places[] = {0x10, 0x10, 0x10};

	put_code_object(w, l);
	wr_le16(w, l->bytes_type);
	wr_le64(w, sizeof(places) * (1ull << 32));
	wr_bytes(w, places, sizeof(places));
	put_bytes(w, l, true);
}

/* What the walk reads of a frame of an async function: the first of its slots that has its call,
 * then who awaits that, at the second bytecode. */
static void put_awaited(struct wr *w, const struct v8_layout *l)
{
	uint64_t words[V8_ASYNC_WORDS] = {0x9101};

	wr_le64(w, 0x9001);
	wr_le64(w, 0x1001);
	words[V8_ASYNC_STATE] = V8_ASYNC_EXECUTING;
	words[V8_ASYNC_PROMISE] = 0x9201;
	put_words(w, words, V8_ASYNC_WORDS);
	wr_le16(w, l->async_type);
	memset(words, 0, sizeof(words));
	words[0] = 0x9301;
	words[V8_PROMISE_REACTIONS] = 0x9401;
	put_words(w, words, V8_PROMISE_WORDS);
	wr_le16(w, l->promise_type);
	memset(words, 0, sizeof(words));
	words[l->next + V8_REACTION_HANDLER] = 0x9501;
	put_words(w, words, V8_REACTION_WORDS);
	memset(words, 0, sizeof(words));
	words[l->shared / 8 + 1] = 0x9601;
	put_words(w, words, V8_FUNCTION_WORDS);
	memset(words, 0, sizeof(words));
	words[V8_CONTEXT_AWAITS] = 0x9701;
	put_words(w, words, V8_CONTEXT_WORDS);
	memset(words, 0, sizeof(words));
	words[0] = 0x9101;
	words[V8_ASYNC_FUNCTION] = 0x1001;
	words[V8_ASYNC_AT] = (l->bytecodes + 1ull) << 32;
	words[V8_ASYNC_STATE] = 1ull << 32;
	words[V8_ASYNC_PROMISE] = 0x9801;
	put_words(w, words, V8_ASYNC_WORDS);
	wr_le16(w, l->async_type);
	wr_le64(w, 0x2001);
}

enum { SEED_OPTIMISED, SEED_INTERPRETED, SEED_BASELINE, SEED_AWAITED, N_SEED_KINDS };

/* What a walk over two frames of one function reads, in that order. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const uint32_t interpreter = INTERPRETER_V8_FIRST + i / N_SEED_KINDS;
	const unsigned kind = i % N_SEED_KINDS;
	const bool is_interpreted = kind == SEED_INTERPRETED || kind == SEED_AWAITED;
	const struct v8_layout *l = V8_LAYOUT(interpreter);
	uint64_t words[16] = {0};
	struct wr w = {0};

	if (interpreter >= INTERPRETER_HOTSPOT_FIRST)
		return NULL;
	wr_u8(&w, (uint8_t)interpreter);
	for (int frame = 0; frame < 2; frame++) {
		wr_le64(&w, 0x1001); /* the function */
		wr_le64(&w, 0x1101); /* its context */
		memset(words, 0, sizeof(words));
		words[l->shared / 8] = 0x2001;
		words[l->code / 8] |= l->code ? 0x8001 : 0;
		put_words(&w, words, V8_FUNCTION_WORDS);
		memset(words, 0, sizeof(words));
		words[0] = 0x2101;
		words[V8_SHARED_DATA / 8] = kind == SEED_BASELINE && frame ? 0x8001 : 0;
		words[l->name / 8] = 0x3001;
		words[l->script / 8] = 0x4001;
		words[(l->cookie + V8_FLAGS) / 8] = kind == SEED_AWAITED ? 13 : 0;
		put_words(&w, words, V8_SHARED_WORDS);
		if (!frame) {
			wr_le16(&w, l->shared_type);
			wr_le64(&w, 7ull << 32); /* the script's number */
			memset(words, 0, sizeof(words));
			words[V8_SCRIPT_SOURCE / 8] = 0x5001;
			words[V8_SCRIPT_NAME / 8] = 0x6001;
			put_words(&w, words, V8_SCRIPT_WORDS);
			put_text(&w, "\nfunction f() {\n}\n");
			put_text(&w, "/a/file.js");
			wr_le64(&w, 0x3101);
			wr_le16(&w, l->scope_type);
			wr_le64(&w, 1ull << 32); /* locals */
			memset(words, 0, sizeof(words));
			words[0] = words[2] = 0x7001;
			words[3] = 1ull << 32;
			words[4] = 17ull << 32;
			put_words(&w, words, V8_SCOPE_WORDS);
			if (l->positions)
				put_words(&w, words + 3, 2);
			put_text(&w, "f");
		}
		wr_le64(&w, is_interpreted && frame ? (l->bytecodes + 1ull) << 32 : 0);
		if (frame && is_interpreted) {
			wr_le64(&w, 0x8201);
			wr_le64(&w, V8_RETURN);
			put_bytes(&w, l, false);
		} else if (frame && kind == SEED_BASELINE) {
			put_baseline(&w, l);
		} else if (frame && l->code) {
			put_code(&w, l);
		}
		for (int slot = 0; kind == SEED_AWAITED && !frame && slot < V8_MOST_SLOTS; slot++)
			wr_le64(&w, 0);
		if (kind == SEED_AWAITED && frame)
			put_awaited(&w, l);
		wr_le64(&w, l->is_inline ? 0x8000 + l->start + 0x28u : 0x9028);
		wr_le64(&w, FP + 64 * (1 + (unsigned)frame)); /* the caller's */
	}
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_memory m = {.rd = rd_init(data, n)};
	struct python_input in = {.interpreter = rd_u8(&m.rd),
				  .thread = FP,
				  .read = fuzz_memory_read,
				  .tell = fuzz_memory_tell,
				  .ctx = &m};
	uint64_t frames[CHAIN_MAX_FRAMES];
	struct python_frames out = {.frames = frames, .max = CHAIN_MAX_FRAMES};

	v8_walk_frames(&in, &out);
	FUZZ_REQUIRE(out.n <= CHAIN_MAX_FRAMES);
	fuzz_memory_place(&m, &out, data, n);
	return 0;
}
