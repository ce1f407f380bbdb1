/* SPDX-License-Identifier: BSD-2-Clause */
/* What `dwell record` says of a recording: how it goes on, and what came of the samples. */
#ifndef CMD_RECORD_ACCOUNT_H
#define CMD_RECORD_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "daemon/recorder.h"

/* The line of progress of R, which started at START_NS, on stderr. */
void record_account_progress(struct recorder *r, uint64_t start_ns);

/* The account of R, which has stopped and recorded into DB, on stderr; or appended to OUT, as one
 * JSON object. */
void record_account_show(struct recorder *r, const char *db);
void record_account_emit(struct str *out, const struct recorder *r, const char *db);

/* Whether R, which has stopped, lost samples. */
bool record_account_lost(const struct recorder *r);

#endif
