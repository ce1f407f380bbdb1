/* SPDX-License-Identifier: BSD-2-Clause */
/* See python_lines.h.
 *
 * An entry's first byte has bit 7 set, in bits 3-6 its form, in bits 0-2 how many code units it is
 * for, less one.  Lines are told as differences from the entry before.
 *
 *     form   0-9   same line; one byte of columns
 *            10-12 0, 1 or 2 lines on; two bytes of columns
 *            13    a difference, no columns
 *            14    a difference; three numbers: lines it spans, columns
 *            15    no line
 *
 * Before the first line is told, code without a line is what comes before a function's body: it is
 * taken for the first line.  Numbers are six bits a byte, the lowest first, bit 6 says that more follow; a difference has its
 * sign in bit 0. */
#include "unwind/python_lines.h"

#include "base/rd.h"

enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

static uint32_t python_lines_number(struct rd *r)
{
	uint32_t x = 0;
	uint8_t byte;

	for (unsigned shift = 0; shift < 36; shift += 6) {
		byte = rd_u8(r);
		if (shift < 32)
			x |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			return x;
	}
	r->bad = true;
	return 0;
}

static uint32_t python_lines_difference(struct rd *r)
{
	uint32_t x = python_lines_number(r);

	return x & 1 ? -(x >> 1) : x >> 1;
}

uint32_t python_line(const uint8_t *table, size_t n, uint32_t first, uint32_t unit)
{
	struct rd r = rd_init(table, n);
	uint32_t line = first, end = 0;
	bool begun = false;

	while (rd_left(&r)) {
		uint8_t head = rd_u8(&r);
		unsigned form = head >> 3 & 15;

		if (!(head & 128))
			return 0;
		end += (head & 7) + 1u;
		if (form == FORM_NO_COLUMNS || form == FORM_LONG)
			line += python_lines_difference(&r);
		else if (form >= FORM_ONE_LINE && form < FORM_NO_COLUMNS)
			line += form - FORM_ONE_LINE;
		if (form < FORM_ONE_LINE)
			rd_u8(&r);
		else if (form < FORM_NO_COLUMNS)
			rd_le16(&r);
		else if (form == FORM_LONG)
			for (int i = 0; i < 3; i++)
				python_lines_number(&r);
		if (r.bad)
			return 0;
		if (unit < end)
			return (form == FORM_NONE && begun) || (int32_t)line < 0 ? 0 : line;
		begun |= form != FORM_NONE;
	}
	return 0;
}
