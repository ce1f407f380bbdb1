/* SPDX-License-Identifier: BSD-2-Clause */
/* One handler serves all timers; the signal's value names the ring it writes to.  A signal may
 * still be under way when its timer is gone, so rings are never given back to the system: a closed
 * one waits, empty and deaf, for the next timer.
 *
 * The kernel looks at such timers at its own tick only, 4 ms at 250 Hz.  The tick finds a place as
 * often as time is spent there, whatever happened before.  A timer that waits for a whole period
 * spoils this: the longer a thread ran unseen, the likelier the next tick is chosen.  So the timer
 * runs out four times a tick, and each tick that finds the thread running is a signal, also when
 * the period is longer.  What a signal stands for says spread.h. */
#include "inproc/source_timer.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "inproc/spread.h"

enum { RING_TICKS = 1024 }; /* the drainer comes ten times a second, the kernel's tick <= 1000 */

struct tick_ring {
	struct tick_ring *next_free;
	_Atomic(pid_t) tid; /* whose ticks it takes; 0: nobody's */
	_Atomic(uint32_t) head, tail;
	_Atomic(uint64_t) n_lost; /* ticks that found the ring full; the next one takes them on */
	struct {
		uint64_t pc, n; /* N: intervals of the timer since the signal before */
	} ticks[RING_TICKS];
	uint64_t interval_ns;	   /* of the timer */
	struct time_spread spread; /* the drainer's */
};

static struct tick_ring *free_rings; /* under the lock of whoever opens and closes sources */
static int signal_number;

static uint64_t pc_of(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uint64_t)u->uc_mcontext.gregs[REG_RIP];
#else
	return u->uc_mcontext.pc;
#endif
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	struct tick_ring *r = info->si_value.sival_ptr;
	int saved = errno;
	uint32_t head;
	uint64_t n;

	if (info->si_code != SI_TIMER || !r || atomic_load(&r->tid) != (pid_t)syscall(SYS_gettid))
		return;
	n = 1 + (uint64_t)info->si_overrun + atomic_exchange(&r->n_lost, 0);
	head = atomic_load_explicit(&r->head, memory_order_relaxed);
	if (head - atomic_load_explicit(&r->tail, memory_order_acquire) < RING_TICKS) {
		r->ticks[head % RING_TICKS].pc = pc_of(context);
		r->ticks[head % RING_TICKS].n = n;
		atomic_store_explicit(&r->head, head + 1, memory_order_release);
	} else {
		atomic_fetch_add(&r->n_lost, n);
	}
	errno = saved;
}

/* Takes a real-time signal that nobody handles. */
static int take_signal(void)
{
	struct sigaction now, ours = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};

	if (signal_number)
		return 0;
	sigemptyset(&ours.sa_mask);
	for (int n = SIGRTMAX - 1; n > SIGRTMIN; n--)
		if (sigaction(n, NULL, &now) >= 0 && now.sa_handler == SIG_DFL &&
		    sigaction(n, &ours, NULL) >= 0) {
			signal_number = n;
			return 0;
		}
	return -EBUSY;
}

static struct tick_ring *take_ring(void)
{
	struct tick_ring *r = free_rings;

	if (r) {
		free_rings = r->next_free;
		return r;
	}
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return r == MAP_FAILED ? NULL : r;
}

static void give_ring_back(struct tick_ring *r)
{
	atomic_store(&r->tid, 0);
	r->next_free = free_rings;
	free_rings = r;
}

/* The CPU clock of any thread, or the clock of its time in user space:
 * include/linux/posix-timers.h, MAKE_THREAD_CPUCLOCK with CPUCLOCK_SCHED and CPUCLOCK_VIRT. */
static clockid_t cpu_clock_of(const struct tick_source *s)
{
	return (clockid_t)(~(unsigned)s->tid << 3 | 4 | (s->user_only ? 1 : 2));
}

int source_timer_read(const struct tick_source *s, uint64_t *ret_count)
{
	struct timespec t;

	if (clock_gettime(cpu_clock_of(s), &t) < 0)
		return -errno;
	*ret_count = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - s->start_ns;
	return 0;
}

/* How often the timer runs out: four times in the kernel's tick, or once a period if that is less.
 * The coarse clock goes on with each tick: clock_getres(2). */
static uint64_t interval_for(uint64_t period_ns)
{
	struct timespec tick = {.tv_nsec = 4000000};

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return period_ns < (uint64_t)tick.tv_nsec / 4 ? period_ns : (uint64_t)tick.tv_nsec / 4;
}

static int source_timer_start(struct tick_source *s)
{
	const uint64_t ns = s->ring->interval_ns;
	struct itimerspec every = {
		.it_interval = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};

	every.it_value = every.it_interval;
	return timer_settime(s->timer, 0, &every, NULL) < 0 ? -errno : 0;
}

int source_timer_open(struct tick_source *s, pid_t tid, const struct tick_spec *spec)
{
	struct sigevent to = {.sigev_notify = SIGEV_THREAD_ID};
	struct tick_ring *r;
	int e = take_signal();

	if (e < 0)
		return e;
	r = take_ring();
	if (!r)
		return -ENOMEM;
	atomic_store(&r->tail, atomic_load(&r->head));
	atomic_store(&r->n_lost, 0);
	r->interval_ns = interval_for(spec->period);
	r->spread = (struct time_spread){0};
	to.sigev_signo = signal_number;
	to.sigev_value.sival_ptr = r;
	to._sigev_un._tid = tid;
	if (timer_create(cpu_clock_of(s), &to, &s->timer) < 0) {
		e = -errno;
		give_ring_back(r);
		return e;
	}
	atomic_store(&r->tid, tid);
	s->ring = r;
	e = source_timer_read(s, &s->start_ns);
	if (e >= 0)
		e = source_timer_start(s);
	if (e < 0)
		source_timer_close(s);
	return e;
}

/* Gives PC the periods that are complete now. */
static void give_periods(struct tick_source *s, uint64_t pc, tick_fn *tick, void *ctx)
{
	const uint64_t half = s->period / 2; /* source_give takes half a period for one */

	if (s->ring->spread.given_ns >= s->n_counts + half)
		source_give(s, s->ring->spread.given_ns - half, pc, UINT64_MAX, tick, ctx);
}

void source_timer_drain(struct tick_source *s, tick_fn *tick, void *ctx)
{
	struct tick_ring *r = s->ring;
	uint32_t head, tail;

	if (!r)
		return;
	head = atomic_load_explicit(&r->head, memory_order_acquire);
	tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	for (; tail != head; tail++) {
		const uint64_t pc = r->ticks[tail % RING_TICKS].pc;

		spread_add(&r->spread, pc, r->ticks[tail % RING_TICKS].n * r->interval_ns);
		give_periods(s, pc, tick, ctx);
	}
	atomic_store_explicit(&r->tail, tail, memory_order_release);
}

void source_timer_drain_last(struct tick_source *s, tick_fn *tick, void *ctx)
{
	uint64_t count, pc = 0;
	bool has_place = false;

	source_timer_drain(s, tick, ctx);
	if (!s->ring || s->looks)
		return;
	if (source_timer_read(s, &count) < 0)
		count = 0;
	spread_end(&s->ring->spread, count);
	while (spread_next(&s->ring->spread, &pc)) {
		has_place = true;
		give_periods(s, pc, tick, ctx);
	}
	/* less than a period is left, or no tick of the kernel found the thread running */
	if (!s->whole_only)
		source_give(s, count, pc, has_place, tick, ctx);
}

bool source_timer_has_ended(const struct tick_source *s)
{
	return syscall(SYS_tgkill, getpid(), s->tid, 0) && errno == ESRCH;
}

void source_timer_close(struct tick_source *s)
{
	if (!s->ring)
		return;
	timer_delete(s->timer);
	source_timer_forget(s);
}

void source_timer_forget(struct tick_source *s)
{
	if (s->ring)
		give_ring_back(s->ring);
	*s = (struct tick_source){.next = s->next, .fd = -1};
}
