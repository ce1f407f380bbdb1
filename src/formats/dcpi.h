/* SPDX-License-Identifier: BSD-2-Clause */
/* DCPI profile files, versions 0.06 and 0.07: bytes <-> struct, no I/O.  docs/formats/dcpi.md
 * states the format with the sources and reasons of every reading made here.
 *
 * A file is an ASCII header (lines `keyword value`, then `samples`) and a binary part: chunks of
 * 32-bit counts for ascending, disjoint address ranges, then a footer with two totals.  A struct
 * dcpi_file keeps what it read to the byte: every header line in order with its own blanks, the
 * padding behind `samples`, and the chunks as they were cut, so that reading and writing a file
 * gives the same bytes.  The version is all in which 0.06 and 0.07 are known to differ. */
#ifndef FORMATS_DCPI_H
#define FORMATS_DCPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "base/wr.h"

/* The header's keywords.  All before DCPI_CPUAMASK are required, once each, in files of major
 * version 0; but files without `version` (read as 0.07) or `tstart` (read as 0) are taken too. */
enum dcpi_key {
	DCPI_VERSION,  /* pdb-0.07 */
	DCPI_IMAGE,    /* hex digits */
	DCPI_EPOCH,    /* a UTC time, see dcpi_parse_time */
	DCPI_PLATFORM, /* the host's name */
	DCPI_EVENT,
	DCPI_PERIOD, /* events a sample stands for */
	DCPI_TSTART, /* address of the image's text, hex */
	DCPI_TSIZE,  /* its bytes */
	DCPI_CPUSPEED,
	DCPI_CPUAMASK, /* hex */
	DCPI_CPUIMPLV,
	DCPI_CPUCOUNT,
	DCPI_PATH, /* may occur several times */
	DCPI_UNKNOWN,
};

struct dcpi_line {
	enum dcpi_key key;
	const char *text; /* the whole line without its newline; a NUL behind it */
	size_t n;	  /* bytes of text, which may hold NULs when the key is unknown */
	size_t n_word;	  /* bytes of the keyword */
	const char *value;
};

/* Counts of the addresses tstart + off, + off + stride, ... ; n of them. */
struct dcpi_chunk {
	uint32_t off; /* bytes */
	uint32_t n;   /* at least 1 */
	size_t first; /* the first one's place in counts */
};

struct dcpi_file {
	struct arena arena; /* owns all text below */
	VEC(struct dcpi_line) lines;
	const char *pad; /* the blanks behind `samples`, when n_pad holds; see dcpi_write */
	size_t n_pad;
	bool keep_pad; /* write pad as it is */

	unsigned major, minor;
	const char *image, *platform, *event; /* "" when the line is missing (major version 1) */
	uint64_t epoch_s;		      /* since 1970 */
	uint64_t period, tstart, tsize, cpuspeed;
	unsigned stride; /* bytes per count: 1, or 4 (one count per Alpha instruction) */

	VEC(struct dcpi_chunk) chunks; /* ascending, disjoint */
	VEC(uint32_t) counts;	       /* zeros inside chunks included */
};

/* A count on its way into a file. */
struct dcpi_count {
	uint64_t svma;
	uint64_t n;
};

/* Whether the N bytes begin like a DCPI header: known keywords and a `samples` line. */
bool dcpi_probe(const void *bytes, size_t n);

/* Reads the header of the N_BYTES and gives the offset of the binary part.  Works for every
 * version; only a major version of 0 is held to the page's rule of required lines.  -EBADMSG with
 * the line's number, -ENODATA when there is no `samples` line.  On failure F is empty. */
int dcpi_read_header(struct dcpi_file *f, const void *bytes, size_t n_bytes, size_t *ret_body,
		     struct err *err);

/* Reads a whole file, STRIDE (1 or 4) bytes per count; 0 takes what the file says (its dwell-stride
 * line), else 1.  -EPROTONOSUPPORT for versions other than 0.06 and 0.07, -ENODATA when cut short,
 * -EBADMSG for everything else that breaks the page's rules, -EINVAL when STRIDE contradicts the
 * file.  On failure F is empty. */
int dcpi_read(struct dcpi_file *f, const void *bytes, size_t n_bytes, unsigned stride,
	      struct err *err);

/* Makes F an empty file of version 0.MINOR with a version line. */
void dcpi_init(struct dcpi_file *f, unsigned minor, unsigned stride);

/* Adds the line `WORD VALUE` to the header, and sets the field of a known keyword from it.  What a
 * header line cannot hold is replaced: newlines and NULs by '?', an empty value by "unknown", a
 * blank at the beginning by '?'.  The values of known keywords other than names must be well
 * formed. */
void dcpi_add_line(struct dcpi_file *f, const char *word, const char *value);
void dcpi_add_linef(struct dcpi_file *f, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds the N bytes of TEXT, a whole line without its newline, as they are.  -EBADMSG when it is no
 * line of a header. */
int dcpi_copy_line(struct dcpi_file *f, const char *text, size_t n);

/* Puts a copy of L in place of line I, which has its word. */
void dcpi_set_line(struct dcpi_file *f, size_t i, const struct dcpi_line *l);

/* Makes F a file of version 0.MINOR (6 or 7), its other lines untouched. */
void dcpi_set_version(struct dcpi_file *f, unsigned minor);

/* The value of the first line with WORD, or NULL. */
const char *dcpi_find(const struct dcpi_file *f, const char *word);

/* Fills F's chunks from the N counts V, in rising order of address, cut so that the file is
 * smallest. Zero counts are left out.  -E2BIG naming the address when a count, the sum of all, or
 * the distance to tstart does not fit 32 bits; -EINVAL naming it when it is off the stride.  On
 * failure F has no chunks. */
int dcpi_add_counts(struct dcpi_file *f, const struct dcpi_count *v, size_t n, struct err *err);

/* Appends the file's bytes to OUT.  The header is padded to a multiple of four behind `samples`,
 * except that padding which was read stays while no line changed. */
void dcpi_write(const struct dcpi_file *f, struct wr *out);

/* The sum of all counts, and how many are not zero: the footer's two values. */
uint64_t dcpi_n_samples(const struct dcpi_file *f);
uint64_t dcpi_n_addresses(const struct dcpi_file *f);

void dcpi_release(struct dcpi_file *f);

/* Parses an epoch: YYMMDDHHMM (years 1970 to 2069), YYYYMMDDHHMM or YYYYMMDDHHMMSS, UTC, a date
 * that exists.  0 or -EINVAL. */
int dcpi_parse_time(const char *s, uint64_t *ret_s);

/* Writes SECONDS since 1970 with 10, 12 or 14 digits.  Years beyond 9999 are shown as 9999. */
void dcpi_format_time(uint64_t seconds, unsigned n_digits, char ret[15]);

/* How many digits to write an epoch with: 10, the only form the tools of 0.06 and 0.07 read, or 14
 * where two digits do not hold the year. */
unsigned dcpi_time_digits(uint64_t seconds);

#endif
