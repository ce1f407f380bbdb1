/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the labels of goroutines, on memory made here. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/wr.h"
#include "collect/calls/scripts.h"
#include "t.h"
#include "unwind/chain.h"
#include "unwind/go_labels_state.h"
#include "unwind/python_host.h"

#define BASE	0x10000ull
#define THREAD	(BASE + 0x100)
#define G	(BASE + 0x200)
#define M	(BASE + 0x400)
#define CURG	(BASE + 0x800)
#define LABELS	(BASE + 0xa00)
#define MAP	(BASE + 0xa40)
#define BUCKETS (BASE + 0x1000)
#define TEXTS	(BASE + 0x4000)

struct memory {
	uint8_t bytes[0x8000];
	size_t n_texts;
	unsigned n_told;
	uint64_t hole; /* cannot be read; 0: none */
	struct scripts scripts;
	struct python_input in;
	struct profile p;
};

static bool memory_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct memory *m = ctx;

	if (avma < BASE || avma - BASE > sizeof(m->bytes) - n || (m->hole && avma == m->hole))
		return false;
	memcpy(ret, m->bytes + (avma - BASE), n);
	return true;
}

static void memory_tell(void *ctx, const struct script_record *r, size_t n)
{
	struct memory *m = ctx;

	scripts_add(&m->scripts, (const uint8_t *)r, n);
	m->n_told++;
}

static void put(struct memory *m, uint64_t at, uint64_t word)
{
	memcpy(m->bytes + (at - BASE), &word, 8);
}

/* Puts a string's address and length at AT. */
static void put_string(struct memory *m, uint64_t at, const char *s)
{
	put(m, at, TEXTS + m->n_texts);
	put(m, at + 8, strlen(s));
	memcpy(m->bytes + (TEXTS - BASE) + m->n_texts, s, strlen(s));
	m->n_texts += strlen(s);
}

static void memory_init(struct memory *m, uint32_t interpreter)
{
	m->in = (struct python_input){.interpreter = interpreter,
				      .runtime = GO_ANCHOR(0x168, 0xc0),
				      .thread = THREAD,
				      .read = memory_read,
				      .tell = memory_tell,
				      .ctx = m};
	profile_init(&m->p);
	put(m, THREAD - 8, G);
	put(m, G + 0x30, M);
	put(m, M + 0xc0, CURG);
	put(m, CURG + 0x168, LABELS);
}

static void memory_release(struct memory *m)
{
	scripts_release(&m->scripts);
	profile_release(&m->p);
}

static const char *labels_of(struct memory *m)
{
	const uint64_t number = go_labels_number(&m->in);

	return number ? profile_str(&m->p,
				    scripts_labels(&m->scripts, &m->p, FRAME_SCRIPT(number, 0)))
		      : "";
}

/* Puts a label at place I of the map's buckets. */
static void put_in_map(struct memory *m, unsigned i, const char *key, const char *value)
{
	const uint64_t bucket = BUCKETS + i / 8 * GO_BUCKET_BYTES;

	m->bytes[bucket - BASE + i % 8] = 0x8a;
	put_string(m, bucket + GO_BUCKET_KEYS + i % 8 * 16, key);
	put_string(m, bucket + GO_BUCKET_VALUES + i % 8 * 16, value);
}

static void put_map(struct memory *m, uint64_t count, unsigned log2_buckets)
{
	put(m, LABELS, MAP);
	put(m, MAP, count);
	put(m, MAP + 8, (uint64_t)log2_buckets << 8);
	put(m, MAP + 16, BUCKETS);
}

TEST(of_a_map)
{
	_mem_ struct memory *m = xcalloc(1, sizeof(*m));

	memory_init(m, INTERPRETER_GO_LABEL_MAP);
	EXPECT_STR(labels_of(m), ""); /* no map at all */
	put_map(m, 2, 0);
	put_in_map(m, 0, "zone", "z1");
	put_in_map(m, 2, "job", "alpha");
	EXPECT_STR(labels_of(m), "job=alpha zone=z1");
	EXPECT_EQ(m->n_told, 1);
	m->bytes[BUCKETS - BASE] = 4; /* it was there, and moved elsewhere */
	EXPECT_STR(labels_of(m), "job=alpha ...");
	m->hole = BUCKETS + GO_BUCKET_VALUES + 2 * 16;
	EXPECT_STR(labels_of(m), "[labels unreadable]");
	m->hole = BUCKETS;
	EXPECT_STR(labels_of(m), "[labels unreadable]");
	m->hole = MAP;
	EXPECT_STR(labels_of(m), "[labels unreadable]");
	memory_release(m);
}

TEST(of_several_buckets)
{
	_mem_ struct memory *m = xcalloc(1, sizeof(*m));

	memory_init(m, INTERPRETER_GO_LABEL_MAP);
	put_map(m, 3, 2);
	put_in_map(m, 7, "a", "1");
	put_in_map(m, 8, "b", "2");
	put_in_map(m, 31, "c", "3");
	EXPECT_STR(labels_of(m), "a=1 b=2 c=3");
	put_map(m, 20, 7); /* more buckets than are looked at */
	EXPECT_STR(labels_of(m), "a=1 b=2 c=3 ...");
	memory_release(m);
}

TEST(of_a_list)
{
	_mem_ struct memory *m = xcalloc(1, sizeof(*m));
	char value[GO_VALUE_BYTES + 2] = "", want[400];

	memory_init(m, INTERPRETER_GO_LABEL_LIST);
	put(m, LABELS, BUCKETS);
	put(m, LABELS + 8, 2);
	memset(value, 'x', sizeof(value) - 1);
	put_string(m, BUCKETS, "job");
	put_string(m, BUCKETS + 16, "alpha\n");
	put_string(m, BUCKETS + 32, "zone");
	put_string(m, BUCKETS + 48, value);
	snprintf(want, sizeof(want), "job=alpha\xef\xbf\xbd zone=%.*s...", GO_VALUE_BYTES, value);
	EXPECT_STR(labels_of(m), want);
	put(m, LABELS + 8, UINT64_MAX); /* of those only so many have room */
	EXPECT(strncmp(labels_of(m), "= = = ", 6) == 0);
	memory_release(m);
}

/* Threads that run no goroutine, or are not Go's; goroutines without labels; programs of which it
 * is not known where labels are. */
TEST(of_nobody)
{
	_mem_ struct memory *m = xcalloc(1, sizeof(*m));

	memory_init(m, INTERPRETER_GO_LABEL_LIST);
	m->hole = THREAD - 8;
	EXPECT_STR(labels_of(m), "[labels unreadable]");
	m->hole = M + 0xc0;
	EXPECT_STR(labels_of(m), "[labels unreadable]");
	m->hole = CURG + 0x168;
	EXPECT_STR(labels_of(m), "[labels unreadable]");
	m->hole = 0;
	put(m, CURG + 0x168, 0);
	EXPECT_STR(labels_of(m), "");
	put(m, M + 0xc0, 0);
	EXPECT_STR(labels_of(m), "");
	put(m, THREAD - 8, 0);
	EXPECT_STR(labels_of(m), "");
	m->in.interpreter = INTERPRETER_GO;
	EXPECT_STR(labels_of(m), "");
	m->in.interpreter = INTERPRETER_GO_LABELS_UNKNOWN;
	EXPECT_STR(labels_of(m), "[labels of this Go not known]");
	m->in.interpreter = INTERPRETER_PYTHON_3_11;
	EXPECT_STR(labels_of(m), "");
	memory_release(m);
}

/* Each text is an owner of samples: there are so many, not more. */
TEST(not_too_many)
{
	_mem_ struct memory *m = xcalloc(1, sizeof(*m));
	char value[16];

	memory_init(m, INTERPRETER_GO_LABEL_LIST);
	put(m, LABELS, BUCKETS);
	put(m, LABELS + 8, 1);
	for (unsigned i = 0; i < SCRIPTS_MOST_LABELS; i++) {
		snprintf(value, sizeof(value), "%u", i);
		m->n_texts = 0;
		put_string(m, BUCKETS, "id");
		put_string(m, BUCKETS + 16, value);
		EXPECT(strcmp(labels_of(m) + 3, value) == 0);
	}
	m->n_texts = 0;
	put_string(m, BUCKETS, "id");
	put_string(m, BUCKETS + 16, "one more");
	EXPECT_STR(labels_of(m), "[more labels than are kept]");
	memory_release(m);
}
