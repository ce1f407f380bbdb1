/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers that two readers of one database want both: two weeks that are compared have the same
 * images, names and call paths.  The first that wants one asks; the other waits for it.
 *
 *     week 1   images  sums of its days   names
 *     week 2   (waits) sums of its days   (waits)      four questions for six answers
 *
 * An answer is as old as the first reader's, by the time that both read. */
#ifndef FLEET_ANSWERS_H
#define FLEET_ANSWERS_H

#include "fleet/server.h"

struct fleet_answers;

/* Fresh memory without answers; free it when no thread asks any more. */
struct fleet_answers *fleet_answers_new(void);
void fleet_answers_free(struct fleet_answers *a);

/* Asks as fleet_ask does, unless A has S's answer to SQL or another thread is getting it; A NULL:
 * asks.  Any thread, each with a server of its own.  Errors as fleet_ask. */
int fleet_ask_once(struct fleet_answers *a, struct fleet_server *s, const char *sql,
		   const struct native_col *cols, size_t n_cols, native_row_fn *fn, void *ctx,
		   struct err *err);

#endif
