/* SPDX-License-Identifier: BSD-2-Clause */
/* An interpreter's memory that says anything, and another thing each time it is read: the walk
 * ends, what it tells is taken or refused, and every frame has a place. */
#include <string.h>

#include "base/wr.h"
#include "script_fuzz.h"
#include "unwind/python_lines.h"
#include "unwind/python_state.h"

#define THREAD 0x7f0011223344ull

/* Reads a string of N characters, as 3.11 and 3.12 have them. */
static void put_text(struct wr *w, const char *s)
{
	const size_t n = strlen(s);

	wr_le64(w, 1);
	wr_le64(w, 0);
	wr_le64(w, n);
	wr_le64(w, 0);
	wr_le64(w, 1 << 2 | 1 << 5 | 1 << 6); /* Latin-1, compact, ascii */
	wr_bytes(w, s, n);
}

/* What a walk over one frame reads, in that order. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const struct python_layout *l = PYTHON_LAYOUT(i + 1);
	uint64_t words[PYTHON_STATE_WORDS] = {0};
	struct wr w = {0};

	if (i + 1 >= N_INTERPRETERS)
		return NULL;
	wr_u8(&w, (uint8_t)(i + 1));
	wr_le64(&w, 1 | 2ull << 32); /* the key is 2 */
	wr_le64(&w, 0x1000);	     /* the state */
	words[l->thread_id / 8] = THREAD;
	words[l->frame_at / 8] = 0x2000;
	for (int k = 0; k < l->state_words; k++)
		wr_le64(&w, words[k]);
	if (l->in_cframe)
		wr_le64(&w, 0x2000);
	for (int frame = 0; frame < 3; frame++) {
		memset(words, 0, sizeof(words));
		words[l->code / 8] = 0x3000 + (unsigned)frame;
		words[l->previous / 8] = frame < 2 ? 0x4000 : 0;
		words[l->instr / 8] = 0x3000 + l->bytecode + 4;
		for (int k = 0; k < l->frame_words; k++)
			wr_le64(&w, words[k]);
		memset(words, 0, sizeof(words));
		words[l->file / 8] = 0x5000 + (unsigned)frame;
		words[l->name / 8] = 0x6000;
		words[l->lines / 8] = 0x7000;
		for (int k = 0; k < l->code_words; k++)
			wr_le64(&w, words[k]);
		put_text(&w, "/a/file.py");
		put_text(&w, "name");
		if (frame) /* it is told once */
			continue;
		wr_le64(&w, 6);
		wr_bytes(&w, "\xd0\0\0\xe8\x02\xf8", 6);
	}
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_memory m = {.rd = rd_init(data, n)};
	struct python_input in = {.interpreter = rd_u8(&m.rd),
				  .runtime = 0x500000,
				  .thread = THREAD,
				  .read = fuzz_memory_read,
				  .tell = fuzz_memory_tell,
				  .ctx = &m};
	uint64_t frames[CHAIN_MAX_FRAMES];
	struct python_frames out = {.frames = frames, .max = CHAIN_MAX_FRAMES};

	python_walk_frames(&in, &out);
	FUZZ_REQUIRE(out.n <= CHAIN_MAX_FRAMES && out.n_loops <= CHAIN_MAX_FRAMES);
	fuzz_memory_place(&m, &out, data, n);
	for (int i = INTERPRETER_NONE; i < N_INTERPRETERS; i++)
		python_line((enum interpreter)i, data, n, 1, 100);
	return 0;
}
