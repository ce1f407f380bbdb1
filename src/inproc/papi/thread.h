/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads PAPI knows of. */
#ifndef INPROC_PAPI_THREAD_H
#define INPROC_PAPI_THREAD_H

#include <sys/types.h>

/* What is the calling thread's alone, also in a new process after fork(2). */
const void *papi_thread_mark(void);

pid_t papi_gettid(void);

/* Forgets all, and the program's function. */
void papi_threads_release(void);

/* After fork(2): only the calling thread is there. */
void papi_threads_after_fork(void);

#endif
