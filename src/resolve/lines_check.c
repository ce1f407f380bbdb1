/* SPDX-License-Identifier: BSD-2-Clause */
/* Refuses line tables that would cost more than they are worth, before libdw decodes them.
 *
 * libdw checks every read against its section, but it makes one row for each byte of a program that
 * wants it so, and copies a full path for each file: a table of a few hundred KB that pairs a long
 * directory with many short names asks for gigabytes.  So the header is walked first and the work
 * it asks for is added up, stopping at the limit: every string is counted as often as it is used,
 * and so this walk is bounded as well.
 *
 * Sources: DWARF 5, 6.2.4 "The Line Number Program Header", 7.5.6 "Form Encodings" (table 7.6);
 * DWARF 4, 6.2.4 for versions 2 to 4. */
#include <dwarf.h>
#include <string.h>

#include "base/rd.h"
#include "resolve/lines_impl.h"

struct walk {
	struct rd r; /* the header */
	struct rd line_str, str;
	bool is_64;	  /* 8-byte offsets */
	uint64_t n_spent; /* bytes of names libdw will read and copy */
	VEC(size_t) dirs; /* length of each directory's name */
};

static void spend(struct walk *w, uint64_t n_bytes)
{
	w->n_spent += n_bytes;
	if (w->n_spent > LINES_MAX_NAMES)
		w->r.bad = true;
}

/* Steps over a NUL-terminated string and returns its length. */
static size_t lines_check_string(struct rd *r)
{
	const uint8_t *nul = rd_left(r) ? memchr(r->p, '\0', rd_left(r)) : NULL;
	size_t n;

	if (!nul) {
		r->bad = true;
		return 0;
	}
	n = (size_t)(nul - r->p);
	r->p = nul + 1;
	return n;
}

/* Length of the string at OFF of a string section. */
static size_t string_at(struct walk *w, struct rd section, uint64_t off)
{
	size_t n;

	if (off >= rd_left(&section)) {
		w->r.bad = true;
		return 0;
	}
	section.p += off;
	n = lines_check_string(&section);
	w->r.bad |= section.bad;
	return n;
}

static uint64_t offset(struct walk *w)
{
	return w->is_64 ? rd_le64(&w->r) : rd_le32(&w->r);
}

/* Reads one value; a string's length goes to *RET_LENGTH, a number to *RET_VALUE. */
static void form(struct walk *w, uint64_t form, size_t *ret_length, uint64_t *ret_value)
{
	switch (form) {
	case DW_FORM_string:
		*ret_length = lines_check_string(&w->r);
		break;
	case DW_FORM_line_strp:
		*ret_length = string_at(w, w->line_str, offset(w));
		break;
	case DW_FORM_strp:
		*ret_length = string_at(w, w->str, offset(w));
		break;
	case DW_FORM_udata:
		*ret_value = rd_uleb(&w->r);
		break;
	case DW_FORM_data1:
		*ret_value = rd_u8(&w->r);
		break;
	case DW_FORM_data2:
		*ret_value = rd_le16(&w->r);
		break;
	case DW_FORM_data4:
		*ret_value = rd_le32(&w->r);
		break;
	case DW_FORM_data8:
		*ret_value = rd_le64(&w->r);
		break;
	case DW_FORM_data16: /* MD5 */
		rd_bytes(&w->r, 16);
		break;
	case DW_FORM_block:
		rd_bytes(&w->r, rd_uleb(&w->r));
		break;
	default:
		w->r.bad = true;
	}
}

/* DWARF 5: a table of directories or, IS_FILES, of files, preceded by its format. */
static void table(struct walk *w, bool is_files)
{
	struct {
		uint64_t content, form;
	} format[255];
	unsigned n_format = rd_u8(&w->r);
	uint64_t n;

	for (unsigned i = 0; i < n_format; i++) {
		format[i].content = rd_uleb(&w->r);
		format[i].form = rd_uleb(&w->r);
	}
	n = rd_uleb(&w->r);
	if (n && !n_format)
		w->r.bad = true; /* entries of no bytes */
	for (; n && !w->r.bad; n--) {
		size_t length = 0;
		uint64_t dir = 0;

		for (unsigned i = 0; i < n_format; i++) {
			size_t l = 0;
			uint64_t value = 0;

			form(w, format[i].form, &l, &value);
			if (format[i].content == DW_LNCT_path)
				length = l;
			else if (format[i].content == DW_LNCT_directory_index)
				dir = value;
			spend(w, l + 1);
		}
		if (!is_files)
			vec_push(&w->dirs, length);
		else if (dir < w->dirs.n)
			spend(w, length + w->dirs.v[dir] + w->dirs.v[0]);
	}
}

/* DWARF 2 to 4: two lists of strings, each ended by an empty one. */
static void lists(struct walk *w, size_t n_comp_dir)
{
	size_t n;

	vec_push(&w->dirs, n_comp_dir);
	while ((n = lines_check_string(&w->r)) > 0) {
		vec_push(&w->dirs, n);
		spend(w, n);
	}
	while ((n = lines_check_string(&w->r)) > 0) {
		uint64_t dir = rd_uleb(&w->r);

		rd_uleb(&w->r); /* time */
		rd_uleb(&w->r); /* size */
		if (dir < w->dirs.n)
			spend(w, n + w->dirs.v[dir] + n_comp_dir);
	}
}

bool lines_check_unit(struct rd line, struct rd line_str, struct rd str, uint64_t off,
		      size_t n_comp_dir)
{
	struct walk w = {.r = line, .line_str = line_str, .str = str};
	uint64_t length, header_length;
	unsigned version;
	bool ok;

	if (off >= rd_left(&line))
		return false;
	w.r.p += off;
	length = rd_le32(&w.r);
	w.is_64 = length == 0xffffffff; /* DWARF 5, 7.4: the 64-bit format */
	if (w.is_64)
		length = rd_le64(&w.r);
	if (length > rd_left(&w.r) || length > LINES_MAX_UNIT_BYTES)
		return false;
	w.r.end = w.r.p + length;
	version = rd_le16(&w.r);
	if (version < 2 || version > 5)
		return false;
	if (version == 5)
		rd_bytes(&w.r, 2); /* sizes of an address and a segment selector */
	header_length = offset(&w);
	if (w.r.bad || header_length > rd_left(&w.r))
		return false;
	w.r.end = w.r.p + header_length;
	/* minimum_instruction_length, maximum_operations_per_instruction (since 4),
	 * default_is_stmt, line_base, line_range */
	rd_bytes(&w.r, version >= 4 ? 5 : 4);
	length = rd_u8(&w.r); /* opcode_base; standard_opcode_lengths has one byte less */
	rd_bytes(&w.r, length ? length - 1 : 0);
	if (version == 5) {
		table(&w, false);
		if (!w.r.bad)
			table(&w, true);
	} else {
		lists(&w, n_comp_dir);
	}
	ok = !w.r.bad;
	vec_release(&w.dirs);
	return ok;
}
