/* SPDX-License-Identifier: BSD-2-Clause */
/* How a clock that samples stands to the machine's timers.
 *
 * Programs that a timer wakes run at certain phases of that timer, and so do those that share a CPU
 * with them.  A sampling clock whose period is a simple ratio of the timer's meets a few phases for
 * ever: at 250 Hz beside a tick of 4 ms it sees such programs always or never
 * (docs/design/sampling.md).  One whose period is a little off wanders through all phases; how long
 * that takes is what counts. */
#ifndef BASE_DRIFT_H
#define BASE_DRIFT_H

#include <stdint.h>

/* Periods are drawn from the one asked for plus and minus this part of it. */
#define DRIFT_PART 64

/* How badly a clock of PERIOD_NS wanders through the phases of timers of 1, 10/3, 4 and 10 ms (the
 * ticks of kernels at 1000, 300, 250 and 100 Hz, and what programs like to sleep for): the longest
 * time, in ns, that a part of a timer's period can stay without a sample, divided by the number of
 * such parts.  UINT64_MAX: it stays for ever. */
uint64_t drift_badness(uint64_t period_ns);

/* A period near PERIOD_NS, at most 1/DRIFT_PART of it away, that wanders well: the best of a few
 * drawn from *STATE, which moves on. */
uint64_t drift_draw(uint64_t period_ns, uint64_t *state);

#endif
