/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers that a record of counts is made of, for who writes it and who reads it. */
#ifndef FORMATS_JOURNAL_SECTIONS_H
#define FORMATS_JOURNAL_SECTIONS_H

/* What a value says besides its context and count: */
#define VALUE_KEY  1u /* owner, vector and event follow: they are not those of the value before */
#define VALUE_SUM  2u /* a sum follows */
#define VALUE_BITS 2  /* these take so many bits */

/* Sections behind the values.  A reader passes over one it does not know, unless its number is odd:
 * then it refuses the record. */
enum {
	SECTION_MINUTES = 4,
	SECTION_ACCESSES = 6,
	SECTION_CONTAINERS = 8,
	SECTION_SCRIPTS = 9,
	SECTION_THREAD_NAMES = 11,
	SECTION_BRANCHES = 12
};

#endif
