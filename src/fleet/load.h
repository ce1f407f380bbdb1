/* SPDX-License-Identifier: BSD-2-Clause */
/* A fleet's database as a profile. */
#ifndef FLEET_LOAD_H
#define FLEET_LOAD_H

#include "base/err.h"
#include "fleet/answers.h"
#include "port/stacks_in.h"

struct fleet_selection {
	const char *host;	     /* a name, or a pattern as of fnmatch(3); NULL: all */
	const char *epoch;	     /* the beginning of one; NULL: any */
	uint64_t since_ns, until_ns; /* since 1970; 0: any time */
	bool by_host;		     /* owners of each host are owners of their own */
	bool no_code;		     /* images will do: contexts are not asked for */
	/* Not NULL: images will do where neither a script's function nor a procedure whose linked
	 * name this expression (RE2's) matches is on the path: there the reader may give samples to
	 * another image than that of their place. */
	const char *folded;
	bool procedures; /* with `folded`: procedures will do, not images */
	bool newest_day; /* no time was asked for: what ended within a day of the newest */
	/* Says which owners of P are wanted: *RET, by number, to be freed; NULL: all.  Samples of
	 * others may be there, too.  NULL: all are wanted. */
	int (*want_owners)(void *ctx, const struct profile *p, bool **ret, struct err *err);
	void *want_owners_ctx;
	struct fleet_answers *answers; /* what another thread asks, too; NULL: nobody does */
	/* Told of each host that samples are of; NULL: nobody. */
	void (*note)(void *ctx, const char *epoch, const char *host);
	void *note_ctx;
};

/* Adds to P, which is empty, the samples that SEL wants of the fleet's database at URL; the server
 * adds up equal ones of several hosts.  RET gets names that the senders knew.  -ENOENT: there are
 * none; else errors of server.h. */
int fleet_load(const char *url, const struct fleet_selection *sel, struct profile *p,
	       stacks_symbol_list *ret, struct err *err);

/* What a fleet's database has of an epoch of a host. */
struct fleet_recording {
	const char *host, *epoch;
	uint64_t start_ns, end_ns; /* since 1970 */
	uint64_t n_samples;
};

/* Calls FN for each that SEL wants of the fleet's database at URL, oldest first.  Errors as
 * fleet_load. */
int fleet_list(const char *url, const struct fleet_selection *sel,
	       void (*fn)(void *ctx, const struct fleet_recording *r), void *ctx, struct err *err);

#endif
