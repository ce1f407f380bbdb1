/* SPDX-License-Identifier: BSD-2-Clause */
/* The hottest instructions of a source, for the two commands that show them. */
#ifndef CMD_CMD_HOT_H
#define CMD_CMD_HOT_H

#include "cmd/source_cmd.h"

#define HOT_ROWS 20 /* when nobody says how many */

struct hot_args {
	uint64_t n; /* rows */
	bool no_header;
	struct source_args source;
	opt_list names;
};

/* Their rows in a command's table of options; A is a struct hot_args *. */
#define HOT_OPTIONS(c, a)                                                                          \
	{"n limit", OPT_U64, &(a)->n, "N", "how many instructions (default 20)"},                  \
		{"sort s", OPT_STR, &(c)->select.sort, "EVENT",                                    \
		 "sort by this event (default: time)"},                                            \
		SOURCE_OPTIONS(&(a)->source),                                                      \
	{                                                                                          \
		"no-header", OPT_FLAG, &(a)->no_header, NULL, "the table alone"                    \
	}

/* Shows what A and C's selection say. */
int hot_run(struct cmd *c, struct hot_args *a);
void hot_args_release(struct hot_args *a);

#endif
