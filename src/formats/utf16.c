/* SPDX-License-Identifier: BSD-2-Clause */
/* See utf16.h.  "a" of UTF-16 in little endian order is 61 00; a character beyond U+FFFF is a pair:
 * U+1F600 is D83D DE00, of which each half has ten of its bits (Unicode 15.0, 3.9). */
#include "formats/utf16.h"

#define UNKNOWN 0xfffdu

size_t utf8_mark(const uint8_t *bytes, size_t n)
{
	return n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool utf16_probe(const uint8_t *bytes, size_t n)
{
	return n >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0);
}

static uint32_t read_unit(struct rd *r, bool big)
{
	const uint16_t v = rd_le16(r);

	return big ? (uint32_t)(uint16_t)(v << 8 | v >> 8) : v;
}

static void put_utf8(struct wr *w, uint32_t c)
{
	if (c < 0x80) {
		wr_u8(w, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		wr_u8(w, (uint8_t)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		wr_u8(w, (uint8_t)(0xe0 | c >> 12));
		wr_u8(w, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	} else {
		wr_u8(w, (uint8_t)(0xf0 | c >> 18));
		wr_u8(w, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		wr_u8(w, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	}
	wr_u8(w, (uint8_t)(0x80 | (c & 0x3f)));
}

static bool is_first_half(uint32_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_second_half(uint32_t unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

void utf16_read(const uint8_t *bytes, size_t n, struct wr *ret)
{
	const bool big = n >= 2 && bytes[0] == 0xfe;
	struct rd r = rd_init(bytes, n);
	uint32_t first = 0; /* half of a pair that waits for its other half */

	rd_bytes(&r, n < 2 ? n : 2);
	while (rd_left(&r) >= 2) {
		const uint32_t unit = read_unit(&r, big);

		if (first && is_second_half(unit)) {
			put_utf8(ret, 0x10000 + ((first & 0x3ff) << 10) + (unit & 0x3ff));
			first = 0;
			continue;
		}
		if (first)
			put_utf8(ret, UNKNOWN);
		first = is_first_half(unit) ? unit : 0;
		if (!first)
			put_utf8(ret, is_second_half(unit) ? UNKNOWN : unit);
	}
	if (first || rd_left(&r))
		put_utf8(ret, UNKNOWN);
}
