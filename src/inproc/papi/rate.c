/* SPDX-License-Identifier: BSD-2-Clause */
/* PAPI's rate calls: an event set of the calling thread that runs between two calls.
 *
 * The first call, and one that asks for something else than the last, begins a set and gives zeros.
 * Each later call gives what happened since the one before. */
#include <stdbool.h>
#include <string.h>

#include "inproc/export.h"
#include "inproc/papi/result.h"
#include "inproc/papi/thread.h"

enum { MOST_EVENTS = 3 };

struct rate {
	int set;
	int n, events[MOST_EVENTS]; /* of the set; n is 0: it does not run */
	long long real_us, virt_us; /* at the last call */
};

static __thread struct rate rate = {.set = PAPI_NULL};

/* What happened between two calls. */
struct spell {
	float real_s, virt_s;
	long long values[MOST_EVENTS];
};

static int stop(void)
{
	int r = PAPI_stop(rate.set, NULL);

	if (r == PAPI_OK)
		r = PAPI_cleanup_eventset(rate.set);
	rate.n = 0;
	return r;
}

static int rate_begin(const int *events, int n)
{
	int r = papi_is_ready() ? PAPI_OK : PAPI_library_init(PAPI_VER_CURRENT);

	if (r < 0)
		return r;
	if (rate.set == PAPI_NULL && (r = PAPI_create_eventset(&rate.set)) < 0)
		return r;
	r = PAPI_add_events(rate.set, (int *)events, n);
	if (r > 0)
		r = PAPI_ENOEVNT; /* one of the later events */
	if (r == PAPI_OK)
		r = PAPI_start(rate.set);
	if (r < 0) {
		PAPI_cleanup_eventset(rate.set);
		return r;
	}
	memcpy(rate.events, events, (size_t)n * sizeof(*events));
	rate.n = n;
	rate.real_us = PAPI_get_real_usec();
	rate.virt_us = PAPI_get_virt_usec();
	return PAPI_OK;
}

/* The spell since the last call for these events. */
static int next(const int *events, int n, struct spell *ret)
{
	long long real_us, virt_us;
	int r = PAPI_OK;

	*ret = (struct spell){0};
	if (rate.n != n || memcmp(rate.events, events, (size_t)n * sizeof(*events)) != 0) {
		if (rate.n)
			r = stop();
		return r < 0 ? r : rate_begin(events, n);
	}
	r = PAPI_accum(rate.set, ret->values);
	real_us = PAPI_get_real_usec();
	virt_us = PAPI_get_virt_usec();
	ret->real_s = (float)(real_us - rate.real_us) / 1e6f;
	ret->virt_s = (float)(virt_us - rate.virt_us) / 1e6f;
	rate.real_us = real_us;
	rate.virt_us = virt_us;
	return r;
}

/* Millions of EVENT for a second of the thread's CPU time. */
static int millions(int event, float *rtime, float *ptime, long long *n, float *per_second)
{
	struct spell s;
	int r;

	if (!rtime || !ptime || !n || !per_second)
		return papi_result(PAPI_EINVAL);
	r = next(&event, 1, &s);
	if (r < 0)
		return papi_result(r);
	*rtime = s.real_s;
	*ptime = s.virt_s;
	*n = s.values[0];
	*per_second = s.virt_s > 0 ? (float)s.values[0] / s.virt_s / 1e6f : 0;
	return PAPI_OK;
}

EXPORT int PAPI_flips_rate(int event, float *rtime, float *ptime, long long *flpins, float *mflips)
{
	if (event != (int)PAPI_FP_INS && event != (int)PAPI_VEC_SP && event != (int)PAPI_VEC_DP)
		return papi_result(PAPI_ENOEVNT);
	return millions(event, rtime, ptime, flpins, mflips);
}

EXPORT int PAPI_flops_rate(int event, float *rtime, float *ptime, long long *flpops, float *mflops)
{
	if (event != (int)PAPI_FP_OPS && event != (int)PAPI_SP_OPS && event != (int)PAPI_DP_OPS)
		return papi_result(PAPI_ENOEVNT);
	return millions(event, rtime, ptime, flpops, mflops);
}

EXPORT int PAPI_ipc(float *rtime, float *ptime, long long *ins, float *ipc)
{
	const int events[] = {(int)PAPI_TOT_INS, (int)PAPI_TOT_CYC};
	struct spell s;
	int r;

	if (!rtime || !ptime || !ins || !ipc)
		return papi_result(PAPI_EINVAL);
	r = next(events, 2, &s);
	if (r < 0)
		return papi_result(r);
	*rtime = s.real_s;
	*ptime = s.virt_s;
	*ins = s.values[0];
	*ipc = s.values[1] ? (float)s.values[0] / (float)s.values[1] : 0;
	return PAPI_OK;
}

EXPORT int PAPI_epc(int event, float *rtime, float *ptime, long long *ref, long long *core,
		    long long *evt, float *epc)
{
	const int events[] = {event ? event : (int)PAPI_TOT_INS, (int)PAPI_TOT_CYC,
			      (int)PAPI_REF_CYC};
	struct spell s;
	int r;

	if (!rtime || !ptime || !ref || !core || !evt || !epc)
		return papi_result(PAPI_EINVAL);
	r = next(events, 3, &s);
	if (r < 0)
		return papi_result(r);
	*rtime = s.real_s;
	*ptime = s.virt_s;
	*evt = s.values[0];
	*core = s.values[1];
	*ref = s.values[2];
	*epc = s.values[1] ? (float)s.values[0] / (float)s.values[1] : 0;
	return PAPI_OK;
}

EXPORT int PAPI_rate_stop(void)
{
	return papi_result(rate.n ? stop() : PAPI_ENOEVNT);
}
