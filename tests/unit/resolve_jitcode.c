/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "jitdumps.h"
#include "resolve/jitcode.h"
#include "resolve/jitdump.h"
#include "t.h"

#define LAYER(n) ((uint64_t)(n) << 48)

static struct jitcode *fed(const struct wr *w, int want)
{
	struct jitcode *j = jitcode_new();

	EXPECT_EQ(jitcode_feed(j, w->v, w->n, UINT64_MAX, NULL), want);
	return j;
}

static void expect_name(const struct jitcode *j, uint64_t svma, const char *want)
{
	struct symtab st;
	uint32_t i;

	jitcode_symbols(j, &st);
	i = symtab_find(&st, svma);
	if (!want)
		EXPECT_EQ(i, PROC_NONE);
	else if (i == PROC_NONE)
		EXPECT(!"has a name");
	else
		EXPECT_STR(symtab_get(&st, i).name, want);
	symtab_release(&st);
}

TEST(header_in_both_byte_orders)
{
	for (int big = 0; big < 2; big++) {
		struct wr w = {0};
		struct jitdump d;
		struct err err;

		jd_big = big;
		jd_header(&w);
		EXPECT_EQ(jitdump_read_header(w.v, w.n, &d, &err), 0);
		EXPECT_EQ(d.big_endian, big);
		EXPECT_EQ(d.machine, 62);
		EXPECT_EQ(d.pid, 4242);
		EXPECT_EQ(d.n_bytes, 40);
		EXPECT_EQ(jitdump_read_header(w.v, 39, &d, &err), -ENODATA);
		w.v[big ? 7 : 4] = 2;
		EXPECT_EQ(jitdump_read_header(w.v, w.n, &d, &err), -EPROTONOSUPPORT);
		w.v[0] ^= 1;
		EXPECT_EQ(jitdump_read_header(w.v, w.n, &d, &err), -EBADMSG);
		wr_release(&w);
	}
	jd_big = false;
}

TEST(code_that_stays_has_its_address)
{
	for (int big = 0; big < 2; big++) {
		struct wr w = {0};
		struct jitcode *j;

		jd_big = big;
		jd_header(&w);
		jd_load(&w, 0x7f0000001000, 64, "JS:*hot a.js:1:2");
		jd_load(&w, 0x7f0000002000, 32, "other");
		jd_load(&w, 0x7f0000003000, 0, "empty");
		jd_load(&w, 0x7f0000004000, 8, "");
		j = fed(&w, 0);
		EXPECT_EQ(jitcode_at(j), w.n);
		EXPECT_EQ(jitcode_svma(j, 0x7f0000001010), 0x7f0000001010);
		EXPECT_EQ(jitcode_svma(j, 0x7f0000001040), 0x7f0000001040);
		EXPECT_EQ(jitcode_n_replaced(j), 0);
		expect_name(j, 0x7f000000103f, "JS:*hot a.js:1:2");
		expect_name(j, 0x7f0000001040, NULL);
		expect_name(j, 0x7f0000002000, "other");
		expect_name(j, 0x7f0000003000, NULL);
		expect_name(j, 0x7f0000004000, "?");
		jitcode_free(j);
		wr_release(&w);
	}
	jd_big = false;
}

TEST(an_address_used_again_is_another_procedure)
{
	struct wr w = {0};
	struct jitcode *j;

	jd_header(&w);
	jd_load(&w, 0x1000, 0x100, "a");
	jd_load(&w, 0x1080, 0x100, "b");
	jd_load(&w, 0x10c0, 0x10, "c");
	jd_load(&w, 0x3000, 0x10, "far");
	j = fed(&w, 0);
	EXPECT_EQ(jitcode_svma(j, 0x107f), 0x107f);
	EXPECT_EQ(jitcode_svma(j, 0x1080), LAYER(1) | 0x1080);
	EXPECT_EQ(jitcode_svma(j, 0x10c0), LAYER(2) | 0x10c0);
	EXPECT_EQ(jitcode_svma(j, 0x10d0), LAYER(1) | 0x10d0);
	EXPECT_EQ(jitcode_svma(j, 0x117f), LAYER(1) | 0x117f);
	EXPECT_EQ(jitcode_svma(j, 0x1180), 0x1180);
	expect_name(j, 0x1100, "b"); /* had it first */
	expect_name(j, 0x1180, NULL);
	EXPECT_EQ(jitcode_svma(j, 0x3000), 0x3000);
	EXPECT_EQ(jitcode_n_replaced(j), 2);
	/* What was counted before keeps its name. */
	expect_name(j, 0x1080, "a");
	expect_name(j, 0x10ff, "a");
	expect_name(j, LAYER(1) | 0x1080, "b");
	expect_name(j, LAYER(1) | 0x10c5, "b");
	expect_name(j, LAYER(2) | 0x10c5, "c");
	expect_name(j, LAYER(2) | 0x10d0, NULL);
	jitcode_free(j);
	wr_release(&w);
}

TEST(told_again_is_the_same)
{
	struct wr w = {0};
	struct jitcode *j;

	jd_header(&w);
	jd_load(&w, 0x1000, 0x100, "a");
	jd_load(&w, 0x1000, 0x100, "a");
	j = fed(&w, 0);
	EXPECT_EQ(jitcode_svma(j, 0x1000), 0x1000);
	jitcode_free(j);
	jd_load(&w, 0x1050, 0x10, "between");
	jd_load(&w, 0x1000, 0x100, "a");
	j = fed(&w, 0);
	EXPECT_EQ(jitcode_svma(j, 0x1050), LAYER(2) | 0x1050);
	expect_name(j, LAYER(2) | 0x1050, "a");
	jitcode_free(j);
	wr_release(&w);
}

TEST(moved_code_keeps_its_name)
{
	struct wr w = {0};
	struct jitcode *j;

	jd_header(&w);
	jd_load(&w, 0x1000, 0x100, "a");
	jd_load(&w, 0x5000, 0x100, "was here");
	jd_move(&w, 0x1000, 0x5000, 0x100);
	jd_move(&w, 0x9000, 0xa000, 0x100); /* of nothing */
	j = fed(&w, 0);
	expect_name(j, jitcode_svma(j, 0x5000), "a");
	expect_name(j, 0x5000, "was here");
	expect_name(j, 0x1000, "a");
	expect_name(j, 0xa000, NULL);
	jitcode_free(j);
	wr_release(&w);
}

TEST(code_made_later_waits)
{
	struct wr w = {0};
	struct jitcode *j = jitcode_new();
	size_t before, after;

	jd_header(&w);
	jd_load(&w, 0x1000, 0x100, "old");
	before = w.n;
	jd_time = 3000;
	jd_load(&w, 0x1000, 0x100, "new");
	after = w.n;
	EXPECT_EQ(jitcode_feed(j, w.v, w.n, 2500, NULL), 0);
	EXPECT_EQ(jitcode_at(j), before);
	EXPECT_EQ(jitcode_next_ns(j), 3000);
	EXPECT_EQ(jitcode_svma(j, 0x1000), 0x1000);
	EXPECT_EQ(jitcode_feed(j, w.v + before, w.n - before, 3000, NULL), 0);
	EXPECT_EQ(jitcode_next_ns(j), UINT64_MAX);
	EXPECT_EQ(jitcode_svma(j, 0x1000), LAYER(1) | 0x1000);
	/* A clock that is somewhere else says nothing. */
	jd_time = 1ull << 60;
	jd_load(&w, 0x1000, 0x100, "other clock");
	EXPECT_EQ(jitcode_feed(j, w.v + after, w.n - after, 4000, NULL), 0);
	EXPECT_EQ(jitcode_svma(j, 0x1000), LAYER(2) | 0x1000);
	jitcode_free(j);
	/* A clock that the dump calls a CPU's says nothing. */
	w.v[32] = 1;
	j = jitcode_new();
	EXPECT_EQ(jitcode_feed(j, w.v, after, 2500, NULL), 0);
	EXPECT_EQ(jitcode_svma(j, 0x1000), LAYER(1) | 0x1000);
	jitcode_free(j);
	wr_release(&w);
	jd_time = 2000;
}

TEST(other_records_are_stepped_over)
{
	struct wr w = {0};
	struct jitcode *j;

	jd_header(&w);
	jd_record(&w, 2, 40); /* lines */
	for (int i = 0; i < 3; i++)
		jd_u64(&w, 1);
	jd_record(&w, 4, 24); /* unwinding */
	jd_u64(&w, 1);
	jd_record(&w, 3, 16); /* end */
	jd_record(&w, 99, 16);
	jd_load(&w, 0x1000, 8, "after all");
	j = fed(&w, 0);
	expect_name(j, 0x1004, "after all");
	jitcode_free(j);
	wr_release(&w);
}

/* Cut at every byte, and then continued. */
TEST(a_dump_that_is_being_written)
{
	struct wr w = {0};

	jd_header(&w);
	jd_load(&w, 0x1000, 8, "one");
	jd_move(&w, 0x1000, 0x2000, 8);
	jd_load(&w, 0x3000, 8, "two");
	for (size_t cut = 0; cut <= w.n; cut++) {
		struct jitcode *j = jitcode_new();
		uint64_t at;

		EXPECT_EQ(jitcode_feed(j, w.v, cut, UINT64_MAX, NULL), 0);
		at = jitcode_at(j);
		if (at < w.n)
			EXPECT_EQ(jitcode_feed(j, w.v + at, w.n - at, UINT64_MAX, NULL), 0);
		EXPECT_EQ(jitcode_at(j), w.n);
		expect_name(j, 0x1000, "one");
		expect_name(j, 0x2007, "one");
		expect_name(j, 0x3000, "two");
		jitcode_free(j);
	}
	wr_release(&w);
}

TEST(damage_ends_it_and_keeps_what_was_read)
{
	struct wr w = {0};
	struct jitcode *j;
	struct err err;
	size_t n;

	jd_header(&w);
	jd_load(&w, 0x1000, 8, "good");
	n = w.n;
	jd_record(&w, 0, 15);
	jd_load(&w, 0x2000, 8, "lost");
	j = fed(&w, -EBADMSG);
	EXPECT_EQ(jitcode_at(j), n);
	EXPECT_EQ(jitcode_feed(j, w.v + n, w.n - n, UINT64_MAX, &err), -EBADMSG);
	EXPECT_STR(err.msg, "jitdump+0x6d: no record");
	expect_name(j, 0x1000, "good");
	expect_name(j, 0x2000, NULL);
	jitcode_free(j);
	w.n = n;
	jd_record(&w, 0, 56); /* no room for a name */
	for (int i = 0; i < 5; i++)
		jd_u64(&w, 1);
	j = fed(&w, -EBADMSG);
	jitcode_free(j);
	wr_release(&w);
}

TEST(nonsense_is_left_out)
{
	struct wr w = {0};
	struct jitcode *j;
	struct symtab st;

	jd_header(&w);
	jd_load(&w, ~0ull - 3, 8, "wraps");
	jd_load(&w, (1ull << 48) - 4, 8, "over the top");
	jd_load(&w, 1ull << 48, 8, "above it");
	jd_load(&w, (1ull << 48) - 8, 8, "the last");
	j = fed(&w, 0);
	jitcode_symbols(j, &st);
	EXPECT_EQ(st.n, 1);
	symtab_release(&st);
	EXPECT_EQ(jitcode_svma(j, 1ull << 48), 1ull << 48);
	jitcode_free(j);
	wr_release(&w);
}

TEST(read_from_a_file_that_grows)
{
	struct wr w = {0};
	struct jitcode *j = jitcode_new();
	int fd = memfd_create("dump", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	EXPECT_EQ(jitcode_read(j, fd, UINT64_MAX, NULL), 0);
	jd_header(&w);
	jd_load(&w, 0x1000, 200000, "large");
	jd_load(&w, 0x100000, 100, "last");
	EXPECT_EQ(write(fd, w.v, w.n - 110), w.n - 110);
	EXPECT_EQ(jitcode_read(j, fd, UINT64_MAX, NULL), 0);
	expect_name(j, 0x20000, "large");
	expect_name(j, 0x100000, NULL);
	EXPECT_EQ(write(fd, w.v + w.n - 110, 110), 110);
	EXPECT_EQ(jitcode_read(j, fd, UINT64_MAX, NULL), 0);
	expect_name(j, 0x100000, "last");
	jitcode_free(j);
	wr_release(&w);
	close(fd);
}

static void put_text(int fd, const char *text)
{
	EXPECT_EQ(write(fd, text, strlen(text)), strlen(text));
}

TEST(a_map_that_grows)
{
	struct jitcode *j = jitcode_new();
	int fd = memfd_create("map", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	EXPECT_EQ(jitcode_read_map(j, fd, false, NULL), 0);
	put_text(fd, "1000 100 a b\nnonsense\n2000 10 JS:~par");
	EXPECT_EQ(jitcode_read_map(j, fd, false, NULL), 0);
	expect_name(j, 0x10ff, "a b");
	expect_name(j, 0x2000, NULL);
	put_text(fd, "tial\n1000 100 a b\n1080 10 later\n3000 10 the last");
	EXPECT_EQ(jitcode_read_map(j, fd, false, NULL), 0);
	expect_name(j, 0x2000, "JS:~partial");
	EXPECT_EQ(jitcode_svma(j, 0x1000), 0x1000);
	EXPECT_EQ(jitcode_svma(j, 0x1080), LAYER(1) | 0x1080);
	expect_name(j, LAYER(1) | 0x1080, "later");
	expect_name(j, 0x1080, "a b");
	expect_name(j, 0x3000, NULL);
	EXPECT_EQ(jitcode_read_map(j, fd, true, NULL), 0);
	expect_name(j, 0x3000, "the last");
	jitcode_free(j);
	close(fd);
}

/* As agents do that write all there is at intervals. */
TEST(a_map_that_is_written_anew)
{
	for (int longer = 0; longer < 2; longer++) {
		struct jitcode *j = jitcode_new();
		int fd = memfd_create("map", MFD_CLOEXEC);

		REQUIRE(fd >= 0);
		put_text(fd, "1000 100 a\n2000 100 b\n");
		EXPECT_EQ(jitcode_read_map(j, fd, false, NULL), 0);
		EXPECT_EQ(ftruncate(fd, 0), 0);
		EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
		put_text(fd, "2000 100 c\n");
		if (longer)
			put_text(fd, "1000 100 a\n3000 100 d\n");
		EXPECT_EQ(jitcode_read_map(j, fd, false, NULL), 0);
		EXPECT_EQ(jitcode_svma(j, 0x1000), 0x1000);
		EXPECT_EQ(jitcode_svma(j, 0x2000), LAYER(1) | 0x2000);
		expect_name(j, 0x2000, "b");
		expect_name(j, LAYER(1) | 0x2000, "c");
		expect_name(j, 0x3000, longer ? "d" : NULL);
		EXPECT_EQ(jitcode_n_replaced(j), 1);
		jitcode_free(j);
		close(fd);
	}
}

TEST(a_map_of_many_windows)
{
	struct jitcode *j = jitcode_new();
	int fd = memfd_create("map", MFD_CLOEXEC);
	char line[64];

	REQUIRE(fd >= 0);
	for (int i = 0; i < 10000; i++) {
		snprintf(line, sizeof(line), "%x 10 procedure_%d\n", 0x10000 + i * 16, i);
		put_text(fd, line);
		if (i == 5000) /* no line ends in a window */
			for (int k = 0; k < 3000; k++)
				put_text(fd,
					 "ffff 1 long long long long long long long long long ");
	}
	EXPECT_EQ(jitcode_read_map(j, fd, false, NULL), 0);
	expect_name(j, 0x10000, "procedure_0");
	expect_name(j, 0x10000 + 5000 * 16, "procedure_5000");
	expect_name(j, 0x10000 + 9999 * 16, "procedure_9999");
	jitcode_free(j);
	close(fd);
}

/* Beside a plain array of who has each address. */
TEST(random_loads)
{
	enum { SPACE = 1 << 14, N = 3000 };
	static int owner[SPACE], layer[SPACE], first[SPACE];
	static char names[N][12];
	struct t_rng rng = {42};
	struct wr w = {0};
	struct jitcode *j;
	struct symtab st;

	memset(owner, -1, sizeof(owner));
	memset(layer, -1, sizeof(layer));
	memset(first, -1, sizeof(first));
	jd_header(&w);
	for (int i = 0; i < N; i++) {
		unsigned n = 1 + (unsigned)t_below(&rng, i % 50 ? 40 : 2000);
		unsigned start = (unsigned)t_below(&rng, SPACE - n);
		int below = -1;

		snprintf(names[i], sizeof(names[i]), "f%d", i);
		jd_load(&w, start, n, names[i]);
		for (unsigned a = start; a < start + n; a++)
			if (layer[a] > below)
				below = layer[a];
		for (unsigned a = start; a < start + n; a++) {
			layer[a] = below + 1;
			owner[a] = i;
			if (first[a] < 0)
				first[a] = i;
		}
	}
	j = fed(&w, 0);
	jitcode_symbols(j, &st);
	EXPECT(st.n >= N);
	for (unsigned a = 0; a < SPACE; a++) {
		uint64_t svma = jitcode_svma(j, a);
		uint32_t at = symtab_find(&st, svma);

		EXPECT_EQ(svma, owner[a] < 0 ? a : (LAYER(layer[a]) | a));
		if (owner[a] < 0)
			EXPECT_EQ(at, PROC_NONE);
		else if (at == PROC_NONE)
			EXPECT(!"named");
		else
			EXPECT_STR(symtab_get(&st, at).name, names[owner[a]]);
		/* What was sampled before the first one was told of has its name. */
		at = symtab_find(&st, a);
		if (first[a] < 0)
			EXPECT_EQ(at, PROC_NONE);
		else if (at == PROC_NONE)
			EXPECT(!"named from the start");
		else
			EXPECT_STR(symtab_get(&st, at).name, names[first[a]]);
	}
	symtab_release(&st);
	jitcode_free(j);
	wr_release(&w);
}

/* A procedure told of last that fills the gaps between many others has a piece in each. */
TEST(pieces_share_a_long_name)
{
	enum { N = 20000, LONG = 32000 };
	_mem_ char *name = malloc(LONG + 1);
	struct wr w = {0};
	struct symtab st;
	struct jitcode *j;

	memset(name, 'n', LONG);
	name[LONG] = '\0';
	jd_header(&w);
	for (unsigned i = 0; i < N; i++)
		jd_load(&w, 0x1000 + 4 * i, 1, "s");
	jd_load(&w, 0x1000, 4 * N, name);
	j = fed(&w, 0);
	jitcode_symbols(j, &st);
	EXPECT(st.n > N);
	EXPECT(st.n_pool < 10 * N + LONG);
	EXPECT_STR(symtab_get(&st, symtab_find(&st, 0x1002)).name, name);
	EXPECT_STR(symtab_get(&st, symtab_find(&st, 0x1000 + 4 * N - 1)).name, name);
	symtab_release(&st);
	jitcode_free(j);
	wr_release(&w);
}
