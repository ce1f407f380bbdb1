/* SPDX-License-Identifier: BSD-2-Clause */
/* What the checks of profile.db, cct.db and trace.db share: their frame, their sections, and that
 * nothing overlaps. */
#ifndef FORMATS_HPC_CHECK_FILE_H
#define FORMATS_HPC_CHECK_FILE_H

#include "base/vec.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/frame.h"
#include "formats/hpc/le.h"

/* Bytes [P, END) that the pointer at AT claims. */
struct hpc_extent {
	uint64_t p, end, at;
	const char *structure, *field; /* of the pointer */
};

struct hpc_file_check {
	struct hpc_check *c;
	const char *name;
	const uint8_t *bytes;
	uint64_t n_bytes; /* without the footer */
	VEC(struct hpc_extent) extents;
};

/* Begins to check a file: header and footer.  False when it is not one of F at all, which is
 * reported. */
bool hpc_file_check_begin(struct hpc_file_check *x, const struct hpc_frame *f, struct hpc_check *c,
			  const void *bytes, size_t n_bytes, const char *name);

/* The section whose size and pointer stand at AT_SIZE and AT_SIZE + 8 of the header: within the
 * file, aligned to 8, of at least LEAST bytes.  False when it cannot be looked at. */
bool hpc_file_check_section(struct hpc_file_check *x, uint64_t at_size, const char *size_field,
			    const char *pointer_field, uint64_t least);

/* The array of N elements of STRIDE bytes that the pointer at AT (8 bytes, aligned to 8 itself)
 * names must lie in the section [P, P + SZ) and be aligned to 8.  False when it does not. */
bool hpc_file_check_array(struct hpc_file_check *x, uint64_t at, uint64_t n, uint64_t stride,
			  uint64_t p, uint64_t sz, const char *structure, const char *field);

/* The table that a section begins with: its header has pArray at 00, the number of elements (u32)
 * at 08 and the size of each (u8) at 0c, which is LEAST at least.  The section is the one whose
 * pointer stands at 18 of the file's header, and was checked.  Returns how many elements can be
 * looked at. */
uint32_t hpc_file_check_table(struct hpc_file_check *x, const char *structure,
			      const char *size_field, const char *pointer_field, uint8_t least);

/* The array of N elements of STRIDE bytes outside all sections that the pointer at AT names, at a
 * multiple of ALIGN.  Nothing is asked of an empty one.  False when it does not lie in the file. */
bool hpc_file_check_block(struct hpc_file_check *x, uint64_t at, uint64_t n, uint64_t stride,
			  unsigned align, const char *structure, const char *field);

/* The padding between the values that end at END and the indices at P_INDICES, which the pointer at
 * AT names: less than MOST bytes. */
void hpc_file_check_gap(struct hpc_file_check *x, uint64_t at, const char *structure,
			const char *field, uint64_t end, uint64_t p_indices, uint64_t most);

/* A list of values ({Val}) or of indices ({Idx}): ids rise, no value is zero, each index begins at
 * least one value. */
struct hpc_file_check_list {
	const char *structure; /* of an element */
	const char *field;     /* its id */
	const char *noun;      /* of indices: what has values, "metric" */
	const char *in;	       /* where the list is, " in context 5"; NULL: that is not said */
	int64_t last;	       /* the id before; -1: none */
};

/* Takes the element at AT, whose id is ID.  False when it does not rise, which is reported. */
bool hpc_file_check_rises(struct hpc_file_check *x, struct hpc_file_check_list *l, uint64_t at,
			  int64_t id);

/* Takes the value at AT; V must not be 0.  False when it is wrong, which is reported. */
bool hpc_file_check_value(struct hpc_file_check *x, struct hpc_file_check_list *l, uint64_t at,
			  int64_t id, uint64_t at_value, double v);

/* Takes index I at AT, whose start at AT_START is good when IS_SOUND and, of the first one, 0. */
bool hpc_file_check_index(struct hpc_file_check *x, const struct hpc_file_check_list *l, uint32_t i,
			  uint64_t at_start, bool is_sound, uint64_t n_values);

/* Reports N indices, at AT, when it is 0 and there are values. */
void hpc_file_check_no_index(struct hpc_file_check *x, uint64_t at, const char *structure,
			     const char *field, uint64_t n, uint64_t n_values);

/* Reports extents that overlap, and frees what X holds. */
void hpc_file_check_end(struct hpc_file_check *x);

#define hpc_file_problem(x, ...) hpc_problem((x)->c, (x)->name, __VA_ARGS__)

#endif
