/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading ahead: what the first call paths of a command need is asked before the command runs.
 *
 * Children that read files have the lowest priority (confine/child.c).  On a busy machine an answer
 * takes some tenths of a second, in which a program that nobody knew has no unwind table. */
#ifndef DAEMON_PREPARE_H
#define DAEMON_PREPARE_H

#include <stdint.h>

/* Asks for the headers and unwind tables of COMMAND, which is looked for as execvp(3) does, and of
 * the C library and the dynamic linker that this process itself runs with, which most commands have
 * too.  Does nothing without readers. */
void prepare_command(const char *command);

/* Waits until END_NS (CLOCK_MONOTONIC) at most for the answers. */
void prepare_wait(uint64_t end_ns);

#endif
