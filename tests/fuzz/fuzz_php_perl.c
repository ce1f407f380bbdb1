/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of PHP's and Perl's that says anything, and another thing each time it is read: the walk
 * ends, what it tells is taken or refused, and every frame has a place. */
#include <string.h>

#include "base/wr.h"
#include "script_fuzz.h"
#include "unwind/perl_state.h"
#include "unwind/php_state.h"

static void put_words(struct wr *w, const uint64_t *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		wr_le64(w, words[i]);
}

static void put_php_text(struct wr *w, const char *s)
{
	wr_le64(w, strlen(s));
	wr_bytes(w, s, strlen(s));
}

/* What a walk over two frames of one function reads, in that order. */
static void seed_php(struct wr *w, const struct php_layout *l)
{
	wr_le64(w, 0x1000); /* the innermost frame */
	for (int i = 0; i < 2; i++) {
		uint64_t words[PYTHON_STATE_WORDS] = {0};

		words[PHP_FRAME_OPLINE] = 0x2000;
		words[PHP_FRAME_FUNC] = 0x3000 + (unsigned)i;
		words[PHP_FRAME_INFO] = i ? PHP_CALL_TOP : 0;
		words[PHP_FRAME_PREV] = i ? 0 : 0x4000;
		put_words(w, words, PHP_FRAME_WORDS);
		memset(words, 0, sizeof(words));
		words[0] = 2;
		words[PHP_NAME] = 0x5000;
		words[PHP_SCOPE] = 0x6000;
		words[l->file / 8] = 0x7000;
		words[l->first_line / 8] = 3;
		put_words(w, words, l->function_words);
		if (!i)
			put_php_text(w, "/a/file.php");
		put_php_text(w, "name");
		wr_le64(w, 0x8000);
		put_php_text(w, "Class");
		wr_le32(w, 5); /* the line */
	}
}

static void put_perl_text(struct wr *w, const char *s)
{
	wr_le32(w, (uint32_t)strlen(s));
	wr_bytes(w, s, strlen(s));
}

/* What a walk over one sub, which C called, and the program reads. */
static void seed_perl(struct wr *w, const struct perl_layout *l)
{
	uint64_t words[PYTHON_STATE_WORDS] = {0};

	wr_le64(w, 2);	    /* the key */
	wr_le64(w, 0x1000); /* the interpreter, its stack of contexts, its statement */
	wr_le64(w, 0x2000);
	wr_le64(w, 0x3000);
	words[PERL_STACK_FIRST] = 0x4000;
	put_words(w, words, PERL_STACK_WORDS);
	memset(words, 0, sizeof(words));
	words[0] = PERL_CONTEXT_SUB;
	words[PERL_CONTEXT_COP] = 0x5000;
	words[PERL_CONTEXT_CV] = 0x6000;
	put_words(w, words, PERL_CONTEXT_WORDS);
	wr_le64(w, 0x8000); /* the body of the CV, its depth */
	wr_le64(w, 1);
	wr_le64(w, 0x7000); /* the statement's file */
	wr_bytes(w, "/a.pl", 6);
	wr_le64(w, 0x8000); /* the body of the CV */
	memset(words, 0, sizeof(words));
	words[PERL_CV_GV] = 0x9000;
	words[PERL_CV_FILE] = 0x7000;
	put_words(w, words, PERL_CV_WORDS);
	wr_le64(w, 0xa000); /* that of the GV */
	memset(words, 0, sizeof(words));
	words[PERL_GV_NAME] = 0xb000;
	words[PERL_GV_STASH] = 0xc000;
	put_words(w, words, 6);
	wr_bytes(w, "/a.pl", 6);
	put_perl_text(w, "sub");
	words[0] = words[2] = 0xd000;
	words[1] = (uint64_t)PERL_HAS_AUX << 32;
	put_words(w, words, 3);
	if (l->aux_in_array)
		wr_le64(w, 7);
	wr_le64(w, 0xe000);
	wr_le64(w, 0);
	put_perl_text(w, "Package");
	wr_le32(w, 5);
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const uint32_t interpreter = INTERPRETER_PHP_FIRST + i;
	struct wr w = {0};

	if (interpreter >= INTERPRETER_RUBY_FIRST)
		return NULL;
	wr_u8(&w, (uint8_t)interpreter);
	if (INTERPRETER_IS_PHP(interpreter))
		seed_php(&w, PHP_LAYOUT(interpreter));
	else
		seed_perl(&w, PERL_LAYOUT(interpreter));
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_memory m = {.rd = rd_init(data, n)};
	struct python_input in = {.interpreter = rd_u8(&m.rd),
				  .runtime = 0x500000,
				  .thread = 0x7f0011223344ull,
				  .sp = 0x1000,
				  .ip = 0x2000,
				  .read = fuzz_memory_read,
				  .tell = fuzz_memory_tell,
				  .ctx = &m};
	uint64_t frames[CHAIN_MAX_FRAMES];
	struct python_frames out = {.frames = frames, .max = CHAIN_MAX_FRAMES};

	if (INTERPRETER_IS_PHP(in.interpreter))
		php_walk_frames(&in, &out);
	else
		perl_walk_frames(&in, &out);
	FUZZ_REQUIRE(out.n <= CHAIN_MAX_FRAMES);
	fuzz_memory_place(&m, &out, data, n);
	return 0;
}
