/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of the machine, for `cpuspeed`. */
#ifndef PORT_DCPI_MACHINE_H
#define PORT_DCPI_MACHINE_H

#include <stdbool.h>

/* In MHz; 0 when it cannot be told, also when HOST is not this machine's name. */
unsigned dcpi_machine_mhz(const char *host);

/* What the text of /proc/cpuinfo says: BY_NAME in the first CPU's model name, else as the clock it
 * has just now; 0: nothing. */
unsigned dcpi_cpuinfo_mhz(const char *cpuinfo, bool by_name);

#endif
