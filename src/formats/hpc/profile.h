/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.db of an HPCToolkit database: the values of each profile (thread), by context and metric
 * (docs/formats/hpctoolkit.md).
 *
 * Reading decodes nothing ahead: hpc_profile_db_open looks at the headers only, whatever the file's
 * size, and a profile's arrays are searched where they lie.
 *
 *     hpc_profile_open(&p, &db, index, &err);
 *     hpc_profile_value(&p, ctxId, metricId, &value, &err);
 *     for (uint32_t i = 0; i < p.nCtxs; i++) {
 *             hpc_profile_ctx(&p, i, &c, &err);
 *             for (uint64_t k = 0; k < c.n; k++)
 *                     struct hpc_value v = hpc_ctx_value(&c, k);
 *     }
 *
 * Writing is made for many threads that each fill a struct hpc_profile_block and put it; see
 * hpc_profile_create. */
#ifndef FORMATS_HPC_PROFILE_H
#define FORMATS_HPC_PROFILE_H

#include "base/err.h"
#include "formats/hpc/hpc.h"
#include "formats/hpc/le.h"

/* An open profile.db. */
struct hpc_profile_db {
	const uint8_t *bytes;
	size_t n_bytes;
	const char *name; /* for errors */
	enum hpc_layout layout;
	uint8_t majorVersion, minorVersion;
	uint64_t szProfileInfos, pProfileInfos;
	uint64_t szIdTuples, pIdTuples;
	uint64_t pProfiles; /* {PI}[nProfiles], szProfile bytes each */
	uint32_t nProfiles; /* with the summary profile */
	uint8_t szProfile;
};

/* One profile of an open file; its arrays lie within the file. */
struct hpc_profile {
	const struct hpc_profile_db *db;
	uint32_t index;
	bool isSummary; /* values have statMetricIds, not propMetricIds */
	uint64_t nValues, pValues;
	uint64_t pCtxIndices, pIdTuple; /* pIdTuple is 0 when there is none */
	uint32_t nCtxs;
	uint32_t flags;
	const uint8_t *values;	   /* nValues {Val} */
	const uint8_t *ctxIndices; /* nCtxs {Idx} */
};

/* The values of one context in one profile, by growing metricId. */
struct hpc_ctx_values {
	uint32_t ctxId;
	uint64_t n;
	const uint8_t *values; /* n {Val} */
};

/* Opens the N_BYTES of a profile.db, which must stay as they are while DB and what was opened from
 * it are used.  NAME is the file's, for errors; it must live as long.  -EBADMSG for what is no
 * profile.db or is damaged in its headers or footer, -ENODATA when it is too short,
 * -EPROTONOSUPPORT for a larger major version.  Nothing is to be released. */
int hpc_profile_db_open(struct hpc_profile_db *db, const void *bytes, size_t n_bytes,
			const char *name, struct err *err);

/* Opens profile INDEX.  -ENOENT when there is no such profile, -EBADMSG when its {PI} is damaged or
 * its arrays do not lie in the file. */
int hpc_profile_open(struct hpc_profile *p, const struct hpc_profile_db *db, uint32_t index,
		     struct err *err);

/* Decodes the identifier tuple of P: at most MAX of it to IDS.  Returns how many there are (0
 * when it has none), or -EBADMSG. */
int hpc_profile_ids(const struct hpc_profile *p, struct hpc_id *ids, size_t max, struct err *err);

/* The I-th context that has values in P (below nCtxs); contexts come by growing ctxId.  -EBADMSG
 * when its {Idx} is damaged. */
int hpc_profile_ctx(const struct hpc_profile *p, uint32_t i, struct hpc_ctx_values *ret,
		    struct err *err);

/* The values of context CTXID in P, none when it has none there: binary search. */
int hpc_profile_find_ctx(const struct hpc_profile *p, uint32_t ctxId, struct hpc_ctx_values *ret,
			 struct err *err);

/* The smallest I for which the I-th context of P has an id of at least CTXID; nCtxs when none
 * has. */
uint32_t hpc_profile_ctx_from(const struct hpc_profile *p, uint32_t ctxId);

/* The I-th value of a context. */
static inline struct hpc_value hpc_ctx_value(const struct hpc_ctx_values *c, uint64_t i)
{
	const uint8_t *v = c->values + 10 * i;

	return (struct hpc_value){hpc_le16(v), hpc_lef64(v + 2)};
}

/* The value of METRICID in a context, 0 when it has none: binary search. */
double hpc_ctx_values_find(const struct hpc_ctx_values *c, uint16_t metricId);

/* The value of METRICID in context CTXID of P, 0 when it has none: two binary searches. */
int hpc_profile_value(const struct hpc_profile *p, uint32_t ctxId, uint16_t metricId,
		      double *ret_value, struct err *err);

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

/* Adds a value.  They come by growing CTXID and, within a context, growing METRICID; a value of 0
 * is left out, as the format demands. */
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

/* The same for several processes (SHARE: out.h; NULL: one), all with the same arguments: each puts
 * the profiles I that hpc_profile_owner says are its own, the first one also the summary profile.
 * They are dealt some at a time, and wait in memory until these are together: handing on a place in
 * the file takes its time where processes are many. */
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

/* Makes all puts that wait or follow fail with -ECANCELED: for a thread that cannot put what is its
 * turn. */
void hpc_profile_cancel(struct hpc_profile_writer *w);

/* Makes a file that opens out of what is there when all but the summary profile were put; that one
 * is empty for now. It must be put afterwards. -EINVAL when others are missing. */
int hpc_profile_settle(struct hpc_profile_writer *w, struct err *err);

/* Writes what is left of the headers, then the footer, and closes the file; without this it has no
 * footer and does not open.  Syncs nothing.  Frees W in any case.  -EINVAL when not all profiles
 * were put. */
int hpc_profile_finish(struct hpc_profile_writer *w, struct err *err);

/* Closes the file as it is and frees W; NULL is fine. */
void hpc_profile_abandon(struct hpc_profile_writer *w);

#endif
