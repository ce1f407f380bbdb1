/* SPDX-License-Identifier: BSD-2-Clause */
/* What is whole of damaged segments and journals: as they come, with their checksums made to fit,
 * and with one byte damaged after that.  What is kept must be a sound profile; of a whole segment
 * all is kept. */
#include <string.h>

#include "formats/journal.h"
#include "formats/segment.h"
#include "fuzz.h"
#include "gen.h"

enum { N_SEGMENTS = 3, N_JOURNALS = 2 };

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const unsigned sizes[N_SEGMENTS] = {0, 1, 12};
	const struct seq_range range = {0, 1, 1000};
	struct journal_writer jw = {0};
	struct t_rng r = {i + 1};
	struct profile p;
	struct wr w = {0};

	if (i >= N_SEGMENTS + N_JOURNALS)
		return NULL;
	if (i < N_SEGMENTS) {
		gen_profile(&r, &p, sizes[i]);
		gen_accesses(&r, &p, sizes[i] / 8);
		segment_encode(&w, &p, NULL);
		profile_release(&p);
	} else {
		journal_put_header(&w, 1);
		for (unsigned k = 0; k <= i - N_SEGMENTS; k++) {
			gen_profile(&r, &p, 4 * (k + 1));
			journal_put_record(&jw, &w, 1, w.n, &range, 1, &p, NULL);
			profile_release(&p);
		}
		journal_writer_release(&jw);
	}
	*ret_n = w.n;
	return w.v;
}

static void salvage_segment(const uint8_t *bytes, size_t n)
{
	struct profile p, q;
	char *a, *b;

	profile_init(&p);
	segment_salvage(bytes, n, &p);
	profile_check(&p);
	profile_init(&q);
	if (segment_decode(bytes, n, &q, NULL, NULL) == 0) {
		a = profile_dump(&p);
		b = profile_dump(&q);
		/* the first line says when and where: a time that cannot be is not merged */
		FUZZ_REQUIRE(strcmp(strchr(a, '\n'), strchr(b, '\n')) == 0);
		free(a);
		free(b);
	}
	profile_release(&p);
	profile_release(&q);
}

/* Reads what there is; behind each damage it goes on, and always further on. */
static void salvage_journal(const uint8_t *bytes, size_t n)
{
	struct journal_reader r;
	struct journal_record rec;
	size_t last = 0;

	if (journal_read_begin(&r, bytes, n, NULL) == 0)
		do {
			FUZZ_REQUIRE(!last || rd_off(&r.rd) > last);
			last = rd_off(&r.rd);
			while (journal_next(&r, &rec, NULL) == 1) {
				struct profile p;

				profile_init(&p);
				if (journal_load(&rec, &p, NULL, NULL) == 0)
					profile_check(&p);
				profile_release(&p);
			}
		} while (journal_skip(&r));
	journal_reader_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *sealed = xmemdup(data, n);

	salvage_segment(data, n);
	salvage_journal(data, n);
	segment_seal(sealed, n);
	salvage_segment(sealed, n);
	if (n)
		sealed[data[n / 2] * n / 256] ^= 1;
	salvage_segment(sealed, n);
	memcpy(sealed, data, n);
	journal_seal(sealed, n);
	salvage_journal(sealed, n);
	if (n)
		sealed[data[n / 2] * n / 256] ^= 1;
	salvage_journal(sealed, n);
	free(sealed);
	return 0;
}
