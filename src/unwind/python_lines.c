/* SPDX-License-Identifier: BSD-2-Clause */
/* See python_lines.h.
 *
 * Since 3.11 (CPython, Objects/locations.md) an entry's first byte has bit 7 set, in bits 3-6 its
 * form, in bits 0-2 how many code units it is for, less one.  Lines are told as differences from
 * the entry before.
 *
 *     form   0-9   same line; one byte of columns
 *            10-12 0, 1 or 2 lines on; two bytes of columns
 *            13    a difference, no columns
 *            14    a difference; three numbers: lines it spans, columns
 *            15    no line
 *
 * Before the first line is told, code without a line is what comes before a function's body: it is
 * taken for the first line.  Numbers are six bits a byte, the lowest first, bit 6 says that more
 * follow; a difference has its sign in bit 0. */
#include "unwind/python_lines.h"

#include "base/rd.h"
#include "unwind/script_record.h"

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

/* 3.8, 3.9: pairs of bytes of code and of lines that the next ones are on; CPython 3.9,
 * Objects/codeobject.c, PyCode_Addr2Line. */
static uint32_t python_lines_pairs_3_8(struct rd *r, uint32_t line, uint32_t at)
{
	uint32_t end = 0;

	const bool whole = rd_left(r) < SCRIPT_LINE_BYTES; /* all code behind has the last line */

	while (rd_left(r) >= 2) {
		end += rd_u8(r);
		if (end > at)
			return (int32_t)line < 0 ? 0 : line;
		line += (uint32_t)(int8_t)rd_u8(r);
	}
	return !whole || (int32_t)line < 0 ? 0 : line;
}

/* 3.10: pairs of lines that these bytes of code are on, -128 where they have none, and of how many
 * bytes; CPython 3.10, Objects/lnotab_notes.txt. */
static uint32_t python_lines_pairs_3_10(struct rd *r, uint32_t line, uint32_t at)
{
	uint32_t end = 0;

	while (rd_left(r) >= 2) {
		int8_t by;

		end += rd_u8(r);
		by = (int8_t)rd_u8(r);
		if (by != -128)
			line += (uint32_t)by;
		if (at < end)
			return by == -128 || (int32_t)line < 0 ? 0 : line;
	}
	return 0;
}

static uint32_t python_lines_entries(struct rd *r, uint32_t first, uint32_t unit)
{
	uint32_t line = first, end = 0;
	bool begun = false;

	while (rd_left(r)) {
		uint8_t head = rd_u8(r);
		unsigned form = head >> 3 & 15;

		if (!(head & 128))
			return 0;
		end += (head & 7) + 1u;
		if (form == FORM_NO_COLUMNS || form == FORM_LONG)
			line += python_lines_difference(r);
		else if (form >= FORM_ONE_LINE && form < FORM_NO_COLUMNS)
			line += form - FORM_ONE_LINE;
		if (form < FORM_ONE_LINE)
			rd_u8(r);
		else if (form < FORM_NO_COLUMNS)
			rd_le16(r);
		else if (form == FORM_LONG)
			for (int i = 0; i < 3; i++)
				python_lines_number(r);
		if (r->bad)
			return 0;
		if (unit < end)
			return (form == FORM_NONE && begun) || (int32_t)line < 0 ? 0 : line;
		begun |= form != FORM_NONE;
	}
	return 0;
}

uint32_t python_line(enum interpreter interpreter, const uint8_t *table, size_t n, uint32_t first,
		     uint32_t unit)
{
	struct rd r = rd_init(table, n);

	if (unit > UINT32_MAX / 2)
		return 0;
	if (interpreter >= INTERPRETER_PYTHON_3_11)
		return python_lines_entries(&r, first, unit);
	if (interpreter == INTERPRETER_PYTHON_3_10)
		return python_lines_pairs_3_10(&r, first, 2 * unit);
	return python_lines_pairs_3_8(&r, first, 2 * unit);
}
