/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child reads of generated code is what reading the file itself says. */
#include "resolve/jitread.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jitdumps.h"
#include "resolve/jitcode.h"
#include "t.h"

/* Asks about FD until there is no more; the last result. */
static int follow(struct jitcode *j, int fd, bool map, bool last)
{
	bool more = true;
	int rc = 0;

	while (more && rc >= 0) {
		struct wr question = {0}, answer = {0};
		struct rd r;

		jitcode_question(j, map, last, &question);
		rc = jitread(fd, question.v, question.n, &answer, NULL);
		r = rd_init(answer.v, answer.n);
		if (rc >= 0)
			rc = jitcode_begin(j, &r, &more, NULL);
		if (rc >= 0)
			rc = jitcode_take(j, &r, UINT64_MAX, NULL);
		wr_release(&question);
		wr_release(&answer);
	}
	return rc;
}

static void expect_same(const struct jitcode *a, const struct jitcode *b)
{
	struct symtab x, y;

	jitcode_symbols(a, &x);
	jitcode_symbols(b, &y);
	EXPECT(x.n > 0 && x.n == y.n);
	for (uint32_t i = 0; i < x.n && i < y.n; i++) {
		EXPECT_EQ(symtab_get(&x, i).start, symtab_get(&y, i).start);
		EXPECT_STR(symtab_get(&x, i).name, symtab_get(&y, i).name);
	}
	symtab_release(&x);
	symtab_release(&y);
}

static void append(int fd, const struct wr *w, size_t from)
{
	EXPECT_EQ(pwrite(fd, w->v + from, w->n - from, (off_t)from), (ssize_t)(w->n - from));
}

TEST(a_dump_that_grows)
{
	struct jitcode *a = jitcode_new(), *b = jitcode_new();
	int fd = memfd_create("dump", 0);
	struct wr w = {0};

	EXPECT_EQ(follow(a, fd, false, false), 0); /* nothing is there yet */
	jd_header(&w);
	for (unsigned i = 0; i < 9000; i++) { /* several answers */
		char name[30];
		size_t from = i % 1000 ? w.n : 0;

		snprintf(name, sizeof(name), "p%u", i);
		jd_load(&w, 0x1000 + (uint64_t)i % 700 * 256, 250, name);
		if (i % 100 == 7)
			jd_move(&w, 0x1000 + (uint64_t)i % 700 * 256, 0x900000 + i * 256ul, 250);
		append(fd, &w, from);
		if (i % 3000 == 0)
			EXPECT_EQ(follow(a, fd, false, false), 0);
	}
	EXPECT_EQ(follow(a, fd, false, true), 0);
	EXPECT_EQ(jitcode_read(b, fd, UINT64_MAX, NULL), 0);
	EXPECT_EQ(jitcode_at(a), w.n);
	expect_same(a, b);
	jitcode_free(a);
	jitcode_free(b);
	wr_release(&w);
	close(fd);
}

TEST(what_is_later_waits)
{
	struct jitcode *j = jitcode_new();
	int fd = memfd_create("dump", 0);
	struct wr w = {0}, question = {0}, answer = {0};
	struct rd r;
	bool more;

	jd_header(&w);
	jd_time = 1000;
	jd_load(&w, 0x1000, 16, "early");
	jd_time = 3000;
	jd_load(&w, 0x1000, 16, "late");
	append(fd, &w, 0);
	jitcode_question(j, false, false, &question);
	EXPECT_EQ(jitread(fd, question.v, question.n, &answer, NULL), 0);
	r = rd_init(answer.v, answer.n);
	EXPECT_EQ(jitcode_begin(j, &r, &more, NULL), 0);
	EXPECT_EQ(jitcode_take(j, &r, 2000, NULL), 0);
	EXPECT_EQ(jitcode_next_ns(j), 3000);
	EXPECT_EQ(jitcode_svma(j, 0x1004), 0x1004);
	EXPECT_EQ(jitcode_take(j, &r, 3000, NULL), 0);
	EXPECT_EQ(jitcode_svma(j, 0x1004), 1ull << 48 | 0x1004);
	EXPECT_EQ(rd_left(&r), 0);
	wr_release(&w);
	wr_release(&question);
	wr_release(&answer);
	jitcode_free(j);
	close(fd);
}

TEST(a_map_that_is_continued_and_written_anew)
{
	struct jitcode *a = jitcode_new(), *b = jitcode_new();
	int fd = memfd_create("map", 0);
	FILE *f = fdopen(dup(fd), "w");

	for (unsigned i = 0; i < 60000; i++) {
		fprintf(f, "%x 10 procedure %u\n", 0x1000 + i * 16, i);
		if (i % 20000 == 77) {
			fflush(f);
			EXPECT_EQ(follow(a, fd, true, false), 0);
			EXPECT_EQ(jitcode_read_map(b, fd, false, NULL), 0);
		}
	}
	fprintf(f, "a00000 10 without an end");
	fflush(f);
	EXPECT_EQ(follow(a, fd, true, true), 0);
	EXPECT_EQ(jitcode_read_map(b, fd, true, NULL), 0);
	expect_same(a, b);
	rewind(f);
	EXPECT_EQ(ftruncate(fd, 0), 0);
	fprintf(f, "1000 10 another\n");
	fflush(f);
	EXPECT_EQ(follow(a, fd, true, true), 0);
	EXPECT_EQ(jitcode_read_map(b, fd, true, NULL), 0);
	EXPECT_EQ(jitcode_svma(a, 0x1004), 1ull << 48 | 0x1004);
	expect_same(a, b);
	fclose(f);
	close(fd);
	jitcode_free(a);
	jitcode_free(b);
}

TEST(what_is_no_dump)
{
	struct jitcode *j = jitcode_new();
	int fd = memfd_create("dump", 0);
	struct wr w = {0};

	wr_bytes(&w, "this is a text of more than forty bytes, for the header", 50);
	append(fd, &w, 0);
	EXPECT_EQ(follow(j, fd, false, false), -EBADMSG);
	EXPECT_EQ(jitcode_at(j), 0);
	EXPECT_EQ(jitread(fd, (const uint8_t *)"\0\5\2ab", 6, &w, NULL), -EINVAL);
	wr_release(&w);
	jitcode_free(j);
	close(fd);
}
