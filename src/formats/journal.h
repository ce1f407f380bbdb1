/* SPDX-License-Identifier: BSD-2-Clause */
/* The journal: what was folded since the last flush, record by record, so that a recorder's death
 * loses nothing.  docs/formats/journal.md describes every byte.
 *
 * A file header with the journal's generation, then records: ranges of per-CPU sequence numbers and
 * the counts of what they held (formats/journal_counts.h), or a segment of it (formats/segment.h).
 * Records are only ever appended; a torn last one is cut off by whoever reads. */
#ifndef FORMATS_JOURNAL_H
#define FORMATS_JOURNAL_H

#include "base/rd.h"
#include "formats/journal_counts.h"
#include "formats/segment.h"

#define JOURNAL_MAGIC	     "dwelljnl"
#define JOURNAL_RECORD_MAGIC 0x6372646au /* "jdrc" */
#define JOURNAL_MAJOR	     3
#define JOURNAL_MINOR	     0
#define JOURNAL_HEADER_SZ    32
#define JOURNAL_RECORD_SZ    16 /* header of a record */

/* Entries FIRST_SEQ .. LAST_SEQ, both included, of CPU's log. */
struct seq_range {
	uint32_t cpu;
	uint64_t first_seq, last_seq; /* first <= last */
};

enum journal_kind {
	JOURNAL_SEGMENT = 0, /* journals of version 1 have no other */
	JOURNAL_COUNTS = 1,
	JOURNAL_COUNTS_3 = 2, /* with digests of images and with sections; since version 3 */
};

void journal_put_header(struct wr *out, uint64_t generation);

/* Appends a record of what is fresh in P (model/fresh.h), and of all P's time lines.  The record
 * will stand at offset OFF of the journal of GENERATION.  -E2BIG when it needs 4 GiB or more. */
int journal_put_record(struct journal_writer *w, struct wr *out, uint64_t generation, uint64_t off,
		       const struct seq_range *ranges, size_t n_ranges, const struct profile *p,
		       struct err *err);

struct journal_reader {
	struct rd rd;
	uint64_t generation;
	uint16_t major;
	size_t n_whole;		 /* bytes of header and whole records read so far */
	uint64_t n_left_to_skip; /* bytes that journal_skip may still look at */
	VEC(struct seq_range) ranges;
};

struct journal_record {
	const struct seq_range *ranges; /* until the next journal_next */
	size_t n_ranges;
	enum journal_kind kind;
	struct rd rest; /* of the journal's bytes; not checked yet */
};

/* Starts reading the N bytes of a journal.  -ENODATA when the header is torn: such a journal has no
 * records.  -EBADMSG when it is no journal.  -EPROTONOSUPPORT when it is newer. */
int journal_read_begin(struct journal_reader *r, const uint8_t *bytes, size_t n, struct err *err);

/* The next whole record: 1, or 0 at the end or at a torn last record, or -EBADMSG when a damaged
 * record is followed by others, or -EPROTONOSUPPORT when it is newer. */
int journal_next(struct journal_reader *r, struct journal_record *ret, struct err *err);

/* Skips what journal_next could not read and goes on at the next record whose checksum holds.
 * False when there is none, or when 64 times the journal's bytes were looked at: a journal made to
 * be slow has a record's beginning everywhere. */
bool journal_skip(struct journal_reader *r);

/* Adds what REC holds to INTO.  Values go to SINK instead when there is one.  Without INTO the
 * record is only checked.  -ENODATA, -EBADMSG, -E2BIG or -EPROTONOSUPPORT: nothing has been
 * added. */
int journal_load(const struct journal_record *rec, struct profile *into, struct value_sink *sink,
		 struct err *err);

void journal_reader_release(struct journal_reader *r);

/* Computes the checksums of the header and of every record anew, in place: for tests. */
void journal_seal(uint8_t *bytes, size_t n);

#endif
