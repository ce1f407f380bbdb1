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

struct prof; /* <sys/profil.h> */

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
	uint64_t
		n_moved; /* of n_ticks: those beyond the first that one signal of a timer stands for;
			       0 where perf events are allowed */
	uint64_t n_unplaced; /* beside n_ticks: ticks without a pc, in no element.  The thread was
				in the kernel, which its user may not see or does not want to, or
				the tick was lost (full ring, throttling, late interrupt) */
};

/* Brings the histograms up to date and says how it goes since the last sprofil().  What of S fits
 * into s->size is filled.  EINVAL: size is 0. */
int dwell_profil_status(struct dwell_profil_status *s);

/* A thread that is profiled, or was and has ended, since the last sprofil(). */
struct dwell_profil_thread {
	int tid; /* 0: all those together for which there was no room in a list of 4,096 */
	int has_ended;
	uint64_t n_ticks;    /* that have a pc */
	uint64_t n_unplaced; /* that have none: see struct dwell_profil_status */
	uint64_t count;	     /* what its event counted: ns of a clock.  What the thread's own clock
				(CLOCK_THREAD_CPUTIME_ID) says beyond it, the kernel did not count */
};

/* Brings the histograms up to date and fills in the first N threads at THREADS, those that have
 * ended last.  How many there are. */
int dwell_profil_threads(struct dwell_profil_thread *threads, int n);

/* libdwell-papi: the status of the PAPI_profil() of event CODE in EVENT_SET since the last
 * PAPI_start().  EINVAL: size is 0; ENOENT: no such event set, or the event is not profiled. */
int dwell_papi_profil_status(int event_set, int code, struct dwell_profil_status *s);

/* Histograms of all text.
 *
 * The regions of sprofil() for the program, its libraries (those of dlopen(3) too) and the vdso, at
 * the addresses they have now, each with a buffer of its own:
 *
 *     struct dwell_regions *r = dwell_regions_new(NULL);
 *     struct prof *p = dwell_regions_get(r, &n);
 *     sprofil(p, n, NULL, PROF_UINT);
 *     ...
 *     sprofil(NULL, 0, NULL, PROF_UINT);
 *     dwell_regions_write_dcpi(r, "profiles");
 *     dwell_regions_free(r);
 *
 * One thread at a time may use a struct dwell_regions. */
struct dwell_regions;

struct dwell_regions_settings {
	size_t size;
	unsigned flags;	       /* of sprofil(): PROF_USHORT, PROF_UINT or PROF_UINT64 */
	unsigned bucket_bytes; /* of text for an element: a power of two up to 65536; 0: 1 */
};

/* Regions of what is loaded; NULL for S stands for PROF_UINT and 1.  NULL with errno: ENOMEM, or
 * EINVAL a member is out of range. */
struct dwell_regions *dwell_regions_new(const struct dwell_regions_settings *s);

/* Adds what was loaded since; what was unloaded keeps its counts and is no region any more.  Gives
 * how many regions are new; when there are some, sprofil() has to be told.  -1 with ENOMEM. */
int dwell_regions_update(struct dwell_regions *r);

/* The regions for sprofil(), in order, *RET_N of them.  They are R's, and good until the next
 * update. */
struct prof *dwell_regions_get(struct dwell_regions *r, int *ret_n);

/* Writes what was counted so far as gprof(1) reads it: PATH becomes a gmon.out of OBJECT, the path
 * of a program or library, or the end of one behind a slash; NULL: the program.  Addresses are
 * those of the file.  A tick is that of the last sprofil().  Errors: ENOENT no such object, EINVAL
 * nothing was profiled, EOVERFLOW counts are beyond what the format can hold, and those of open(2)
 * and write(2). */
int dwell_regions_write_gmon(struct dwell_regions *r, const char *object, const char *path);

/* Writes what was counted so far as DCPI profile files into the tree DIR, which is made when it is
 * not there; `dwell prof --db DIR` reads it.  Writing again replaces the files.  Errors: EINVAL
 * nothing was profiled, and those of mkdir(2), open(2) and write(2). */
int dwell_regions_write_dcpi(struct dwell_regions *r, const char *dir);

/* Frees R and its buffers, which must not be in use: end profiling before.  NULL is fine. */
void dwell_regions_free(struct dwell_regions *r);

#ifdef __cplusplus
}
#endif

#endif
