/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of events to what perf_event_open(2) takes. */
#ifndef INPROC_EVENT_NAME_H
#define INPROC_EVENT_NAME_H

#include "inproc/source.h"

/* Sets type, configs and is_clock of RET as NAME says: perf's names of software and generic
 * hardware events, rHEX, or any name of libpfm4 when that is installed.  -ENOENT:
 * nobody knows it. */
int event_name_find(const char *name, struct tick_spec *ret);

#endif
