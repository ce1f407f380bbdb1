/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples whose user callers come in a record of their own, when their thread goes back to user
 * code (perf record --call-graph fp,defer; Linux 6.19).
 *
 * Such a sample's list ends in PERFDATA_CONTEXT_USER_DEFERRED and a cookie.  It waits for the
 * thread's next record CALLCHAIN_DEFERRED.  If that has the same cookie, the list goes on with the
 * record's.  If it has another cookie, or when no record comes, the list stays as it is. */
#ifndef PORT_PERF_DEFER_H
#define PORT_PERF_DEFER_H

#include "base/err.h"
#include "base/vec.h"
#include "formats/perfdata.h"

struct perf_defer {
	VEC(struct {
		uint8_t *record; /* the sample's bytes */
		uint32_t tid;
		uint64_t cookie;
	})
	waiting;	     /* as they came */
	VEC(uint8_t) joined; /* the list that the sample at hand has */
	/* Takes a sample that has what callers it will ever have; R and all in it are good for the
	 * call. */
	void (*put)(void *ctx, const struct perfdata_record *r);
	void *ctx;
};

void perf_defer_release(struct perf_defer *d);

/* Lets the sample R, whose bytes are at P, wait if its list goes on later: true, else false. */
bool perf_defer_sample(struct perf_defer *d, const struct perfdata *pd,
		       const struct perfdata_record *r, const uint8_t *p);

/* Puts the samples of R's thread, R being a CALLCHAIN_DEFERRED. */
void perf_defer_join(struct perf_defer *d, struct perfdata *pd, const struct perfdata_record *r);

/* Puts all that wait, as they are. */
void perf_defer_flush(struct perf_defer *d, struct perfdata *pd);

#endif
