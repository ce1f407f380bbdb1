/* SPDX-License-Identifier: BSD-2-Clause */
/* Hardware events by their maker's names, through libpfm4. */
#ifndef EVENTS_PFM_H
#define EVENTS_PFM_H

#include "events/spec.h"

/* Encodes TEXT ("INST_RETIRED:ANY_P:c=1", "skl::BR_MISP_RETIRED") into SPEC: kind, attr's type,
 * configs, exclude_* and precise_ip.  Errors: -ENOENT libpfm4 knows no such event for the PMUs of
 * this machine, or it is not installed; -EINVAL it knows the event but not the rest. */
int event_pfm_encode(const char *text, struct event_spec *spec, struct err *err);

/* Calls EACH for every event of the PMUs of this machine, UMASK being NULL, and then for each of
 * its unit masks.  Strings live until EACH returns. */
typedef void event_pfm_each_fn(const char *pmu, const char *event, const char *umask,
			       const char *description, void *arg);
void event_pfm_each(event_pfm_each_fn *each, void *arg);

#endif
