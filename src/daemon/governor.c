/* SPDX-License-Identifier: BSD-2-Clause */
/* See governor.h.  Down goes at once what costs too much, by as much as that is, and a tenth.  Up
 * it goes by at most a factor of 2 a step, when the cost, which grows at most as the rate does,
 * would be below nine tenths of what it may be: so a step up does not call for a step down by
 * itself.  A load that comes and goes can still have it go up and down; then it waits longer each
 * time. */
#include "daemon/governor.h"

#include <stdbool.h>

#define STEP	 2.0
#define HEADROOM 0.9
#define MARGIN	 1.1

/* A step up has proved itself when it stood so long. */
#define PROVED_NS (600ull * 1000000000)

static double governor_lower(struct governor *g, double factor, uint64_t now_ns)
{
	bool too_soon = g->faster_ns && now_ns - g->faster_ns < PROVED_NS;

	g->patience_ns = too_soon ? 2 * g->patience_ns : GOVERNOR_PATIENCE_NS;
	if (g->patience_ns > GOVERNOR_MOST_PATIENCE_NS)
		g->patience_ns = GOVERNOR_MOST_PATIENCE_NS;
	g->faster_ns = g->calm_ns = 0;
	g->slower *= factor;
	if (g->slower > GOVERNOR_SLOWEST)
		g->slower = GOVERNOR_SLOWEST;
	return g->slower;
}

double governor_step(struct governor *g, double cost, double most, uint64_t now_ns)
{
	double step;

	if (!g->patience_ns)
		*g = (struct governor){.slower = 1, .patience_ns = GOVERNOR_PATIENCE_NS};
	if (most > 0 && cost > most)
		return governor_lower(g, MARGIN * cost / most, now_ns);
	step = g->slower < STEP ? g->slower : STEP;
	if (g->slower <= 1 || (most > 0 && cost * step > HEADROOM * most)) {
		g->calm_ns = 0;
		return g->slower;
	}
	if (!g->calm_ns)
		g->calm_ns = now_ns;
	if (now_ns - g->calm_ns < g->patience_ns)
		return g->slower;
	g->calm_ns = 0;
	g->faster_ns = now_ns;
	g->slower /= step;
	return g->slower;
}
