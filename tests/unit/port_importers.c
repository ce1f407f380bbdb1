/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles of other tools: what was written is read back, and files that end anywhere are refused
 * or taken whole, never in part by accident. */
#include <errno.h>
#include <stdlib.h>

#include "formats/perf_script.h"
#include "formats/gzip.h"
#include "stacks_t.h"
#include "t.h"

/* Reads format NAME back from the N bytes; the sums of the columns, and their number. */
static int read_back(const char *name, const uint8_t *bytes, size_t n, uint64_t sums[8],
		     size_t *ret_columns)
{
	const struct importer *im = stacks_t_importer(name);
	struct str notes = {0};
	struct stacks s;
	int rc;

	*ret_columns = 0;
	rc = importer_read(im, bytes, n, &s, NULL, &notes, NULL);
	for (size_t c = 0; rc >= 0 && c < s.columns.n && c < 8; c++)
		sums[(*ret_columns)++] = s.columns.v[c].total;
	stacks_release(&s);
	str_release(&notes);
	return rc;
}

static const struct {
	const char *exporter, *importer;
	uint64_t sums[3];
	size_t n_columns;
} formats[] = {
	{"speedscope", "file of speedscope", {6000000, 7}, 2},
	{"callgrind", "file of callgrind", {6, 6000000, 7}, 3},
	{"firefox", "profile of the Firefox Profiler", {6}, 1},
	{"perf-script", "text of perf script", {6, 6000000, 7}, 3},
	{"gmon", "gmon.out", {3, 3000000}, 2},
	{"folded", "file of folded stacks", {6}, 1},
};

TEST(what_is_written_is_read)
{
	for (size_t i = 0; i < n_elems(formats); i++) {
		uint64_t sums[8] = {0};
		size_t n, n_columns;
		uint8_t *bytes = stacks_t_file(formats[i].exporter, &n);

		printf("# %s\n", formats[i].exporter);
		EXPECT(stacks_t_importer(formats[i].importer)->probe(bytes, n));
		EXPECT(read_back(formats[i].importer, bytes, n, sums, &n_columns) == 0);
		EXPECT_EQ(n_columns, formats[i].n_columns);
		for (size_t c = 0; c < formats[i].n_columns; c++)
			EXPECT_EQ(sums[c], formats[i].sums[c]);
		free(bytes);
	}
}

TEST(pprof_is_read)
{
	uint64_t sums[8] = {0};
	size_t n, n_columns;
	uint8_t *packed = stacks_t_file("pprof", &n);
	struct wr bytes = {0};

	REQUIRE(gzip_unpack(packed, n, &(struct gzip_limits){.most = 1 << 20}, &bytes, NULL) == 0);
	EXPECT(stacks_t_importer("profile of pprof")->probe(bytes.v, bytes.n));
	EXPECT(read_back("profile of pprof", bytes.v, bytes.n, sums, &n_columns) == 0);
	EXPECT_EQ(n_columns, 3);
	EXPECT_EQ(sums[0], 6);
	EXPECT_EQ(sums[1], 6000000);
	EXPECT_EQ(sums[2], 7);
	/* A bound on what comes out of a packed file. */
	wr_release(&bytes);
	EXPECT(gzip_unpack(packed, n, &(struct gzip_limits){.most = 100}, &bytes, NULL) == -E2BIG);
	for (size_t k = 0; k < n; k++) {
		EXPECT(gzip_unpack(packed, k, &(struct gzip_limits){.most = 1 << 20}, &bytes,
				   NULL) < 0);
		wr_release(&bytes);
	}
	free(packed);
}

TEST(texts_are_read)
{
	uint64_t sums[8] = {0};
	size_t n_columns;

	EXPECT(read_back("file of folded stacks", (const uint8_t *)stacks_t_folded,
			 strlen(stacks_t_folded), sums, &n_columns) == 0);
	EXPECT_EQ(sums[0], 3 + 2 + 1 + 4);
	EXPECT(read_back("profile of V8", (const uint8_t *)stacks_t_cpuprofile,
			 strlen(stacks_t_cpuprofile), sums, &n_columns) == 0);
	EXPECT_EQ(sums[0], 3);
	EXPECT_EQ(sums[1], 2200000);
}

/* JSON and messages are whole or refused; of lines, those that are there count. */
TEST(files_end_anywhere)
{
	static const char *const whole[] = {"speedscope", "firefox"};
	uint64_t sums[8];
	size_t n, n_columns;
	uint8_t *bytes;

	for (size_t i = 0; i < n_elems(formats); i++) {
		bytes = stacks_t_file(formats[i].exporter, &n);
		for (size_t k = 0; k < n; k++) {
			uint8_t *part = xmemdup(bytes, k + !k);
			int rc = read_back(formats[i].importer, part, k, sums, &n_columns);

			for (size_t w = 0; w < n_elems(whole); w++)
				if (strcmp(whole[w], formats[i].exporter) == 0 && k + 1 < n)
					EXPECT(rc < 0);
			free(part);
		}
		free(bytes);
	}
	n = strlen(stacks_t_cpuprofile);
	for (size_t k = 0; k < n; k++)
		EXPECT(read_back("profile of V8", (const uint8_t *)stacks_t_cpuprofile, k, sums,
				 &n_columns) < 0);
}

/* A message of pprof's that ends between two fields is a smaller one; of lines, those before
 * count. */
TEST(messages_and_folded_lines_end_anywhere)
{
	size_t n, n_columns, n_taken = 0;
	uint8_t *packed = stacks_t_file("pprof", &n), *part;
	struct wr bytes = {0};
	uint64_t sums[8];

	REQUIRE(gzip_unpack(packed, n, &(struct gzip_limits){.most = 1 << 20}, &bytes, NULL) == 0);
	for (size_t k = 0; k < bytes.n; k++) {
		part = xmemdup(bytes.v, k + !k);
		n_taken += read_back("profile of pprof", part, k, sums, &n_columns) >= 0;
		free(part);
	}
	EXPECT(n_taken < bytes.n / 4);
	for (size_t k = 0; k < strlen(stacks_t_folded); k++) {
		part = xmemdup(stacks_t_folded, k + !k);
		read_back("file of folded stacks", part, k, sums, &n_columns);
		free(part);
	}
	wr_release(&bytes);
	free(packed);
}

static int read_text(const char *name, const char *text, uint64_t sums[8])
{
	size_t n_columns;

	return read_back(name, (const uint8_t *)text, strlen(text), sums, &n_columns);
}

#define FIREFOX(version, prefixes)                                                                 \
	"{\"meta\":{\"preprocessedProfileVersion\":" version "},\"libs\":[],\"threads\":[{"        \
	"\"stringArray\":[\"f\"],\"funcTable\":{\"name\":[0]},\"frameTable\":{\"func\":[0]},"      \
	"\"stackTable\":{\"frame\":[0,0],\"prefix\":[" prefixes "]},\"samples\":{"                 \
	"\"weightType\":\"samples\",\"stack\":[1],\"weight\":[3]}}]}"

TEST(circles_are_refused)
{
	uint64_t sums[8];

	EXPECT_EQ(read_text("profile of V8",
			    "{\"nodes\":[{\"id\":1,\"children\":[2]},{\"id\":2,"
			    "\"children\":[1]}],\"samples\":[2],"
			    "\"timeDeltas\":[1],\"startTime\":1,\"endTime\":2}",
			    sums),
		  -EBADMSG);
	EXPECT_EQ(read_text("profile of the Firefox Profiler", FIREFOX("24", "null,0"), sums), 0);
	EXPECT_EQ(sums[0], 3);
	EXPECT_EQ(read_text("profile of the Firefox Profiler", FIREFOX("24", "null,1"), sums),
		  -EBADMSG);
	EXPECT_EQ(read_text("profile of the Firefox Profiler", FIREFOX("24", "1,0"), sums),
		  -EBADMSG);
}

/* Functions that call each other are no error: each has its own costs. */
TEST(circles_of_calls_are_read)
{
	uint64_t sums[8];

	EXPECT_EQ(read_text("file of callgrind",
			    "events: Ir\nfn=f\n1 1\ncfn=g\ncalls=1 1\n1 5\n"
			    "fn=g\n1 2\ncfn=f\ncalls=1 1\n1 3\n",
			    sums),
		  0);
	EXPECT_EQ(sums[0], 3);
}

TEST(other_versions_are_refused)
{
	size_t n, n_columns;
	uint8_t *gmon = stacks_t_file("gmon", &n);
	uint64_t sums[8];

	EXPECT_EQ(read_text("profile of the Firefox Profiler", FIREFOX("4", "null,0"), sums),
		  -EPROTONOSUPPORT);
	EXPECT_EQ(read_text("profile of the Firefox Profiler", FIREFOX("70", "null,0"), sums), 0);
	EXPECT_EQ(read_back("gmon.out", gmon, n, sums, &n_columns), 0);
	gmon[4]++; /* behind "gmon" */
	EXPECT_EQ(read_back("gmon.out", gmon, n, sums, &n_columns), -EPROTONOSUPPORT);
	free(gmon);
}

TEST(a_frame_of_brackets_without_a_beginning_has_no_image)
{
	static const char *const lines[] = {"401007 )", "401007 a))", "401007 )("};

	for (size_t i = 0; i < n_elems(lines); i++) {
		const struct text_line l = {lines[i], strlen(lines[i])};
		struct perf_script_frame f;

		EXPECT(perf_script_parse_frame(&l, &f));
		EXPECT_EQ(f.image.n, 0);
	}
}

/* Lines of files before 2016 begin with 1, but where the one of "(root)" is -1. */
TEST(lines_of_old_cpuprofiles)
{
	static const char format[] =
		"{\"head\":{\"functionName\":\"(root)\",\"lineNumber\":%d,\"id\":1,\"children\":[{"
		"\"functionName\":\"f\",\"lineNumber\":7,\"id\":2,\"hitCount\":3,\"children\":[]}]}"
		","
		"\"startTime\":1,\"endTime\":2,\"samples\":[2,2],\"timestamps\":[1000,4000]}";

	for (int root = -1; root <= 0; root++) {
		const struct importer *im = stacks_t_importer("profile of V8");
		struct str text = {0}, notes = {0};
		struct stacks s;

		str_addf(&text, format, root);
		EXPECT(im->probe((const uint8_t *)str_get(&text), text.n));
		REQUIRE(importer_read(im, (const uint8_t *)str_get(&text), text.n, &s, NULL, &notes,
				      NULL) == 0);
		REQUIRE(s.functions.n == 2 && s.columns.n == 2);
		EXPECT_EQ(s.functions.v[1].line, root == -1 ? 8 : 7);
		EXPECT_EQ(s.columns.v[0].total, 2);
		EXPECT_EQ(s.columns.v[1].total, 3000000);
		stacks_release(&s);
		str_release(&notes);
		str_release(&text);
	}
}
