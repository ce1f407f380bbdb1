/* SPDX-License-Identifier: BSD-2-Clause */
/* Small files of text that end in a checksum of what stands before: "sum HEX\n".  A flipped bit in
 * one is noticed. */
#ifndef STORE_SUMMED_H
#define STORE_SUMMED_H

#include <stdbool.h>

#include "base/str.h"

/* Adds the line to S. */
void summed_end(struct str *s);

/* Cuts the line off the N bytes at TEXT; false: it is not there, or not right. */
bool summed_check(char *text, size_t n);

/* What DB/daemon.HOST says of who holds its lock: "dwelld, process N"
 * (docs/formats/manifest.md). */
void holder_format(int pid, struct str *s);

/* Whether the N bytes at TEXT, which it takes apart, are such a file: one without a checksum is of
 * 0.1.0, and an empty one of a daemon that found no room for it. */
bool holder_check(char *text, size_t n);

#endif
