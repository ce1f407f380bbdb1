/* SPDX-License-Identifier: BSD-2-Clause */
/* What a database says of itself: the General Properties of meta.db. */
#ifndef HPC_DESCRIBE_H
#define HPC_DESCRIBE_H

#include "base/str.h"
#include "formats/hpc/meta.h"
#include "query/samples/query.h"

/* The title of a database made from P, opened at PATH: the command that was recorded, else PATH's
 * last part.  Free it. */
char *describe_title(const struct profile *p, const char *path);

/* Appends what is known of Q's recording, as Markdown: a section with the command, the machine, the
 * time, and a table of events, samples and losses. */
void describe_input(struct str *out, const struct query *q, const char *path);

/* Appends what database M, opened at PATH, says of itself. */
void describe_database(struct str *out, const struct hpc_meta *m, const char *path);

#endif
