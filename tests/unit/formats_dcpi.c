/* SPDX-License-Identifier: BSD-2-Clause */
/* The profile file codec, by its golden files (tests/golden/dcpi/make), and by generated ones. */
#include "formats/dcpi.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "t.h"

#define GOLDEN T_GOLDEN "/dcpi/"

static char *load(const char *path, size_t *ret_n)
{
	struct err err;
	char *text = NULL;

	if (file_load(path, 1 << 20, &text, ret_n, &err) < 0)
		t_fail_("%s", err.msg);
	return text;
}

/* Everything a file says, as text. */
static void dump(struct str *s, const struct dcpi_file *f)
{
	str_addf(s,
		 "version %u.%02u stride %u epoch %" PRIu64 " text %#" PRIx64 "+%#" PRIx64
		 " period %" PRIu64 "\n",
		 f->major, f->minor, f->stride, f->epoch_s, f->tstart, f->tsize, f->period);
	vec_each (line, &f->lines)
		str_addf(s, "line %d |%s|%s|\n", line->key, line->text, line->value);
	str_addf(s, "pad %zu\n", f->n_pad);
	vec_each (c, &f->chunks) {
		str_addf(s, "chunk %#x", c->off);
		for (uint32_t i = 0; i < c->n; i++)
			str_addf(s, " %u", f->counts.v[c->first + i]);
		str_addc(s, '\n');
	}
	str_addf(s, "footer %" PRIu64 " %" PRIu64 "\n", dcpi_n_addresses(f), dcpi_n_samples(f));
}

static void check_golden(const char *name, unsigned stride)
{
	_mem_ char *path = xasprintf(GOLDEN "%s.prof", name),
		   *text = xasprintf(GOLDEN "%s.txt", name);
	size_t n = 0, n_want = 0;
	_mem_ char *bytes = load(path, &n);
	_mem_ char *want = load(text, &n_want);
	struct dcpi_file f;
	struct str s = {0};
	struct wr w = {0};
	struct err err;

	REQUIRE(bytes && want);
	EXPECT(dcpi_probe(bytes, n));
	if (dcpi_read(&f, bytes, n, stride, &err) < 0) {
		t_fail_("%s: %s", path, err.msg);
		return;
	}
	dump(&s, &f);
	EXPECT_STR(s.v, want);
	dcpi_write(&f, &w);
	EXPECT(w.n == n && memcmp(w.v, bytes, n) == 0);
	wr_release(&w);
	str_release(&s);
	dcpi_release(&f);
}

TEST(golden_files_are_read_and_written_back_to_the_byte)
{
	check_golden("v006", 0);
	check_golden("v007", 1);
	check_golden("v007-alpha", 4);
	check_golden("bare", 0);
}

/* errors/NAME.prof fails with the text of errors/NAME.txt: "CODE: message". */
TEST(malformed_files_are_refused_by_name)
{
	DIR *d = opendir(GOLDEN "errors");
	unsigned n_seen = 0;
	struct dirent *e;

	REQUIRE(d);
	while ((e = readdir(d))) {
		_mem_ char *path = xasprintf(GOLDEN "errors/%s", e->d_name), *bytes = NULL,
			   *want = NULL, *got = NULL;
		size_t n = 0, n_want = 0;
		struct dcpi_file f = {0};
		struct err err = {""};
		int r;

		if (!str_ends(path, ".prof"))
			continue;
		n_seen++;
		bytes = load(path, &n);
		strcpy(path + strlen(path) - 4, "txt");
		want = load(path, &n_want);
		if (!bytes || !want)
			continue;
		r = dcpi_read(&f, bytes, n, 0, &err);
		EXPECT(r < 0 && f.lines.n == 0 && f.chunks.n == 0);
		got = xasprintf("%s: %s\n", r < 0 ? strerrorname_np(-r) : "0", err.msg);
		EXPECT_STR(got, want);
	}
	closedir(d);
	EXPECT(n_seen >= 20);
}

TEST(every_prefix_of_a_file_is_refused)
{
	size_t n = 0;
	_mem_ char *bytes = load(GOLDEN "v006.prof", &n);

	REQUIRE(bytes);
	for (size_t i = 0; i < n; i++) {
		struct dcpi_file f;

		/* Cut behind one of the header's zero-valued words the rest could be read as a
		 * footer, but then its totals are wrong. */
		EXPECT(dcpi_read(&f, bytes, i, 0, NULL) < 0);
	}
}

TEST(headers_of_later_versions_can_be_shown)
{
	size_t n = 0, body = 0;
	_mem_ char *bytes = load(GOLDEN "errors/v101.prof", &n);
	struct dcpi_file f;

	REQUIRE(bytes && dcpi_read_header(&f, bytes, n, &body, NULL) == 0);
	EXPECT_EQ(f.major, 1);
	EXPECT_EQ(f.minor, 1);
	EXPECT_EQ(n - body, 12);
	EXPECT_STR(f.platform, "walnut");
	dcpi_release(&f);
}

TEST(epochs_have_three_forms)
{
	uint64_t s = 0;
	char text[15];

	EXPECT(dcpi_parse_time("9612042334", &s) == 0 && s == 849742440);
	EXPECT(dcpi_parse_time("199612042334", &s) == 0 && s == 849742440);
	EXPECT(dcpi_parse_time("19961204233459", &s) == 0 && s == 849742499);
	EXPECT(dcpi_parse_time("2402290000", &s) == 0 && s == 1709164800);
	dcpi_format_time(849742499, 10, text);
	EXPECT_STR(text, "9612042334");
	dcpi_format_time(849742499, 12, text);
	EXPECT_STR(text, "199612042334");
	dcpi_format_time(849742499, 14, text);
	EXPECT_STR(text, "19961204233459");
	EXPECT(dcpi_parse_time("9613042334", &s) < 0 && dcpi_parse_time("9612042434", &s) < 0);
	EXPECT(dcpi_parse_time("2302290000", &s) < 0 && dcpi_parse_time("96120423341", &s) < 0);
	EXPECT(dcpi_parse_time("19961204233460", &s) < 0 && dcpi_parse_time("", &s) < 0);
	EXPECT(dcpi_parse_time("961204 334", &s) < 0 && dcpi_parse_time("196912042334", &s) < 0);
}

static void add_header(struct dcpi_file *f)
{
	dcpi_add_line(f, "image", "00ff");
	dcpi_add_line(f, "epoch", "2611211342");
	dcpi_add_line(f, "platform", "h");
	dcpi_add_line(f, "event", "cycles:u");
	dcpi_add_line(f, "period", "1000");
	dcpi_add_line(f, "tstart", "400000");
	dcpi_add_line(f, "tsize", "65536");
	dcpi_add_line(f, "cpuspeed", "0");
}

/* Reads what was written and compares it count for count with what went in. */
static void check_round_trip(const struct dcpi_count *v, size_t n, unsigned stride)
{
	struct dcpi_file f, g;
	struct wr w = {0};
	struct err err;
	size_t i = 0, least;

	dcpi_init(&f, 7, stride);
	add_header(&f);
	REQUIRE(dcpi_add_counts(&f, v, n, &err) == 0);
	dcpi_write(&f, &w);
	if (dcpi_read(&g, w.v, w.n, stride, &err) < 0) {
		t_fail_("%s", err.msg);
		return;
	}
	vec_each (c, &g.chunks) {
		for (uint32_t k = 0; k < c->n; k++) {
			if (!g.counts.v[c->first + k])
				continue;
			REQUIRE(i < n);
			EXPECT_EQ(g.tstart + c->off + (uint64_t)k * stride, v[i].svma);
			EXPECT_EQ(g.counts.v[c->first + k], v[i].n);
			i++;
		}
	}
	EXPECT_EQ(i, n);
	/* The cheapest cut: 8 bytes for a chunk, or 4 for each zero between two counts. */
	least = n ? 12 : 0;
	for (i = 1; i < n; i++) {
		uint64_t zeros = (v[i].svma - v[i - 1].svma) / stride - 1;

		least += 4 + (zeros < 2 ? 4 * (size_t)zeros : 8);
	}
	EXPECT_EQ(4 * g.counts.n + 8 * g.chunks.n, least);
	EXPECT_EQ((w.n - 8 - least) % 4, 0);
	wr_release(&w);
	dcpi_release(&f);
	dcpi_release(&g);
}

TEST(what_is_written_is_read_and_no_smaller_cut_exists)
{
	struct t_rng r = {3};
	unsigned n_cases = t_cases(1000);

	for (unsigned i = 0; i < n_cases; i++) {
		unsigned stride = t_below(&r, 2) ? 1 : 4;
		VEC(struct dcpi_count) v = {0};
		uint64_t svma = 0x400000;

		for (uint64_t n = t_below(&r, 40); n; n--) {
			svma += stride * (t_below(&r, 4) ? t_below(&r, 6) : t_below(&r, 100000));
			vec_push(&v, (struct dcpi_count){
					     svma, 1 + (t_rand(&r) >> (40 + t_below(&r, 24)))});
			svma += stride;
		}
		check_round_trip(v.v, v.n, stride);
		vec_release(&v);
	}
}

TEST(what_does_not_fit_32_bits_is_refused_with_the_address)
{
	const struct {
		struct dcpi_count v[2];
		unsigned stride;
		int code;
		const char *part;
	} cases[] = {
		{{{0x400010, 1ull << 32}}, 1, -E2BIG, "address 0x400010 has 4294967296 samples"},
		{{{0x400010, 0xffffffff}, {0x400020, 1}}, 1, -E2BIG, "address 0x400020 the sum"},
		{{{0x3fffff, 1}, {0x400020, 1}},
		 1,
		 -E2BIG,
		 "address 0x3fffff is not within 32 bits"},
		{{{0x400000, 1}, {0x100400000, 1}},
		 1,
		 -E2BIG,
		 "address 0x100400000 is not within 32 bits"},
		{{{0x400000, 1}, {0x400006, 1}},
		 4,
		 -EINVAL,
		 "address 0x400006 is not a multiple of 4"},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		struct err err = {""};
		struct dcpi_file f;

		dcpi_init(&f, 7, cases[i].stride);
		add_header(&f);
		EXPECT_EQ(dcpi_add_counts(&f, cases[i].v, 2, &err), cases[i].code);
		if (!strstr(err.msg, cases[i].part))
			t_fail_("\"%s\" does not say \"%s\"", err.msg, cases[i].part);
		EXPECT_EQ(f.chunks.n + f.counts.n, 0);
		dcpi_release(&f);
	}
}

TEST(the_version_is_replaced_in_place)
{
	size_t n = 0, n_bare = 0;
	_mem_ char *bytes = load(GOLDEN "v006.prof", &n), *bare = load(GOLDEN "bare.prof", &n_bare);
	struct dcpi_file f;
	struct wr w = {0};

	REQUIRE(bytes && bare && dcpi_read(&f, bytes, n, 0, NULL) == 0);
	dcpi_set_version(&f, 7);
	dcpi_write(&f, &w);
	bytes[strlen("version   pdb-0.0")] = '7';
	/* The rest is the same, but for padding the old file did not have. */
	EXPECT(w.n > n && w.n < n + 4);
	EXPECT(memcmp(w.v, bytes, 300) == 0 && memcmp(w.v + w.n - 56, bytes + n - 56, 56) == 0);
	dcpi_release(&f);
	w.n = 0;
	REQUIRE(dcpi_read(&f, bare, n_bare, 0, NULL) == 0);
	dcpi_set_version(&f, 6);
	dcpi_write(&f, &w);
	EXPECT(memcmp(w.v, "version   pdb-0.06\nimage     1997", 30) == 0);
	dcpi_release(&f);
	wr_release(&w);
}

TEST(lines_hold_any_text)
{
	struct dcpi_file f, g;
	struct wr w = {0};

	dcpi_init(&f, 7, 1);
	add_header(&f);
	dcpi_add_line(&f, "path", "/tmp/a\nb ");
	dcpi_add_line(&f, "label", " x");
	dcpi_add_line(&f, "a-word-of-more-than-nine", "");
	dcpi_write(&f, &w);
	REQUIRE(dcpi_read(&g, w.v, w.n, 0, NULL) == 0);
	EXPECT_STR(dcpi_find(&g, "path"), "/tmp/a?b ");
	EXPECT_STR(dcpi_find(&g, "label"), "?x");
	EXPECT_STR(dcpi_find(&g, "a-word-of-more-than-nine"), "unknown");
	EXPECT(!dcpi_find(&g, "a-word"));
	wr_release(&w);
	dcpi_release(&f);
	dcpi_release(&g);
}

TEST(a_stated_stride_cannot_be_overruled)
{
	struct dcpi_file f, g;
	struct wr w = {0};
	struct err err;

	dcpi_init(&f, 7, 4);
	add_header(&f);
	dcpi_add_line(&f, "dwell-stride", "4");
	dcpi_write(&f, &w);
	EXPECT_EQ(dcpi_read(&g, w.v, w.n, 1, &err), -EINVAL);
	REQUIRE(dcpi_read(&g, w.v, w.n, 0, &err) == 0);
	EXPECT_EQ(g.stride, 4);
	wr_release(&w);
	dcpi_release(&f);
	dcpi_release(&g);
}

TEST(version_changes_whatever_the_number_of_lines)
{
	for (unsigned n = 0; n < 40; n++) { /* some of them fill the array to its end */
		struct dcpi_file f;

		dcpi_init(&f, 6, 1);
		for (unsigned i = 0; i < n; i++)
			dcpi_add_line(&f, "note", "x");
		dcpi_set_version(&f, 7);
		EXPECT_STR(dcpi_find(&f, "version"), "pdb-0.07");
		EXPECT_EQ(f.lines.n, n + 1);
		dcpi_release(&f);
	}
}
