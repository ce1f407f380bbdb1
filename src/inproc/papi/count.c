/* SPDX-License-Identifier: BSD-2-Clause */
/* Each event of a set counts by itself: of software events the machine has as many as one likes,
 * and hardware events that do not fit beside one another are refused when they are added.  A
 * counter is opened when its set first starts, for the thread that starts it, and stays open while
 * the set is stopped; one that is sampled counts by the very event that is sampled.
 *
 * Reading takes no lock, so that a handler of overflows may do it. */
#include "inproc/papi/count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/own_fd.h"
#include "inproc/papi/fork.h"
#include "inproc/papi/group.h"
#include "inproc/papi/overflow.h"
#include "inproc/papi/profil.h"
#include "inproc/papi/result.h"
#include "inproc/papi/thread.h"

void papi_hold(struct papi_hold *h)
{
	sigset_t ours;
	int n = papi_overflow_signal();

	h->held = n != 0;
	if (!n)
		return;
	sigemptyset(&ours);
	sigaddset(&ours, n);
	pthread_sigmask(SIG_BLOCK, &ours, &h->before);
}

void papi_let_go(const struct papi_hold *h)
{
	if (h->held)
		pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

/* Values. */

static uint64_t cpu_time_ns(pid_t tid)
{
	struct timespec t;

	/* the CPU clock of any thread: include/linux/posix-timers.h, MAKE_THREAD_CPUCLOCK */
	if (clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t papi_raw_count(const struct papi_set *s, const struct papi_counter *c)
{
	uint64_t words[3] = {0}; /* the count, and how long it was wanted and could be counted */
	struct papi_group_counts all;

	if (c->is_clock)
		return cpu_time_ns(s->tid);
	if (c->group)
		return papi_group_read(c->group, &all) ? all.counts[c->place] : c->origin;
	if (c->fd < 0 || read(c->fd, words, c->has_times ? sizeof(words) : sizeof(words[0])) < 8)
		return c->origin;
	if (c->has_times && words[2] && words[2] < words[1])
		return (uint64_t)((unsigned __int128)words[0] * words[1] / words[2]);
	return words[0];
}

/* What all counters of S have counted. */
static void read_all(const struct papi_set *s, uint64_t raw[PAPI_SET_EVENTS])
{
	struct papi_group_counts group;
	const bool has_group = s->group.n && papi_group_read(&s->group, &group);

	for (int i = 0; i < s->n; i++) {
		const struct papi_counter *c = s->counters[i];

		raw[i] = !c->group   ? papi_raw_count(s, c)
			 : has_group ? group.counts[c->place]
				     : c->origin;
	}
}

long long papi_shown(const struct papi_counter *c, uint64_t raw)
{
	uint64_t n = raw - c->origin;

	if (!c->what.clock_hz)
		return (long long)n;
	return (long long)n < 0 ? -(long long)papi_cycles_of_ns(-n, c->what.clock_hz)
				: (long long)papi_cycles_of_ns(n, c->what.clock_hz);
}

uint64_t papi_raw_of(const struct papi_counter *c, uint64_t n)
{
	return c->what.clock_hz ? papi_ns_of_cycles(n, c->what.clock_hz) : n;
}

/* Counters. */

/* Whether the program has left the descriptor of C alone. */
static bool is_open(const struct papi_counter *c)
{
	uint64_t id;

	return c->fd >= 0 && ioctl(c->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == c->id;
}

void papi_close_counter(struct papi_counter *c)
{
	if (c->group) {
		papi_group_close(c->group);
		return;
	}
	if (is_open(c))
		close(c->fd);
	c->fd = -1;
	c->is_clock = false;
}

struct perf_event_attr papi_attr_of(const struct papi_set *s, const struct papi_counter *c)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = c->what.spec.type,
		.config = c->what.spec.config,
		.config1 = c->what.spec.config1,
		.config2 = c->what.spec.config2,
		.disabled = 1,
		.exclude_kernel = !(s->domain & PAPI_DOM_KERNEL),
		.exclude_user = !(s->domain & PAPI_DOM_USER),
		.exclude_hv = !(s->domain & PAPI_DOM_SUPERVISOR),
	};
}

void papi_adopt_counter(struct papi_counter *c, int fd)
{
	c->fd = fd;
	c->last = 0;
	c->of = (struct papi_counted){0};
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ID, &c->id))
		c->id = 0;
}

/* A thread that another one looks at may have ended, and its number be another's: what counts it is
 * opened anew each time.  (poll(2) cannot tell: of an event without a ring it always says that it
 * has hung up.) */
bool papi_counter_is(const struct papi_counter *c, const struct papi_counted *wanted)
{
	return c->fd >= 0 && c->of.tid == wanted->tid && c->of.cpu == wanted->cpu &&
	       c->of.domain == wanted->domain && c->of.inherit == wanted->inherit &&
	       c->of.times == wanted->times && c->of.owner == wanted->owner && wanted->owner;
}

static struct papi_counted wanted_of(const struct papi_set *s, pid_t tid)
{
	return (struct papi_counted){s->cpu >= 0 ? -1 : tid,
				     s->cpu,
				     s->domain,
				     s->inherit,
				     s->state & PAPI_MULTIPLEXING,
				     s->attached ? NULL : s->owner};
}

int papi_open_counter(const struct papi_set *s, struct papi_counter *c, pid_t tid)
{
	const struct papi_counted wanted = wanted_of(s, tid);
	const bool times = wanted.times;
	struct perf_event_attr attr = papi_attr_of(s, c);
	long fd;

	if (c->group || papi_counter_is(c, &wanted)) {
		c->is_clock = false;
		c->origin = c->last;
		return PAPI_OK;
	}
	papi_close_counter(c);
	attr.inherit = s->inherit;
	if (times)
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	c->origin = 0;
	c->has_times = times;
	fd = syscall(SYS_perf_event_open, &attr, s->cpu >= 0 ? -1 : tid, s->cpu, -1,
		     PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0) {
		papi_adopt_counter(c, own_fd_move_up((int)fd));
		c->of = wanted;
		return PAPI_OK;
	}
	if (!c->what.spec.is_clock || s->cpu >= 0 || s->inherit || errno == ESRCH)
		return papi_of_errno(-errno);
	c->is_clock = true; /* perf events are forbidden, or used up */
	c->origin = cpu_time_ns(tid);
	return PAPI_OK;
}

/* Closes what counts and samples, after what C has counted is noted. */
static void end_counter(struct papi_set *s, struct papi_counter *c, bool is_stopped)
{
	bool keep = !c->threshold && !c->is_clock && !s->inherit;

	if (c->profile)
		keep = papi_profile_stop(c, is_stopped);
	papi_overflow_stop(c);
	if (!keep)
		papi_close_counter(c);
}

static int begin_counter(struct papi_set *s, struct papi_counter *c)
{
	int r;

	if (c->profile)
		return papi_profile_start(s, c);
	r = papi_open_counter(s, c, s->tid);
	if (r == PAPI_OK && c->threshold)
		r = papi_overflow_start(s, c);
	return r;
}

static int begin_all(struct papi_set *s)
{
	const struct papi_counted wanted = wanted_of(s, s->tid);
	int r = PAPI_OK, n = 0;

	papi_group_open(s, &wanted);
	while (n < s->n && r == PAPI_OK)
		r = begin_counter(s, s->counters[n++]);
	if (r == PAPI_OK)
		r = papi_overflow_start_timer(s);
	while (r < 0 && n--)
		end_counter(s, s->counters[n], false);
	return r;
}

/* Switches counters on; false: one has been closed by the program. */
static bool enable_all(const struct papi_set *s)
{
	bool ok = true;

	for (int i = 0; i < s->n; i++)
		if (s->counters[i]->fd >= 0 && !s->counters[i]->profile &&
		    !papi_group_is_led(s->counters[i]))
			ok &= ioctl(s->counters[i]->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
	return ok;
}

static int count_start(struct papi_set *s)
{
	int r;

	s->owner = papi_thread_mark();
	s->tid = s->attached ? s->attached : papi_gettid();
	if (s->granularity == PAPI_GRN_SYS && s->cpu < 0 && !s->attached)
		s->cpu = sched_getcpu();
	r = begin_all(s);
	if (r == PAPI_OK && !enable_all(s)) {
		papi_overflow_stop_timer(s);
		for (int i = 0; i < s->n; i++) {
			end_counter(s, s->counters[i], false);
			papi_close_counter(s->counters[i]);
		}
		r = begin_all(s);
		enable_all(s);
	}
	if (r < 0) {
		s->tid = 0;
		return r;
	}
	s->state = (s->state & ~PAPI_STOPPED) | PAPI_RUNNING;
	for (int i = 0; i < s->n; i++)
		papi_overflow_enable(s->counters[i]);
	return PAPI_OK;
}

EXPORT int PAPI_start(int set)
{
	struct papi_set *s;
	struct papi_hold h;
	int r = papi_set_stopped(set, &s);

	if (r == PAPI_OK && !s->n)
		r = PAPI_EINVAL;
	if (r < 0)
		return papi_result(r);
	papi_hold(&h);
	r = count_start(s);
	papi_let_go(&h);
	return papi_result(r);
}

EXPORT int PAPI_stop(int set, long long *values)
{
	struct papi_set *s = papi_set_find(set);
	uint64_t raw[PAPI_SET_EVENTS];
	struct papi_hold h;

	if (!s)
		return papi_result(PAPI_ENOEVST);
	if (!(s->state & PAPI_RUNNING))
		return papi_result(PAPI_ENOTRUN);
	papi_hold(&h);
	for (int i = 0; i < s->n; i++) /* samples and counts end at the same time */
		if (s->counters[i]->fd >= 0 && !papi_group_is_led(s->counters[i]))
			ioctl(s->counters[i]->fd, PERF_EVENT_IOC_DISABLE, 0);
	read_all(s, raw);
	for (int i = 0; i < s->n; i++) {
		s->counters[i]->last = raw[i];
		s->counters[i]->stopped = papi_shown(s->counters[i], raw[i]);
	}
	papi_overflow_stop_timer(s);
	for (int i = 0; i < s->n; i++)
		end_counter(s, s->counters[i], true);
	s->state = (s->state & ~PAPI_RUNNING) | PAPI_STOPPED;
	s->tid = 0;
	papi_let_go(&h);
	for (int i = 0; values && i < s->n; i++)
		values[i] = s->counters[i]->stopped;
	return PAPI_OK;
}

/* Lets the program see VALUE of C, which has counted RAW. */
static void set_value(struct papi_counter *c, uint64_t raw, long long value)
{
	if (!c->what.clock_hz)
		c->origin = raw - (uint64_t)value;
	else if (value < 0)
		c->origin = raw + papi_ns_of_cycles((uint64_t)-value, c->what.clock_hz);
	else
		c->origin =
			raw - (value ? papi_ns_of_cycles((uint64_t)value, c->what.clock_hz) : 0);
}

/* Finds SET, whose values a program asks for at VALUES, and when it is running reads its
 * counters. */
static int counted_set(int set, const long long *values, struct papi_set **ret,
		       uint64_t raw[PAPI_SET_EVENTS])
{
	struct papi_set *s = papi_set_find(set);

	if (!s)
		return papi_result(PAPI_ENOEVST);
	if (!values)
		return papi_result(PAPI_EINVAL);
	if (s->state & PAPI_RUNNING)
		read_all(s, raw);
	*ret = s;
	return PAPI_OK;
}

EXPORT int PAPI_read(int set, long long *values)
{
	uint64_t raw[PAPI_SET_EVENTS];
	struct papi_set *s;
	int r = counted_set(set, values, &s, raw);

	if (r != PAPI_OK)
		return r;
	for (int i = 0; i < s->n; i++)
		values[i] = s->state & PAPI_RUNNING ? papi_shown(s->counters[i], raw[i])
						    : s->counters[i]->stopped;
	return PAPI_OK;
}

EXPORT int PAPI_read_ts(int set, long long *values, long long *cyc)
{
	int r = cyc ? PAPI_read(set, values) : papi_result(PAPI_EINVAL);

	if (r == PAPI_OK)
		*cyc = PAPI_get_real_cyc();
	return r;
}

EXPORT int PAPI_accum(int set, long long *values)
{
	uint64_t raw[PAPI_SET_EVENTS];
	struct papi_set *s;
	int r = counted_set(set, values, &s, raw);

	if (r != PAPI_OK)
		return r;
	for (int i = 0; i < s->n; i++) {
		struct papi_counter *c = s->counters[i];

		if (s->state & PAPI_RUNNING) {
			values[i] += papi_shown(c, raw[i]);
			c->origin = raw[i]; /* nothing is lost in between */
		} else {
			values[i] += c->stopped;
			c->stopped = 0;
		}
	}
	return PAPI_OK;
}

EXPORT int PAPI_reset(int set)
{
	static long long zeros[PAPI_SET_EVENTS];

	return PAPI_write(set, zeros);
}

EXPORT int PAPI_write(int set, long long *values)
{
	uint64_t raw[PAPI_SET_EVENTS];
	struct papi_set *s;
	int r = counted_set(set, values, &s, raw);

	if (r != PAPI_OK)
		return r;
	for (int i = 0; i < s->n; i++)
		if (s->state & PAPI_RUNNING)
			set_value(s->counters[i], raw[i], values[i]);
		else
			s->counters[i]->stopped = values[i];
	return PAPI_OK;
}

/* Fork. */

/* The new process has the thread that forked, and its sets go on with it; counters of the others
 * count threads of the parent.  Profiles come back by themselves (profil.c). */
static void go_on(struct papi_set *s)
{
	bool mine = s->owner == papi_thread_mark() && !s->attached && s->cpu < 0;

	if (!(s->state & PAPI_RUNNING)) {
		for (int i = 0; i < s->n; i++) /* these are the parent's */
			papi_close_counter(s->counters[i]);
		return;
	}
	s->tid = mine ? papi_gettid() : 0;
	for (int i = 0; i < s->n; i++) {
		struct papi_counter *c = s->counters[i];

		if (mine && c->profile)
			continue;
		papi_overflow_stop(c);
		papi_close_counter(c);
		if (mine && papi_open_counter(s, c, s->tid) == PAPI_OK && c->fd >= 0)
			ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
		if (mine && c->threshold && papi_overflow_start(s, c) == PAPI_OK)
			papi_overflow_enable(c);
	}
	if (mine)
		papi_overflow_start_timer(s);
	else
		s->state = (s->state & ~PAPI_RUNNING) | PAPI_STOPPED;
}

static void after_fork_in_child(void)
{
	papi_sets_after_fork();
	papi_events_after_fork();
	papi_threads_after_fork();
	for (int i = 0; i < papi_sets_end(); i++)
		if (papi_set_at(i))
			go_on(papi_set_at(i));
}

static void count_watch(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

void papi_watch_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, count_watch);
}
