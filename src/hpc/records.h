/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile's values before they have a place in the database, grouped by profile: they come in
 * the order inputs have them, and are asked for one profile after the other.
 *
 * Memory is one buffer, however many there are: when it is full its records are sorted by group and
 * written to a nameless file, as one run for each group.  What inputs have sorted already, as
 * segments do, costs no sorting.  Reading is for many threads at once, each with its reader. */
#ifndef HPC_RECORDS_H
#define HPC_RECORDS_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

struct hpc_record {
	uint64_t n;	/* > 0 */
	uint32_t group; /* whose: a number of the caller's */
	uint32_t ctx;	/* of the input, as the event is */
	uint16_t event; /* with RECORD_WEIGHT: N is what its samples weigh, not their number */
	uint16_t input; /* RECORD_NUMBERED: a ctxId and a metric, N what it stands for */
};

#define RECORD_NUMBERED UINT16_MAX
#define RECORD_WEIGHT	0x8000u

struct records_run {
	uint64_t first; /* number of its first record */
	uint32_t group;
	uint32_t n;
};

struct records {
	struct hpc_record *buffer, *scratch;
	size_t n_buffered, n_buffer;
	uint64_t n;		      /* all */
	VEC(struct records_run) runs; /* of what is in the file; in the end by group */
	VEC(size_t) first_run;	      /* by group, when finished */
	const char *dir;
	int fd; /* -1: all is in the buffer */
};

/* DIR is where a file may be made; it must live as long.  BUFFER_BYTES of 0: 32 MB. */
void records_init(struct records *r, const char *dir, size_t buffer_bytes);
void records_release(struct records *r);

/* Adds one.  Errors of writing: -ENOSPC ... */
int records_spill(struct records *r, struct err *err);
static inline int records_add(struct records *r, const struct hpc_record *record, struct err *err)
{
	if (r->n_buffered == r->n_buffer) {
		int rc = records_spill(r, err);

		if (rc < 0)
			return rc;
	}
	r->buffer[r->n_buffered++] = *record;
	r->n++;
	return 0;
}

/* Nothing is added from now on; groups are below N_GROUPS. */
int records_finish(struct records *r, uint32_t n_groups, struct err *err);

/* Reads the records of GROUP from the beginning. */
struct records_reader {
	const struct records *records;
	struct hpc_record *buffer;
	size_t run, end_run;
	uint32_t done; /* of the run */
};

void records_reader_init(struct records_reader *rd, const struct records *r);
void records_reader_release(struct records_reader *rd);
void records_begin(struct records_reader *rd, uint32_t group);

/* The next few records in *RET, which stay until the next call: how many, 0 at the end, or -errno
 * of reading. */
int records_next(struct records_reader *rd, const struct hpc_record **ret, struct err *err);

#endif
