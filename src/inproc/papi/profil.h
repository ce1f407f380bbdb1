/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles of a set's events: PAPI_profil() and PAPI_sprofil(). */
#ifndef INPROC_PAPI_PROFIL_H
#define INPROC_PAPI_PROFIL_H

#include "inproc/papi/set.h"

/* Begins C's profile for thread S->tid, which counts C, too.  PAPI_OK or an error. */
int papi_profile_start(struct papi_set *s, struct papi_counter *c);

/* Ends it; all samples are in the buffers then.  Nothing happens when it has not begun.  True: what
 * counts C stays open for the next start.  IS_STOPPED: it is switched off. */
bool papi_profile_stop(struct papi_counter *c, bool is_stopped);

/* C is no longer profiled; S is stopped. */
void papi_profile_end(struct papi_set *s, struct papi_counter *c);

#endif
