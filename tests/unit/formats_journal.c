/* SPDX-License-Identifier: BSD-2-Clause */
#include "formats/journal.h"

#include <errno.h>
#include <stdlib.h>

#include "gen.h"
#include "model/fresh.h"
#include "model/trace.h"

#define GENERATION 42

/* A journal of N records, record I holding I + 1 values and ranges; where each ends into ENDS. */
static struct wr make_journal(unsigned n, size_t ends[])
{
	struct journal_writer jw = {0};
	struct t_rng r = {31};
	struct wr w = {0};

	journal_put_header(&w, GENERATION);
	for (unsigned i = 0; i < n; i++) {
		const struct seq_range ranges[] = {{i, 10 * i, 10 * i + 9}, {i + 1, 7, UINT64_MAX}};
		struct profile p;

		gen_profile(&r, &p, i + 1);
		EXPECT_EQ(journal_put_record(&jw, &w, GENERATION, w.n, ranges, 1 + i % 2, &p, NULL),
			  0);
		profile_release(&p);
		ends[i] = w.n;
	}
	journal_writer_release(&jw);
	return w;
}

/* Whole records in the first N bytes at P, or the error. */
static int count_records(const uint8_t *p, size_t n, struct err *err)
{
	struct journal_reader r;
	struct journal_record rec;
	int n_whole = 0, rc = journal_read_begin(&r, p, n, err);

	while (!rc && (rc = journal_next(&r, &rec, err)) == 1) {
		EXPECT_EQ(journal_load(&rec, NULL, NULL, NULL), 0);
		EXPECT_EQ(rec.n_ranges, 1 + n_whole % 2);
		EXPECT_EQ(rec.ranges[0].cpu, n_whole);
		EXPECT_EQ(rec.ranges[0].last_seq, 10 * n_whole + 9);
		if (rec.n_ranges == 2)
			EXPECT(rec.ranges[1].first_seq == 7 &&
			       rec.ranges[1].last_seq == UINT64_MAX);
		n_whole++;
		rc = 0;
	}
	journal_reader_release(&r);
	return rc < 0 ? rc : n_whole;
}

TEST(whole_records_count_wherever_the_file_is_cut)
{
	size_t ends[3];
	struct wr w = make_journal(3, ends);
	struct err err = {0};

	for (size_t n = 0; n <= w.n; n++) {
		uint8_t *cut = xmemdup(w.v, n);
		int want = n < JOURNAL_HEADER_SZ ? -ENODATA
						 : (n >= ends[0]) + (n >= ends[1]) + (n >= ends[2]);

		EXPECT_EQ(count_records(cut, n, &err), want);
		free(cut);
	}
	wr_release(&w);
}

TEST(a_damaged_record_is_torn_only_at_the_end)
{
	size_t ends[3];
	struct wr w = make_journal(3, ends);
	struct err err = {0};

	w.v[ends[2] - 1] ^= 1;
	EXPECT_EQ(count_records(w.v, w.n, &err), 2);
	w.v[ends[1] - 1] ^= 1;
	EXPECT_EQ(count_records(w.v, w.n, &err), -EBADMSG);
	EXPECT(strstr(err.msg, "record at +"));
	wr_release(&w);
}

TEST(records_of_another_generation_are_not_taken)
{
	size_t ends[2];
	struct wr w = make_journal(2, ends), head = {0};
	struct err err = {0};

	journal_put_header(&head, GENERATION + 1);
	memcpy(w.v, head.v, head.n);
	w.n = ends[0];
	EXPECT_EQ(count_records(w.v, w.n, &err), 0);
	wr_release(&head);
	wr_release(&w);
}

TEST(strange_headers_are_refused)
{
	size_t ends[1];
	struct wr w = make_journal(1, ends);
	struct err err = {0};

	w.v[8] = JOURNAL_MAJOR + 1;
	EXPECT_EQ(count_records(w.v, w.n, &err), -EBADMSG); /* checksum */
	journal_seal(w.v, w.n);
	EXPECT_EQ(count_records(w.v, w.n, &err), -EPROTONOSUPPORT);
	EXPECT(strstr(err.msg, "newer"));
	w.v[0] = 'x';
	EXPECT_EQ(count_records(w.v, w.n, &err), -EBADMSG);
	wr_release(&w);
}

/* Puts what is fresh in P into a journal of its own and has INTO get it. */
static int through_a_journal(const struct profile *p, struct profile *into, uint8_t *ret_kind)
{
	struct journal_writer jw = {0};
	struct journal_reader r;
	struct journal_record rec;
	struct wr w = {0};
	int rc;

	journal_put_header(&w, GENERATION);
	EXPECT_EQ(journal_put_record(&jw, &w, GENERATION, w.n, NULL, 0, p, NULL), 0);
	EXPECT_EQ(journal_read_begin(&r, w.v, w.n, NULL), 0);
	EXPECT_EQ(journal_next(&r, &rec, NULL), 1);
	*ret_kind = (uint8_t)rec.kind;
	rc = journal_load(&rec, into, NULL, NULL);
	journal_reader_release(&r);
	journal_writer_release(&jw);
	wr_release(&w);
	return rc;
}

TEST(counts_come_back_as_they_were)
{
	struct t_rng r = {77};

	for (unsigned n = 0; n < 300; n += 7) {
		struct profile p, q;
		char *before, *after;
		uint8_t kind;

		gen_profile(&r, &p, n);
		gen_accesses(&r, &p, n / 4);
		profile_init(&q);
		if (n % 2)
			trace_reset(&p);
		before = profile_dump(&p);
		EXPECT_EQ(through_a_journal(&p, &q, &kind), 0);
		EXPECT(kind == (journal_needs_sections(&p) ? JOURNAL_COUNTS_3 : JOURNAL_COUNTS) ||
		       p.traces.n > 1 || p.traces.v[0].n_dropped);
		profile_check(&q);
		after = profile_dump(&q);
		EXPECT_STR(after, before);
		free(before);
		free(after);
		profile_release(&p);
		profile_release(&q);
	}
}

/* What a recorder does: records of what came since the last one add up to all there is. */
TEST(records_of_a_watched_profile_add_up)
{
	struct t_rng r = {78};
	struct profile p, sum;
	char *want, *got;
	uint8_t kind;
	image_id im;

	profile_init(&p);
	profile_init(&sum);
	profile_watch(&p);
	profile_intern_event(&p, &(struct event){.name = profile_intern_str(&p, "e"), .period = 1});
	im = profile_intern_image(&p, &(struct image){.kind = IMAGE_KERNEL, .path = "[kernel]"});
	for (unsigned k = 0; k < 20; k++) {
		for (unsigned i = 0; i < 200; i++) {
			ctx_id ctx = 0;

			for (unsigned depth = t_below(&r, 5); depth + 1 > 0; depth--)
				ctx = profile_intern_ctx(
					&p, ctx,
					profile_intern_place(&p, im, UINT64_MAX - t_below(&r, 40),
							     0));
			profile_add_value(&p, &(struct value){.ctx = ctx,
							      .count = 1 + t_below(&r, 3),
							      .sum = t_below(&r, 2)});
		}
		p.events.v[0].n_reached += 7;
		profile_add_loss(&p, k % 3 ? "a" : "b", 0, k);
		EXPECT_EQ(through_a_journal(&p, &sum, &kind), 0);
		EXPECT_EQ(kind, JOURNAL_COUNTS);
		profile_mark(&p);
	}
	want = profile_dump(&p);
	got = profile_dump(&sum);
	EXPECT_STR(got, want);
	free(want);
	free(got);
	profile_release(&p);
	profile_release(&sum);
}

TEST(records_of_version_1_are_read)
{
	struct wr w = {0}, body = {0};
	struct journal_reader r;
	struct journal_record rec;
	struct t_rng rng = {79};
	struct profile p, q;
	char *before, *after;

	gen_profile(&rng, &p, 20);
	profile_init(&q);
	before = profile_dump(&p);
	wr_uleb(&body, 0); /* ranges */
	EXPECT_EQ(segment_encode(&body, &p, NULL), 0);
	journal_put_header(&w, GENERATION);
	w.v[8] = 1;
	wr_le32(&w, JOURNAL_RECORD_MAGIC);
	wr_le32(&w, (uint32_t)body.n);
	wr_le64(&w, 0);
	wr_bytes(&w, body.v, body.n);
	journal_seal(w.v, w.n);
	EXPECT_EQ(journal_read_begin(&r, w.v, w.n, NULL), 0);
	EXPECT_EQ(journal_next(&r, &rec, NULL), 1);
	EXPECT_EQ(rec.kind, JOURNAL_SEGMENT);
	EXPECT_EQ(journal_load(&rec, &q, NULL, NULL), 0);
	after = profile_dump(&q);
	EXPECT_STR(after, before);
	free(before);
	free(after);
	journal_reader_release(&r);
	profile_release(&p);
	profile_release(&q);
	wr_release(&w);
	wr_release(&body);
}

/* A journal whose one record, of no ranges, is BODY. */
static int load_body(const uint8_t *body, size_t n, struct err *err)
{
	struct journal_reader r;
	struct journal_record rec;
	struct wr w = {0};
	struct profile p;
	int rc;

	journal_put_header(&w, GENERATION);
	wr_le32(&w, JOURNAL_RECORD_MAGIC);
	wr_le32(&w, (uint32_t)n + 1);
	wr_le64(&w, 0);
	wr_u8(&w, 0);
	wr_bytes(&w, body, n);
	journal_seal(w.v, w.n);
	profile_init(&p);
	EXPECT_EQ(journal_read_begin(&r, w.v, w.n, err), 0);
	rc = journal_next(&r, &rec, err);
	if (rc == 1)
		rc = journal_load(&rec, &p, NULL, err);
	EXPECT(rc == 0 || (p.values.n == 0 && p.ctxs.n == 1));
	journal_reader_release(&r);
	profile_release(&p);
	wr_release(&w);
	return rc;
}

TEST(counts_that_name_what_is_not_there_are_refused)
{
	/* kind; strings: "e"; meta; events: one of period 1; losses; images: kind 1 "/"; owners;
	 * vectors; places: one; contexts: one; values: one of it, of count 9 */
	static const uint8_t good[] = {
		1, 1, 1, 'e', 0, 0,   0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0,
		0, 1, 1, 0,   1, '/', 0, 0, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 1, 0, 9,
	};
	struct err err = {0};

	EXPECT_EQ(load_body(good, sizeof(good), &err), 0);
	EXPECT_STR(err.msg, "");
	for (size_t n = 1; n < sizeof(good); n++)
		EXPECT_EQ(load_body(good, n, &err), -EBADMSG);
	for (size_t i = 0; i < sizeof(good); i++) {
		uint8_t bad[sizeof(good)];
		int rc;

		memcpy(bad, good, sizeof(good));
		bad[i] = 0x7f; /* no element has such a number, and no dictionary that many */
		rc = load_body(bad, sizeof(bad), &err);
		if (i == 0)
			EXPECT_EQ(rc, -EPROTONOSUPPORT);
		EXPECT(rc <= 0);
	}
	for (size_t i = 0; i < 2; i++) { /* no period; a value that counts nothing */
		uint8_t bad[sizeof(good)];

		memcpy(bad, good, sizeof(good));
		bad[i ? sizeof(good) - 1 : 16] = 0;
		EXPECT_EQ(load_body(bad, sizeof(bad), &err), -EBADMSG);
	}
}
