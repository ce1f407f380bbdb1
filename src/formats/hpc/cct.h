/* SPDX-License-Identifier: BSD-2-Clause */
/* cct.db of an HPCToolkit database: the values of each context, by metric and profile; profile.db
 * without its summary profile, transposed (docs/formats/hpctoolkit.md).  Both layouts have the same
 * cct.db.
 *
 * Reading decodes nothing ahead; one context over all profiles is one piece of the file:
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

/* Opens the N_BYTES of a cct.db; as hpc_profile_db_open. */
int hpc_cct_db_open(struct hpc_cct_db *db, const void *bytes, size_t n_bytes, const char *name,
		    struct err *err);

/* Opens context CTXID; one that the file does not list has no values.  -EBADMSG when its {CI} is
 * damaged or its arrays do not lie in the file. */
int hpc_cct_open(struct hpc_cct *c, const struct hpc_cct_db *db, uint32_t ctxId, struct err *err);

/* The I-th metric that has values in C (below nMetrics); they come by growing metricId.  -EBADMSG
 * when its {Idx} is damaged. */
int hpc_cct_metric(const struct hpc_cct *c, uint32_t i, struct hpc_metric_values *ret,
		   struct err *err);

/* The values of METRICID in C, none when it has none: binary search. */
int hpc_cct_find_metric(const struct hpc_cct *c, uint16_t metricId, struct hpc_metric_values *ret,
			struct err *err);

/* The I-th value of a metric. */
static inline struct hpc_profile_value hpc_metric_value(const struct hpc_metric_values *m,
							uint64_t i)
{
	const uint8_t *v = m->values + 12 * i;

	return (struct hpc_profile_value){hpc_le32(v), hpc_lef64(v + 4)};
}

/* The value of profile PROFINDEX, 0 when it has none: binary search. */
double hpc_metric_values_find(const struct hpc_metric_values *m, uint32_t profIndex);

/* Puts the value of each profile to VALUES[profIndex], 0 where there is none; what lies at or
 * beyond N_PROFILES is left out. */
void hpc_metric_values_spread(const struct hpc_metric_values *m, double *values,
			      uint32_t n_profiles);

/* The value of METRICID in context CTXID of profile PROFINDEX, 0 when there is none: two binary
 * searches. */
int hpc_cct_value(const struct hpc_cct_db *db, uint32_t ctxId, uint16_t metricId,
		  uint32_t profIndex, double *ret_value, struct err *err);

struct hpc_share;

/* How hpc_cct_build goes about it. */
struct hpc_cct_options {
	unsigned n_threads;  /* 0: 1 */
	size_t memory_bytes; /* at most, for values, of all threads together, beside some megabytes
				and 8 bytes a context for each; 0: 256 MiB.  A thread takes 32 MiB
				unless a single context needs more */
	int fd;		     /* of profile.db, whose bytes DB maps: values are read from it, and
				what was looked at of the mapping is given back to the system, lest
				all of the file counts as memory.  0: there is none, or no need */
	/* Called now and then with how much is done, by one thread at a time; a negative value ends
	 * the build, which returns it.  NULL: not called. */
	int (*progress)(void *user, uint64_t done_bytes, uint64_t all_bytes);
	void *user;
	/* For who wants to know all values of each context, as they are in memory anyway: told how
	 * many ranges of contexts there are, then each context that has values.  Those of a range
	 * come by growing ctxId in one thread.  NULL: not called. */
	void (*ranges)(void *to, uint32_t n);
	void (*values)(void *to, uint32_t range, const struct hpc_cct *c);
	void *to;
	/* Processes that do it together, with the same N_THREADS and MEMORY_BYTES: ranges are dealt
	 * to them, number 0 ends the file (out.h).  NULL: one. */
	const struct hpc_share *share;
};

/* Writes NAME in directory DIRFD, a cct.db of N_CTXS contexts, out of all profiles of DB but the
 * summary profile.  N_CTXS of 0 stands for the largest ctxId + 1.  The bytes do not depend on the
 * options.  A file of that name is truncated; the footer comes last; syncs nothing.
 *
 * -EBADMSG when DB is damaged or has a ctxId that is not below N_CTXS. */
int hpc_cct_build(int dirfd, const char *name, const struct hpc_profile_db *db, uint32_t n_ctxs,
		  const struct hpc_cct_options *o, struct err *err);

#endif
