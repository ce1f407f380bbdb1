/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets that are compared, as words on a command line. */
#ifndef QUERY_COMPARE_SETS_H
#define QUERY_COMPARE_SETS_H

#include "query/source.h"

/* One set, open. */
struct compared_set {
	const char *text; /* what it was called, borrowed */
	char *words;	  /* its parts; SELECT points into it */
	struct select select;
	opt_list threads;
	struct source *source; /* NULL: not open */
};

/* Opens the set that TEXT names, as far as BASE leaves it open: words with blanks between,
 *
 *     db=DB epoch=E since=TIME until=TIME host=NAME label=L comm=NAME exe=PATH pid=N tid=N
 *     uid=N cgroup=PATH thread=LIST
 *
 * each as the option of that name, or a DB alone (a path that is there), or an E alone.  SET must
 * stay where it is until compared_set_close.  Errors: -EINVAL for what is no word, and those of
 * source_open, with TEXT before them. */
int compared_set_open(struct compared_set *set, const char *text, const struct select *base,
		      struct err *err);
void compared_set_close(struct compared_set *set);

/* Opens SETS as compared_set_open does for each of TEXTS.  Two of fleets' databases are read at
 * once.  Close both in any case. */
int compared_sets_open(struct compared_set sets[2], const char *const texts[2],
		       const struct select *base, struct err *err);

/* Whether A and B are the same samples of the same recording, also in a copy of its database. */
bool compared_sets_same(const struct compared_set *a, const struct compared_set *b);

/* The work that SET did, as the event called NAME counted it: a tracepoint, a uprobe.  -ENOENT: it
 * was not recorded there, or never happened. */
int compared_set_count(const struct compared_set *set, const char *name, double *ret,
		       struct err *err);

#endif
