/* SPDX-License-Identifier: BSD-2-Clause */
/* Journals, as they come and with their checksums made to fit. */
#include "formats/journal.h"

#include "fuzz.h"
#include "gen.h"
#include "model/trace.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const struct seq_range ranges[] = {{0, 1, 1000}, {3, 77, 77}, {UINT32_MAX, 5, UINT64_MAX}};
	struct journal_writer jw = {0};
	struct t_rng r = {i + 1};
	struct wr w = {0};

	if (i > 3)
		return NULL;
	journal_put_header(&w, i * 1000);
	for (unsigned k = 0; k < i; k++) {
		struct profile p;

		gen_profile(&r, &p, 5 * k);
		gen_accesses(&r, &p, 2 * k);
		if (k % 2) /* else its time lines make it a segment */
			trace_reset(&p);
		journal_put_record(&jw, &w, i * 1000, w.n, ranges, k, &p, NULL);
		profile_release(&p);
	}
	journal_writer_release(&jw);
	*ret_n = w.n;
	return w.v;
}

/* What is read is whole, and read in vain leaves nothing. */
static void check_load(const struct journal_record *rec)
{
	struct profile p;

	profile_init(&p);
	if (journal_load(rec, &p, NULL, NULL) == 0)
		profile_check(&p);
	else
		FUZZ_REQUIRE(!p.values.n && p.ctxs.n == 1);
	profile_release(&p);
}

static void read_all(const uint8_t *bytes, size_t n)
{
	struct journal_reader r;
	struct journal_record rec;
	size_t last = JOURNAL_HEADER_SZ;

	if (journal_read_begin(&r, bytes, n, NULL) == 0) {
		while (journal_next(&r, &rec, NULL) == 1) {
			FUZZ_REQUIRE(r.n_whole > last && r.n_whole <= n);
			last = r.n_whole;
			for (size_t i = 0; i < rec.n_ranges; i++)
				FUZZ_REQUIRE(rec.ranges[i].first_seq <= rec.ranges[i].last_seq);
			check_load(&rec);
		}
	}
	journal_reader_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_sealed(data, n, read_all, journal_seal);
	return 0;
}
