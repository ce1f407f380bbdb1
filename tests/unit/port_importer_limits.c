/* SPDX-License-Identifier: BSD-2-Clause */
/* What readers of other tools' profiles refuse because it is too much: counts beyond 64 bits, and
 * packed files that unpack for ever.  Many names are read. */
#include <errno.h>
#include <stdlib.h>

#include "formats/gzip.h"
#include "gperf_t.h"
#include "stacks_t.h"
#include "t.h"

#define MOST "18446744073709551615"

static int read_bytes(const char *name, const void *bytes, size_t n, struct stacks *s,
		      struct err *err)
{
	struct str notes = {0};
	int rc = importer_read(stacks_t_importer(name), bytes, n, s, NULL, &notes, err);

	str_release(&notes);
	return rc;
}

static int read_text(const char *name, const char *text)
{
	struct stacks s;
	struct err err = {0};
	int rc = read_bytes(name, text, strlen(text), &s, &err);

	stacks_release(&s);
	return rc;
}

/* One count that fits is taken; two of them at one place, or at two, are refused. */
TEST(counts_of_texts_overflow)
{
	static const char folded[] = "file of folded stacks", callgrind[] = "file of callgrind",
			  script[] = "text of perf script";

	EXPECT_EQ(read_text(folded, "a;b " MOST "\n"), 0);
	EXPECT_EQ(read_text(folded, "a;b " MOST "\na;b 1\n"), -E2BIG);
	EXPECT_EQ(read_text(folded, "a;b " MOST "\na;c 1\n"), -E2BIG);
	EXPECT_EQ(read_text(folded, "a;b " MOST "0\n"), -EBADMSG);
	EXPECT_EQ(read_text(callgrind, "events: Ir\nfn=f\n1 " MOST "\n"), 0);
	EXPECT_EQ(read_text(callgrind, "events: Ir\nfn=f\n1 " MOST "\n1 1\n"), -E2BIG);
	EXPECT_EQ(read_text(callgrind, "events: Ir\nfn=f\n1 " MOST "\nfn=g\n1 1\n"), -E2BIG);
	EXPECT_EQ(read_text(callgrind, "events: Ir\nfn=f\n1 0x10000000000000000\n"), -EBADMSG);
	EXPECT_EQ(read_text(script, "a 1 1.0: " MOST " cycles: \n\t10 f (p)\n\n"), 0);
	EXPECT_EQ(read_text(script, "a 1 1.0: " MOST " cycles: \n\t10 f (p)\n\n"
				    "a 1 2.0: 1 cycles: \n\t10 f (p)\n\n"),
		  -E2BIG);
}

/* Appends N times TEXT, with commas between. */
static void add_list(struct str *s, const char *text, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		str_addf(s, "%s%s", i ? "," : "", text);
}

/* JSON's numbers are at most 1e18 each: 21 of them are too many. */
TEST(counts_of_json_overflow)
{
	/* A file with a sample is HEAD SAMPLE BETWEEN WEIGHT TAIL. */
	static const struct {
		const char *name, *head, *sample, *between, *weight, *tail;
	} files[] = {
		{"file of speedscope",
		 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		 "\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"sampled\","
		 "\"unit\":\"none\",\"samples\":[",
		 "[0]", "],\"weights\":[", "1e18", "]}]}"},
		{"profile of the Firefox Profiler",
		 "{\"meta\":{\"preprocessedProfileVersion\":24},\"libs\":[],\"threads\":[{"
		 "\"stringArray\":[\"f\"],\"funcTable\":{\"name\":[0]},\"frameTable\":{"
		 "\"func\":[0]},\"stackTable\":{\"frame\":[0],\"prefix\":[null]},"
		 "\"samples\":{\"weightType\":\"bytes\",\"stack\":[",
		 "0", "],\"weight\":[", "9e17", "]}}]}"},
		{"profile of V8",
		 "{\"nodes\":[{\"id\":1,\"callFrame\":{},\"children\":[2]},{\"id\":2,"
		 "\"callFrame\":{}}],\"startTime\":1,\"samples\":[2,",
		 "2", "],\"timeDeltas\":[0,", "9e14", "]}"},
	};

	for (size_t i = 0; i < n_elems(files); i++)
		for (unsigned n = 1; n <= 21; n += 20) {
			struct str text = {0};

			str_add(&text, files[i].head);
			add_list(&text, files[i].sample, n);
			str_add(&text, files[i].between);
			add_list(&text, files[i].weight, n);
			str_add(&text, files[i].tail);
			EXPECT_EQ(read_text(files[i].name, str_get(&text)), n == 1 ? 0 : -E2BIG);
			str_release(&text);
		}
}

/* A type called "n" in "c", and samples of 2^63 - 1: two are 2^64 - 2. */
TEST(counts_of_pprof_overflow)
{
	static const char head[] = "\x32\x00\x32\x01n\x32\x01"
				   "c\x0a\x04\x08\x01\x10\x02",
			  sample[] = "\x12\x0a\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f";

	for (unsigned n = 1; n <= 3; n++) {
		struct str bytes = {0};
		struct stacks s;

		str_addn(&bytes, head, sizeof(head) - 1);
		for (unsigned i = 0; i < n; i++)
			str_addn(&bytes, sample, sizeof(sample) - 1);
		EXPECT_EQ(read_bytes("profile of pprof", bytes.v, bytes.n, &s, NULL),
			  n < 3 ? 0 : -E2BIG);
		stacks_release(&s);
		str_release(&bytes);
	}
}

/* The first sample's count, behind five words, is all ones: its time is too much. */
TEST(counts_of_gperftools_overflow)
{
	struct wr w = {0};
	struct stacks s;

	gperf_t_make(&w, 8, false, 0, "/gone/prog");
	EXPECT_EQ(read_bytes("CPU profile of gperftools", w.v, w.n, &s, NULL), 0);
	stacks_release(&s);
	memset(w.v + 40, 0xff, 8);
	EXPECT_EQ(read_bytes("CPU profile of gperftools", w.v, w.n, &s, NULL), -E2BIG);
	stacks_release(&s);
	wr_release(&w);
}

/* 4 bytes for each name that is used once: the tables grow with the file, and the reading ends. */
TEST(many_names)
{
	const unsigned n = t_cases(200000);
	struct str text = {0};
	struct stacks s;

	for (unsigned i = 0; i < n; i++)
		str_addf(&text, "r;%x 1\n", i);
	EXPECT_EQ(read_bytes("file of folded stacks", text.v, text.n, &s, NULL), 0);
	EXPECT_EQ(s.functions.n, n + 2);
	EXPECT_EQ(s.columns.v[0].total, n);
	stacks_release(&s);
	str_reset(&text);
	str_add(&text, "events: Ir\n");
	for (unsigned i = 0; i < n; i++)
		str_addf(&text, "fn=(%u) %x\n1 1\n", i, i);
	EXPECT_EQ(read_bytes("file of callgrind", text.v, text.n, &s, NULL), 0);
	EXPECT_EQ(s.functions.n, n + 1);
	EXPECT_EQ(s.columns.v[0].total, n);
	stacks_release(&s);
	str_release(&text);
}

/* A string of pprof's that nothing uses costs two bytes of the file. */
TEST(many_strings_of_pprof)
{
	enum { N = 10000000 };
	uint8_t *bytes = xcalloc(N, 2);
	struct stacks s;

	for (size_t i = 0; i < N; i++)
		bytes[2 * i] = 6 << 3 | 2; /* string_table, of no bytes */
	read_bytes("profile of pprof", bytes, (size_t)N * 2, &s, NULL);
	EXPECT_EQ(s.values.n, 0);
	stacks_release(&s);
	free(bytes);
}

/* 75 MB of empty arrays would take 3.4 GB and more: refused before they are read. */
TEST(many_values_of_json)
{
	enum { N = 25000000 };
	static const char head[] =
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"x\":[";
	struct str text = {0};
	struct stacks s;
	char *three;

	str_add(&text, head);
	three = xmalloc(3 * (size_t)N);
	for (size_t i = 0; i < N; i++)
		memcpy(three + 3 * i, "[],", 3);
	str_addn(&text, three, 3 * (size_t)N);
	free(three);
	str_add(&text, "[]],\"shared\":{\"frames\":[]},\"profiles\":[]}");
	EXPECT_EQ(read_bytes("file of speedscope", text.v, text.n, &s, NULL), -E2BIG);
	stacks_release(&s);
	str_release(&text);
}

/* Names of JSON that nothing uses: 200,000 are read. */
TEST(many_names_of_json)
{
	static const struct {
		const char *name, *head, *entry, *tail;
	} files[] = {
		{"file of speedscope",
		 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{"
		 "\"frames\":[{\"name\":\"a\"}",
		 ",{\"name\":\"f%u\"}",
		 "]},\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0]],"
		 "\"weights\":[3]}]}"},
		{"profile of the Firefox Profiler",
		 "{\"meta\":{\"preprocessedProfileVersion\":24},\"libs\":[],\"threads\":[{"
		 "\"stringArray\":[\"f\"",
		 ",\"f%u\"",
		 "],\"funcTable\":{\"name\":[0]},\"frameTable\":{\"func\":[0]},\"stackTable\":{"
		 "\"frame\":[0],\"prefix\":[null]},\"samples\":{\"weightType\":\"samples\","
		 "\"stack\":["
		 "0],\"weight\":[3]}}]}"},
		{"profile of V8", "{\"nodes\":[{\"id\":1,\"callFrame\":{},\"children\":[2]}",
		 ",{\"id\":%u,\"callFrame\":{\"functionName\":\"f\"}}",
		 "],\"startTime\":1,\"samples\":[2,2,2],\"timeDeltas\":[1,1,1]}"},
	};

	for (size_t i = 0; i < n_elems(files); i++) {
		struct str text = {0};
		struct stacks s;

		str_add(&text, files[i].head);
		for (unsigned k = 2; k < t_cases(200000); k++)
			str_addf(&text, files[i].entry, k);
		str_add(&text, files[i].tail);
		printf("# %s\n", files[i].name);
		EXPECT_EQ(read_bytes(files[i].name, text.v, text.n, &s, NULL), 0);
		EXPECT(s.columns.n > 0 && s.columns.v[0].total == 3);
		stacks_release(&s);
		str_release(&text);
	}
}

static bool is_one(const uint8_t *bytes, size_t n)
{
	return n && bytes[0] == 1;
}

/* 64 MiB of zeros are 64 KiB when packed: no more comes out than is allowed, and one byte.  Of a
 * file that unpacks to 200 times its size, no more than FREE. */
TEST(packed_bombs)
{
	enum { N = 64 << 20, FREE = 16 << 20 };
	const struct gzip_limits few = {.most = 1 << 20}, any = {.most = N},
				 times = {N, FREE, 200, NULL}, unknown = {N, 0, 0, is_one};
	uint8_t *zeros = xcalloc(N, 1);
	struct str packed = {0};
	struct wr out = {0};
	struct err err = {0};

	gzip_pack(&packed, zeros, N);
	EXPECT(packed.n < N / 200);
	EXPECT_EQ(gzip_unpack((uint8_t *)packed.v, packed.n, &few, &out, NULL), -E2BIG);
	EXPECT_EQ(out.n, 0);
	EXPECT_EQ(gzip_unpack((uint8_t *)packed.v, packed.n, &times, &out, &err), -E2BIG);
	EXPECT(strstr(err.msg, "as of a bomb"));
	EXPECT_EQ(gzip_unpack((uint8_t *)packed.v, packed.n, &unknown, &out, NULL), -EINVAL);
	EXPECT_EQ(gzip_unpack((uint8_t *)packed.v, packed.n, &any, &out, NULL), 0);
	EXPECT_EQ(out.n, N);
	wr_release(&out);
	str_reset(&packed);
	gzip_pack(&packed, zeros, FREE);
	EXPECT_EQ(gzip_unpack((uint8_t *)packed.v, packed.n, &times, &out, NULL), 0);
	EXPECT_EQ(out.n, FREE);
	wr_release(&out);
	free(zeros);
	str_release(&packed);
}
