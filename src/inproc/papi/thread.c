/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads register by hand or by the first function that keeps something for them, and are
 * forgotten when they end. */
#include "inproc/papi/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/papi/result.h"

struct thread {
	struct thread *next;
	unsigned long id; /* as the program's function has it; else the kernel's */
	void *kept[PAPI_TLS_NUM];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t user_locks[PAPI_NUM_LOCK] = {PTHREAD_MUTEX_INITIALIZER,
						    PTHREAD_MUTEX_INITIALIZER};
static struct thread *threads;
static unsigned long (*id_fn)(void);
static __thread struct thread *self;
static __thread char mark;
static __thread pid_t tid; /* of this thread; 0: not asked yet */
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const void *papi_thread_mark(void)
{
	return &mark;
}

pid_t papi_gettid(void)
{
	if (!tid)
		tid = (pid_t)syscall(SYS_gettid);
	return tid;
}

/* Under the lock; T may have been forgotten by PAPI_shutdown(). */
static void thread_forget(const struct thread *t)
{
	struct thread **at = &threads;

	while (*at && *at != t)
		at = &(*at)->next;
	if (*at) {
		struct thread *found = *at;

		*at = found->next;
		free(found);
	}
}

static void forget_at_end(void *t)
{
	pthread_mutex_lock(&lock);
	thread_forget(t);
	pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
	pthread_key_create(&at_end, forget_at_end);
}

/* Under the lock. */
static bool is_known(void)
{
	struct thread *t = threads;

	while (t && t != self)
		t = t->next;
	return t != NULL;
}

/* The calling thread, registered; NULL: no memory.  Under the lock. */
static struct thread *get_self(void)
{
	struct thread *new;

	if (self && is_known())
		return self;
	pthread_once(&once, make_key);
	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->id = id_fn ? id_fn() : (unsigned long)papi_gettid();
	new->next = threads;
	threads = self = new;
	pthread_setspecific(at_end, new);
	return new;
}

void papi_threads_release(void)
{
	pthread_mutex_lock(&lock);
	while (threads)
		thread_forget(threads);
	id_fn = NULL;
	pthread_mutex_unlock(&lock);
}

void papi_threads_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	tid = 0;
	for (struct thread *t = threads, *next; t; t = next) {
		next = t->next;
		if (t != self)
			thread_forget(t);
	}
	if (self && is_known() && !id_fn)
		self->id = (unsigned long)papi_gettid();
}

EXPORT int PAPI_thread_init(unsigned long (*fn)(void))
{
	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (!fn)
		return papi_result(PAPI_EINVAL);
	pthread_mutex_lock(&lock);
	id_fn = fn;
	if (self && is_known())
		self->id = fn();
	pthread_mutex_unlock(&lock);
	papi_add_level(PAPI_THREAD_LEVEL_INITED);
	return PAPI_OK;
}

EXPORT unsigned long PAPI_thread_id(void)
{
	return id_fn ? id_fn() : (unsigned long)PAPI_EMISC;
}

EXPORT int PAPI_register_thread(void)
{
	struct thread *t;

	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	pthread_mutex_lock(&lock);
	t = get_self();
	pthread_mutex_unlock(&lock);
	return papi_result(t ? PAPI_OK : PAPI_ENOMEM);
}

EXPORT int PAPI_unregister_thread(void)
{
	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	pthread_mutex_lock(&lock);
	if (self) {
		thread_forget(self);
		self = NULL;
		pthread_setspecific(at_end, NULL);
	}
	pthread_mutex_unlock(&lock);
	return PAPI_OK;
}

EXPORT int PAPI_list_threads(unsigned long *tids, int *number)
{
	int n = 0;

	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (!number || *number < 0)
		return papi_result(PAPI_EINVAL);
	pthread_mutex_lock(&lock);
	for (const struct thread *t = threads; t; t = t->next) {
		if (tids && n < *number)
			tids[n] = t->id;
		if (!tids || n < *number)
			n++;
	}
	pthread_mutex_unlock(&lock);
	*number = n;
	return PAPI_OK;
}

static int get_all(int tag, PAPI_all_thr_spec_t *all)
{
	int room, n = 0;

	if (!all || all->num < 0)
		return PAPI_EINVAL;
	room = all->num;
	pthread_mutex_lock(&lock);
	for (const struct thread *t = threads; t; t = t->next, n++) {
		if (n < room && all->id)
			all->id[n] = t->id;
		if (n < room && all->data)
			all->data[n] = t->kept[tag];
	}
	pthread_mutex_unlock(&lock);
	all->num = n < room || !all->data ? n : room;
	return PAPI_OK;
}

EXPORT int PAPI_get_thr_specific(int tag, void **ptr)
{
	struct thread *t;

	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (!ptr || (tag & ~PAPI_TLS_ALL_THREADS) < 0 ||
	    (tag & ~PAPI_TLS_ALL_THREADS) >= PAPI_TLS_NUM)
		return papi_result(PAPI_EINVAL);
	if (tag & PAPI_TLS_ALL_THREADS)
		return papi_result(
			get_all(tag & ~PAPI_TLS_ALL_THREADS, (PAPI_all_thr_spec_t *)ptr));
	pthread_mutex_lock(&lock);
	t = get_self();
	if (t)
		*ptr = t->kept[tag];
	pthread_mutex_unlock(&lock);
	return papi_result(t ? PAPI_OK : PAPI_ENOMEM);
}

EXPORT int PAPI_set_thr_specific(int tag, void *ptr)
{
	struct thread *t;

	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (tag < 0 || tag >= PAPI_TLS_NUM)
		return papi_result(PAPI_EINVAL);
	pthread_mutex_lock(&lock);
	t = get_self();
	if (t)
		t->kept[tag] = ptr;
	pthread_mutex_unlock(&lock);
	return papi_result(t ? PAPI_OK : PAPI_ENOMEM);
}

EXPORT int PAPI_lock(int number)
{
	if (number < 0 || number >= PAPI_NUM_LOCK)
		return papi_result(PAPI_EINVAL);
	pthread_mutex_lock(&user_locks[number]);
	return PAPI_OK;
}

EXPORT int PAPI_unlock(int number)
{
	if (number < 0 || number >= PAPI_NUM_LOCK)
		return papi_result(PAPI_EINVAL);
	pthread_mutex_unlock(&user_locks[number]);
	return PAPI_OK;
}
