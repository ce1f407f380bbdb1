/* SPDX-License-Identifier: BSD-2-Clause */
/* sprofil(2) and profil(2): arguments, and the one profile a process has of this kind.
 *
 * All arguments are copied and checked before anything changes.  The rules and their places in the
 * manual page of HP-UX 11i: the errors are under ERRORS; what contradicts itself there (profcnt 0
 * is both "disabled" and E2BIG, overlapping regions are both EINVAL and counted by the largest
 * offset) is read leniently unless strict mode is asked for. */
#include "dwell/sys/profil.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dwell/dwell.h"
#include "inproc/drain.h"
#include "inproc/export.h"
#include "inproc/histogram.h"
#include "inproc/own_memory.h"
#include "inproc/settings.h"
#include "inproc/sprofil.h"

/* Threads that have ended which are told one by one. */
enum { MAX_ENDED = 4096 };

static struct profile {
	struct sink sink;
	struct settings settings; /* what it goes by */
	struct histogram histogram;
	uint64_t n_unplaced_before; /* of the profiles before this one */
	bool on;
	unsigned n_ended; /* in ENDED */
} profile;

/* MAX_ENDED threads; only what is used takes memory. */
static struct dwell_profil_thread *ended;

/* Arguments. */

static int element_bytes(unsigned flags, bool strict)
{
	if (!strict)
		flags &= ~PROF_FAST;
	return flags == PROF_USHORT   ? 2
	       : flags == PROF_UINT   ? 4
	       : flags == PROF_UINT64 ? 8
				      : -EINVAL;
}

static bool is_overflow(const struct prof *p)
{
	return p->pr_off == 0 && p->pr_scale == 2;
}

/* ERRORS: "a pr_size field is zero or greater than (2^46 * pr_scale) / 65536 or is not a multiple
 * of the element size". */
static bool good_size(const struct prof *p, unsigned elem_bytes)
{
	unsigned __int128 most = ((unsigned __int128)p->pr_scale << 46) >> 16;

	return p->pr_size && p->pr_size <= most && p->pr_size % elem_bytes == 0;
}

/* The regions of the N entries at P into REGIONS, and the element for all else into *OUTSIDE; how
 * many regions, or -EINVAL. */
static int check_regions(const struct prof *p, int n, unsigned elem_bytes, struct region *regions,
			 uint64_t *outside)
{
	int n_regions = 0;

	*outside = 0;
	for (int i = 0; i < n; i++) {
		if (is_overflow(&p[i])) {
			if (i != n - 1 || p[i].pr_size != elem_bytes)
				return -EINVAL;
			*outside = (uint64_t)(uintptr_t)p[i].pr_base;
			break;
		}
		if (p[i].pr_scale <= 1)
			continue;
		if (!good_size(&p[i], elem_bytes))
			return -EINVAL;
		regions[n_regions++] = (struct region){.base = (uint64_t)(uintptr_t)p[i].pr_base,
						       .n_bytes = p[i].pr_size,
						       .offset = p[i].pr_off,
						       .scale = p[i].pr_scale};
	}
	return n_regions;
}

/* "The profp array must be sorted in ascending order by pr_offset value.  The profiling regions
 * must not overlap." */
static bool sorted_and_apart(const struct region *r, int n, unsigned elem_bytes)
{
	for (int i = 1; i < n; i++)
		if (r[i].offset <= r[i - 1].offset ||
		    r[i].offset - r[i - 1].offset <
			    region_span(BUCKETS_SPROFIL, elem_bytes, &r[i - 1]))
			return false;
	return true;
}

/* The buckets of PROFP, all checked.  0 or -errno. */
static int make_buckets(struct buckets *b, const struct prof *profp, int n, unsigned flags,
			bool strict)
{
	const int elem_bytes = element_bytes(flags, strict);
	const size_t of_profs = (size_t)n * sizeof(struct prof);
	const size_t n_bytes = of_profs + (size_t)n * sizeof(struct region);
	uint64_t outside;
	uint8_t *mem;
	int r;

	if (elem_bytes < 0)
		return -EINVAL;
	mem = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -ENOMEM;

	struct prof *p = (struct prof *)mem;
	struct region *regions = (struct region *)(mem + of_profs);

	r = own_memory_move(false, p, &(struct iovec){(void *)profp, of_profs}, 1, of_profs) == 1
		    ? check_regions(p, n, (unsigned)elem_bytes, regions, &outside)
		    : -EFAULT;
	if (r >= 0 && strict && !sorted_and_apart(regions, r, (unsigned)elem_bytes))
		r = -EINVAL;
	if (r >= 0)
		r = buckets_init(b, BUCKETS_SPROFIL, (unsigned)elem_bytes, regions, (uint32_t)r,
				 outside);
	munmap(mem, n_bytes);
	return r;
}

/* Profiling. */

static void count_tick(void *ctx, uint64_t pc, uint64_t n_ticks)
{
	(void)ctx; /* the sink: there is one profile */
	histogram_add(&profile.histogram, pc, n_ticks);
}

static void count_all(struct sink *s)
{
	s->done = histogram_flush(&profile.histogram) < 0;
}

static struct dwell_profil_thread describe(const struct tick_source *s, bool has_ended)
{
	struct dwell_profil_thread t = {.tid = s->tid,
					.has_ended = has_ended,
					.n_ticks = s->n_ticks,
					.n_unplaced = s->n_unplaced};

	if (source_read(s, &t.count) < 0)
		t.count =
			s->n_counts; /* the program closed the event, or a timer's thread is gone */
	return t;
}

static void note_ended(struct sink *sink, const struct tick_source *s)
{
	const struct dwell_profil_thread t = describe(s, true);
	struct dwell_profil_thread *last;

	(void)sink;
	if (!ended)
		ended = mmap(NULL, MAX_ENDED * sizeof(*ended), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ended == MAP_FAILED) {
		ended = NULL;
		return;
	}
	if (profile.n_ended < MAX_ENDED) {
		ended[profile.n_ended++] = t;
		return;
	}
	last = &ended[MAX_ENDED - 1];
	last->tid = 0;
	last->n_ticks += t.n_ticks;
	last->n_unplaced += t.n_unplaced;
	last->count += t.count;
}

static void end_profile(void)
{
	drain_remove(&profile.sink);
	buckets_release(&profile.histogram.buckets);
	profile.on = false;
}

static void go_on_in_child(struct sink *s)
{
	profile.histogram.n = 0; /* these are the parent's */
	profile.n_ended = 0;
	profile.on = drain_add(s) >= 0;
}

/* Replaces what is profiled; B is taken over. */
static int begin_profile(struct buckets *b, const struct settings *s)
{
	struct profile was;
	int e;

	if (profile.on)
		drain_remove(&profile.sink);
	was = profile;
	profile.n_unplaced_before += profile.sink.n_unplaced;
	profile.histogram = (struct histogram){.buckets = *b};
	profile.settings = *s;
	profile.sink = (struct sink){.spec = s->spec,
				     .all_threads = true,
				     .tick = count_tick,
				     .after = count_all,
				     .ended = note_ended,
				     .reborn = go_on_in_child};
	profile.n_ended = 0;
	profile.on = true;
	e = drain_add(&profile.sink);
	if (e >= 0) {
		buckets_release(&was.histogram.buckets);
		return 0;
	}
	buckets_release(b);
	profile = was;
	if (was.on)
		profile.on = drain_add(&profile.sink) >= 0;
	return e;
}

/* Tells how long a tick is.  An event that is no clock gets as many nanoseconds as a tick has
 * counts. */
static bool tell_tick(struct timeval *tvp, const struct tick_spec *spec)
{
	struct timeval tick = {.tv_sec = (time_t)(spec->period / 1000000000),
			       .tv_usec = (suseconds_t)(spec->period % 1000000000 / 1000)};

	return own_memory_move(true, &tick, &(struct iovec){tvp, sizeof(tick)}, 1, sizeof(tick)) ==
	       1;
}

static int sprofil_begin(const struct prof *profp, int profcnt, struct timeval *tvp, unsigned flags)
{
	struct settings s;
	struct buckets b = {0};
	int e = settings_get(&s);

	if (e < 0)
		return e;
	if (profcnt < 0 || profcnt > DWELL_PROFIL_MAX || (profcnt == 0 && s.strict))
		return -E2BIG;
	if (profcnt && (e = make_buckets(&b, profp, profcnt, flags, s.strict)) < 0)
		return e;
	if (tvp && !tell_tick(tvp, &s.spec)) {
		buckets_release(&b);
		return -EFAULT;
	}
	if (profcnt)
		return begin_profile(&b, &s);
	end_profile();
	return 0;
}

int inproc_sprofil(struct prof *profp, int profcnt, struct timeval *tvp, unsigned flags)
	EXPORT_AS(inproc_sprofil, sprofil);

int inproc_sprofil(struct prof *profp, int profcnt, struct timeval *tvp, unsigned flags)
{
	int e;

	drain_lock();
	e = sprofil_begin(profp, profcnt, tvp, flags);
	drain_unlock();
	if (e >= 0)
		return 0;
	errno = -e;
	return -1;
}

int inproc_profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned scale)
	EXPORT_AS(inproc_profil, profil);

int inproc_profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned scale)
{
	struct prof p = {.pr_base = buf,
			 .pr_size = bufsiz & ~(size_t)1,
			 .pr_off = offset,
			 .pr_scale = scale};

	if (buf && scale)
		return inproc_sprofil(&p, 1, NULL, PROF_USHORT);
	drain_lock();
	end_profile();
	drain_unlock();
	return 0;
}

uint64_t sprofil_unplaced(void)
{
	return profile.n_unplaced_before + drain_totals(&profile.sink).n_unplaced;
}

struct settings sprofil_up_to_date(void)
{
	struct settings s;

	if (profile.on)
		drain_now(&profile.sink);
	s = profile.settings;
	return s;
}

EXPORT int dwell_profil_status(struct dwell_profil_status *s)
{
	struct dwell_profil_status now = {.size = s->size};
	struct drain_totals t;

	if (!s->size) {
		errno = EINVAL;
		return -1;
	}
	drain_lock();
	if (profile.on)
		drain_now(&profile.sink);
	now.on = profile.on && !profile.histogram.broken;
	now.tick = profile.sink.spec.period;
	t = drain_totals(&profile.sink);
	now.n_threads = t.n_sources;
	now.n_ticks = t.n_ticks;
	now.n_moved = t.n_moved;
	now.n_unplaced = t.n_unplaced;
	now.n_missed = profile.sink.n_missed;
	now.missed_errno = -profile.sink.error;
	now.n_counted = profile.histogram.n_counted;
	now.n_outside = profile.histogram.n_outside;
	now.n_dropped = profile.histogram.n_dropped;
	drain_unlock();
	memcpy(s, &now, s->size < sizeof(now) ? s->size : sizeof(now));
	return 0;
}

EXPORT int dwell_profil_threads(struct dwell_profil_thread *threads, int n)
{
	unsigned n_all, i = 0, most = n > 0 ? (unsigned)n : 0;

	drain_lock();
	if (profile.on)
		drain_now(&profile.sink);
	for (const struct tick_source *s = profile.sink.sources; s; s = s->next, i++)
		if (i < most)
			threads[i] = describe(s, false);
	for (n_all = i + profile.n_ended; i < n_all && i < most; i++)
		threads[i] = ended[profile.n_ended - (n_all - i)];
	drain_unlock();
	return (int)n_all;
}
