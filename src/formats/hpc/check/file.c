/* SPDX-License-Identifier: BSD-2-Clause */
/* See file.h.  A file's extents are collected while it is gone through and sorted in the end,
 * so memory is some bytes for each structure of the file that was seen to lie in it. */
#include "formats/hpc/check/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_extent(struct hpc_file_check *x, uint64_t p, uint64_t n, uint64_t at,
		       const char *structure, const char *field)
{
	if (n)
		vec_push(&x->extents, (struct hpc_extent){p, p + n, at, structure, field});
}

bool hpc_file_check_begin(struct hpc_file_check *x, const struct hpc_frame *f, struct hpc_check *c,
			  const void *bytes, size_t n_bytes, const char *name)
{
	*x = (struct hpc_file_check){.c = c, .name = name, .bytes = bytes};
	if (n_bytes < f->sz_header + 8) {
		hpc_file_problem(x, n_bytes, "header", "", "the file ends within it");
		return false;
	}
	if (memcmp(x->bytes, f->magic, 14) != 0) {
		hpc_file_problem(x, 0, "header", "magic", "does not read %s", f->magic);
		return false;
	}
	if (x->bytes[0x0e] != HPC_MAJOR) {
		hpc_file_problem(x, 0x0e, "header", "majorVersion", "%u, must be %u",
				 x->bytes[0x0e], HPC_MAJOR);
		return false;
	}
	x->n_bytes = n_bytes;
	if (memcmp(x->bytes + n_bytes - 8, f->footer, 8) != 0)
		hpc_file_problem(x, n_bytes - 8, "footer", "", "does not read %s", f->footer);
	else
		x->n_bytes -= 8;
	add_extent(x, 0, f->sz_header, 0, "header", "");
	return true;
}

bool hpc_file_check_section(struct hpc_file_check *x, uint64_t at_size, const char *size_field,
			    const char *pointer_field, uint64_t least)
{
	uint64_t sz = hpc_le64(x->bytes + at_size), p = hpc_le64(x->bytes + at_size + 8);

	if (!hpc_lies_within(x->n_bytes, p, sz, 1)) {
		hpc_file_problem(x, at_size + 8, "header", pointer_field,
				 "%#" PRIx64 " and %" PRIu64 " bytes do not lie in the file", p,
				 sz);
		return false;
	}
	add_extent(x, p, sz, at_size + 8, "header", pointer_field);
	if (p % 8)
		hpc_file_problem(x, at_size + 8, "header", pointer_field,
				 "%#" PRIx64 " is not a multiple of 8", p);
	if (sz >= least)
		return true;
	hpc_file_problem(x, at_size, "header", size_field,
			 "%" PRIu64 ", must be %" PRIu64 " at least", sz, least);
	return false;
}

bool hpc_file_check_array(struct hpc_file_check *x, uint64_t at, uint64_t n, uint64_t stride,
			  uint64_t p, uint64_t sz, const char *structure, const char *field)
{
	uint64_t to = hpc_le64(x->bytes + at);

	if (n == 0)
		return true;
	if (to % 8)
		hpc_file_problem(x, at, structure, field, "%#" PRIx64 " is not a multiple of 8",
				 to);
	if (to >= p && hpc_lies_within(sz, to - p, n, stride))
		return true;
	hpc_file_problem(x, at, structure, field,
			 "%#" PRIx64 ": %" PRIu64 " times %" PRIu64
			 " bytes do not lie in the section",
			 to, n, stride);
	return false;
}

uint32_t hpc_file_check_table(struct hpc_file_check *x, const char *structure,
			      const char *size_field, const char *pointer_field, uint8_t least)
{
	uint64_t sz = hpc_le64(x->bytes + 0x10), p = hpc_le64(x->bytes + 0x18);
	uint32_t n = hpc_le32(x->bytes + p + 0x08);
	uint8_t size = x->bytes[p + 0x0c];

	if (n && size < least) {
		hpc_file_problem(x, p + 0x0c, structure, size_field, "%u, must be %u at least",
				 size, least);
		return 0;
	}
	return hpc_file_check_array(x, p, n, size, p, sz, structure, pointer_field) ? n : 0;
}

bool hpc_file_check_block(struct hpc_file_check *x, uint64_t at, uint64_t n, uint64_t stride,
			  unsigned align, const char *structure, const char *field)
{
	uint64_t to = hpc_le64(x->bytes + at);

	if (n == 0)
		return true;
	if (to % align)
		hpc_file_problem(x, at, structure, field, "%#" PRIx64 " is not a multiple of %u",
				 to, align);
	if (!hpc_lies_within(x->n_bytes, to, n, stride)) {
		hpc_file_problem(x, at, structure, field,
				 "%#" PRIx64 ": %" PRIu64 " times %" PRIu64
				 " bytes do not lie in the file",
				 to, n, stride);
		return false;
	}
	add_extent(x, to, n * stride, at, structure, field);
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct hpc_extent *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end; /* what holds others comes first */
}

void hpc_file_check_gap(struct hpc_file_check *x, uint64_t at, const char *structure,
			const char *field, uint64_t end, uint64_t p_indices, uint64_t most)
{
	if (p_indices < end || p_indices - end >= most)
		hpc_file_problem(x, at, structure, field,
				 "%#" PRIx64 " does not follow the values, which end at %#" PRIx64,
				 p_indices, end);
}

bool hpc_file_check_rises(struct hpc_file_check *x, struct hpc_file_check_list *l, uint64_t at,
			  int64_t id)
{
	if (id <= l->last) {
		hpc_file_problem(x, at, l->structure, l->field,
				 "%" PRId64 " comes after %" PRId64 "%s", id, l->last,
				 l->in ? l->in : "");
		return false;
	}
	l->last = id;
	return true;
}

bool hpc_file_check_value(struct hpc_file_check *x, struct hpc_file_check_list *l, uint64_t at,
			  int64_t id, uint64_t at_value, double v)
{
	if (!hpc_file_check_rises(x, l, at, id))
		return false;
	if (v == 0)
		hpc_file_problem(x, at_value, l->structure, "value", "is zero");
	return v != 0;
}

bool hpc_file_check_index(struct hpc_file_check *x, const struct hpc_file_check_list *l, uint32_t i,
			  uint64_t at_start, bool is_sound, uint64_t n_values)
{
	const uint64_t start = hpc_le64(x->bytes + at_start);

	if (is_sound && (i || start == 0))
		return true;
	hpc_file_problem(x, at_start, l->structure, "startIndex",
			 "%" PRIu64 " does not begin the values of %s number %u of %" PRIu64
			 " values",
			 start, l->noun, i, n_values);
	return false;
}

void hpc_file_check_no_index(struct hpc_file_check *x, uint64_t at, const char *structure,
			     const char *field, uint64_t n, uint64_t n_values)
{
	if (n == 0 && n_values)
		hpc_file_problem(x, at, structure, field, "0, but there are %" PRIu64 " values",
				 n_values);
}

void hpc_file_check_end(struct hpc_file_check *x)
{
	const struct hpc_extent *last = NULL; /* of those seen the one that reaches farthest */

	vec_sort(&x->extents, by_place);
	vec_each (e, &x->extents) {
		if (last && e->p < last->end)
			hpc_file_problem(x, e->at, e->structure, e->field,
					 "bytes [%#" PRIx64 ", %#" PRIx64
					 ") overlap those of %s %s at %#" PRIx64,
					 e->p, e->end, last->structure, last->field, last->at);
		if (!last || e->end > last->end)
			last = e;
	}
	vec_release(&x->extents);
}
