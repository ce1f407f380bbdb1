/* SPDX-License-Identifier: BSD-2-Clause */
/* The helper thread and what it looks after.
 *
 * A source is known to an epoll instance by its event: it says when half of the ring is full, and
 * when the thread has ended, whose ticks are then taken and its source closed.  After fork(2) the
 * new process has no helper, no rings and only the thread that forked: descriptors of the parent's
 * are closed, and each sink that wants to go on begins anew.
 *
 * The helper must not keep a program alive whose main() ended in pthread_exit(3).  When all threads
 * of the program have ended it returns, too; as the last thread that does so it has the C library
 * call exit(3).  Without sinks it returns after a while, and drain_add starts another one. */
#include "inproc/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inproc/own_fd.h"
#include "inproc/threads.h"

enum { EVERY_MS = 100, CHUNK_SOURCES = 256, ROUNDS_OF_LOOK = 10, LINGER_S = 1 };

/* A quarter of what a user's rings may take by default: perf_event_mlock_kb. */
#define PARKED_BYTES (128u << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sink *sinks, *parked;
static size_t parked_bytes;		/* of their rings */
static _Atomic(unsigned) n_all_threads; /* sinks that want threads begun later */
static _Atomic(unsigned) n_timers;	/* sources there may be that are one */
static struct tick_source *free_sources;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER; /* there is something to do */
static int epoll_fd = -1;
static pid_t helper_tid; /* 0: there is none */
static pid_t user_pid;	 /* the process that has had sinks; a child of vfork(2) is another */
static pthread_t helper;
static bool is_held;					      /* no helper is wanted now */
static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER; /* who holds it */
static sigset_t usual_signals; /* blocked in the thread that started the helper */
static pthread_once_t at_fork_once = PTHREAD_ONCE_INIT;

void drain_lock(void)
{
	pthread_mutex_lock(&lock);
}

void drain_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static bool lock_soon(pthread_mutex_t *m)
{
	struct timespec until;

	if (pthread_mutex_trylock(m) == 0)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &until) == 0;
}

bool drain_lock_soon(void)
{
	return lock_soon(&lock);
}

/* Sources. */

/* They come in chunks that stay: an event of epoll may still name one that is closed. */
static struct tick_source *new_source(void)
{
	struct tick_source *s = free_sources;

	if (!s) {
		s = mmap(NULL, CHUNK_SOURCES * sizeof(*s), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (s == MAP_FAILED)
			return NULL;
		for (size_t i = 0; i < CHUNK_SOURCES; i++) {
			s[i].fd = -1;
			s[i].next = i + 1 < CHUNK_SOURCES ? &s[i + 1] : NULL;
		}
	}
	free_sources = s->next;
	return s;
}

static void free_source(struct tick_source *s)
{
	s->next = free_sources;
	free_sources = s;
}

/* Takes *AT's source out of K. */
static void end_source(struct sink *k, struct tick_source **at)
{
	struct tick_source *s = *at;

	source_drain_last(s, k->tick, k);
	if (k->ended)
		k->ended(k, s);
	k->n_ticks += s->n_ticks;
	k->n_moved += s->n_moved;
	k->n_unplaced += s->n_unplaced;
	*at = s->next;
	if (s->fd >= 0) /* somebody may hold the event open, and epoll knows it as long as that */
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	source_close(s);
	free_source(s);
}

/* Whether a thread has ended. */
static bool drain_sink(struct sink *k)
{
	bool some = false;

	for (struct tick_source **at = &k->sources; *at;) {
		bool ended = source_has_ended(*at);

		if (ended) {
			some = true;
			end_source(k, at);
			continue;
		}
		source_drain(*at, k->tick, k);
		at = &(*at)->next;
	}
	if (k->after)
		k->after(k);
	while (k->done && k->sources)
		end_source(k, &k->sources);
	return some;
}

/* The helper thread. */

/* A while, or until a ring is half full.  The program may have closed the descriptor. */
static void wait_for_rings(void)
{
	const struct timespec every = {.tv_nsec = EVERY_MS * 1000000};
	struct epoll_event events[64];
	int n = epoll_wait(epoll_fd, events, 64, EVERY_MS);

	if (n < 0 && errno != EINTR)
		nanosleep(&every, NULL);
	/* A thread that has ended would be told of for ever: its source may be parked. */
	for (int i = 0; i < n; i++)
		if (events[i].events & EPOLLHUP)
			epoll_ctl(epoll_fd, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

/* Waits until there are sinks; false: there have been none for a while.  Under the lock. */
static bool wait_for_sinks(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LINGER_S;
	while (!sinks && !is_held)
		if (pthread_cond_clockwait(&wake, &lock, CLOCK_MONOTONIC, &until))
			return sinks;
	return true;
}

/* Drains all sinks.  Whether the helper is needed on.  Every second, and when threads have ended,
 * it looks whether any are left. */
static bool do_round(unsigned number)
{
	bool look = number % ROUNDS_OF_LOOK == 0;

	drain_lock();
	if (!wait_for_sinks() || is_held) {
		if (!is_held) /* else somebody waits for it */
			pthread_detach(pthread_self());
		helper_tid = 0;
		drain_unlock();
		return false;
	}
	for (struct sink *k = sinks; k; k = k->next)
		look |= drain_sink(k);
	drain_unlock();
	return !look || !threads_have_ended();
}

/* The helper says which thread it is; who waits for that sleeps, as a loaded machine may let the
 * helper wait for its first turn. */
static void tell_helper(void)
{
	__atomic_store_n(&helper_tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	syscall(SYS_futex, &helper_tid, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void await_helper(void)
{
	while (__atomic_load_n(&helper_tid, __ATOMIC_ACQUIRE) < 0)
		syscall(SYS_futex, &helper_tid, FUTEX_WAIT_PRIVATE, -1, NULL, NULL, 0);
}

static void *help(void *unused)
{
	unsigned number = 0;

	tell_helper();
	prctl(PR_SET_NAME, HELPER_NAME);
	do
		wait_for_rings();
	while (do_round(++number));
	/* exit(3) is called now, with the program's handlers: signals are for this thread */
	if (threads_have_ended())
		pthread_sigmask(SIG_SETMASK, &usual_signals, NULL);
	return unused;
}

static int open_epoll(void)
{
	if (epoll_fd >= 0)
		return 0;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return -errno;
	epoll_fd = own_fd_move_up(epoll_fd);
	return 0;
}

static int start_helper(void)
{
	sigset_t all, before;
	int e = open_epoll();

	if (e < 0)
		return e;
	helper_tid = -1; /* until it says which it is */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = threads_create_untold(&helper, help);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	usual_signals = before;
	if (e) {
		helper_tid = 0;
		return -e;
	}
	return 0;
}

/* The helper looks up from what it waits for, as soon as it gets there. */
static int wake_helper(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = eventfd(1, EFD_CLOEXEC);

	if (fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
	pthread_cond_signal(&wake);
	return fd;
}

bool drain_hold_helper(void)
{
	bool is_there;
	int fd = -1;

	if (user_pid != getpid() || !lock_soon(&hold_lock))
		return false;
	if (!drain_lock_soon()) {
		pthread_mutex_unlock(&hold_lock);
		return false;
	}
	for (struct sink *k = sinks; k; k = k->next)
		if (k->leaving)
			k->leaving(k);
	is_held = true;
	is_there = helper_tid != 0;
	if (is_there)
		fd = wake_helper();
	drain_unlock();
	if (is_there)
		pthread_join(helper, NULL);
	if (fd >= 0)
		close(fd);
	return true;
}

void drain_let_helper_go(void)
{
	drain_lock();
	is_held = false;
	if (sinks && !helper_tid)
		start_helper();
	drain_unlock();
	pthread_mutex_unlock(&hold_lock);
}

/* Fork. */

static void forget_sources(struct sink *k)
{
	for (struct tick_source *s = k->sources, *t; s; s = t) {
		t = s->next;
		source_forget(s);
		free_source(s);
	}
	k->sources = NULL;
	k->next = NULL;
	k->n_ticks = k->n_moved = k->n_unplaced = 0;
}

static void forget_parked(void)
{
	for (struct sink *k = parked, *next; k; k = next) {
		next = k->next;
		forget_sources(k);
	}
	parked = NULL;
	parked_bytes = 0;
}

static void after_fork_in_child(void)
{
	struct sink *was = sinks;

	user_pid = getpid();
	sinks = NULL;
	atomic_store(&n_all_threads, 0);
	helper_tid = 0;
	if (own_fd_is(epoll_fd, "[eventpoll]"))
		close(epoll_fd);
	epoll_fd = -1;
	wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	hold_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	is_held = false;
	for (struct sink *k = was, *next; k; k = next) {
		next = k->next;
		forget_sources(k);
		if (k->reborn)
			k->reborn(k);
	}
	forget_parked();
	drain_unlock();
}

/* What was counted so far is so in both processes, whatever the one that forks does next. */
static void before_fork(void)
{
	drain_lock();
	for (struct sink *k = sinks; k; k = k->next)
		drain_sink(k);
}

static void watch_forks(void)
{
	user_pid = getpid();
	pthread_atfork(before_fork, drain_unlock, after_fork_in_child);
}

/* Sinks. */

int drain_add_thread(struct sink *k, pid_t tid)
{
	struct tick_source *s = new_source();
	struct epoll_event event = {.events = EPOLLIN};
	int e = s ? source_open(s, tid, &k->spec) : -ENOMEM;

	if (e < 0) {
		if (s)
			free_source(s);
		k->error = e;
		k->n_missed++;
		return e;
	}
	s->next = k->sources;
	k->sources = s;
	if (s->fd < 0)
		atomic_fetch_add(&n_timers, 1);
	event.data.fd = s->fd;
	if (s->fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, s->fd, &event);
	return 0;
}

static void add_one(void *ctx, pid_t tid)
{
	struct sink *k = ctx;

	if (tid != helper_tid)
		drain_add_thread(k, tid);
}

static void put_in(struct sink *k)
{
	k->next = sinks;
	sinks = k;
	pthread_cond_signal(&wake);
}

/* A thread that begins meanwhile sees N_ALL_THREADS, and waits for the lock to add itself if the
 * list did not have it. */
static int add_threads(struct sink *k)
{
	if (helper_tid)
		await_helper(); /* to know which thread is not the program's */
	atomic_fetch_add(&n_all_threads, 1);
	threads_each(add_one, k);
	if (k->sources)
		return 0;
	atomic_fetch_sub(&n_all_threads, 1);
	return k->error ? k->error : -ESRCH;
}

int drain_add(struct sink *k)
{
	int e = 0;

	pthread_once(&at_fork_once, watch_forks);
	k->error = 0;
	k->n_missed = 0;
	e = open_epoll();
	if (e >= 0 && k->all_threads)
		e = add_threads(k);
	if (e < 0)
		return e;
	put_in(k);
	if (!helper_tid && !is_held)
		e = start_helper();
	if (e < 0)
		drain_remove(k);
	return e;
}

void drain_now(struct sink *k)
{
	drain_sink(k);
}

struct drain_totals drain_totals(const struct sink *k)
{
	struct drain_totals t = {
		.n_ticks = k->n_ticks, .n_moved = k->n_moved, .n_unplaced = k->n_unplaced};

	for (const struct tick_source *s = k->sources; s; s = s->next) {
		t.n_sources++;
		t.n_ticks += s->n_ticks;
		t.n_moved += s->n_moved;
		t.n_unplaced += s->n_unplaced;
	}
	return t;
}

/* Takes K out of the list at *LIST; false when it is not in it. */
static bool take_out(struct sink **list, const struct sink *k)
{
	while (*list && *list != k)
		list = &(*list)->next;
	if (!*list)
		return false;
	*list = k->next;
	return true;
}

bool drain_park(struct sink *k, bool is_stopped)
{
	struct tick_source *s = k->sources;

	if (!s || s->next || k->done || !source_can_pause(s) ||
	    s->ring_bytes > PARKED_BYTES - parked_bytes || !take_out(&sinks, k)) {
		drain_remove(k);
		return false;
	}
	if (!is_stopped)
		source_pause(s);
	source_drain_last(s, k->tick, k);
	if (k->after)
		k->after(k);
	k->next = parked;
	parked = k;
	parked_bytes += s->ring_bytes;
	return true;
}

bool drain_go_on(struct sink *k)
{
	struct tick_source *s = k->sources;

	if (!s || !take_out(&parked, k))
		return false;
	parked_bytes -= s->ring_bytes;
	put_in(k);
	k->n_ticks = k->n_moved = k->n_unplaced = 0;
	s->n_ticks = s->n_moved = s->n_unplaced = 0;
	if ((helper_tid || is_held || start_helper() >= 0) && source_go_on(s))
		return true;
	drain_remove(k);
	return false;
}

void drain_remove(struct sink *k)
{
	if (take_out(&parked, k)) {
		parked_bytes -= k->sources->ring_bytes;
		while (k->sources)
			end_source(k, &k->sources);
		return;
	}
	if (!take_out(&sinks, k))
		return;
	if (k->all_threads)
		atomic_fetch_sub(&n_all_threads, 1);
	while (k->sources)
		end_source(k, &k->sources);
	if (k->after)
		k->after(k);
}

void drain_thread_began(void)
{
	pid_t tid;

	if (!atomic_load(&n_all_threads))
		return;
	tid = (pid_t)syscall(SYS_gettid);
	drain_lock();
	for (struct sink *k = sinks; k; k = k->next) {
		struct tick_source **at = &k->sources;

		if (!k->all_threads || k->done)
			continue;
		while (*at && (*at)->tid != tid)
			at = &(*at)->next;
		if (*at && source_has_ended(*at)) { /* of an earlier thread with this number */
			end_source(k, at);
			drain_add_thread(k, tid);
		} else if (!*at) {
			drain_add_thread(k, tid);
		}
	}
	drain_unlock();
}

/* The clock of a thread that is gone cannot be read, so a timer's last part of a tick is taken
 * while it is there. */
void drain_thread_ends(void)
{
	pid_t tid;

	if (!atomic_load(&n_timers))
		return;
	tid = (pid_t)syscall(SYS_gettid);
	drain_lock();
	for (struct sink *k = sinks; k; k = k->next)
		for (struct tick_source **at = &k->sources; *at;)
			if ((*at)->tid == tid && (*at)->fd < 0)
				end_source(k, at);
			else
				at = &(*at)->next;
	drain_unlock();
}
