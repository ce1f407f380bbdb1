/* SPDX-License-Identifier: BSD-2-Clause */
/* An HPCToolkit database as a source. */
#ifndef QUERY_HPC_SOURCE_H
#define QUERY_HPC_SOURCE_H

#include "query/hpc/query.h"
#include "query/source.h"

/* Opens the database at PATH; as source_open. */
int hpc_source_open(struct source **ret, const struct source_opts *o, const char *path,
		    struct err *err);

/* The query of S, which hpc_source_open made. */
struct hpc_query *hpc_source_query(struct source *s);

#endif
