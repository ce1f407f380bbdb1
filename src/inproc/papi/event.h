/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of PAPI: the codes programs know them by, and what perf counts for them. */
#ifndef INPROC_PAPI_EVENT_H
#define INPROC_PAPI_EVENT_H

#include "dwell/papi.h"
#include "inproc/source.h"

/* What an event is on this machine. */
struct papi_what {
	struct tick_spec spec; /* only what event_name_find sets */
	uint64_t clock_hz;     /* nanoseconds of SPEC are shown as cycles of this clock; 0: as is */
};

/* A row of the table of presets. */
struct papi_preset {
	const char *name, *description;
	const char *native; /* that counts it on any machine that has that; or NULL */
	unsigned kinds;	    /* PAPI_PRESET_BIT_... */
};

enum { PAPI_N_PRESETS = PAPI_END_idx };
extern const struct papi_preset papi_presets[PAPI_N_PRESETS];

/* Reads $PAPI_CSV_EVENT_FILE, while nobody asks for events. */
void papi_events_init(void);

/* What CODE is here.  PAPI_OK, PAPI_ENOEVNT, or PAPI_ENOTPRESET for what is no code of an event. */
int papi_event_find(int code, struct papi_what *ret);

/* The code of NAME, which may become one.  PAPI_OK or PAPI_ENOEVNT. */
int papi_event_named(const char *name, int *ret_code);

/* How many presets, and native events, this machine has. */
void papi_event_count(int *ret_n_presets, int *ret_n_natives);

/* After fork(2): the lock is nobody's. */
void papi_events_after_fork(void);

/* The rate of the clock that the CPU's time is counted by, in Hz; 0: not known. */
uint64_t papi_clock_hz(void);

/* Cycles of a clock of HZ in N nanoseconds, and back (at least 1). */
uint64_t papi_cycles_of_ns(uint64_t ns, uint64_t hz);
uint64_t papi_ns_of_cycles(uint64_t cycles, uint64_t hz);

#endif
