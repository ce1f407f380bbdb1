/* SPDX-License-Identifier: BSD-2-Clause */
/* Event sets go on in the new process after fork(2). */
#ifndef INPROC_PAPI_FORK_H
#define INPROC_PAPI_FORK_H

/* From now on.  May be called again. */
void papi_watch_forks(void);

#endif
