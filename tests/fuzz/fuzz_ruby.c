/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of Ruby's that says anything, and another thing each time it is read: the walk ends,
 * what it tells is taken or refused, and every frame has a place. */
#include <string.h>

#include "base/wr.h"
#include "script_fuzz.h"
#include "unwind/ruby_state.h"

static void put_words(struct wr *w, const uint64_t *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		wr_le64(w, words[i]);
}

static void put_text(struct wr *w, const char *s)
{
	wr_le64(w, RUBY_T_STRING | RUBY_STRING_IS_APART);
	wr_le64(w, 0);
	wr_le64(w, strlen(s));
	wr_le64(w, 0x70000);
	wr_bytes(w, s, strlen(s));
}

static void put_thread(struct wr *w, const struct ruby_layout *l)
{
	if (l->is_key) {
		wr_le64(w, 2);
	} else {
		wr_le64(w, 2); /* module, offset, table of modules, block */
		wr_le64(w, 8);
		wr_le64(w, 0x1000);
		wr_le64(w, 0x2000);
	}
	wr_le64(w, 0x3000); /* thread, what it executes, whose that is */
	wr_le64(w, 0x4000);
	wr_le64(w, 0x3000);
	wr_le64(w, 0x10000); /* stack, and its size, and the frame */
	wr_le64(w, 0x1000);
	wr_le64(w, 0x10000);
	if (!l->objects)
		return;
	wr_le64(w, 0x5100); /* what knows who runs, the machine, its objects: they are collected */
	if (!l->is_key)
		wr_le64(w, 0x5200);
	wr_le64(w, 0x5300);
	wr_le64(w, RUBY_COLLECTS);
	wr_le64(w, l->is_key ? 0x3000 : 0x4000);
}

/* What a walk over a block, which C called, reads of its frame, its method and that one's class. */
static void put_frame(struct wr *w, const struct ruby_layout *l)
{
	uint64_t words[PYTHON_STATE_WORDS] = {0};

	words[RUBY_FRAME_PC] = 0x900010;
	words[RUBY_FRAME_ISEQ] = 0x5000;
	words[RUBY_FRAME_EP] = 0x6000;
	put_words(w, words, 5);
	wr_le64(w, 0x8000); /* method, outer, flags */
	wr_le64(w, 0);
	wr_le64(w, 0x22220001 | RUBY_FLAG_FINISH | RUBY_FLAG_LOCAL);
	memset(words, 0, sizeof(words));
	words[0] = RUBY_T_IMEMO | RUBY_IMEMO_METHOD << 12;
	words[RUBY_METHOD_DEF] = 0x9000;
	words[RUBY_METHOD_OWNER] = 0xa000;
	put_words(w, words, 5);
	if (!l->names_classes)
		return;
	memset(words, 0, sizeof(words));
	words[0] = RUBY_T_CLASS;
	words[3] = 0xb000;
	put_words(w, words, 4);
	wr_le64(w, 0xc000); /* the name; or the table, its entries, the first one */
	if (!l->class_path) {
		wr_le64(w, 0xd000);
		wr_le64(w, 0);
		wr_le64(w, 0);
		wr_le64(w, 0x1230);
		wr_le64(w, 0xe000);
	}
	put_text(w, "Class");
}

static void put_code(struct wr *w, const struct ruby_layout *l)
{
	uint64_t words[PYTHON_STATE_WORDS] = {0};

	wr_le64(w, 0xf000);
	words[RUBY_BODY_SIZE] = 100ull << 32;
	words[RUBY_BODY_CODE] = 0x900000;
	words[RUBY_BODY_PATH] = 0x11000;
	words[RUBY_BODY_LABEL] = 0x12000;
	words[RUBY_BODY_LINE] = 7;
	words[l->info / 8] = 0x13000;
	words[l->info / 8 + 2] = 2;
	words[l->info / 8 + 3] = 0x14000;
	put_words(w, words, RUBY_BODY_WORDS);
	wr_le64(w, RUBY_T_ARRAY | RUBY_ARRAY_EMBEDDED);
	wr_le64(w, 0x15000);
	put_text(w, "/a/file.rb");
	put_text(w, "block in name");
	wr_le64(w, 1); /* the definition is of C's */
	wr_le64(w, 0);
	wr_le64(w, 0x81); /* which entry */
	wr_le32(w, 5);	  /* the line */
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const uint32_t interpreter = INTERPRETER_RUBY_FIRST + i;
	struct wr w = {0};

	if (interpreter >= INTERPRETER_GO)
		return NULL;
	wr_u8(&w, (uint8_t)interpreter);
	put_thread(&w, RUBY_LAYOUT(interpreter));
	put_frame(&w, RUBY_LAYOUT(interpreter));
	put_code(&w, RUBY_LAYOUT(interpreter));
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_memory m = {.rd = rd_init(data, n)};
	struct python_input in = {.interpreter = rd_u8(&m.rd),
				  .runtime = 0x500000,
				  .symbols = 0x600000,
				  .thread = 0x7f0011223344ull,
				  .read = fuzz_memory_read,
				  .tell = fuzz_memory_tell,
				  .ctx = &m};
	uint64_t frames[CHAIN_MAX_FRAMES];
	struct python_frames out = {.frames = frames, .max = CHAIN_MAX_FRAMES};

	ruby_walk_frames(&in, &out);
	FUZZ_REQUIRE(out.n <= CHAIN_MAX_FRAMES);
	fuzz_memory_place(&m, &out, data, n);
	return 0;
}
