/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a profile.db, profile by profile. */
#ifndef HPC_WRITE_PROFILE_H
#define HPC_WRITE_PROFILE_H

#include "formats/hpc/profile.h"

/* The values of a profile in the making, already as the file's bytes.  Zeroed it is empty; one can
 * be filled again and again. */
struct hpc_profile_block {
	uint8_t *values;     /* {Val}, 10 bytes each */
	uint8_t *ctxIndices; /* {Idx}, 12 bytes each */
	size_t n_values, cap_values;
	uint32_t n_ctxs, cap_ctxs;
	uint32_t last_ctxId;
	uint16_t last_metricId;
};

/* Makes room for another value. */
void hpc_profile_block_grow(struct hpc_profile_block *b);

/* Adds a value.  Values must come by growing CTXID and, within a context, by growing METRICID.  A
 * value of 0 is left out, as the format demands. */
static inline void hpc_profile_block_add(struct hpc_profile_block *b, uint32_t ctxId,
					 uint16_t metricId, double value)
{
	uint8_t *v;

	if (value == 0)
		return;
	if (b->n_values == b->cap_values || b->n_ctxs == b->cap_ctxs)
		hpc_profile_block_grow(b);
	if (b->n_ctxs == 0 || ctxId != b->last_ctxId) {
		uint8_t *c = b->ctxIndices + 12 * (size_t)b->n_ctxs++;

		hpc_put32(c, ctxId);
		hpc_put64(c + 4, b->n_values);
		b->last_ctxId = ctxId;
	}
	b->last_metricId = metricId;
	v = b->values + 10 * b->n_values++;
	hpc_put16(v, metricId);
	hpc_putf64(v + 2, value);
}

/* Appends the values of MORE, whose contexts have larger ids. */
void hpc_profile_block_append(struct hpc_profile_block *b, const struct hpc_profile_block *more);

/* Empties B and keeps its memory; hpc_profile_block_release frees it. */
void hpc_profile_block_reset(struct hpc_profile_block *b);
void hpc_profile_block_release(struct hpc_profile_block *b);

/* A profile.db being written. */
struct hpc_profile_writer;
struct hpc_share;

/* Creates NAME in directory DIRFD for N_PROFILES profiles, the summary profile among them, whose
 * identifier tuples hold at most N_IDS identifications together.  A file of that name is truncated.
 * The writer keeps a fixed amount of memory.  Errors: those of openat; -EINVAL for 0 profiles. */
int hpc_profile_create(struct hpc_profile_writer **ret, int dirfd, const char *name,
		       enum hpc_layout layout, uint32_t n_profiles, uint64_t n_ids,
		       struct err *err);

/* Creates NAME like hpc_profile_create, for several processes (SHARE: out.h; NULL: one) that all
 * give the same arguments.  Each process puts the profiles I that hpc_profile_owner says are its
 * own; the first one also puts the summary profile.  Profiles are dealt some at a time and wait in
 * memory until a deal is complete, because handing on a place in the file takes time where
 * processes are many. */
int hpc_profile_create_shared(struct hpc_profile_writer **ret, int dirfd, const char *name,
			      enum hpc_layout layout, uint32_t n_profiles, uint64_t n_ids,
			      const struct hpc_share *share, struct err *err);

/* Which process puts profile INDEX (> 0) of N_PROFILES. */
unsigned hpc_profile_owner(const struct hpc_share *share, uint32_t index, uint32_t n_profiles);

/* Puts profile INDEX: its identifier tuple IDS (N_IDS of 0: none) and its values.  May be called
 * by many threads at once.
 *
 * Each index is put once, an empty profile too, and the summary profile, index 0, after all
 * others.  Blocks lie in the file in the order 1, 2, ..., 0 however many threads there are, so a
 * put waits until those before it have taken their place in the file (not until they are written):
 * threads must take indices in growing order, as from a shared counter.  The first failure fails
 * all puts that wait or follow. */
int hpc_profile_put(struct hpc_profile_writer *w, uint32_t index, const struct hpc_id *ids,
		    size_t n_ids, struct hpc_profile_block *block, struct err *err);

/* Makes all puts that wait or follow fail with -ECANCELED.  For a thread that cannot put the
 * profile whose turn it is. */
void hpc_profile_cancel(struct hpc_profile_writer *w);

/* Completes the file so that it opens, once all but the summary profile were put.  The summary
 * profile is empty for now and must be put afterwards.  -EINVAL: others are missing. */
int hpc_profile_settle(struct hpc_profile_writer *w, struct err *err);

/* Writes what is left of the headers, then the footer, and closes the file; without this it has no
 * footer and does not open.  Syncs nothing.  Frees W in any case.  -EINVAL when not all profiles
 * were put. */
int hpc_profile_finish(struct hpc_profile_writer *w, struct err *err);

/* Closes the file as it is and frees W; NULL is fine. */
void hpc_profile_abandon(struct hpc_profile_writer *w);

#endif
