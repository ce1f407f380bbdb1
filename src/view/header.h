/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands above every reader's table: where and when, the events, the losses. */
#ifndef VIEW_HEADER_H
#define VIEW_HEADER_H

#include "query/samples/query.h"
#include "query/compare/set_rows.h"
#include "view/emit.h"

/* Emits the recording, the events (period, samples, lost, not delivered, idle, user and kernel
 * shares, duty), the losses by name, and of how many samples it is unknown whether they are in
 * a sample set.  QUIET leaves out what is for people; JSON
 * has it always. */
void header_emit(struct emit *e, const struct query *q, bool quiet);

/* Appends P's recording for people: "host, 2026-11-21 13:24:01 UTC, 60.0 s, command",
 * fit for a screen. */
void header_add_recording(struct str *line, const struct profile *p);

/* Appends what is to be said of the samples of SIDE that are not, or not surely, in its sample set:
 * nothing, or ", unknown of 3 more, 2 killed early are left out". */
void header_add_unknown(struct str *line, const struct set_side *side);

/* Writes the unknown samples of SIDE as members of the object J is in. */
void header_json_unknown(struct json *j, const struct set_side *side);

/* What is compared, as the members "event" and, of sample sets, "column" of the object J is in. */
void header_json_column(struct json *j, const struct set_rows *set);

/* The recording as the member "recording" of the object J is in. */
void header_json_recording(struct json *j, const struct profile *p);

/* Emits the resolver's notes on IMAGES, each once: below the table, or as "notes" in JSON. */
void notes_emit(struct emit *e, struct query *q, const image_ids *images);

#endif
