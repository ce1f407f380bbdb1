/* SPDX-License-Identifier: BSD-2-Clause */
/* See drift.h.
 *
 * After Q samples a clock of period P stands D = |Q P mod T| beside a phase of the timer T that it
 * met before.  By then its samples have cut T into Q parts; in steps of D, each of them Q P long,
 * it crosses such a part in (T / Q) / D * Q P = T P / D.  With D of T / Q or more there is no such
 * part.  Example: P = T = 1 ms has D = 0 at Q = 1, for ever; P = 1.01 ms crosses T in 100 steps,
 * 101 ms. */
#include "base/drift.h"

#include "base/hash.h"
#include "base/vec.h"

/* Parts of a timer's period below this are no shorter than what programs do in one go. */
#define GRAIN_NS 100000

/* The kernel takes no less: kernel/events/core.c, perf_swevent_start_hrtimer. */
#define MIN_PERIOD_NS 10000

/* How many are drawn to choose from. */
#define N_DRAWS 8

static uint64_t drift_beside(uint64_t period_ns, uint64_t timer_ns)
{
	uint64_t worst = 0;

	for (uint64_t q = 1; q * GRAIN_NS <= timer_ns; q++) {
		uint64_t rest = q * (period_ns % timer_ns) % timer_ns;
		uint64_t d = rest < timer_ns - rest ? rest : timer_ns - rest;
		double ns;

		if (!d)
			return UINT64_MAX;
		if (d * q >= timer_ns)
			continue;
		ns = (double)timer_ns * (double)period_ns / (double)d / (double)q;
		if (ns > (double)worst)
			worst = ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
	}
	return worst;
}

uint64_t drift_badness(uint64_t period_ns)
{
	static const uint64_t timers[] = {1000000, 3333333, 4000000, 10000000};
	uint64_t worst = 0;

	for (size_t i = 0; i < n_elems(timers); i++) {
		uint64_t ns = drift_beside(period_ns, timers[i]);

		worst = ns > worst ? ns : worst;
	}
	return worst;
}

uint64_t drift_draw(uint64_t period_ns, uint64_t *state)
{
	uint64_t part = period_ns / DRIFT_PART, best = period_ns, least = UINT64_MAX;

	for (int i = 0; i < N_DRAWS && part; i++) {
		uint64_t p, badness;

		*state = hash_u64(*state + 0x9e3779b97f4a7c15ULL);
		p = period_ns - part + *state % (2 * part + 1);
		badness = drift_badness(p);
		if (badness < least) {
			least = badness;
			best = p;
		}
	}
	return best > MIN_PERIOD_NS ? best : MIN_PERIOD_NS;
}
