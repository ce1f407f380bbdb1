/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of the machine, for `cpuspeed` of DCPI's files.  It allocates nothing and takes no
 * locks, because files are also written in signal handlers and in children of fork(2). */
#ifndef INPROC_MACHINE_H
#define INPROC_MACHINE_H

#include <stdbool.h>

/* In MHz; 0 when it cannot be told, also when HOST is not this machine's name. */
unsigned machine_mhz(const char *host);

/* What the text of /proc/cpuinfo says: BY_NAME in the first CPU's model name, else as the clock it
 * has just now; 0: nothing. */
unsigned machine_cpuinfo_mhz(const char *cpuinfo, bool by_name);

#endif
