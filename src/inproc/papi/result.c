/* SPDX-License-Identifier: BSD-2-Clause */
/* PAPI_library_init(), PAPI_shutdown() and errors.  Nothing here or elsewhere ends the program:
 * PAPI_VERB_ESTOP only reports. */
#include "inproc/papi/result.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "inproc/export.h"
#include "inproc/papi/event.h"
#include "inproc/papi/fork.h"
#include "inproc/papi/set.h"
#include "inproc/papi/thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of beginning */
static _Atomic(int) level = PAPI_NOT_INITED;
static PAPI_debug_option_t debug;

static const char *const messages[PAPI_NUM_ERRORS] = {
	[-PAPI_OK] = "No error",
	[-PAPI_EINVAL] = "Invalid argument",
	[-PAPI_ENOMEM] = "Insufficient memory",
	[-PAPI_ESYS] = "A system call failed",
	[-PAPI_ECMP] = "Perf events cannot do that",
	[-PAPI_ECLOST] = "A counter was lost",
	[-PAPI_EBUG] = "A fault of the library",
	[-PAPI_ENOEVNT] = "No such event on this machine",
	[-PAPI_ECNFLCT] = "The event cannot be counted beside the others",
	[-PAPI_ENOTRUN] = "The event set is not counting",
	[-PAPI_EISRUN] = "The event set is counting",
	[-PAPI_ENOEVST] = "No such event set",
	[-PAPI_ENOTPRESET] = "Not a preset event",
	[-PAPI_ENOCNTR] = "No counters",
	[-PAPI_EMISC] = "Unknown error",
	[-PAPI_EPERM] = "Not permitted",
	[-PAPI_ENOINIT] = "PAPI_library_init() has not been called",
	[-PAPI_ENOCMP] = "No such component",
	[-PAPI_ENOSUPP] = "Not supported",
	[-PAPI_ENOIMPL] = "Not implemented",
	[-PAPI_EBUF] = "The buffer is too small",
	[-PAPI_EINVAL_DOM] = "Not with the event set's domain",
	[-PAPI_EATTR] = "Wrong attributes of an event",
	[-PAPI_ECOUNT] = "Too many events or attributes",
	[-PAPI_ECOMBO] = "Features that do not go together",
	[-PAPI_ECMP_DISABLED] = "The event's component is disabled",
	[-PAPI_EDELAY_INIT] = "The component begins later",
	[-PAPI_EMULPASS] = "The hardware would need several passes",
};

EXPORT char *PAPI_strerror(int code)
{
	return code <= 0 && code > -PAPI_NUM_ERRORS ? (char *)messages[-code] : NULL;
}

EXPORT void PAPI_perror(const char *msg)
{
	perror(msg);
}

int papi_result(int code)
{
	if (code < 0 && debug.level != PAPI_QUIET) {
		if (debug.handler)
			debug.handler(code);
		else if (PAPI_strerror(code))
			fprintf(stderr, "PAPI error %d: %s\n", code, PAPI_strerror(code));
	}
	return code;
}

int papi_of_errno(int e)
{
	switch (-e) {
	case 0:
		return PAPI_OK;
	case ENOMEM:
		return PAPI_ENOMEM;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return PAPI_ENOEVNT;
	case EACCES:
	case EPERM:
		return PAPI_EPERM;
	case EINVAL:
	case EBUSY:
		return PAPI_ECNFLCT;
	case ESRCH:
		return PAPI_EINVAL;
	default:
		errno = -e;
		return PAPI_ESYS;
	}
}

void papi_get_debug(PAPI_debug_option_t *ret)
{
	*ret = debug;
}

int papi_set_debug(const PAPI_debug_option_t *d)
{
	if (d->level < PAPI_QUIET || d->level > PAPI_VERB_ESTOP)
		return PAPI_EINVAL;
	debug = *d;
	return PAPI_OK;
}

EXPORT int PAPI_set_debug(int new_level)
{
	return papi_result(papi_set_debug(&(PAPI_debug_option_t){new_level, debug.handler}));
}

bool papi_is_ready(void)
{
	return atomic_load(&level) != PAPI_NOT_INITED;
}

void papi_add_level(int more)
{
	atomic_fetch_or(&level, more);
}

EXPORT int PAPI_is_initialized(void)
{
	return atomic_load(&level);
}

EXPORT int PAPI_library_init(int version)
{
	if ((version & (int)0xffff0000) != (int)PAPI_VER_CURRENT)
		return papi_result(PAPI_EINVAL);
	papi_watch_forks();
	pthread_mutex_lock(&lock);
	if (!papi_is_ready())
		papi_events_init();
	papi_add_level(PAPI_LOW_LEVEL_INITED);
	pthread_mutex_unlock(&lock);
	return PAPI_VER_CURRENT;
}

EXPORT void PAPI_shutdown(void)
{
	if (!papi_is_ready())
		return;
	papi_sets_release();
	papi_threads_release();
	debug = (PAPI_debug_option_t){0};
	atomic_store(&level, PAPI_NOT_INITED);
}
