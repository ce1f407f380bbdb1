/* SPDX-License-Identifier: BSD-2-Clause */
/* The text dcpicat(1) prints for a profile, printed and parsed; docs/formats/dcpi.md, "The text
 * form".
 *
 * A block is header lines and then one row per address with a column per event:
 *
 *     name                 xemacs
 *     image                19970328081403c0c18b
 *     label                foo                     (optional)
 *     path                 /usr/local/bin/xemacs   (any number)
 *     epoch                199805191724
 *     platform             walnut
 *     text_start           0x000120000000
 *     text_size            0x000000800000
 *     event                29 cycles:63488:10000   TOTAL NAME:PERIOD:DUTY
 *     event                27 retired:m1count:4096:5000
 *     event                27 ibs_op@retired:mlatency:4096:5000
 *     0x00012006cbb8      29      27
 *
 * Blocks follow each other, with or without blank lines between; each begins with its `name`. */
#ifndef FORMATS_DCPI_TEXT_H
#define FORMATS_DCPI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#define DCPI_DUTY_ALWAYS 10000 /* the whole time */

struct dcpi_text_event {
	const char *name;    /* an event, or a ProfileMe sample set such as retired^notrap */
	const char *counter; /* the ProfileMe counter behind the set (m1retdelay), of sets with an
				event before an '@' any that begins with m; else NULL */
	uint64_t total;	     /* sum of its column */
	uint64_t period;
	unsigned duty; /* 10000 x the share of the time it was counted */
};

struct dcpi_text {
	struct arena arena;		  /* for the text below, when it was parsed */
	const char *name, *image, *label; /* label: NULL for none */
	const char *epoch, *platform;	  /* epoch: as printed; see dcpi_parse_time */
	VEC(const char *) paths;
	VEC(const char *) others; /* header lines of other words, whole */
	uint64_t text_start, text_bytes;
	VEC(struct dcpi_text_event) events;
	VEC(uint64_t) pcs;    /* rising */
	VEC(uint64_t) counts; /* pcs.n rows of events.n columns */
};

/* Appends T's block to OUT.  Newlines within values are printed as '?', empty
 * values as "unknown". */
void dcpi_text_format(const struct dcpi_text *t, struct str *out);

/* Makes F (not yet in use) the profile file of version 0.MINOR for column EVENT of T, with what
 * dcpiformat wants and the text has; cpuspeed is 0.  Errors: those of dcpi_add_counts, and F is
 * empty then. */
struct dcpi_file;
int dcpi_text_to_file(const struct dcpi_text *t, size_t event, unsigned minor, unsigned stride,
		      struct dcpi_file *f, struct err *err);

/* Where a parser of several blocks is. */
struct dcpi_text_reader {
	const char *p, *end;
	size_t line; /* number of the line at P, from 1 */
};

struct dcpi_text_reader dcpi_text_begin(const char *text, size_t n);

/* Parses the next block into *T: 1, or 0 at the end of the text, or -EBADMSG with the line's number
 * in the message.  Unless 1 is returned T is empty.  Header lines other than those above are passed
 * over. */
int dcpi_text_next(struct dcpi_text_reader *r, struct dcpi_text *t, struct err *err);

/* Whether the N bytes look like a block's beginning. */
bool dcpi_text_probe(const char *text, size_t n);

/* Splits NAME, SET:COUNTER of ProfileMe, at its last colon: that becomes a NUL, and what stood
 * behind it is returned.  NULL for a plain event's name, which stays whole though it may have
 * colons. */
char *dcpi_text_split_counter(char *name);

void dcpi_text_release(struct dcpi_text *t);

#endif
