/* SPDX-License-Identifier: BSD-2-Clause */
#include "formats/segment.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/segment_block.h"
#include "gen.h"
#include "model/trace.h"

static bool same(const struct profile *a, const struct profile *b)
{
	char *x = profile_dump(a), *y = profile_dump(b);
	bool eq = strcmp(x, y) == 0;

	free(x);
	free(y);
	return eq;
}

static struct wr encode(const struct profile *p)
{
	struct wr w = {0};
	struct err err = {0};

	EXPECT_EQ(segment_encode(&w, p, &err), 0);
	return w;
}

/* Adds the segment of FROM to INTO. */
static void through_bytes(struct profile *into, const struct profile *from)
{
	struct wr w = encode(from);
	struct err err = {0};

	EXPECT_EQ(segment_decode(w.v, w.n, into, NULL, &err), 0);
	EXPECT_STR(err.msg, "");
	wr_release(&w);
}

TEST(decoding_gives_back_what_was_encoded)
{
	struct t_rng r = {21};
	unsigned n = t_cases(400);

	for (unsigned i = 0; i < n; i++) {
		struct profile a, b;

		gen_profile(&r, &a, (unsigned)t_below(&r, i % 20 ? 60 : 2000));
		gen_accesses(&r, &a, (unsigned)t_below(&r, 20));
		profile_init(&b);
		through_bytes(&b, &a);
		profile_check(&b);
		EXPECT(same(&a, &b));
		profile_release(&a);
		profile_release(&b);
	}
}

/* The strings of the meta block are "first wins": made equal so that order cannot show. */
static void plain_meta(struct profile *p)
{
	p->meta.host = p->meta.platform = 0;
}

TEST(merging_segments_is_associative_and_commutative)
{
	struct t_rng r = {22};
	unsigned n = t_cases(200);

	for (unsigned i = 0; i < n; i++) {
		struct profile p[3], left, right, pair;

		for (int k = 0; k < 3; k++) {
			gen_profile(&r, &p[k], (unsigned)t_below(&r, 40));
			gen_accesses(&r, &p[k], (unsigned)t_below(&r, 10));
			plain_meta(&p[k]);
		}
		profile_init(&left);  /* (0 + 1) + 2 */
		profile_init(&pair);  /* 2 + 1 */
		profile_init(&right); /* (2 + 1) + 0 */
		for (int k = 0; k < 3; k++)
			through_bytes(&left, &p[k]);
		through_bytes(&pair, &p[2]);
		through_bytes(&pair, &p[1]);
		through_bytes(&right, &pair);
		through_bytes(&right, &p[0]);
		EXPECT(same(&left, &right));
		for (int k = 0; k < 3; k++)
			profile_release(&p[k]);
		profile_release(&left);
		profile_release(&right);
		profile_release(&pair);
	}
}

/* Adds what SRC holds to DST in another order: dictionaries get other ids. */
static void add_backwards(struct profile *dst, const struct profile *src)
{
	for (size_t i = src->strings.n; i-- > 0;)
		profile_intern_str(dst, src->strings.v[i]);
	for (size_t i = src->owners.n; i-- > 0;) {
		struct owner o = src->owners.v[i];

		o.exe = profile_intern_str(dst, profile_str(src, o.exe));
		o.comm = profile_intern_str(dst, profile_str(src, o.comm));
		o.cgroup = profile_intern_str(dst, profile_str(src, o.cgroup));
		o.label = profile_intern_str(dst, profile_str(src, o.label));
		profile_intern_owner(dst, &o);
	}
	for (size_t i = src->vectors.n; i-- > 0;)
		profile_intern_vector(dst, &src->vectors.v[i]);
	for (size_t i = src->images.n; i-- > 0;)
		profile_intern_image(dst, &src->images.v[i]);
	for (size_t i = src->places.n; i-- > 0;) {
		const struct place *k = &src->places.v[i];

		profile_intern_place(dst, profile_intern_image(dst, &src->images.v[k->image]),
				     k->svma, k->flags);
	}
	profile_merge(dst, src);
}

TEST(equal_profiles_give_equal_bytes)
{
	struct t_rng r = {23};
	unsigned n = t_cases(200);

	for (unsigned i = 0; i < n; i++) {
		struct profile a, b;
		struct wr x, y;

		gen_profile(&r, &a, (unsigned)t_below(&r, 80));
		gen_accesses(&r, &a, (unsigned)t_below(&r, 20));
		profile_init(&b);
		add_backwards(&b, &a);
		x = encode(&a);
		y = encode(&b);
		EXPECT(x.n == y.n && memcmp(x.v, y.v, x.n) == 0);
		wr_release(&x);
		wr_release(&y);
		profile_release(&a);
		profile_release(&b);
	}
}

/* Decoding BYTES must fail and leave a profile as it was. */
static void expect_refused(const uint8_t *bytes, size_t n, const char *what, size_t at)
{
	struct t_rng r = {24};
	struct profile p;
	char *before, *after;

	gen_profile(&r, &p, 10);
	before = profile_dump(&p);
	if (segment_decode(bytes, n, &p, NULL, NULL) == 0)
		t_fail_("%s at %zu was not noticed", what, at);
	after = profile_dump(&p);
	EXPECT_STR(after, before);
	profile_check(&p);
	free(before);
	free(after);
	profile_release(&p);
}

TEST(every_cut_and_every_changed_byte_is_noticed)
{
	struct t_rng r = {25};
	struct profile p;
	uint8_t change;
	struct wr w;

	gen_profile(&r, &p, 20);
	w = encode(&p);
	for (size_t n = 0; n < w.n; n++) {
		uint8_t *cut = xmemdup(w.v, n); /* its own allocation, so that overruns are seen */

		expect_refused(cut, n, "a cut", n);
		free(cut);
		if (n == 10 ||
		    n == 11) /* the minor version may be anything newer, but see the digest */
			continue;
		change = (uint8_t)(1 + t_below(&r, 255));
		w.v[n] ^= change;
		expect_refused(w.v, w.n, "a changed byte", n);
		w.v[n] ^= change;
	}
	wr_release(&w);
	profile_release(&p);
}

TEST(unknown_blocks_and_columns_are_skipped)
{
	struct t_rng r = {26};
	struct profile p, q;
	struct err err = {0};
	struct wr w = {0}, out = {0};
	struct block_list l;
	struct block_writer bw;

	gen_profile(&r, &p, 30);
	w = encode(&p);
	EXPECT_EQ(block_read_all(w.v, w.n, &l, &err), 0);
	block_begin_segment(&bw, &out, SEGMENT_MAJOR, 0, false);
	vec_each (b,
		  &l.blocks) { /* each block with one more column, and a strange block behind it */
		struct block_column c[BLOCK_MAX_COLUMNS];
		/* Images may be without the columns of digests, events without those of weights,
		 * owners without names of threads. */
		unsigned n = b->type == SEGMENT_IMAGES	 ? 9
			     : b->type == SEGMENT_EVENTS ? 10
			     : b->type == SEGMENT_OWNERS ? SEGMENT_OWNER_COLUMNS
							 : b->n_columns;

		EXPECT_EQ(block_columns(b, c, n, &err), 0);
		for (unsigned i = 0; i < n; i++)
			wr_bytes(&bw.columns[i], c[i].rd.p, rd_left(&c[i].rd));
		wr_bytes(&bw.columns[n], "whatever", 8);
		EXPECT_EQ(block_add(&bw, (enum segment_block_type)b->type,
				    b->flags & SEGMENT_REQUIRED, b->n_items, n + 1, &err),
			  0);
		wr_bytes(&bw.columns[0], "newer", 5);
		EXPECT_EQ(block_add(&bw, (enum segment_block_type)99, 0, 5, 1, &err), 0);
		columns_release(c, n);
	}
	block_end_segment(&bw);
	profile_init(&q);
	EXPECT_EQ(segment_decode(out.v, out.n, &q, NULL, &err), 0);
	EXPECT_STR(err.msg, "");
	EXPECT(same(&p, &q));
	vec_release(&l.blocks);
	wr_release(&w);
	wr_release(&out);
	profile_release(&p);
	profile_release(&q);
}

/* A block that says that its columns must all be known. */
TEST(a_column_that_is_needed_and_unknown_is_refused)
{
	struct t_rng r = {27};
	struct profile p, q;
	struct err err = {0};
	struct wr w = {0};
	struct block_list l = {0};

	gen_profile(&r, &p, 30);
	w = encode(&p);
	EXPECT_EQ(block_read_all(w.v, w.n, &l, &err), 0);
	for (unsigned i = 0; i < l.blocks.n; i++) {
		const struct block *b = &l.blocks.v[i];

		w.v[b->off + 10] |= SEGMENT_ALL_COLUMNS;
		segment_seal(w.v, w.n);
		profile_init(&q);
		EXPECT_EQ(segment_decode(w.v, w.n, &q, NULL, &err), 0);
		profile_release(&q);
	}
	vec_release(&l.blocks);
	wr_release(&w);
	profile_release(&p);
}

TEST(the_origin_is_read_as_it_was_written)
{
	const struct segment_origin o = {.recording = UINT64_MAX - 1,
					 .number = 7,
					 .first_generation = 2,
					 .last_generation = 5,
					 .log = 9,
					 .n_replaced = 3,
					 .first_replaced = 3,
					 .last_replaced = 6};
	struct t_rng r = {28};

	for (unsigned i = 0; i < 40; i++) {
		struct segment_origin got;
		struct profile p, q;
		struct err err = {0};
		struct wr w = {0};

		gen_profile(&r, &p, 10);
		profile_add_user_fact(&p, false, "mine", "what I say");
		p.moments.n = 0; /* what is stored may tell less of them */
		index_release(&p.moment_ix);
		EXPECT_EQ(segment_encode_from(&w, &p, &o, &err), 0);
		segment_get_origin(w.v, w.n, &got);
		EXPECT(memcmp(&got, &o, sizeof(o)) == 0);
		profile_init(&q);
		EXPECT_EQ(segment_decode(w.v, w.n, &q, NULL, &err), 0);
		EXPECT(same(&p, &q));
		w.n = 0;
		EXPECT_EQ(segment_encode(&w, &p, &err), 0);
		segment_get_origin(w.v, w.n, &got);
		EXPECT_EQ(got.recording, 0);
		wr_release(&w);
		profile_release(&p);
		profile_release(&q);
	}
}

TEST(extreme_numbers_survive)
{
	static const uint64_t counts[] = {0, 1, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
	struct profile p, q;
	event_id e;
	image_id im;

	profile_init(&p);
	e = profile_intern_event(&p, &(struct event){.name = profile_intern_str(&p, "x"),
						     .period = UINT64_MAX,
						     .total = UINT64_MAX,
						     .enabled_ns = UINT64_MAX,
						     .n_reached = UINT64_MAX});
	im = profile_intern_image(&p, &(struct image){.path = "",
						      .flags = UINT32_MAX,
						      .text_start = UINT64_MAX,
						      .text_bytes = 1});
	for (unsigned i = 0; i < n_elems(counts); i++)
		profile_add_value(
			&p,
			&(struct value){.owner = profile_intern_owner(
						&p, &(struct owner){.uid = UINT32_MAX - i % 2,
								    .pid = UINT32_MAX,
								    .tid = i,
								    .flags = UINT32_MAX}),
					.ctx = i ? profile_flat_ctx(&p, profile_intern_place(
										&p, im, counts[i],
										UINT32_MAX - i))
						 : 0, /* the root itself */
					.vector = profile_intern_vector(
						&p, &(struct vector){counts[i], ~counts[i], i}),
					.event = e,
					.count = counts[i],
					.sum = counts[4 - i]});
	profile_add_loss(&p, "full", e, UINT64_MAX);
	p.meta.n_cpus = UINT32_MAX;
	p.meta.end_wall_ns = UINT64_MAX;
	profile_init(&q);
	through_bytes(&q, &p);
	EXPECT(same(&p, &q));
	EXPECT_EQ(q.images.v[0].flags, UINT32_MAX);
	EXPECT_EQ(q.images.v[0].text_start, UINT64_MAX);
	profile_release(&p);
	profile_release(&q);
}

/* N places at equal distances in one image, one value each. */
static void make_regular(struct profile *p, unsigned n)
{
	event_id e;
	image_id im;

	profile_init(p);
	e = profile_intern_event(p,
				 &(struct event){.name = profile_intern_str(p, "x"), .period = 1});
	im = profile_intern_image(p, &(struct image){.kind = IMAGE_JIT, .path = "j"});
	for (unsigned i = 0; i < n; i++)
		profile_add_value(
			p, &(struct value){.ctx = profile_flat_ctx(
						   p, profile_intern_place(p, im, 16ull * i, 0)),
					   .event = e,
					   .count = 3});
}

TEST(data_that_shrinks_too_well_is_stored_plainly)
{
	struct profile p, q;
	struct wr w;

	make_regular(&p, 600000); /* three blocks of values */
	w = encode(&p);
	EXPECT(w.n > 600000);
	wr_release(&w);
	profile_init(&q);
	through_bytes(&q, &p);
	EXPECT_EQ(q.values.n, 600000);
	EXPECT_EQ(profile_n_samples(&q, 0), 1800000);
	profile_release(&p);
	profile_release(&q);
}

TEST(only_what_is_used_is_stored)
{
	struct profile p, q;
	struct wr w;

	make_regular(&p, 5000);
	profile_reset_values(&p);
	profile_add_value(&p, &(struct value){.ctx = 17, .count = 1});
	w = encode(&p);
	EXPECT(w.n < 400);
	wr_release(&w);
	profile_init(&q);
	through_bytes(&q, &p);
	EXPECT_EQ(q.places.n, 1);
	EXPECT(same(&p, &q));
	profile_release(&p);
	profile_release(&q);
}

static void count_value(struct value_sink *s, const struct value *v)
{
	(void)s;
	(void)v;
}

TEST(traces_are_read_only_where_they_are_wanted)
{
	struct value_sink without = {.put = count_value}, with = {count_value, .traces = true};
	struct profile p, q, none;
	struct err err = {0};
	struct wr w;
	trace_id t;

	make_regular(&p, 10);
	t = profile_intern_trace(&p, &(struct trace){.pid = 5, .tid = 6});
	for (uint64_t i = SEGMENT_VALUES_MAX + 1000; i > 0; i--) /* two blocks, backwards */
		trace_add_point(&p, t,
				&(struct trace_point){.time_ns = hash_u64(i) >> 20 ^ i << 44,
						      .ctx = (ctx_id)(hash_u64(i) % p.ctxs.n)});
	w = encode(&p);
	profile_init(&q);
	profile_init(&none);
	EXPECT_EQ(segment_decode(w.v, w.n, &q, &with, &err), 0);
	EXPECT_EQ(trace_n_points(&q), SEGMENT_VALUES_MAX + 1000);
	trace_sort(&p);
	trace_sort(&q);
	REQUIRE(q.traces.n == 2 && q.traces.v[1].points.n == p.traces.v[1].points.n);
	EXPECT_EQ(q.traces.v[1].tid, 6);
	for (size_t i = 0; i < q.traces.v[1].points.n; i++)
		EXPECT_EQ(q.traces.v[1].points.v[i].time_ns, p.traces.v[1].points.v[i].time_ns);
	EXPECT_EQ(segment_decode(w.v, w.n, &none, &without, &err), 0);
	EXPECT_EQ(none.traces.n, 1);
	profile_release(&p);
	profile_release(&q);
	profile_release(&none);
	wr_release(&w);
}

TEST(a_segment_without_traces_says_it_is_of_version_1_0)
{
	struct profile p;
	struct wr w;

	make_regular(&p, 10);
	w = encode(&p);
	EXPECT_EQ(w.v[10], 0);
	wr_release(&w);
	profile_intern_trace(&p, &(struct trace){.pid = 5, .tid = 6});
	w = encode(&p);
	EXPECT_EQ(w.v[10], 1);
	wr_release(&w);
	profile_release(&p);
}

/* 0 .. N-1 by Zipf's law: N^u - 1, u uniform, makes each doubling equally likely. */
static uint64_t zipf(struct t_rng *r, uint64_t n)
{
	return (uint64_t)(pow((double)n, (double)t_below(r, 1 << 20) / (1 << 20)) - 1);
}

#define N_OWNERS 30
#define N_IMAGES 40

static void add_typical_sample(struct t_rng *r, struct profile *p)
{
	uint64_t owner = zipf(r, N_OWNERS);
	uint64_t image = t_below(r, 3) ? owner + 1 : zipf(r, N_IMAGES); /* its own, or a library */
	uint64_t n_procs = 10 + 200 / (image + 1), proc = zipf(r, n_procs);
	uint64_t h = hash_pair(image, proc), n_insns = 5 + h % 40, insn = zipf(r, n_insns);
	struct value v = {.owner = (owner_id)owner + 1, .count = 1};
	uint64_t svma;

	insn = hash_pair(h, insn) % n_insns; /* the hot ones are anywhere in the procedure */
	svma = 0x401000 + hash_u64(proc + 1) % n_procs * 512 + insn * 4 + hash_pair(h, insn) % 4;
	v.ctx = profile_flat_ctx(p, profile_intern_place(p, (image_id)image, svma, 0));
	profile_add_value(p, &v);
}

/* A recording of N samples shaped like a system-wide one of a compiler run: owners, images,
 * procedures and instructions each by Zipf's law, instructions 1 to 8 bytes long. */
static void make_typical(struct profile *p, unsigned n_samples)
{
	struct event e = {.period = 192307};
	struct t_rng r = {27};
	char name[64];

	profile_init(p);
	e.name = profile_intern_str(p, "cpu-clock");
	profile_intern_event(p, &e);
	for (unsigned i = 0; i < N_IMAGES; i++) {
		struct image im = {.kind = i ? IMAGE_FILE : IMAGE_KERNEL, .path = name};

		im.build_id.n_bytes = 20;
		for (unsigned k = 0; k < 20; k++)
			im.build_id.bytes[k] = (uint8_t)t_rand(&r);
		snprintf(name, sizeof(name), "/usr/lib/x86_64-linux-gnu/lib%u.so.%u", i * 77, i);
		profile_intern_image(p, &im);
	}
	for (unsigned i = 0; i < N_OWNERS; i++) {
		struct owner o = {.uid = 1000};

		snprintf(name, sizeof(name), "/usr/bin/program-%u", i * i);
		o.exe = profile_intern_str(p, name);
		o.comm = profile_intern_str(p, name + 9);
		profile_intern_owner(p, &o);
	}
	for (unsigned i = 0; i < n_samples; i++)
		add_typical_sample(&r, p);
}

TEST(a_minute_of_samples_needs_half_a_byte_each)
{
	const unsigned n_samples = 600000;
	struct profile p;
	struct wr w;

	make_typical(&p, n_samples);
	w = encode(&p);
	printf("# %zu keys, %zu bytes: %.2f bytes a key, %.3f a sample\n", p.values.n, w.n,
	       (double)w.n / (double)p.values.n, (double)w.n / n_samples);
	EXPECT(p.values.n > 50000);
	EXPECT(w.n < n_samples / 2);
	wr_release(&w);
	profile_release(&p);
}

/* What is stored takes a tenth for the minutes, and less is told where that is not enough; the sum
 * of an event stays as it is. */
TEST(minutes_take_a_tenth)
{
	const struct segment_origin o = {.recording = 1, .number = 1};

	for (unsigned n_owners = 1; n_owners <= 4096; n_owners *= 4) {
		struct profile p, q;
		struct err err = {0};
		struct wr whole = {0}, without = {0};
		struct t_rng r = {n_owners};
		uint64_t n = 0;
		event_id e;

		profile_init(&p);
		e = profile_intern_event(
			&p, &(struct event){.name = profile_intern_str(&p, "x"), .period = 1});
		for (unsigned i = 0; i < n_owners; i++) {
			owner_id owner = profile_intern_owner(&p, &(struct owner){.pid = i + 1});

			profile_add_value(&p,
					  &(struct value){.owner = owner, .event = e, .count = 60});
			for (uint32_t minute = 0; minute < 60; minute++) {
				uint64_t k = 1 + t_below(&r, 1000);

				profile_add_moment(&p, &(struct moment){.minute = 29000000 + minute,
									.owner = owner,
									.event = e,
									.count = k});
				n += k;
			}
		}
		EXPECT_EQ(segment_encode_from(&whole, &p, &o, &err), 0);
		profile_init(&q);
		EXPECT_EQ(segment_decode(whole.v, whole.n, &q, NULL, &err), 0);
		EXPECT_STR(err.msg, "");
		EXPECT_EQ(profile_n_timed(&q, 0), n);
		p.moments.n = 0;
		index_release(&p.moment_ix);
		EXPECT_EQ(segment_encode_from(&without, &p, &o, &err), 0);
		EXPECT(whole.n - without.n <= (without.n / 10 > 64 ? without.n / 10 : 64));
		wr_release(&whole);
		wr_release(&without);
		profile_release(&p);
		profile_release(&q);
	}
}
