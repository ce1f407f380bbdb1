/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as a source. */
#ifndef QUERY_SAMPLES_SOURCE_H
#define QUERY_SAMPLES_SOURCE_H

#include "query/source.h"

/* Opens the samples of O's selection; as source_open. */
int samples_source_open(struct source **ret, const struct source_opts *o, const char *path,
			struct err *err);

/* Makes a source of Q, which must outlive it, with DERIVED columns (NULL: none).  Errors: those of
 * cols_derive. */
int samples_source_of(struct source **ret, struct query *q, const opt_list *derived,
		      struct err *err);

/* The profile and what came with it, of a source that samples_source_open made. */
struct input *samples_source_input(struct source *s);

#endif
