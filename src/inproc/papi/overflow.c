/* SPDX-License-Identifier: BSD-2-Clause */
/* See overflow.h.
 *
 * The descriptor that signals has no ring and, but for hardware counters, which are few, is not the
 * one that counts: what happens until the handler has returned is counted then, too.  It leads a
 * group of its own, or it would lose most overflows.  PERF_EVENT_IOC_REFRESH lets one overflow
 * happen and then switches it off, so that at most one signal of an event waits, however long it is
 * blocked: more would use up the user's queue of signals. */
#include "inproc/papi/overflow.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/own_fd.h"
#include "inproc/papi/count.h"
#include "inproc/papi/option.h"
#include "inproc/papi/result.h"
#include "inproc/papi/thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(int) signal_number;

int papi_overflow_signal(void)
{
	return atomic_load(&signal_number);
}

/* The handler. */

static void *pc_of(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (void *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
	return (void *)(uintptr_t)u->uc_mcontext.pc;
#endif
}

/* The overflows of S that a timer's look finds. */
static long long look(struct papi_set *s)
{
	long long vector = 0;

	for (int i = 0; i < s->n; i++) {
		struct papi_counter *c = s->counters[i];
		uint64_t raw;

		if (!c->deadline)
			continue;
		raw = papi_raw_count(s, c);
		if (raw < c->deadline)
			continue;
		vector |= 1LL << i;
		c->deadline = raw + papi_raw_of(c, (uint64_t)c->threshold);
	}
	return vector;
}

/* The position of the event of S whose overflow FD tells, or -1. */
static int index_of(const struct papi_set *s, int fd)
{
	for (int i = 0; i < s->n; i++)
		if (s->counters[i]->overflow_fd == fd)
			return i;
	return -1;
}

/* The set that this thread runs and the signal is for; it may have been stopped meanwhile. */
static struct papi_set *set_of(const siginfo_t *info, int *ret_index)
{
	const pid_t tid = papi_gettid();

	for (int i = 0; i < papi_sets_end(); i++) {
		struct papi_set *s = papi_set_at(i);

		if (!s || s->tid != tid || !(s->state & PAPI_RUNNING))
			continue;
		*ret_index = -1;
		if (info->si_code == SI_TIMER && info->si_value.sival_ptr == s)
			return s;
		if (info->si_code != SI_TIMER && (*ret_index = index_of(s, info->si_fd)) >= 0)
			return s;
	}
	return NULL;
}

static void on_overflow(int number, siginfo_t *info, void *context)
{
	int saved = errno, i;
	struct papi_set *s = set_of(info, &i);

	if (s) {
		long long vector = i < 0 ? look(s) : 1LL << i;
		PAPI_overflow_handler_t handler = s->handler;

		if (vector && handler)
			handler(s->number, pc_of(context), vector, context);
		/* the handler may have stopped the set, or closed what told it */
		if (i >= 0 && s->state & PAPI_RUNNING && i < s->n)
			papi_overflow_enable(s->counters[i]);
	}
	errno = saved;
}

/* Takes a real-time signal that nobody handles. */
static int take_signal(void)
{
	struct sigaction now;
	struct sigaction ours = {.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_RESTART};
	int r = PAPI_ECNFLCT;

	pthread_mutex_lock(&lock);
	sigemptyset(&ours.sa_mask);
	if (atomic_load(&signal_number))
		r = PAPI_OK;
	for (int n = SIGRTMIN + 2; n < SIGRTMAX && r < 0; n++)
		if (sigaction(n, NULL, &now) >= 0 && now.sa_handler == SIG_DFL &&
		    sigaction(n, &ours, NULL) >= 0) {
			atomic_store(&signal_number, n);
			r = PAPI_OK;
		}
	pthread_mutex_unlock(&lock);
	return r;
}

/* Running. */

static int open_teller(const struct papi_set *s, const struct papi_counter *c)
{
	struct perf_event_attr attr = papi_attr_of(s, c);
	struct f_owner_ex owner = {F_OWNER_TID, s->tid};
	int fd;

	attr.sample_period = papi_raw_of(c, (uint64_t)c->threshold);
	attr.wakeup_events = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, s->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	fd = own_fd_move_up(fd);
	if (fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, papi_overflow_signal()) ||
	    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK)) {
		int e = errno;

		close(fd);
		return -e;
	}
	return fd;
}

int papi_overflow_start(struct papi_set *s, struct papi_counter *c)
{
	int fd;

	c->deadline = 0;
	if (s->by_timer || c->is_clock) {
		c->deadline = papi_raw_count(s, c) + papi_raw_of(c, (uint64_t)c->threshold);
		return PAPI_OK;
	}
	fd = open_teller(s, c);
	if (fd < 0)
		return papi_of_errno(fd);
	c->overflow_fd = fd;
	if (c->what.spec.type != PERF_TYPE_SOFTWARE) { /* counters are few */
		papi_close_counter(c);
		papi_adopt_counter(c, own_fd_move_up(fcntl(fd, F_DUPFD_CLOEXEC, 3)));
		c->has_times = false;
	}
	return PAPI_OK;
}

void papi_overflow_enable(struct papi_counter *c)
{
	if (c->overflow_fd >= 0)
		ioctl(c->overflow_fd, PERF_EVENT_IOC_REFRESH, 1);
}

void papi_overflow_stop(struct papi_counter *c)
{
	if (c->overflow_fd >= 0)
		close(c->overflow_fd);
	c->overflow_fd = -1;
	c->deadline = 0;
}

static bool wants_timer(const struct papi_set *s)
{
	for (int i = 0; i < s->n; i++)
		if (s->counters[i]->deadline)
			return true;
	return false;
}

int papi_overflow_start_timer(struct papi_set *s)
{
	struct sigevent to = {.sigev_notify = SIGEV_THREAD_ID,
			      .sigev_signo = papi_overflow_signal(),
			      .sigev_value = {.sival_ptr = s}};
	const uint64_t ns = papi_look_ns();
	struct itimerspec every = {
		.it_interval = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};

	if (!wants_timer(s))
		return PAPI_OK;
	to._sigev_un._tid = s->tid;
	every.it_value = every.it_interval;
	if (timer_create(papi_look_clock(), &to, &s->timer) < 0)
		return papi_of_errno(-errno);
	timer_settime(s->timer, 0, &every, NULL);
	return PAPI_OK;
}

void papi_overflow_stop_timer(struct papi_set *s)
{
	if (wants_timer(s))
		timer_delete(s->timer);
}

/* The interface. */

static bool has_others(const struct papi_set *s, const struct papi_counter *c)
{
	for (int i = 0; i < s->n; i++)
		if (s->counters[i] != c && s->counters[i]->threshold && !s->counters[i]->profile)
			return true;
	return false;
}

void papi_overflow_end(struct papi_set *s, struct papi_counter *c)
{
	c->threshold = 0;
	if (!has_others(s, c)) {
		s->state &= ~PAPI_OVERFLOWING;
		s->handler = NULL;
		s->by_timer = false;
	}
}

static int set_overflow(int set, int code, int threshold, int flags,
			PAPI_overflow_handler_t handler)
{
	const bool by_timer = flags & PAPI_OVERFLOW_FORCE_SW;
	struct papi_set *s;
	struct papi_counter *c;
	int r = papi_set_sampled(set, code, &s, &c);

	if (r < 0)
		return r;
	if (threshold < 0 || flags & ~(PAPI_OVERFLOW_FORCE_SW | PAPI_OVERFLOW_HARDWARE) ||
	    flags == (PAPI_OVERFLOW_FORCE_SW | PAPI_OVERFLOW_HARDWARE))
		return PAPI_EINVAL;
	if (c->profile)
		return PAPI_ECNFLCT;
	if (threshold == 0) {
		if (!c->threshold)
			return PAPI_EINVAL;
		papi_overflow_end(s, c);
		return PAPI_OK;
	}
	if (!handler)
		return PAPI_EINVAL;
	if (has_others(s, c) && s->by_timer != by_timer)
		return PAPI_ECNFLCT;
	r = take_signal();
	if (r < 0)
		return r;
	c->threshold = threshold;
	s->handler = handler;
	s->by_timer = by_timer;
	s->state |= PAPI_OVERFLOWING;
	return PAPI_OK;
}

EXPORT int PAPI_overflow(int set, int code, int threshold, int flags,
			 PAPI_overflow_handler_t handler)
{
	return papi_result(set_overflow(set, code, threshold, flags, handler));
}

EXPORT int PAPI_get_overflow_event_index(int set, long long overflow_vector, int *array,
					 int *number)
{
	struct papi_set *s = papi_set_find(set);
	int n = 0;

	if (!overflow_vector || !array || !number || *number < 1)
		return papi_result(PAPI_EINVAL);
	if (!s)
		return papi_result(PAPI_ENOEVST);
	if (!s->n)
		return papi_result(PAPI_EINVAL);
	for (int i = 0; i < s->n && n < *number; i++)
		if (overflow_vector >> i & 1)
			array[n++] = i;
	*number = n;
	return PAPI_OK;
}
