/* SPDX-License-Identifier: BSD-2-Clause */
/* One procedure of an HPCToolkit database, annotated: its source lines and instructions, each with
 * what all calling contexts together have there. */
#ifndef QUERY_HPC_LISTING_H
#define QUERY_HPC_LISTING_H

#include "query/hpc/query.h"
#include "query/rows/listing.h"

/* Annotates the procedure called NAME, of the image called IMAGE unless that is NULL (a path or its
 * last part).  Its lines and instructions are those of its contexts; a call inlined into it is a
 * procedure of its own.  Sources come from the database's copies, else by SOURCES (borrowed until
 * listing_close) from where they were, which NAMED_BY says (open_as.h).  -ENOENT when there is no
 * such procedure. */
int hpc_listing_open(struct listing *l, struct hpc_query *q, const struct listing_opts *o,
		     struct sources *sources, uid_t named_by, struct err *err);

#endif
