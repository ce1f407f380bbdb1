/* SPDX-License-Identifier: BSD-2-Clause */
/* What the functions that stand in for the C library's (interpose.c) tell the preloaded library.
 * All of them may be called from signal handlers and in children of vfork(2), where they do nothing
 * when it is not the time. */
#ifndef INPROC_PRELOAD_H
#define INPROC_PRELOAD_H

#include <stdbool.h>

/* Something will be unloaded: ticks so far are counted. */
void preload_take_in(void);

/* Something was. */
void preload_unloaded(void);

/* The program is about to change its root directory: the file is made where it belongs. */
void preload_change_root(void);

/* The program is about to leave: its profile is written.  Whether there was one. */
bool preload_pause(void);

/* It did not, so there is another one. */
void preload_go_on(void);

#endif
