/* SPDX-License-Identifier: BSD-2-Clause */
/* Pushing: each segment of a database once, as profiles of pprof to Pyroscope or of OTLP to a
 * collector.  These servers cannot be asked what they have: see push.c. */
#ifndef FLEET_PUSH_H
#define FLEET_PUSH_H

#include "fleet/http.h"
#include "model/profile.h"
#include "port/stacks.h"
#include "resolve/resolver.h"

/* Is given S, which lives no longer than the call. */
typedef int push_stacks_fn(void *ctx, const struct stacks *s, struct err *err);

struct push_opts {
	const char *db;	    /* nothing of it is changed */
	const char *state;  /* what remembers what was pushed; NULL: a file of the user's own */
	const char *tenant; /* for servers of several; NULL: none */
	/* Makes stacks of P, which it may change, and gives them to FN. */
	int (*with_stacks)(struct profile *p, struct resolver *r, push_stacks_fn *fn, void *ctx,
			   struct err *err);
	/* Told what did not go as wanted, a line each. */
	void (*notice)(void *ctx, const char *line);
	void *notice_ctx;
};

struct push_totals {
	uint64_t n_recordings;
	uint64_t n_segments, n_samples; /* pushed now */
	uint64_t n_repeated;		/* of these, samples that the server may have had already */
	uint64_t n_waiting;		/* segments that are not finished yet */
	uint64_t n_refused, n_set_aside; /* segments: to be tried again; never again */
	uint64_t n_left_out; /* samples merged with pushed ones before they were pushed */
	uint64_t n_bytes;
};

/* Whether URL is one that is pushed to: pyroscope+http(s)://, otlp+http(s)://. */
bool push_is_url(const char *url);

/* Pushes once.  Errors: of http.h, -EINVAL a URL that is none, of reading the database or the
 * state, -EBUSY. */
int fleet_push(const char *url, const struct fleet_login *login, const struct push_opts *o,
	       struct push_totals *ret, struct err *err);

#endif
