/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of this process: those there are, and those that begin.
 *
 * pthread_create(3) is ours: it calls the C library's and has each thread tell the drainer that it
 * began.  Threads made by clone(2) directly are seen only by threads_each. */
#ifndef INPROC_THREADS_H
#define INPROC_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* Calls EACH with every thread's number. */
void threads_each(void (*each)(void *ctx, pid_t tid), void *ctx);

/* Whether the program's threads have all ended: the first one is a zombie and the others are helper
 * threads, which are called HELPER_NAME.  False when /proc cannot say it. */
#define HELPER_NAME "dwell-profil"
bool threads_have_ended(void);

/* Begins a thread that nobody is told of.  0 or an errno. */
int threads_create_untold(pthread_t *ret, void *(*fn)(void *));

#endif
