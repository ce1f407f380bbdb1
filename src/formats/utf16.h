/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts that begin with a byte order mark (Unicode 15.0, 23.8): what Windows' shells and editors
 * write. */
#ifndef FORMATS_UTF16_H
#define FORMATS_UTF16_H

#include <stdbool.h>

#include "base/rd.h"
#include "base/wr.h"

/* How many bytes of UTF-8's mark the N bytes begin with: 3 or 0. */
size_t utf8_mark(const uint8_t *bytes, size_t n);

/* Whether the N bytes begin with UTF-16's mark, of either byte order. */
bool utf16_probe(const uint8_t *bytes, size_t n);

/* Appends the text of the N bytes, which utf16_probe takes, to RET as UTF-8 without the mark: at
 * most 3 bytes for every 2.  U+FFFD stands for half of a pair and for a last byte that is alone. */
void utf16_read(const uint8_t *bytes, size_t n, struct wr *ret);

#endif
