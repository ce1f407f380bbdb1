/* SPDX-License-Identifier: BSD-2-Clause */
/* What libdwell offers beside <sys/profil.h> and <papi.h>.
 *
 * Structs that grow begin with `size`, which the caller sets to sizeof; members a library does not
 * know must be 0.  Functions return 0, or -1 with errno, unless they say otherwise; all may be
 * called by any thread, but not from signal handlers. */
#ifndef DWELL_DWELL_H
#define DWELL_DWELL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dwell_profil_flags {
	DWELL_PROFIL_STRICT = 1 << 0,	 /* sprofil(): regions sorted and apart, at least one */
	DWELL_PROFIL_USER_ONLY = 1 << 1, /* time in the kernel does not count */
};

/* How sprofil() and profil() profile. */
struct dwell_profil_settings {
	size_t size;
	const char *event; /* NULL: task-clock, the thread's CPU time; else any name perf or libpfm
			      knows: "cpu-clock", "page-faults", "cycles", "r01c2" ... */
	uint64_t period;   /* counts of EVENT a tick stands for (ns of a clock); 0: as HZ says */
	unsigned hz;	   /* ticks a second, of clocks: 1 to 100000; 0: 100 */
	unsigned flags;	   /* enum dwell_profil_flags */
};

/* What the next call of sprofil() or profil() goes by; NULL: the defaults, which the environment
 * gives: DWELL_PROFIL_HZ, DWELL_PROFIL_EVENT, DWELL_PROFIL_PERIOD, DWELL_PROFIL_STRICT=1,
 * DWELL_PROFIL_USER_ONLY=1.  Errors: EINVAL a member is out of range, or an event that is no clock
 * has no period; ENOENT nobody knows the event. */
int dwell_profil_configure(const struct dwell_profil_settings *s);

struct dwell_profil_status {
	size_t size;
	int on;
	unsigned n_threads; /* being profiled */
	unsigned n_missed;  /* threads that could not be; missed_errno says why the last one */
	int missed_errno;
	uint64_t tick;	    /* what one stands for: ns, or counts of the event */
	uint64_t n_ticks;   /* all so far; they are in exactly one of: */
	uint64_t n_counted; /* in an element, also one at its maximum */
	uint64_t n_outside; /* in no region */
	uint64_t n_dropped; /* a buffer was not there */
	uint64_t n_moved;   /* of n_ticks: their own pc was lost, they went to the thread's next */
};

/* Brings the histograms up to date and says how it goes since the last sprofil().  What of S fits
 * into s->size is filled.  EINVAL: size is 0. */
int dwell_profil_status(struct dwell_profil_status *s);

#ifdef __cplusplus
}
#endif

#endif
