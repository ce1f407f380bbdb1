/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of images that have samples without names: why, and what would name them. */
#ifndef QUERY_SAMPLES_NAME_NOTES_H
#define QUERY_SAMPLES_NAME_NOTES_H

#include "query/samples/query.h"
#include "query/select.h"

/* Sentences, in fresh memory each. */
typedef VEC(char *) name_notes;

/* Appends to RET the notes on IMAGES of Q, which have samples without names. */
void name_notes_find(struct query *q, const image_ids *images, name_notes *ret);
void name_notes_release(name_notes *notes);

#endif
