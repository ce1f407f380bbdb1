/* SPDX-License-Identifier: BSD-2-Clause */
/* PAPI_profil() and PAPI_sprofil(): arguments to buckets, and what samples go through.
 *
 * All arguments are looked at and copied before anything changes, in PAPI's order of errors
 * (PAPI_profil(3)).  While its set runs a profile is a sink of drain.h with one source, whose event
 * counts, too; no signal is used. */
#include "inproc/own_fd.h"
#include "inproc/papi/profil.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "inproc/drain.h"
#include "inproc/export.h"
#include "inproc/histogram.h"
#include "inproc/own_memory.h"
#include "inproc/papi/count.h"
#include "inproc/papi/option.h"
#include "inproc/papi/result.h"
#include "inproc/papi/thread.h"

enum {
	KNOWN_FLAGS = PAPI_PROFIL_RANDOM | PAPI_PROFIL_WEIGHTED | PAPI_PROFIL_COMPRESS |
		      PAPI_PROFIL_BUCKETS | PAPI_PROFIL_FORCE_SW,
	EAR_FLAGS = PAPI_PROFIL_DATA_EAR | PAPI_PROFIL_INST_EAR,
	MAX_REGIONS = 1 << 20,
};

struct papi_profile {
	struct sink sink; /* first: callbacks get this */
	struct histogram histogram;
	struct papi_set *set;
	struct papi_counter *counter;
	int flags;
	bool on;	  /* the sink is in use */
	bool parked;	  /* else it waits for the same thread to start the set again */
	const void *mark; /* that thread, papi_thread_mark; a later one may have the same */
	pid_t tid;
};

/* Arguments. */

/* 2, 4 or 8; 0: FLAGS wants two sizes. */
static unsigned element_bytes(int flags)
{
	switch (flags & PAPI_PROFIL_BUCKETS) {
	case 0:
	case PAPI_PROFIL_BUCKET_16:
		return 2;
	case PAPI_PROFIL_BUCKET_32:
		return 4;
	case PAPI_PROFIL_BUCKET_64:
		return 8;
	default:
		return 0;
	}
}

static bool is_bin(const PAPI_sprofil_t *p)
{
	return !p->pr_off && p->pr_scale == 2;
}

/* Whether there is memory at P. */
static bool is_there(const void *p, size_t n_bytes)
{
	char copy[8];

	return own_memory_move(false, copy, &(struct iovec){(void *)p, n_bytes}, 1, n_bytes) == 1;
}

/* The N entries at P to REGIONS, and the bucket for all else to *OUTSIDE; how many regions, or
 * PAPI_EINVAL.  A bucket that is not whole is none: what is behind the buffer is not ours. */
static int check_regions(const PAPI_sprofil_t *p, int n, unsigned elem_bytes,
			 struct region *regions, uint64_t *outside)
{
	int n_regions = 0;

	*outside = 0;
	for (int i = 0; i < n; i++) {
		const unsigned n_bytes = p[i].pr_size - p[i].pr_size % elem_bytes;

		if (p[i].pr_scale != 131072 && (p[i].pr_scale < 2 || p[i].pr_scale > 65536))
			return PAPI_EINVAL;
		if (!p[i].pr_base || !p[i].pr_size || !is_there(p[i].pr_base, elem_bytes))
			return PAPI_EINVAL;
		if (is_bin(&p[i])) {
			*outside = (uint64_t)(uintptr_t)p[i].pr_base;
			continue;
		}
		if (!n_bytes)
			return PAPI_EINVAL;
		regions[n_regions++] = (struct region){.base = (uint64_t)(uintptr_t)p[i].pr_base,
						       .n_bytes = n_bytes,
						       .offset = (uint64_t)(uintptr_t)p[i].pr_off,
						       .scale = p[i].pr_scale};
	}
	return n_regions;
}

static int make_buckets(struct buckets *b, const PAPI_sprofil_t *prof, int n, unsigned elem_bytes)
{
	const size_t of_profs = (size_t)n * sizeof(*prof);
	const size_t n_bytes = of_profs + (size_t)n * sizeof(struct region);
	uint64_t outside;
	uint8_t *mem;
	int r;

	mem = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return PAPI_ENOMEM;

	PAPI_sprofil_t *p = (PAPI_sprofil_t *)mem;
	struct region *regions = (struct region *)(mem + of_profs);

	r = own_memory_move(false, p, &(struct iovec){(void *)prof, of_profs}, 1, of_profs) == 1
		    ? check_regions(p, n, elem_bytes, regions, &outside)
		    : PAPI_EINVAL;
	if (r >= 0)
		r = papi_of_errno(
			buckets_init(b, BUCKETS_PAPI, elem_bytes, regions, (uint32_t)r, outside));
	munmap(mem, n_bytes);
	return r;
}

/* Whether another event of S than C is profiled in the other way, by software or not. */
static bool is_mixed(const struct papi_set *s, const struct papi_counter *c, int flags)
{
	for (int i = 0; i < s->n; i++)
		if (s->counters[i] != c && s->counters[i]->profile &&
		    (s->counters[i]->profile->flags ^ flags) & PAPI_PROFIL_FORCE_SW)
			return true;
	return false;
}

static int check_flags(const struct papi_set *s, const struct papi_counter *c, int flags)
{
	if (is_mixed(s, c, flags))
		return PAPI_ECNFLCT;
	if (flags & ~(KNOWN_FLAGS | EAR_FLAGS) || !element_bytes(flags))
		return PAPI_EINVAL;
	if (flags & EAR_FLAGS)
		return PAPI_ENOSUPP;
	return s->domain & PAPI_DOM_USER ? PAPI_OK : PAPI_EINVAL_DOM;
}

/* What samples go through. */

static void count_tick(void *ctx, uint64_t pc, uint64_t n_ticks)
{
	struct papi_profile *p = ctx;

	histogram_add(&p->histogram, pc, n_ticks);
}

static void count_all(struct sink *k)
{
	struct papi_profile *p = (struct papi_profile *)k;

	k->done = histogram_flush(&p->histogram) < 0;
}

/* The descriptor that counts what K's only source samples, for the set to keep: the source is
 * closed when its thread ends. */
static void take_counter(struct papi_profile *p)
{
	struct papi_counter *c = p->counter;
	const struct tick_source *s = p->sink.sources;
	int fd = s->looks && s->fd >= 0 ? s->counter_fd : s->fd;

	c->has_times = false;
	papi_close_counter(c);
	papi_adopt_counter(c, fd < 0 ? -1 : own_fd_move_up(fcntl(fd, F_DUPFD_CLOEXEC, 3)));
	c->is_clock = fd < 0;
	c->origin = 0;
	if (c->is_clock)
		c->origin = papi_raw_count(p->set, c);
}

/* Under the lock of drain.h. */
static int profil_begin(struct papi_profile *p)
{
	int e = drain_add(&p->sink);

	if (e < 0)
		return e;
	e = drain_add_thread(&p->sink, p->set->tid);
	if (e < 0) {
		drain_remove(&p->sink);
		return e;
	}
	take_counter(p);
	p->on = true;
	return 0;
}

/* In the child; only sets of the thread that forked go on. */
static void begin_in_child(struct sink *k)
{
	struct papi_profile *p = (struct papi_profile *)k;
	struct papi_counter *c = p->counter;

	p->on = p->parked = false;
	p->histogram.n = 0; /* these are the parent's */
	if (p->set->owner != papi_thread_mark())
		return;
	papi_close_counter(c);
	p->set->tid = papi_gettid();
	profil_begin(p);
}

/* A clock's time in the kernel is that of the system call's place, as it is in its count, which
 * cannot leave it out; of other events only what the domain says is seen. */
static struct tick_spec spec_of(const struct papi_set *s, const struct papi_counter *c, int flags)
{
	struct tick_spec spec = c->what.spec;

	spec.period = papi_raw_of(c, (uint64_t)c->threshold);
	spec.rate_hz = spec.is_clock ? 1000000000 / spec.period + 1 : 10000;
	if (spec.rate_hz > 100000)
		spec.rate_hz = 100000;
	spec.user_only = !spec.is_clock && !(s->domain & PAPI_DOM_KERNEL);
	spec.weighted = flags & PAPI_PROFIL_WEIGHTED;
	spec.whole_only = true;
	if (flags & PAPI_PROFIL_FORCE_SW) {
		spec.look_ns = papi_look_ns();
		spec.rate_hz = 1000000000 / spec.look_ns + 1;
	}
	return spec;
}

static bool is_same_spec(const struct tick_spec *a, const struct tick_spec *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->period == b->period && a->is_clock == b->is_clock &&
	       a->user_only == b->user_only && a->rate_hz == b->rate_hz &&
	       a->look_ns == b->look_ns && a->weighted == b->weighted &&
	       a->whole_only == b->whole_only;
}

/* Goes on with a profile of C that waits; false: it is ended, or was. */
static bool profil_go_on(struct papi_set *s, struct papi_counter *c)
{
	struct papi_profile *p = c->profile;
	const struct tick_spec spec = spec_of(s, c, p->flags);

	if (!p->parked)
		return false;
	p->parked = false;
	if (s->attached || p->mark != papi_thread_mark() || p->tid != s->tid ||
	    !is_same_spec(&spec, &p->sink.spec) || !drain_go_on(&p->sink)) {
		drain_remove(&p->sink);
		return false;
	}
	c->origin = c->last;
	p->on = true;
	return true;
}

int papi_profile_start(struct papi_set *s, struct papi_counter *c)
{
	struct papi_profile *p = c->profile;
	int e;

	drain_lock();
	p->histogram.broken = false;
	p->histogram.n_counted = p->histogram.n_outside = p->histogram.n_dropped = 0;
	if (profil_go_on(s, c)) {
		drain_unlock();
		return PAPI_OK;
	}
	p->sink = (struct sink){.spec = spec_of(s, c, p->flags),
				.tick = count_tick,
				.after = count_all,
				.reborn = begin_in_child};
	e = profil_begin(p);
	drain_unlock();
	return papi_of_errno(e);
}

bool papi_profile_stop(struct papi_counter *c, bool is_stopped)
{
	struct papi_profile *p = c->profile;

	drain_lock();
	if (p->on && p->set->owner == papi_thread_mark() && !p->set->attached) {
		p->mark = p->set->owner;
		p->tid = p->set->tid;
		p->parked = drain_park(&p->sink, is_stopped);
	} else if (p->on) {
		drain_remove(&p->sink);
	}
	p->on = false;
	drain_unlock();
	return p->parked;
}

/* The interface. */

void papi_profile_end(struct papi_set *s, struct papi_counter *c)
{
	drain_lock();
	drain_remove(&c->profile->sink);
	drain_unlock();
	papi_close_counter(c);
	buckets_release(&c->profile->histogram.buckets);
	free(c->profile);
	c->profile = NULL;
	c->threshold = 0;
	s->state &= ~PAPI_PROFILING;
	for (int i = 0; i < s->n; i++)
		if (s->counters[i]->profile)
			s->state |= PAPI_PROFILING;
}

static int set_profile(struct papi_set *s, struct papi_counter *c, const PAPI_sprofil_t *prof,
		       int n, int threshold, int flags)
{
	struct papi_profile *p = calloc(1, sizeof(*p));
	int r = p ? make_buckets(&p->histogram.buckets, prof, n, element_bytes(flags))
		  : PAPI_ENOMEM;

	if (r < 0) {
		free(p);
		return r;
	}
	if (c->profile)
		papi_profile_end(s, c);
	p->histogram.flags = (flags & PAPI_PROFIL_RANDOM ? HISTOGRAM_RANDOM : 0) |
			     (flags & PAPI_PROFIL_COMPRESS ? HISTOGRAM_COMPRESS : 0);
	p->set = s;
	p->counter = c;
	p->flags = flags;
	c->profile = p;
	c->threshold = threshold;
	s->state |= PAPI_PROFILING;
	return PAPI_OK;
}

static int sprofil(const PAPI_sprofil_t *prof, int n, int set, int code, int threshold, int flags)
{
	struct papi_set *s;
	struct papi_counter *c;
	int r = papi_set_sampled(set, code, &s, &c);

	if (r < 0)
		return r;
	if (threshold < 0)
		return PAPI_EINVAL;
	if (threshold == 0) {
		if (!c->profile)
			return PAPI_EINVAL;
		papi_profile_end(s, c);
		return PAPI_OK;
	}
	if (!prof || n <= 0 || n > MAX_REGIONS)
		return PAPI_EINVAL;
	r = check_flags(s, c, flags);
	if (r == PAPI_OK && !c->profile && c->threshold)
		r = PAPI_ECNFLCT; /* its overflows are told */
	return r < 0 ? r : set_profile(s, c, prof, n, threshold, flags);
}

EXPORT int dwell_papi_profil_status(int event_set, int code, struct dwell_profil_status *s)
{
	struct dwell_profil_status now = {.size = s->size};
	struct papi_set *set = papi_set_find(event_set);
	const int i = set ? papi_set_index(set, code) : -1;
	struct papi_profile *p = i < 0 ? NULL : set->counters[i]->profile;
	struct drain_totals t;

	if (!s->size || !p) {
		errno = s->size ? ENOENT : EINVAL;
		return -1;
	}
	drain_lock();
	if (p->on)
		drain_now(&p->sink);
	now.on = p->on && !p->histogram.broken;
	now.tick = p->sink.spec.period;
	t = drain_totals(&p->sink);
	now.n_ticks = t.n_ticks;
	now.n_moved = t.n_moved;
	now.n_unplaced = t.n_unplaced;
	now.n_threads = t.n_sources;
	now.n_counted = p->histogram.n_counted;
	now.n_outside = p->histogram.n_outside;
	now.n_dropped = p->histogram.n_dropped;
	drain_unlock();
	memcpy(s, &now, s->size < sizeof(now) ? s->size : sizeof(now));
	return 0;
}

EXPORT int PAPI_sprofil(PAPI_sprofil_t *prof, int profcnt, int set, int code, int threshold,
			int flags)
{
	return papi_result(sprofil(prof, profcnt, set, code, threshold, flags));
}

EXPORT int PAPI_profil(void *buf, unsigned bufsiz, vptr_t offset, unsigned scale, int set, int code,
		       int threshold, int flags)
{
	PAPI_sprofil_t p = {.pr_base = buf, .pr_size = bufsiz, .pr_off = offset, .pr_scale = scale};

	return papi_result(sprofil(&p, 1, set, code, threshold, flags));
}
