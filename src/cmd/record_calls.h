/* SPDX-License-Identifier: BSD-2-Clause */
/* What `dwell record` says of call paths. */
#ifndef CMD_RECORD_CALLS_H
#define CMD_RECORD_CALLS_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "daemon/recorder.h"

/* Parses the size given with OPTION: bytes, or with K, M or G; -EINVAL unless it is 1M to 4G. */
int record_calls_parse_bytes(const char *option, const char *text, uint64_t *ret, struct err *err);

/* Appends lines of the account to OUT; none without call paths. */
void record_calls_add(struct str *out, const struct recorder *r);

/* Members "call_paths" of the account as JSON: of one event, and of all. */
void record_calls_emit_event(struct json *j, const struct recorder_event *e);
void record_calls_emit(struct json *j, const struct recorder *r);

#endif
