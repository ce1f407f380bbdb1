/* SPDX-License-Identifier: BSD-2-Clause */
#include "formats/journal.h"

#include <errno.h>
#include <stdlib.h>

#include "gen.h"

#define GENERATION 42

/* A journal of N records, record I holding I + 1 values and ranges; where each ends into ENDS. */
static struct wr make_journal(unsigned n, size_t ends[])
{
	struct t_rng r = {31};
	struct wr w = {0};

	journal_put_header(&w, GENERATION);
	for (unsigned i = 0; i < n; i++) {
		const struct seq_range ranges[] = {{i, 10 * i, 10 * i + 9}, {i + 1, 7, UINT64_MAX}};
		struct profile p;

		gen_profile(&r, &p, i + 1);
		EXPECT_EQ(journal_put_record(&w, GENERATION, w.n, ranges, 1 + i % 2, &p, NULL), 0);
		profile_release(&p);
		ends[i] = w.n;
	}
	return w;
}

/* Whole records in the first N bytes at P, or the error. */
static int count_records(const uint8_t *p, size_t n, struct err *err)
{
	struct journal_reader r;
	struct journal_record rec;
	int n_whole = 0, rc = journal_read_begin(&r, p, n, err);

	while (!rc && (rc = journal_next(&r, &rec, err)) == 1) {
		EXPECT_EQ(segment_check(rec.segment, rec.n_segment, NULL), 0);
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

	w.v[8] = 2;
	EXPECT_EQ(count_records(w.v, w.n, &err), -EBADMSG); /* checksum */
	journal_seal(w.v, w.n);
	EXPECT_EQ(count_records(w.v, w.n, &err), -EPROTONOSUPPORT);
	EXPECT(strstr(err.msg, "newer"));
	w.v[0] = 'x';
	EXPECT_EQ(count_records(w.v, w.n, &err), -EBADMSG);
	wr_release(&w);
}
