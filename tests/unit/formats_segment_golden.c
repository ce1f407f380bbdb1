/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/golden/segment: files that must stay readable for ever.  NAME.seg decodes to NAME.txt, and
 * encodes back to the same bytes (but for `packed`, whose compressed bytes depend on libzstd).  A
 * file in errors/ is refused with the message in its .txt.  With T_BLESS=1 in the environment the
 * files are written instead, which is how they were made. */
#include "formats/segment.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/str.h"
#include "gen.h"
#include "model/trace.h"

static bool bless(void)
{
	return getenv("T_BLESS") != NULL;
}

static void path_of(char path[512], const char *name, const char *suffix)
{
	snprintf(path, 512, "%s/segment/%s%s", T_GOLDEN, name, suffix);
}

/* The bytes of a golden file; n stays 0 after a failure. */
static struct wr load(const char *name, const char *suffix)
{
	struct err err = {0};
	struct wr w = {0};
	char path[512];

	path_of(path, name, suffix);
	if (file_load(path, 1 << 20, (char **)&w.v, &w.n, &err) < 0)
		t_fail_("%s", err.msg);
	return w;
}

static void save(const char *name, const char *suffix, const void *bytes, size_t n)
{
	char path[512];
	FILE *f;

	path_of(path, name, suffix);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, n, f) != n)
		t_fail_("cannot write %s", path);
	if (f)
		fclose(f);
}

/* One sample: the file of the annotated dump in docs/formats/segment.md. */
static void make_one(struct profile *p)
{
	struct image im = {.kind = IMAGE_FILE, .path = "/bin/x", .build_id = {2, {0xab, 0xcd}}};
	event_id e;

	profile_init(p);
	e = profile_intern_event(p, &(struct event){.name = profile_intern_str(p, "cycles"),
						    .period = 1000,
						    .n_reached = 1});
	profile_add_value(
		p,
		&(struct value){.owner = profile_intern_owner(
					p, &(struct owner){.exe = profile_intern_str(p, "/bin/x"),
							   .comm = profile_intern_str(p, "x"),
							   .uid = 1000}),
				.ctx = profile_flat_ctx(
					p, profile_intern_place(p, profile_intern_image(p, &im),
								0x401136, 0)),
				.event = e,
				.count = 1});
}

/* Every kind of element, small and large numbers. */
static void make_basic(struct profile *p)
{
	struct profile one;
	image_id kernel;
	event_id e;
	ctx_id c;

	make_one(&one);
	profile_init(p);
	profile_merge(p, &one);
	profile_release(&one);
	p->meta = (struct profile_meta){.host = profile_intern_str(p, "alpha"),
					.kernel = profile_intern_str(p, "6.1.0"),
					.start_wall_ns = 1000000000ull * 1000000000,
					.n_cpus = 2,
					.end_wall_ns = 1000000060ull * 1000000000};
	e = profile_intern_event(p, &(struct event){.name = profile_intern_str(p, "cpu-clock"),
						    .unit = profile_intern_str(p, "ns"),
						    .period = 1,
						    .freq_hz = 5200,
						    .enabled_ns = 60,
						    .running_ns = 30,
						    .total = 12 * 192307,
						    .n_reached = 12});
	kernel = profile_intern_image(p, &(struct image){.kind = IMAGE_KERNEL,
							 .path = "[kernel]",
							 .text_start = 0xffffffff81000000,
							 .text_bytes = 0x1000000});
	c = profile_flat_ctx(p, 0);
	for (unsigned i = 0; i < 4; i++) {
		place_id k = profile_intern_place(p, kernel, 0xffffffff81000010 + 4 * i, i == 3);

		c = profile_intern_ctx(p, i % 2 ? c : 0, k);
		profile_add_value(p, &(struct value){.ctx = c, .event = e, .count = 1 + i});
	}
	profile_add_value(
		p, &(struct value){.ctx = c,
				   .event = e,
				   .count = UINT64_MAX,
				   .sum = UINT64_MAX,
				   .vector = profile_intern_vector(p, &(struct vector){5, 4, 1})});
	profile_add_loss(p, "ring_full", e, 3);
}

static void make_packed(struct profile *p)
{
	struct t_rng r = {77};

	gen_profile(&r, p, 400);
}

/* Two threads of one process, one that had ended, and points dropped for want of room. */
static void make_traces(struct profile *p)
{
	const uint64_t start = 1000000000ull * 1000000000;
	trace_id a, b;

	make_one(p);
	profile_intern_ctx(p, 1, profile_intern_place(p, 0, 0x401150, 0));
	a = profile_intern_trace(p, &(struct trace){.owner = 1, .pid = 70, .tid = 70});
	b = profile_intern_trace(p, &(struct trace){.owner = 1,
						    .pid = 70,
						    .tid = 71,
						    .start_ns = start + 5,
						    .end_ns = start + 2000005,
						    .n_dropped = 2});
	trace_add_point(p, a, &(struct trace_point){.time_ns = start + 1000, .ctx = 1});
	trace_add_point(p, b, &(struct trace_point){.time_ns = start + 2005, .ctx = 2});
	trace_add_point(p, b, &(struct trace_point){.time_ns = start + 1005, .ctx = 1});
	profile_intern_trace(p, &(struct trace){.n_dropped = 3});
}

static void check_golden(const char *name, void (*make)(struct profile *p), bool same_bytes)
{
	struct profile p, q;
	struct err err = {0};
	struct wr bytes, text, again = {0};
	char *dump;

	if (bless()) {
		make(&p);
		dump = profile_dump(&p);
		EXPECT_EQ(segment_encode(&again, &p, &err), 0);
		save(name, ".seg", again.v, again.n);
		save(name, ".txt", dump, strlen(dump));
		again.n = 0;
		free(dump);
		profile_release(&p);
	}
	bytes = load(name, ".seg");
	text = load(name, ".txt");
	profile_init(&q);
	EXPECT_EQ(segment_decode(bytes.v, bytes.n, &q, NULL, &err), 0);
	EXPECT_STR(err.msg, "");
	dump = profile_dump(&q);
	EXPECT_STR(dump, (const char *)text.v);
	EXPECT_EQ(segment_encode(&again, &q, &err), 0);
	if (same_bytes)
		EXPECT(again.n == bytes.n && memcmp(again.v, bytes.v, bytes.n) == 0);
	free(dump);
	profile_release(&q);
	wr_release(&bytes);
	wr_release(&text);
	wr_release(&again);
}

TEST(golden_files_decode_and_encode_back)
{
	check_golden("one", make_one, true);
	check_golden("basic", make_basic, true);
	check_golden("packed", make_packed, false);
	check_golden("traces", make_traces, true);
}

static struct wr bytes_of(void (*make)(struct profile *p))
{
	struct profile p;
	struct wr w = {0};

	make(&p);
	segment_encode(&w, &p, NULL);
	profile_release(&p);
	return w;
}

/* How each malformed file is made, mostly from basic.seg: a change, and whether checksums are made
 * to fit. */

/* The offset of the first block of TYPE. */
static size_t find_block(const struct wr *w, unsigned type)
{
	for (size_t at = SEGMENT_HEADER_SZ; at + SEGMENT_BLOCK_SZ < w->n;) {
		const uint8_t *b = w->v + at;

		if (b[8] == type)
			return at;
		at += SEGMENT_BLOCK_SZ + (b[16] | b[17] << 8 | b[18] << 16 | (size_t)b[19] << 24);
	}
	return 0;
}

/* Where the bytes of column I of that block begin; all columns are short and raw. */
static size_t find_column(const struct wr *w, unsigned type, unsigned i)
{
	size_t at = find_block(w, type) + SEGMENT_BLOCK_SZ;

	while (i--)
		at += 2 + w->v[at + 1];
	return at + 2;
}

static void truncated(struct wr *w)
{
	w->n -= 30;
}

static void flipped(struct wr *w)
{
	w->v[find_column(w, SEGMENT_VALUES, 4)] ^= 1;
}

static void not_a_segment(struct wr *w)
{
	w->v[0] = 'D';
}

static void newer(struct wr *w)
{
	w->v[8] = SEGMENT_MAJOR + 1;
}

static void required(struct wr *w)
{
	w->v[find_block(w, SEGMENT_LOSSES) + 8] = 99;
}

static void unordered(struct wr *w) /* the strings block behind the places */
{
	w->v[find_block(w, SEGMENT_STRINGS) + 8] = SEGMENT_PLACES;
}

static void bomb(struct wr *w) /* four thousand million contexts of nothing */
{
	memset(w->v + find_block(w, SEGMENT_CONTEXTS) + 12, 0xff, 4);
}

static void bad_parent(struct wr *w)
{
	w->v[find_column(w, SEGMENT_CONTEXTS, 0)] = 100;
}

static void bad_image(struct wr *w)
{
	w->v[find_column(w, SEGMENT_PLACES, 0)] = 9;
}

static void bad_string(struct wr *w)
{
	w->v[find_column(w, SEGMENT_STRINGS, 0)] = 0x7f;
}

static void bad_value(struct wr *w)
{
	w->v[find_column(w, SEGMENT_VALUES, 3)] = 0x7f;
}

static void bad_trace(struct wr *w)
{
	w->v[find_column(w, SEGMENT_TRACES, 0)] = 9;
}

static void bad_point(struct wr *w)
{
	w->v[find_column(w, SEGMENT_POINTS, 3)] = 0x7f;
}

static void no_period(struct wr *w)
{
	w->v[find_column(w, SEGMENT_EVENTS, 2)] = 0;
}

static const struct {
	const char *name;
	void (*change)(struct wr *w);
	bool seal;
	int code;
	bool traces; /* made from traces.seg */
} errors[] = {
	{"truncated", truncated, false, -ENODATA},
	{"flipped", flipped, false, -EBADMSG},
	{"not-a-segment", not_a_segment, false, -EBADMSG},
	{"newer", newer, true, -EPROTONOSUPPORT},
	{"required", required, true, -EPROTONOSUPPORT},
	{"unordered", unordered, true, -EBADMSG},
	{"bomb", bomb, true, -E2BIG},
	{"bad-parent", bad_parent, true, -EBADMSG},
	{"bad-image", bad_image, true, -EBADMSG},
	{"bad-string", bad_string, true, -EBADMSG},
	{"bad-value", bad_value, true, -EBADMSG},
	{"no-period", no_period, true, -EBADMSG},
	{"bad-trace", bad_trace, true, -EBADMSG, .traces = true},
	{"bad-point", bad_point, true, -EBADMSG, .traces = true},
};

TEST(malformed_golden_files_are_refused)
{
	for (size_t i = 0; i < n_elems(errors); i++) {
		struct profile p, nothing;
		struct err err = {0};
		struct wr bytes, text;
		char name[64], *a, *b;

		snprintf(name, sizeof(name), "errors/%s", errors[i].name);
		profile_init(&p);
		profile_init(&nothing);
		if (bless()) {
			bytes = bytes_of(errors[i].traces ? make_traces : make_basic);
			errors[i].change(&bytes);
			if (errors[i].seal)
				segment_seal(bytes.v, bytes.n);
			segment_decode(bytes.v, bytes.n, &p, NULL, &err);
			save(name, ".seg", bytes.v, bytes.n);
			save(name, ".txt", err.msg, strlen(err.msg));
			wr_release(&bytes);
		}
		bytes = load(name, ".seg");
		text = load(name, ".txt");
		EXPECT_EQ(segment_decode(bytes.v, bytes.n, &p, NULL, &err), errors[i].code);
		EXPECT_STR(err.msg, (const char *)text.v);
		EXPECT_EQ(segment_check(bytes.v, bytes.n, NULL), errors[i].code);
		a = profile_dump(&p);
		b = profile_dump(&nothing);
		EXPECT_STR(a, b);
		EXPECT_EQ(p.strings.n + p.places.n, nothing.strings.n);
		free(a);
		free(b);
		wr_release(&bytes);
		wr_release(&text);
		profile_release(&p);
		profile_release(&nothing);
	}
}
