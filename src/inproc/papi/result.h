/* SPDX-License-Identifier: BSD-2-Clause */
/* What PAPI functions return, and whether there is a library to speak of. */
#ifndef INPROC_PAPI_RESULT_H
#define INPROC_PAPI_RESULT_H

#include <stdbool.h>

#include "dwell/papi.h"

/* Returns CODE.  An error is told to the program in the way that PAPI_set_debug() chose. */
int papi_result(int code);

/* A code for -errno. */
int papi_of_errno(int e);

bool papi_is_ready(void); /* PAPI_library_init() has been called */
void papi_add_level(int level);

/* PAPI_QUIET and so on; the program's handler, or NULL. */
void papi_get_debug(PAPI_debug_option_t *ret);
int papi_set_debug(const PAPI_debug_option_t *d);

#endif
