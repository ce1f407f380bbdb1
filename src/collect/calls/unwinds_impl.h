/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of unwinds.h. */
#ifndef COLLECT_CALLS_UNWINDS_IMPL_H
#define COLLECT_CALLS_UNWINDS_IMPL_H

#include "collect/calls/unwinds.h"

/* The words from 0 on of a table that is empty: two blocks' worth of numbers and a row. */
#define UNWINDS_EMPTY_WORDS 3

/* N words of the tables from AT on, to be read or written until they are closed; NULL: they cannot
 * be had now. */
uint32_t *unwinds_open_words(const struct unwinds *u, size_t at, size_t n);
void unwinds_close_words(const struct unwinds *u, uint32_t *words, size_t at, size_t n);

/* Makes T's table be built from what process PID sees, unless it is there or cannot be built. */
void unwinds_want_table(struct unwinds *u, struct shared_table *t, uint32_t pid);

/* Tells the walker which processes have HotSpot, as far as the tables of their libraries are
 * there. */
void unwinds_show_runtimes(struct unwinds *u);

#endif
