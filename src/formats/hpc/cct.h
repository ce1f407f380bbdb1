/* SPDX-License-Identifier: BSD-2-Clause */
/* cct.db of an HPCToolkit database: the values of each context, by metric and profile
 * (docs/formats/hpctoolkit.md).  It is profile.db transposed, without the summary profile.  Both
 * layouts have the same cct.db.
 *
 * Reading decodes nothing ahead.  The values of one context lie together in the file:
 *
 *     hpc_cct_open(&c, &db, ctxId, &err);
 *     hpc_cct_find_metric(&c, metricId, &m, &err);
 *     for (uint64_t i = 0; i < m.n; i++)
 *             struct hpc_profile_value v = hpc_metric_value(&m, i); */
#ifndef FORMATS_HPC_CCT_H
#define FORMATS_HPC_CCT_H

#include "base/err.h"
#include "formats/hpc/hpc.h"
#include "formats/hpc/le.h"
#include "formats/hpc/profile.h"

/* An open cct.db. */
struct hpc_cct_db {
	const uint8_t *bytes;
	size_t n_bytes;
	const char *name; /* for errors */
	uint8_t majorVersion, minorVersion;
	uint64_t szCtxInfo, pCtxInfo;
	uint64_t pCtxs; /* {CI}[nCtxs], szCtx bytes each, by ctxId */
	uint32_t nCtxs;
	uint8_t szCtx;
};

/* One context of an open file; its arrays lie within the file. */
struct hpc_cct {
	const struct hpc_cct_db *db;
	uint32_t ctxId;
	uint64_t nValues, pValues;
	uint64_t pMetricIndices;
	uint16_t nMetrics;
	const uint8_t *values;	      /* nValues {Val} */
	const uint8_t *metricIndices; /* nMetrics {Idx} */
};

/* The values of one metric in one context, by growing profIndex. */
struct hpc_metric_values {
	uint16_t metricId;
	uint64_t n;
	const uint8_t *values; /* n {Val} */
};

/* Opens the N_BYTES of a cct.db.  The bytes must stay as they are while DB and what was opened
 * from it are used.  NAME is the file's, for errors, and must live as long.  -EBADMSG when the
 * bytes are no cct.db, or its headers or footer are damaged; -ENODATA when it is too short;
 * -EPROTONOSUPPORT when its major version is larger.  Nothing is to be released. */
int hpc_cct_db_open(struct hpc_cct_db *db, const void *bytes, size_t n_bytes, const char *name,
		    struct err *err);

/* Opens context CTXID.  A context that the file does not list has no values.  -EBADMSG when its
 * {CI} is damaged or its arrays do not lie in the file. */
int hpc_cct_open(struct hpc_cct *c, const struct hpc_cct_db *db, uint32_t ctxId, struct err *err);

/* Gets the I-th metric that has values in C; I is below nMetrics.  Metrics come by growing
 * metricId. -EBADMSG when its {Idx} is damaged. */
int hpc_cct_metric(const struct hpc_cct *c, uint32_t i, struct hpc_metric_values *ret,
		   struct err *err);

/* Finds the values of METRICID in C by binary search; n is 0 when there are none. */
int hpc_cct_find_metric(const struct hpc_cct *c, uint16_t metricId, struct hpc_metric_values *ret,
			struct err *err);

/* The I-th value of a metric. */
static inline struct hpc_profile_value hpc_metric_value(const struct hpc_metric_values *m,
							uint64_t i)
{
	const uint8_t *v = m->values + 12 * i;

	return (struct hpc_profile_value){hpc_le32(v), hpc_lef64(v + 4)};
}

/* Finds the value of profile PROFINDEX by binary search; 0 when it has none. */
double hpc_metric_values_find(const struct hpc_metric_values *m, uint32_t profIndex);

/* Sets VALUES[i] to the value of profile i, for each i below N_PROFILES; 0 where there is none. */
void hpc_metric_values_spread(const struct hpc_metric_values *m, double *values,
			      uint32_t n_profiles);

/* Finds the value of METRICID in context CTXID of profile PROFINDEX by two binary searches; 0 when
 * there is none. */
int hpc_cct_value(const struct hpc_cct_db *db, uint32_t ctxId, uint16_t metricId,
		  uint32_t profIndex, double *ret_value, struct err *err);

#endif
