/* SPDX-License-Identifier: BSD-2-Clause */
/* See hotspot_lines.h.
 *
 * A ConstMethod's table of lines is a list of pairs, by how much bytecode and line go on from the
 * pair before.  A byte holds a pair of small ones, 5 bits of bytecode and 3 of line; 0 ends the
 * list; 0xff announces two numbers of one to five bytes each, the sign in the lowest bit
 * (share/oops/{lineNumberStream,constMethod}.hpp, share/code/compressedStream.cpp, OpenJDK 17).
 * For example 0a 2b: bytecode 1 begins line 2, bytecode 6 line 5. */
#include "unwind/hotspot_lines.h"

#include "base/rd.h"
#include "unwind/hotspot_state.h"

/* UNSIGNED5: bytes from 192 on have another one behind them, each counts 64 times as much.  Since
 * JDK 20 no byte is 0: each is EXTRA, 1, more (share/utilities/unsigned5.hpp). */
static uint32_t hotspot_lines_number(struct rd *r, uint32_t extra)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 5; i++) {
		uint32_t b = rd_u8(r);

		sum += (b - extra) << (6 * i);
		if (b < 192)
			break;
	}
	return sum;
}

static uint32_t hotspot_lines_signed(struct rd *r, uint32_t extra)
{
	uint32_t n = hotspot_lines_number(r, extra);

	return n >> 1 ^ -(n & 1);
}

/* Goes on by one pair; false at the end. */
static bool hotspot_lines_next(struct rd *r, enum interpreter interpreter, uint32_t *bci,
			       uint32_t *line)
{
	const uint32_t extra = HOTSPOT_LAYOUT(interpreter)->counts_on;
	uint32_t b = rd_left(r) ? rd_u8(r) : 0;

	if (!b)
		return false;
	if (b == 0xff) {
		*bci += hotspot_lines_signed(r, extra);
		*line += hotspot_lines_signed(r, extra);
	} else {
		*bci += b >> 3;
		*line += b & 7;
	}
	return !r->bad;
}

uint32_t hotspot_first_line(enum interpreter interpreter, const uint8_t *table, size_t n)
{
	struct rd r = rd_init(table, n);
	uint32_t bci = 0, line = 0, least = 0;

	while (hotspot_lines_next(&r, interpreter, &bci, &line))
		if (!least || line < least)
			least = line;
	return least;
}

uint32_t hotspot_line(enum interpreter interpreter, const uint8_t *table, size_t n, uint32_t bci)
{
	struct rd r = rd_init(table, n);
	uint32_t at = 0, line = 0, found = 0, nearest = 0;

	while (hotspot_lines_next(&r, interpreter, &at, &line)) /* it need not ascend */
		if (at <= bci && (!found || at >= nearest)) {
			found = line;
			nearest = at;
		}
	return found;
}
