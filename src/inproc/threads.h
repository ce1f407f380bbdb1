/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of this process: those there are, and those that begin.
 *
 * pthread_create(3) is ours: it calls the C library's and has each thread tell the drainer that it
 * began.  Threads made by clone(2) directly are seen only by threads_each. */
#ifndef INPROC_THREADS_H
#define INPROC_THREADS_H

#include <pthread.h>
#include <sys/types.h>

/* Calls EACH with every thread's number. */
void threads_each(void (*each)(void *ctx, pid_t tid), void *ctx);

/* Begins a thread that nobody is told of.  0 or an errno. */
int threads_create_untold(pthread_t *ret, void *(*fn)(void *));

#endif
