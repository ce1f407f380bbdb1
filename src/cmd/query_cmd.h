/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands that read a database share. */
#ifndef CMD_QUERY_CMD_H
#define CMD_QUERY_CMD_H

#include "cmd/cmd.h"
#include "query/samples/query.h"

/* Opens what c->select names, runs SHOW on it and closes it again; returns what SHOW returned, or
 * the error of opening.  A SHOW that found nothing (CMD_NOTHING) has its user told so. */
int cmd_with_query(struct cmd *c, int (*show)(struct cmd *c, struct query *q, void *ctx),
		   void *ctx);

/* Appends the images that NAMES mean to RET. */
int cmd_find_images(struct cmd *c, const struct query *q, const opt_list *names, image_ids *ret);

/* Takes WHAT, inclusive or exclusive, off the value of --sort, which is EVENT, WHAT or EVENT,WHAT:
 * sets *RET_INCLUSIVE and returns true when it was there, else changes nothing.  *RET_EVENT is
 * memory that c->select.sort needs then; free it at the end. */
bool cmd_parse_sort(struct cmd *c, char **ret_event, bool *ret_inclusive);

#endif
