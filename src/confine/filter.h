/* SPDX-License-Identifier: BSD-2-Clause */
/* Which system calls this process may make from now on, seccomp(2).
 *
 * The filter is a list of numbers, written here as the few instructions it takes: libseccomp would
 * be one more library in a privileged process, for what it does besides (arguments, many
 * architectures) and nobody here asks for. */
#ifndef CONFINE_FILTER_H
#define CONFINE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* From now on, and for good, this process and those it makes may only make the N calls of CALLS;
 * negative numbers are calls that this architecture does not have; with THREADS also make threads.
 * Any other call ends the process (KILL), or fails with -EPERM.  Calls of another architecture's
 * table always end it.  Sets no_new_privs. */
int filter_install(const int *calls, size_t n, bool threads, bool kill, struct err *err);

/* What a child that reads a file needs once the file is open. */
int filter_reader(struct err *err);

/* What the daemon needs once it samples: files, sockets, events, BPF and memory.  No new programs
 * and processes, no other identities, mounts, modules, keys or namespaces, and no reading or
 * writing in other processes' memory. */
int filter_daemon(struct err *err);

#endif
