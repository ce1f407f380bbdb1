/* SPDX-License-Identifier: BSD-2-Clause */
/* Who had the samples since the service started, as counters for a collector of metrics: by unit,
 * by container and by image.
 *
 * A counter only grows, so a name has one for good or not at all.  It gets one when a flush finds
 * it with SHARES_LEAST_PCT of that flush's samples, until SHARES_MOST names have one; all others
 * are one counter, "(other)". */
#ifndef DAEMON_SHARES_H
#define DAEMON_SHARES_H

#include "base/str.h"
#include "model/profile.h"

#define SHARES_MOST	 50
#define SHARES_LEAST_PCT 0.5
#define SHARES_MOST_NAME 200 /* bytes of a name */

enum share_key { SHARE_UNIT, SHARE_CONTAINER, SHARE_IMAGE, N_SHARE_KEYS };

struct share_series {
	char *name;
	uint64_t n_samples;
	double cpu_s; /* of events that are clocks */
};

struct shares {
	VEC(struct share_series) series[N_SHARE_KEYS];
};

/* Adds what is fresh in P, without samples of idle CPUs. */
void shares_add(struct shares *s, const struct profile *p);
void shares_release(struct shares *s);

/* "unit", "container", "image". */
const char *share_key_name(enum share_key k);

#endif
