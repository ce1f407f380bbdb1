/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of samples that are compared, as words on a command line. */
#ifndef QUERY_COMPARE_SETS_H
#define QUERY_COMPARE_SETS_H

#include "query/samples/input.h"
#include "query/samples/query.h"

/* One set, open. */
struct compared_set {
	const char *text; /* what it was called, borrowed */
	char *words;	  /* its parts; SELECT points into it */
	struct select select;
	struct input input;
	struct query query;
};

/* Opens the set that TEXT names, as far as BASE leaves it open: words with blanks between,
 *
 *     db=DB epoch=E since=TIME until=TIME host=NAME label=L comm=NAME exe=PATH pid=N tid=N
 *     uid=N cgroup=PATH
 *
 * each as the option of that name, or a DB alone (a path that is there), or an E alone.  SET must
 * stay where it is until compared_set_close.  Errors: -EINVAL for what is no word, and those of
 * input_open and query_init, with TEXT before them. */
int compared_set_open(struct compared_set *set, const char *text, const struct select *base,
		      struct err *err);
void compared_set_close(struct compared_set *set);

#endif
