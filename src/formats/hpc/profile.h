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

/* Opens the N_BYTES of a profile.db.  The bytes must stay as they are while DB and what was opened
 * from it are used.  NAME is the file's, for errors, and must live as long.  -EBADMSG when the
 * bytes are no profile.db, or its headers or footer are damaged; -ENODATA when it is too short;
 * -EPROTONOSUPPORT when its major version is larger.  Nothing is to be released. */
int hpc_profile_db_open(struct hpc_profile_db *db, const void *bytes, size_t n_bytes,
			const char *name, struct err *err);

/* Opens profile INDEX.  -ENOENT when there is no such profile, -EBADMSG when its {PI} is damaged or
 * its arrays do not lie in the file. */
int hpc_profile_open(struct hpc_profile *p, const struct hpc_profile_db *db, uint32_t index,
		     struct err *err);

/* Decodes at most MAX identifiers of P's tuple to IDS.  Returns how many the tuple has, or
 * -EBADMSG. */
int hpc_profile_ids(const struct hpc_profile *p, struct hpc_id *ids, size_t max, struct err *err);

/* Gets the I-th context that has values in P; I is below nCtxs.  Contexts come by growing ctxId.
 * -EBADMSG when its {Idx} is damaged. */
int hpc_profile_ctx(const struct hpc_profile *p, uint32_t i, struct hpc_ctx_values *ret,
		    struct err *err);

/* Finds the values of context CTXID in P by binary search; n is 0 when there are none. */
int hpc_profile_find_ctx(const struct hpc_profile *p, uint32_t ctxId, struct hpc_ctx_values *ret,
			 struct err *err);

/* Returns the number of P's first context whose id is CTXID or larger; nCtxs when there is none. */
uint32_t hpc_profile_ctx_from(const struct hpc_profile *p, uint32_t ctxId);

/* The I-th value of a context. */
static inline struct hpc_value hpc_ctx_value(const struct hpc_ctx_values *c, uint64_t i)
{
	const uint8_t *v = c->values + 10 * i;

	return (struct hpc_value){hpc_le16(v), hpc_lef64(v + 2)};
}

/* Finds the value of METRICID in a context by binary search; 0 when it has none. */
double hpc_ctx_values_find(const struct hpc_ctx_values *c, uint16_t metricId);

/* Finds the value of METRICID in context CTXID of P by two binary searches; 0 when it has none. */
int hpc_profile_value(const struct hpc_profile *p, uint32_t ctxId, uint16_t metricId,
		      double *ret_value, struct err *err);

#endif
