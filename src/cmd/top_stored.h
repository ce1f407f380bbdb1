/* SPDX-License-Identifier: BSD-2-Clause */
/* What a daemon sampled since a moment ago, read from its database: `dwell top --live --db DB`. */
#ifndef CMD_TOP_STORED_H
#define CMD_TOP_STORED_H

#include "cmd/cmd.h"
#include "tui/tui.h"

/* Begins now to follow the database of C's selection, whose `db` must be set; a daemon must record
 * into it.  C is borrowed until top_stored_free. */
struct top_stored;
int top_stored_new(struct cmd *c, struct top_stored **ret, struct err *err);

/* As struct tui_feed has them; CTX is a struct top_stored. */
void top_stored_wait(void *ctx, int timeout_ms, int fd);
int top_stored_take(void *ctx, struct tui_set *ret, struct err *err);
void top_stored_let_go(void *ctx, struct tui_set *set);

void top_stored_free(struct top_stored *t);

#endif
