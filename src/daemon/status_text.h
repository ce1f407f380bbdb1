/* SPDX-License-Identifier: BSD-2-Clause */
/* A daemon's status for people, as JSON, and as OpenMetrics text. */
#ifndef DAEMON_STATUS_TEXT_H
#define DAEMON_STATUS_TEXT_H

#include "base/str.h"
#include "daemon/service.h"

void status_put_text(const struct service_status *s, struct str *out);
void status_put_json(const struct service_status *s, struct str *out);

/* The format of openmetrics.io, version 1.0.0: families with their types, samples, "# EOF". */
void status_put_metrics(const struct service_status *s, struct str *out);

#endif
