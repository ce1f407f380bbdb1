/* SPDX-License-Identifier: BSD-2-Clause */
/* Event sets.
 *
 * A set is used by one thread at a time, as PAPI has it, and is not locked.  It stays in memory
 * when it is destroyed, to be used again: a signal that is still under way may look at it. */
#ifndef INPROC_PAPI_SET_H
#define INPROC_PAPI_SET_H

#include <stdbool.h>
#include <time.h>

#include "inproc/papi/event.h"

enum {
	PAPI_SET_EVENTS = 64, /* bits of an overflow vector */
	PAPI_SETS = 65536,
};

struct papi_profile;
struct papi_counter;

/* Counters of a set that are one group; see group.h. */
struct papi_group {
	int n; /* 0: there is none */
	struct papi_counter *members[PAPI_SET_EVENTS];
};

/* An event of a set. */
struct papi_counter {
	int code;
	struct papi_what what;
	int fd;	     /* counts; -1: it does not, or the thread's CPU clock does */
	uint64_t id; /* of FD's event: the program may have closed FD */
	struct papi_counted {
		pid_t tid;
		int cpu, domain;
		bool inherit, times;
		const void *owner;
	} of;			  /* what FD counts; it stays open while the set is stopped */
	struct papi_group *group; /* it is member number PLACE of; or NULL */
	int place;
	bool has_times;		      /* it says how long it could count: multiplexing */
	bool is_clock;		      /* the thread's CPU clock counts: perf events are forbidden */
	uint64_t origin;	      /* what has been counted when the program saw 0 */
	uint64_t last;		      /* what FD had counted when the set stopped */
	long long stopped;	      /* what the program sees while the set is stopped */
	struct papi_profile *profile; /* or NULL */
	int threshold;		      /* of its overflows; 0: none are told */
	int overflow_fd;	      /* says so; -1: it does not, or not in this way */
	uint64_t deadline;	      /* by software: at what count it will have overflown */
};

struct papi_set {
	struct papi_set *next_free;
	int number;
	int state; /* PAPI_STOPPED and so on */
	int domain, granularity;
	pid_t attached;	   /* the thread to count; 0: that which starts it */
	int cpu;	   /* the CPU to count; -1: none */
	bool inherit;	   /* count threads and processes that the counted one begins */
	const void *owner; /* papi_thread_mark() of the thread that started it */
	pid_t tid;	   /* the thread that is counted while it runs; 0: a CPU */
	PAPI_overflow_handler_t handler;
	bool by_timer; /* overflows are told by software */
	timer_t timer;
	struct papi_group group;
	int n;
	struct papi_counter *counters[PAPI_SET_EVENTS];
};

/* Event set NUMBER, or NULL. */
struct papi_set *papi_set_find(int number);

/* Set number I of those there are, or NULL; and how many numbers to ask for. */
struct papi_set *papi_set_at(int i);
int papi_sets_end(void);

/* What a function may ask for first: the set is there, and stopped.  PAPI_OK, PAPI_ENOEVST,
 * PAPI_EISRUN. */
int papi_set_stopped(int number, struct papi_set **ret);

/* The set, stopped and of a thread that starts it, and its event CODE.  PAPI_OK or, in this order,
 * PAPI_ENOEVST, PAPI_EISRUN, PAPI_EINVAL (it is attached), PAPI_ENOEVNT (it has no such event). */
int papi_set_sampled(int number, int code, struct papi_set **ret,
		     struct papi_counter **ret_counter);

/* The position of CODE in the set, or -1. */
int papi_set_index(const struct papi_set *s, int code);

/* Stops and destroys all. */
void papi_sets_release(void);

void papi_sets_after_fork(void);

/* Defaults for new sets. */
int papi_default_domain(void);
int papi_set_default_domain(int domain);
int papi_default_granularity(void);
void papi_set_default_granularity(int granularity);

#endif
