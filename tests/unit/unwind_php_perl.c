/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps over PHP's and Perl's frames, on memory made here. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "model/script.h"
#include "unwind/chain.h"
#include "unwind/perl_state.h"
#include "unwind/php_state.h"
#include "unwind/python_host.h"

#define HEAP_WORDS 4096
#include "script_objects_t.h"

/* --- PHP --- */

enum {
	GLOBALS = 1,
	COMPARE_FRAME,
	USORT_FRAME,
	MAIN_FRAME,
	COMPARE,
	USORT,
	MAIN,
	CLASS,
	TEXTS = 16,
	OPLINES = 32
};

static uint64_t php_string(struct heap *h, unsigned i, const char *s)
{
	*heap_at(h, TEXTS + i, 16) = strlen(s);
	memcpy(heap_at(h, TEXTS + i, PHP_STRING_TEXT), s, strlen(s));
	return OBJECT(TEXTS + i);
}

static void php_frame(struct heap *h, unsigned frame, unsigned func, unsigned prev, uint32_t info,
		      uint32_t line)
{
	uint64_t *f = heap_at(h, frame, 0);

	f[PHP_FRAME_OPLINE] = OBJECT(OPLINES + frame);
	f[PHP_FRAME_FUNC] = OBJECT(func);
	f[PHP_FRAME_INFO] = info;
	f[PHP_FRAME_PREV] = prev ? OBJECT(prev) : 0;
	*heap_at(h, OPLINES + frame, PHP_OPLINE_LINE) = line;
}

/* C::compare, which usort calls, which {main} calls. */
static void php_fill(struct heap *h, const struct php_layout *l)
{
	uint64_t file = php_string(h, 0, "/a.php");

	*heap_at(h, GLOBALS, 0) = 0;
	h->words[(256 * GLOBALS + l->current) / 8] = OBJECT(COMPARE_FRAME);
	php_frame(h, COMPARE_FRAME, COMPARE, USORT_FRAME, PHP_CALL_TOP, 7);
	php_frame(h, USORT_FRAME, USORT, MAIN_FRAME, PHP_CALL_TOP, 99);
	php_frame(h, MAIN_FRAME, MAIN, 0, PHP_CALL_TOP, 20);
	*heap_at(h, COMPARE, 0) = 2;
	*heap_at(h, COMPARE, 8) = php_string(h, 1, "compare");
	*heap_at(h, COMPARE, 16) = OBJECT(CLASS);
	*heap_at(h, CLASS, PHP_CLASS_NAME) = php_string(h, 2, "C");
	*heap_at(h, COMPARE, l->file) = file;
	*heap_at(h, COMPARE, l->first_line) = 5;
	*heap_at(h, COMPARE, l->opcodes) = OBJECT(OPLINES);
	*heap_at(h, USORT, 0) = PHP_INTERNAL;
	*heap_at(h, USORT, 8) = php_string(h, 3, "usort");
	*heap_at(h, MAIN, 0) = 2;
	*heap_at(h, MAIN, l->file) = file;
	*heap_at(h, MAIN, l->first_line) = 1;
}

static void php(uint32_t interpreter)
{
	_mem_ struct heap *h = xcalloc(1, sizeof(*h));
	uint64_t frames[8];
	struct python_frames out = {.frames = frames, .max = 8};
	struct python_input in = {.interpreter = interpreter,
				  .runtime = OBJECT(GLOBALS),
				  .read = heap_read,
				  .tell = heap_tell,
				  .ctx = h};

	profile_init(&h->p);
	php_fill(h, PHP_LAYOUT(interpreter));
	php_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, 0);
	EXPECT_EQ(out.n_loops, 2); /* the mark of usort does not count */
	EXPECT_EQ(h->n_told, 3);
	expect_frames(h, &out, "C::compare /a.php:7\nusort [php]:0\n{main} /a.php:20\n");

	/* The instruction in the register is newer than the frame's. */
	in.sp = OBJECT(COMPARE_FRAME);
	in.ip = OBJECT(OPLINES) + 2 * PHP_OPLINE_BYTES;
	h->words[(256 * OPLINES + 2 * PHP_OPLINE_BYTES + PHP_OPLINE_LINE) / 8] = 8;
	php_walk_frames(&in, &out);
	EXPECT_EQ(h->n_told, 6); /* nothing is remembered from one walk to the next here */
	expect_frames(h, &out, "C::compare /a.php:8\nusort [php]:0\n{main} /a.php:20\n");

	/* An exception is thrown: the instruction is among the globals, behind where it was. */
	in.sp = in.ip = 0;
	*heap_at(h, COMPARE_FRAME, 8 * PHP_FRAME_OPLINE) = OBJECT(GLOBALS) + 0x40;
	*heap_at(h, GLOBALS, 0x38) = OBJECT(OPLINES + COMPARE_FRAME);
	php_walk_frames(&in, &out);
	expect_frames(h, &out, "C::compare /a.php:7\nusort [php]:0\n{main} /a.php:20\n");
	*heap_at(h, COMPARE_FRAME, 8 * PHP_FRAME_OPLINE) = OBJECT(OPLINES + COMPARE_FRAME);

	/* What cannot be read is named. */
	h->hole = OBJECT(TEXTS + 3) + PHP_STRING_TEXT;
	php_walk_frames(&in, &out);
	expect_frames(h, &out,
		      "C::compare /a.php:7\n[PHP frame unreadable] [php]:0\n{main} /a.php:20\n");
	h->hole = OBJECT(MAIN_FRAME);
	php_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, SCRIPT_UNREADABLE);
	h->hole = OBJECT(GLOBALS) + PHP_LAYOUT(interpreter)->current;
	php_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, SCRIPT_NO_STATE);
	EXPECT_EQ(out.n, 0);
	profile_release(&h->p);
	scripts_release(&h->scripts);
}

TEST(php_7_4)
{
	php(INTERPRETER_PHP_7_4);
}

TEST(php_8_2)
{
	php(INTERPRETER_PHP_8_2);
}

TEST(php_8_4)
{
	php(INTERPRETER_PHP_8_4);
}

/* --- Perl --- */

enum {
	KEY = 1,
	PERL, /* two of them: offsets to 0xf0 */
	SORT_STACK = 4,
	MAIN_STACK,
	SORT_CONTEXTS,
	MAIN_CONTEXTS = 8, /* two of them */
	SUB = 10,	   /* CV, its body, GV, its body */
	RUN = 14,
	STASH = 18, /* and its body, and its array */
	COP = 22,   /* four of them */
	PERL_TEXTS = 26,
	THREAD = 40 /* many */
};

static uint64_t perl_string(struct heap *h, unsigned i, const char *s)
{
	*heap_at(h, PERL_TEXTS + i, 0) = (uint64_t)strlen(s) << 32;
	memcpy(heap_at(h, PERL_TEXTS + i, PERL_HEK_TEXT), s, strlen(s));
	return OBJECT(PERL_TEXTS + i);
}

/* A sub called NAME at object SUB, by its glob; or NAMED, by itself. */
static void perl_sub(struct heap *h, unsigned sub, unsigned text, const char *name, bool named)
{
	uint64_t *body = heap_at(h, sub + 1, 0);

	*heap_at(h, sub, 0) = OBJECT(sub + 1);
	body[PERL_CV_FILE] = OBJECT(PERL_TEXTS) + PERL_HEK_TEXT;
	body[PERL_CV_DEPTH] = 1;
	if (named) {
		body[PERL_CV_STASH] = OBJECT(STASH);
		body[PERL_CV_GV] = perl_string(h, text, name);
		body[PERL_CV_FLAGS] = (uint64_t)PERL_CV_NAMED << 32;
		return;
	}
	body[PERL_CV_GV] = OBJECT(sub + 2);
	*heap_at(h, sub + 2, 0) = OBJECT(sub + 3);
	heap_at(h, sub + 3, 0)[PERL_GV_NAME] = perl_string(h, text, name);
	heap_at(h, sub + 3, 0)[PERL_GV_STASH] = OBJECT(STASH);
}

static void perl_context(struct heap *h, unsigned contexts, unsigned i, unsigned sub,
			 uint64_t retop, unsigned cop)
{
	uint64_t *c = &heap_at(h, contexts, 0)[i * PERL_CONTEXT_BYTES / 8];

	c[0] = sub ? 0x200 | PERL_CONTEXT_SUB : 0x200;
	c[PERL_CONTEXT_COP] = OBJECT(COP + cop);
	c[PERL_CONTEXT_RETOP] = retop;
	c[PERL_CONTEXT_CV] = sub ? OBJECT(sub) : 0;
}

static void perl_statement(struct heap *h, unsigned i, uint32_t line)
{
	*heap_at(h, COP + i, PERL_COP_LINE & ~7u) = (uint64_t)line << 32;
	*heap_at(h, COP + i, PERL_COP_FILE) = OBJECT(PERL_TEXTS) + PERL_HEK_TEXT;
}

/* P::compare, which a sort calls, in P::run, which the program calls. */
static void perl_fill(struct heap *h, const struct perl_layout *l)
{
	uint64_t *aux = heap_at(h, STASH + 1, PERL_HV_BYTES), *s;

	*heap_at(h, KEY, 0) = 3;
	h->words[(256 * THREAD + 0x310 + 16 * 3 + 8) / 8] = OBJECT(PERL);
	*heap_at(h, PERL, l->stack) = OBJECT(SORT_STACK);
	*heap_at(h, PERL, l->cop) = OBJECT(COP);
	s = heap_at(h, SORT_STACK, 0);
	s[PERL_STACK_FIRST] = OBJECT(SORT_CONTEXTS);
	s[PERL_STACK_PREV] = OBJECT(MAIN_STACK);
	s[PERL_STACK_INDEX] = 1;
	s[PERL_STACK_TYPE] = (uint64_t)PERL_STACK_SORT << 32;
	s = heap_at(h, MAIN_STACK, 0);
	s[PERL_STACK_FIRST] = OBJECT(MAIN_CONTEXTS);
	s[PERL_STACK_INDEX] = 1;
	perl_string(h, 0, "/a.pl");
	perl_sub(h, SUB, 1, "compare", false);
	perl_sub(h, RUN, 2, "run", true);
	if (l->aux_in_array) {
		*heap_at(h, STASH + 1, 8 * PERL_HV_MAX) = 7;
		aux = heap_at(h, STASH + 2, 8 * 8);
	}
	*heap_at(h, STASH, 0) = OBJECT(STASH + 1);
	*heap_at(h, STASH, 8) = (uint64_t)PERL_HAS_AUX << 32;
	*heap_at(h, STASH, 16) = OBJECT(STASH + 2);
	aux[0] = perl_string(h, 3, "P");
	perl_statement(h, 0, 3);
	perl_statement(h, 1, 8);
	perl_statement(h, 2, 20);
	perl_statement(h, 3, 2);
	*heap_at(h, SUB + 1, 8 * PERL_CV_START) = OBJECT(COP + 3);
	perl_context(h, SORT_CONTEXTS, 0, 0, 0, 1);
	perl_context(h, SORT_CONTEXTS, 1, SUB, 0, 1);
	perl_context(h, MAIN_CONTEXTS, 0, 0, 0, 2);
	perl_context(h, MAIN_CONTEXTS, 1, RUN, 0x1234, 2);
}

static void perl(uint32_t interpreter)
{
	_mem_ struct heap *h = xcalloc(1, sizeof(*h));
	uint64_t frames[8];
	uint64_t *depth = heap_at(h, SORT_CONTEXTS, PERL_CONTEXT_BYTES + 8 * PERL_CONTEXT_DEPTH);
	struct python_frames out = {.frames = frames, .max = 8};
	struct python_input in = {.interpreter = interpreter,
				  .runtime = OBJECT(KEY),
				  .thread = OBJECT(THREAD),
				  .read = heap_read,
				  .tell = heap_tell,
				  .ctx = h};

	profile_init(&h->p);
	perl_fill(h, PERL_LAYOUT(interpreter));
	perl_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, 0);
	EXPECT_EQ(out.n_loops, 2);
	EXPECT_EQ(h->n_told, 3);
	expect_frames(h, &out, "P::compare /a.pl:3\nP::run /a.pl:8\n{main} /a.pl:20\n");

	/* A block that is compared by has no sub of its own. */
	*heap_at(h, SORT_STACK, 8 * PERL_STACK_INDEX) = 0;
	perl_walk_frames(&in, &out);
	EXPECT_EQ(out.n_loops, 2);
	expect_frames(h, &out, "P::run /a.pl:3\n{main} /a.pl:20\n");
	*heap_at(h, SORT_STACK, 8 * PERL_STACK_INDEX) = 1;

	/* Before the first statement of a sub it is there. */
	*heap_at(h, PERL, PERL_LAYOUT(interpreter)->cop) = OBJECT(COP + 1);
	perl_walk_frames(&in, &out);
	expect_frames(h, &out, "P::compare /a.pl:2\nP::run /a.pl:8\n{main} /a.pl:20\n");

	/* Where its code does not begin with a statement the line is not known. */
	*heap_at(h, SUB + 1, 8 * PERL_CV_START) = OBJECT(STASH);
	perl_walk_frames(&in, &out);
	expect_frames(h, &out, "P::compare /a.pl:0\nP::run /a.pl:8\n{main} /a.pl:20\n");
	*heap_at(h, SUB + 1, 8 * PERL_CV_START) = OBJECT(COP + 3);

	/* Nor where it was called before, by another sub as far as is known. */
	*depth = 1;
	*heap_at(h, SUB + 1, 8 * PERL_CV_DEPTH) = 2;
	perl_walk_frames(&in, &out);
	expect_frames(h, &out, "P::compare /a.pl:0\nP::run /a.pl:8\n{main} /a.pl:20\n");
	*depth = 0;

	/* The innermost sub is being left. */
	*heap_at(h, SUB + 1, 8 * PERL_CV_DEPTH) = 0;
	perl_walk_frames(&in, &out);
	expect_frames(h, &out, "P::run /a.pl:8\n{main} /a.pl:20\n");
	*heap_at(h, PERL, PERL_LAYOUT(interpreter)->cop) = OBJECT(COP);
	perl_walk_frames(&in, &out);
	expect_frames(h, &out, "P::run /a.pl:0\n{main} /a.pl:20\n");
	*heap_at(h, SUB + 1, 8 * PERL_CV_DEPTH) = 1;

	h->hole = OBJECT(MAIN_CONTEXTS);
	perl_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, SCRIPT_UNREADABLE);
	h->hole = 0;
	in.thread = OBJECT(PERL); /* a thread without an interpreter */
	perl_walk_frames(&in, &out);
	EXPECT_EQ(out.failed, SCRIPT_NO_STATE);
	EXPECT_EQ(out.n, 0);
	profile_release(&h->p);
	scripts_release(&h->scripts);
}

TEST(perl_5_32)
{
	perl(INTERPRETER_PERL_5_32);
}

TEST(perl_5_36)
{
	perl(INTERPRETER_PERL_5_36);
}

TEST(perl_5_40)
{
	perl(INTERPRETER_PERL_5_40);
}

/* --- lists without an end --- */

static void endless(struct heap *h, uint32_t interpreter, uint64_t runtime,
		    void (*walk)(const struct python_input *, struct python_frames *))
{
	uint64_t frames[8];
	struct python_frames out = {.frames = frames, .max = 8};
	const struct python_input in = {.interpreter = interpreter,
					.runtime = runtime,
					.thread = OBJECT(THREAD),
					.read = heap_read,
					.tell = heap_tell,
					.ctx = h};

	walk(&in, &out);
	EXPECT_EQ(out.failed, SCRIPT_UNREADABLE);
	EXPECT(h->n_reads > SCRIPT_MOST_STEPS);
	EXPECT(h->n_reads < 3 * SCRIPT_MOST_STEPS);
	EXPECT_EQ(out.n, 0);
}

/* A process decides what its list leads to; nothing in it need be a frame. */
TEST(endless_lists_end)
{
	_mem_ struct heap *h = xcalloc(1, sizeof(*h));

	php_fill(h, PHP_LAYOUT(INTERPRETER_PHP_8_2));
	heap_at(h, COMPARE_FRAME, 0)[PHP_FRAME_FUNC] = 0;
	heap_at(h, COMPARE_FRAME, 0)[PHP_FRAME_PREV] = OBJECT(COMPARE_FRAME);
	endless(h, INTERPRETER_PHP_8_2, OBJECT(GLOBALS), php_walk_frames);

	memset(h, 0, sizeof(*h));
	perl_fill(h, PERL_LAYOUT(INTERPRETER_PERL_5_36));
	perl_context(h, SORT_CONTEXTS, 1, 0, 0, 1);
	heap_at(h, SORT_STACK, 0)[PERL_STACK_PREV] = OBJECT(SORT_STACK);
	endless(h, INTERPRETER_PERL_5_36, OBJECT(KEY), perl_walk_frames);
}
