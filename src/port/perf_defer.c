/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_defer.h.
 *
 * As perf does it (Linux, tools/perf/util/session.c, evlist__deliver_deferred_callchain): what is
 * mapped when the record comes is what the sample is placed in; a thread that never goes back to
 * user code has its samples at the end. */
#include "port/perf_defer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Threads that are on a CPU or blocked in the kernel have a few each; what is beyond is let go. */
#define MOST_WAITING (1u << 16)

void perf_defer_release(struct perf_defer *d)
{
	vec_each (w, &d->waiting)
		free(w->record);
	vec_release(&d->waiting);
	vec_release(&d->joined);
}

bool perf_defer_sample(struct perf_defer *d, const struct perfdata *pd,
		       const struct perfdata_record *r, const uint8_t *p)
{
	const struct perfdata_words *ips = &r->sample.ips;

	if (!r->sample.has_chain || ips->n < 2 || !r->id.tid ||
	    perfdata_word(ips, ips->n - 2) != PERFDATA_CONTEXT_USER_DEFERRED)
		return false;
	if (d->waiting.n >= MOST_WAITING)
		return false;
	vec_add(&d->waiting);
	d->waiting.v[d->waiting.n - 1].record = xmemdup(p, r->head.size);
	d->waiting.v[d->waiting.n - 1].tid = r->id.tid;
	d->waiting.v[d->waiting.n - 1].cookie = perfdata_word(ips, ips->n - 1);
	return true;
}

/* Gives S the list that goes on with MORE in place of its two last words. */
static void port_perf_defer_join(struct perf_defer *d, struct perfdata_sample *s,
				 const struct perfdata_words *more)
{
	size_t n_own = (size_t)(s->ips.n - 2) * 8, n_more = (size_t)more->n * 8;

	d->joined.n = 0;
	vec_reserve(&d->joined, n_own + n_more + 1);
	memcpy(d->joined.v, s->ips.p, n_own);
	memcpy(d->joined.v + n_own, more->p, n_more);
	s->ips.p = d->joined.v;
	s->ips.n += more->n - 2;
}

/* Puts the sample at RECORD, with MORE unless it is NULL. */
static void perf_defer_put(struct perf_defer *d, struct perfdata *pd, uint8_t *record,
			   const struct perfdata_words *more)
{
	struct perfdata_record r;
	struct perfdata_head head;

	perfdata_read_head(pd, record, &head);
	if (perfdata_read_record(pd, &head, record, &r) >= 0) {
		if (more)
			port_perf_defer_join(d, &r.sample, more);
		d->put(d->ctx, &r);
	}
	free(record);
}

void perf_defer_join(struct perf_defer *d, struct perfdata *pd, const struct perfdata_record *r)
{
	size_t n = 0;

	for (size_t i = 0; i < d->waiting.n; i++) {
		__typeof__(*d->waiting.v) w = d->waiting.v[i];

		if (w.tid == r->id.tid)
			perf_defer_put(d, pd, w.record,
				       w.cookie == r->deferred.cookie ? &r->deferred.ips : NULL);
		else
			d->waiting.v[n++] = w;
	}
	d->waiting.n = n;
}

void perf_defer_flush(struct perf_defer *d, struct perfdata *pd)
{
	vec_each (w, &d->waiting)
		perf_defer_put(d, pd, w->record, NULL);
	d->waiting.n = 0;
}
