/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution time profiles of one's own program: sprofil(2) and profil(2), as HP-UX has them.
 *
 * Each thread's program counter is examined each tick of that thread's own CPU time, and the
 * element of a histogram that stands for it is incremented.
 *
 * Programs written for HP-UX and for glibc both compile: a struct prof has the field names of both
 * and glibc's layout.  Link with -ldwell, or preload the library into a program that is linked. */
#ifndef DWELL_SYS_PROFIL_H
#define DWELL_SYS_PROFIL_H

#include <stddef.h>
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of the histograms are unsigned integers of 2, 4 or 8 bytes.  (The first three values are
 * glibc's; PROF_FAST has no effect, as there.) */
#define PROF_USHORT 0u
#define PROF_UINT   1u
#define PROF_FAST   2u
#define PROF_UINT64 4u

/* Regions one call can name: what sysconf(_SC_PROFIL_MAX) gives where there is one. */
#define DWELL_PROFIL_MAX 1048576

struct prof {
	void *pr_base;	/* the region's buffer */
	size_t pr_size; /* of the buffer, in bytes: a multiple of the element's size */
#ifdef __GNUC__
	__extension__ /* C99 has no union without a name */
#endif
		union {
#if defined(_HPUX_SOURCE)
		void *pr_offset; /* where the region of text begins */
		size_t pr_off;
#else
		size_t pr_off;
		void *pr_offset;
#endif
	};
	unsigned long pr_scale; /* buffer bytes for a byte of text, 16 bits of fraction */
};

/* Begins profiling of the PROFCNT regions at PROFP, replacing what was profiled before; with
 * PROFCNT 0 ends it.  A tick at pc belongs to the region in which
 *
 *     offset = (pc - pr_offset) * pr_scale / 65536  is less than  pr_size
 *
 * and increments the element at pr_base + offset, rounded down to a multiple of the element's
 * size, unless it is at its maximum.  A last region with pr_offset 0, pr_scale 2 and the size of
 * one element counts the ticks outside all others.  Regions with pr_scale 0 or 1 are ignored.  TVP,
 * when not NULL, gets the length of a tick.  FLAGS says what elements are.
 *
 * The buffers must stay until profiling ends.  Should one not be there when it is needed, profiling
 * silently ends.  All threads are profiled, those begun later too; profiling goes on in both
 * processes after fork(2) and ends with execve(2).  What was counted is in the buffers within a
 * tenth of a second, and all of it when sprofil returns.  Regions need not be sorted, and where
 * several hold a pc that with the largest pr_offset counts, of equals the first; in strict mode
 * ($DWELL_PROFIL_STRICT, dwell_profil_configure()) they must be sorted and apart.
 *
 * Returns 0, or -1 with errno
 *   E2BIG   PROFCNT is negative or above DWELL_PROFIL_MAX (in strict mode 0, too);
 *   EFAULT  PROFP or TVP does not point to memory;
 *   EINVAL  FLAGS is none of the above; a pr_size is 0, no multiple of the element's size or larger
 *           than 2^46 * pr_scale / 65536; a region with pr_offset 0 and pr_scale 2 is not the last,
 *           or not of one element; in strict mode, regions are out of order or overlap;
 *   ENOENT  nobody knows the event that $DWELL_PROFIL_EVENT names;
 *   ENOMEM  no memory, or what perf_event_mlock_kb allows is used up, and no timer was left;
 *   other   as perf_event_open(2) and timer_create(2) say.
 * After a failure what was profiled before still is.  Any thread may call it; not from signal
 * handlers. */
int sprofil(struct prof *profp, int profcnt, struct timeval *tvp, unsigned int flags);

/* As sprofil() with one region of 2-byte elements; BUF NULL or SCALE 0 ends profiling.  An odd
 * BUFSIZ is rounded down. */
int profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#endif
