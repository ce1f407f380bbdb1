/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments: a profile as bytes, the format everything collected is stored in.
 * docs/formats/segment.md describes every byte; this header names its parts.
 *
 * A segment is a file header, blocks, and a footer.  A block holds the elements of one dictionary,
 * or up to SEGMENT_VALUES_MAX values or points of traces, as columns of variable-length integers,
 * each compressed by itself. Only dictionary entries that a value, event, loss or the meta block
 * uses are written, and all are sorted, so that equal profiles give equal bytes whatever the order
 * they were collected in. */
#ifndef FORMATS_SEGMENT_H
#define FORMATS_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wr.h"
#include "model/profile.h"

#define SEGMENT_MAGIC	     "dwellseg"
#define SEGMENT_FOOTER_MAGIC 0x646e6573u /* "send" */
#define SEGMENT_MAJOR	     2		 /* a reader refuses a larger one */
#define SEGMENT_HEADER_SZ    16
#define SEGMENT_BLOCK_SZ     20 /* header of a block */
#define SEGMENT_FOOTER_SZ    24

/* A reader refuses a segment whose columns and elements would need more than this many bytes for
 * each byte of the file, beyond the first SEGMENT_FREE_BYTES: a small file cannot
 * fill the memory. */
#define SEGMENT_EXPANSION  64
#define SEGMENT_FREE_BYTES (1u << 20)
#define SEGMENT_VALUES_MAX (1u << 18) /* values or points in one block */

enum segment_block_type {
	SEGMENT_STRINGS = 1,
	SEGMENT_META = 2,
	SEGMENT_EVENTS = 3,
	SEGMENT_IMAGES = 4,
	SEGMENT_PLACES = 5,
	SEGMENT_OWNERS = 6,
	SEGMENT_VECTORS = 7,
	SEGMENT_CONTEXTS = 8,
	SEGMENT_LOSSES = 9,
	SEGMENT_VALUES = 10,
	SEGMENT_TRACES = 11,
	SEGMENT_POINTS = 12,
	SEGMENT_BRANCHES = 13,
	SEGMENT_CONTAINERS = 15, /* 14 and 16 are reserved */
	SEGMENT_MINUTES = 17,
	SEGMENT_SCRIPTS = 18,
	SEGMENT_ACCESSES = 19,
};

enum segment_block_flags {
	SEGMENT_REQUIRED = 1u << 0, /* a reader that does not know the type must refuse the file */
	SEGMENT_ALL_COLUMNS = 1u << 1, /* a reader that lacks a column must refuse the file */
};

/* Where a segment comes from.  It tells without the MANIFEST which samples a segment holds.
 *
 * Samples come into segments by journals.  All that a journal of generation G holds is in the
 * segment that makes the journal void, and later in the segments that replace that one.  A journal
 * that was not written counts as if it had been.  What was stored of a dead recorder's log is in a
 * segment of its own. */
struct segment_origin {
	uint64_t recording;			    /* its MANIFEST's; 0: nothing is known */
	uint64_t number;			    /* what its file is called */
	uint64_t first_generation, last_generation; /* of the journals it holds; 0: of none */
	uint64_t log; /* the dead log whose samples it brought; 0: none */
	uint64_t n_replaced, first_replaced,
		last_replaced; /* numbers of segments it is in place of */
};

enum segment_codec { SEGMENT_RAW = 0, SEGMENT_ZSTD = 1 };

/* Appends P as one segment to OUT.  Ids in the file are the file's own.  Returns 0, or -E2BIG when
 * a dictionary has too many bytes for one column (4 GiB). */
int segment_encode(struct wr *out, const struct profile *p, struct err *err);

/* Appends P as one segment to OUT.  The segment says that it comes from O.  Returns 0 or -E2BIG. */
int segment_encode_from(struct wr *out, const struct profile *p, const struct segment_origin *o,
			struct err *err);

/* Tells where the segment of N bytes comes from; all zeros when it does not say.  Its blocks must
 * be whole, as segment_decode finds them. */
void segment_get_origin(const uint8_t *bytes, size_t n, struct segment_origin *ret);

/* Reads the segment of exactly N bytes: interns its dictionaries in INTO, adds the events' sums,
 * losses and meta, and gives each value, with INTO's ids, to SINK (NULL: adds them to INTO's
 * values).  Traces are added to INTO unless SINK does not want them: then they are not read, so
 * that they cost such a reader nothing but their checksum.  Everything is checked before anything
 * is added: after a failure INTO is as it was. Errors: -ENODATA truncated, -EBADMSG damaged, -E2BIG
 * expands too much, -EPROTONOSUPPORT newer major version or an unknown block that is required; the
 * message names the block
 * and its offset. */
int segment_decode(const uint8_t *bytes, size_t n, struct profile *into, struct value_sink *sink,
		   struct err *err);

/* Checks all that segment_decode checks, and adds nothing anywhere. */
int segment_check(const uint8_t *bytes, size_t n, struct err *err);

/* Adds to INTO what is whole of a damaged segment: each block whose own checksum holds, as far as
 * what it refers to is there.  Returns how many blocks were added.  The sums of INTO's events may
 * count samples whose values were lost. */
unsigned segment_salvage(const uint8_t *bytes, size_t n, struct profile *into);

/* The digest in the footer: it covers the checksum of every block.  0 when there is no footer. */
uint64_t segment_digest(const uint8_t *bytes, size_t n);

/* Computes the checksums and the footer's fields of a segment anew, in place, as far as its blocks
 * can be walked: for tests that damage what checksums would otherwise protect. */
void segment_seal(uint8_t *bytes, size_t n);

#endif
