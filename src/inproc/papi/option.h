/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that others go by. */
#ifndef INPROC_PAPI_OPTION_H
#define INPROC_PAPI_OPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* How often counts are looked at by software, in nanoseconds of which clock: PAPI_DEF_ITIMER_NS,
 * PAPI_DEF_ITIMER. */
uint64_t papi_look_ns(void);
clockid_t papi_look_clock(void);

/* Whether the component was disabled before PAPI_library_init(). */
bool papi_is_disabled(void);

#endif
