/* SPDX-License-Identifier: BSD-2-Clause */
/* Making event sets and putting events into them.  Whether the machine can count an event beside
 * those there are, the kernel is asked by opening them as one group: perf_event_open(2). */
#include "inproc/papi/set.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/papi/count.h"
#include "inproc/papi/overflow.h"
#include "inproc/papi/profil.h"
#include "inproc/papi/result.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct papi_set *) slots[PAPI_SETS];
static _Atomic(int) n_slots; /* ever used */
static struct papi_set *free_sets;
static int default_domain = PAPI_DOM_USER;
static int default_granularity = PAPI_GRN_THR;

struct papi_set *papi_set_at(int i)
{
	return i >= 0 && i < PAPI_SETS ? atomic_load(&slots[i]) : NULL;
}

struct papi_set *papi_set_find(int number)
{
	return papi_set_at(number);
}

int papi_sets_end(void)
{
	return atomic_load(&n_slots);
}

int papi_set_stopped(int number, struct papi_set **ret)
{
	struct papi_set *s = papi_set_find(number);

	if (!s)
		return PAPI_ENOEVST;
	if (s->state & PAPI_RUNNING)
		return PAPI_EISRUN;
	*ret = s;
	return PAPI_OK;
}

int papi_set_sampled(int number, int code, struct papi_set **ret, struct papi_counter **ret_counter)
{
	struct papi_set *s;
	int r = papi_set_stopped(number, &s);

	if (r < 0)
		return r;
	if (s->state & (PAPI_ATTACHED | PAPI_CPU_ATTACHED))
		return PAPI_EINVAL;
	if (papi_set_index(s, code) < 0)
		return PAPI_ENOEVNT;
	*ret = s;
	*ret_counter = s->counters[papi_set_index(s, code)];
	return PAPI_OK;
}

int papi_set_index(const struct papi_set *s, int code)
{
	for (int i = 0; i < s->n; i++)
		if (s->counters[i]->code == code)
			return i;
	return -1;
}

void papi_sets_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}

int papi_default_domain(void)
{
	return default_domain;
}

int papi_set_default_domain(int domain)
{
	if (domain < PAPI_DOM_MIN || domain > PAPI_DOM_MAX)
		return PAPI_EINVAL;
	default_domain = domain;
	return PAPI_OK;
}

int papi_default_granularity(void)
{
	return default_granularity;
}

void papi_set_default_granularity(int granularity)
{
	default_granularity = granularity;
}

/* Sets. */

static int create(int *ret_number)
{
	struct papi_set *s;
	int i = 0;

	while (i < PAPI_SETS && atomic_load(&slots[i]))
		i++;
	if (i == PAPI_SETS)
		return PAPI_ENOMEM;
	s = free_sets;
	if (s)
		free_sets = s->next_free;
	else
		s = malloc(sizeof(*s));
	if (!s)
		return PAPI_ENOMEM;
	*s = (struct papi_set){.number = i,
			       .state = PAPI_STOPPED,
			       .domain = default_domain,
			       .granularity = default_granularity,
			       .cpu = -1};
	atomic_store(&slots[i], s);
	if (i >= atomic_load(&n_slots))
		atomic_store(&n_slots, i + 1);
	*ret_number = i;
	return PAPI_OK;
}

EXPORT int PAPI_create_eventset(int *set)
{
	int r;

	if (!papi_is_ready())
		return papi_result(PAPI_ENOINIT);
	if (!set || *set != PAPI_NULL)
		return papi_result(PAPI_EINVAL);
	r = PAPI_register_thread();
	if (r < 0)
		return r;
	pthread_mutex_lock(&lock);
	r = create(set);
	pthread_mutex_unlock(&lock);
	return papi_result(r);
}

static void destroy(struct papi_set *s)
{
	pthread_mutex_lock(&lock);
	atomic_store(&slots[s->number], NULL);
	s->state = 0;
	s->tid = 0;
	s->next_free = free_sets;
	free_sets = s;
	pthread_mutex_unlock(&lock);
}

EXPORT int PAPI_destroy_eventset(int *set)
{
	struct papi_set *s;
	int r;

	if (!set)
		return papi_result(PAPI_EINVAL);
	r = papi_set_stopped(*set, &s);
	if (r == PAPI_OK && s->n)
		r = PAPI_EINVAL;
	if (r < 0)
		return papi_result(r);
	destroy(s);
	*set = PAPI_NULL;
	return PAPI_OK;
}

void papi_sets_release(void)
{
	for (int i = 0; i < papi_sets_end(); i++) {
		struct papi_set *s = papi_set_at(i);

		if (!s)
			continue;
		if (s->state & PAPI_RUNNING)
			PAPI_stop(i, NULL);
		PAPI_cleanup_eventset(i);
		destroy(s);
	}
}

/* Events. */

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void remove_at(struct papi_set *s, int i)
{
	struct papi_counter *c = s->counters[i];

	if (c->profile)
		papi_profile_end(s, c);
	else if (c->threshold)
		papi_overflow_end(s, c);
	papi_close_counter(c);
	free(c);
	s->n--;
	memmove(&s->counters[i], &s->counters[i + 1], (size_t)(s->n - i) * sizeof(s->counters[0]));
}

/* Opens W beside LEADER; a descriptor, or -1. */
static int open_beside(const struct papi_what *w, int leader)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = w->spec.type,
				       .config = w->spec.config,
				       .config1 = w->spec.config1,
				       .config2 = w->spec.config2,
				       .disabled = leader < 0,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* Whether the machine counts W at the same time as all events of the set. */
static bool set_fits(const struct papi_set *s, const struct papi_what *w)
{
	int fds[PAPI_SET_EVENTS + 1], n = 0;
	bool all = true;

	if (s->state & PAPI_MULTIPLEXING || w->spec.type == PERF_TYPE_SOFTWARE)
		return true;
	for (int i = 0; i < s->n && all; i++)
		if (s->counters[i]->what.spec.type != PERF_TYPE_SOFTWARE) {
			fds[n] = open_beside(&s->counters[i]->what, n ? fds[0] : -1);
			all = fds[n++] >= 0;
		}
	if (all) {
		fds[n] = open_beside(w, n ? fds[0] : -1);
		all = fds[n++] >= 0;
	}
	while (n--)
		close_fd(fds[n]);
	return all;
}

static int set_add(int set, int code)
{
	struct papi_what what;
	struct papi_set *s;
	struct papi_counter *c;
	int r = papi_set_stopped(set, &s);

	if (r < 0)
		return r;
	r = papi_event_find(code, &what);
	if (r < 0)
		return r == PAPI_ENOTPRESET ? PAPI_EINVAL : r;
	if (s->n == PAPI_SET_EVENTS || papi_set_index(s, code) >= 0 || !set_fits(s, &what))
		return PAPI_ECNFLCT;
	c = malloc(sizeof(*c));
	if (!c)
		return PAPI_ENOMEM;
	*c = (struct papi_counter){.code = code, .what = what, .fd = -1, .overflow_fd = -1};
	s->counters[s->n++] = c;
	return PAPI_OK;
}

EXPORT int PAPI_add_event(int set, int code)
{
	return papi_result(set_add(set, code));
}

EXPORT int PAPI_add_named_event(int set, const char *name)
{
	int code, r = PAPI_event_name_to_code(name, &code);

	return r < 0 ? r : PAPI_add_event(set, code);
}

/* ONE of each code; how many there were before the first that failed, if there were any. */
static int each_code(int set, const int *codes, int n, int (*one)(int set, int code))
{
	if (!codes || n <= 0)
		return papi_result(PAPI_EINVAL);
	for (int i = 0; i < n; i++) {
		int r = one(set, codes[i]);

		if (r < 0)
			return i ? i : papi_result(r);
	}
	return PAPI_OK;
}

EXPORT int PAPI_add_events(int set, int *codes, int number)
{
	return each_code(set, codes, number, set_add);
}

static int remove_code(int set, int code)
{
	struct papi_set *s;
	int r = papi_set_stopped(set, &s);

	if (r < 0)
		return r;
	if (papi_set_index(s, code) < 0)
		return PAPI_EINVAL;
	remove_at(s, papi_set_index(s, code));
	return PAPI_OK;
}

EXPORT int PAPI_remove_event(int set, int code)
{
	return papi_result(remove_code(set, code));
}

EXPORT int PAPI_remove_named_event(int set, const char *name)
{
	int code, r = PAPI_event_name_to_code(name, &code);

	return r < 0 ? r : PAPI_remove_event(set, code);
}

EXPORT int PAPI_remove_events(int set, int *codes, int number)
{
	return each_code(set, codes, number, remove_code);
}

EXPORT int PAPI_cleanup_eventset(int set)
{
	struct papi_set *s;
	int r = papi_set_stopped(set, &s);

	if (r < 0)
		return papi_result(r);
	while (s->n)
		remove_at(s, s->n - 1);
	return PAPI_OK;
}

EXPORT int PAPI_list_events(int set, int *codes, int *number)
{
	struct papi_set *s = papi_set_find(set);
	int n;

	if (!number || *number < 0 || (!codes && *number > 0))
		return papi_result(PAPI_EINVAL);
	if (!s)
		return papi_result(PAPI_ENOEVST);
	n = *number && *number < s->n ? *number : s->n;
	for (int i = 0; *number && i < n; i++)
		codes[i] = s->counters[i]->code;
	*number = n;
	return PAPI_OK;
}

EXPORT int PAPI_num_events(int set)
{
	struct papi_set *s = papi_set_find(set);

	return s ? s->n : papi_result(PAPI_ENOEVST);
}

EXPORT int PAPI_state(int set, int *status)
{
	struct papi_set *s = papi_set_find(set);

	if (!status)
		return papi_result(PAPI_EINVAL);
	if (!s)
		return papi_result(PAPI_ENOEVST);
	*status = s->state;
	return PAPI_OK;
}

EXPORT int PAPI_assign_eventset_component(int set, int cidx)
{
	if (!papi_set_find(set))
		return papi_result(PAPI_ENOEVST);
	return papi_result(cidx == 0 ? PAPI_OK : PAPI_ENOCMP);
}

EXPORT int PAPI_get_eventset_component(int set)
{
	return papi_set_find(set) ? 0 : papi_result(PAPI_ENOEVST);
}
