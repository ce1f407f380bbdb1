/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands above the tables of any source: what it is, and its columns with their totals. */
#ifndef VIEW_ABOUT_H
#define VIEW_ABOUT_H

#include "query/source.h"
#include "view/emit.h"

/* Emits what S is and its columns.  QUIET leaves out what is for people; JSON has it always. */
void about_emit(struct emit *e, struct source *s, bool quiet);

/* Emits what S is alone; of samples all that about_emit does. */
void about_source_emit(struct emit *e, struct source *s, bool quiet);

/* What S is, in the middle of a line, and as the member "recording". */
void about_add_recording(struct str *line, struct source *s);
void about_json_recording(struct json *j, struct source *s);

/* Emits notes on IMAGES of S, that have samples without names: below the table, or as "notes" in
 * JSON. */
void about_images_emit(struct emit *e, struct source *s, const image_id *images, size_t n);

#endif
