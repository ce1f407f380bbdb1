/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks as bodies of requests to servers that profiles are pushed to. */
#ifndef FLEET_PUSH_BODY_H
#define FLEET_PUSH_BODY_H

#include "base/wr.h"
#include "port/stacks.h"

/* Most services of a request; samples of the others are one service "(other)". */
#define PUSH_MOST_SERVICES 100

/* Appends push.v1.PushRequest of Pyroscope (api/push/v1/push.proto): for each service and event a
 * series, a profile of pprof with labels. */
int push_body_pyroscope(const struct stacks *s, struct wr *ret, struct err *err);

/* Appends ExportProfilesServiceRequest of OTLP, whose fields are those of ProfilesData
 * (opentelemetry-proto 1.11.0, collector/profiles/v1development/profiles_service.proto). */
int push_body_otlp(const struct stacks *s, struct wr *ret, struct err *err);

#endif
