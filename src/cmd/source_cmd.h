/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands that read a source share. */
#ifndef CMD_SOURCE_CMD_H
#define CMD_SOURCE_CMD_H

#include "cmd/cmd.h"
#include "query/source.h"

/* Options that choose among the columns of a source. */
struct source_args {
	opt_list stats, threads, derived;
	bool all_metrics, one_event;
	const char *taxonomy;
};

/* Their rows in a command's table of options. */
#define SOURCE_THREAD_OPTION(a)                                                                    \
	{                                                                                          \
		"thread", OPT_LIST, &(a)->threads, "LIST",                                         \
			"HPCToolkit databases: only these, such as 3-5 or rank=0,thread=1-3"       \
	}
#define SOURCE_OPTIONS(a)                                                                          \
	{"derive", OPT_LIST, &(a)->derived, "NAME=EXPR",                                           \
	 "another column, computed from the others"},                                              \
		{"stat",                                                                           \
		 OPT_LIST,                                                                         \
		 &(a)->stats,                                                                      \
		 "S[,S...]",                                                                       \
		 "HPCToolkit databases: sum (default), mean, stddev, cfvar, min, max over "        \
		 "threads",                                                                        \
		 .words = "sum mean stddev cfvar min max"},                                        \
		SOURCE_THREAD_OPTION(a),                                                           \
		{"taxonomy", OPT_STR, &(a)->taxonomy, "FILE",                                      \
		 "HPCToolkit databases: metrics as this METRICS.yaml has them; 'own': the "        \
		 "database's"},                                                                    \
		{"one-event", OPT_FLAG, &(a)->one_event, NULL,                                     \
		 NULL}, /* for the page of dwell web */                                            \
	{                                                                                          \
		"all-metrics", OPT_FLAG, &(a)->all_metrics, NULL,                                  \
			"HPCToolkit databases: every metric that is not 0"                         \
	}

/* Options of commands that show a tree, T (struct tree_opts); BY is a const char *, CALLERS a
 * bool. */
#define TREE_OPTIONS(t, by_text, callers_flag)                                                     \
	{"callers", OPT_FLAG, callers_flag, NULL, "from procedures up to their callers"},          \
		{"by",                                                                             \
		 OPT_STR,                                                                          \
		 by_text,                                                                          \
		 "KEY[,KEY...]",                                                                   \
		 "comm, pid, tid, cgroup, unit, container, pod, namespace, image-tag, "            \
		 "version, tenant, label, uid, exe, host; then procedure, image, line "            \
		 "or address",                                                                     \
		 .words = "procedure image line address " OWNER_KEY_WORDS},                        \
		{"focus", OPT_STR, &(t)->scopes.focus, "REGEX",                                    \
		 "only paths through procedures or images so called"},                             \
		{"ignore", OPT_STR, &(t)->scopes.ignore, "REGEX",                                  \
		 "no paths through procedures or images so called"},                               \
		{"fold-recursion", OPT_FLAG, &(t)->fold_recursion, NULL,                           \
		 "a procedure that calls itself is taken for one"},                                \
	{                                                                                          \
		"no-inline", OPT_FLAG, &(t)->scopes.no_inline, NULL,                               \
			"inlined calls belong to the procedure they are in"                        \
	}

void source_args_release(struct source_args *a);

/* Takes out of OPERANDS, for --db when that is not given, the first that is something to read. */
void cmd_take_source(struct cmd *c, opt_list *operands);

/* Takes the only one of OPERANDS for --db when it is a path that is there: for commands without
 * other operands, which say what they cannot read. */
void cmd_take_only_source(struct cmd *c, opt_list *operands);

/* Opens what c->select names, with the columns that A (NULL: no options) wants, runs SHOW on it and
 * closes it again; returns what SHOW returned, or the error of opening.  A SHOW that found nothing
 * (CMD_NOTHING) has its user told so. */
int cmd_with_source(struct cmd *c, const struct source_args *a,
		    int (*show)(struct cmd *c, struct source *s, void *ctx), void *ctx);

/* Asks for hosts apart when O has them among its owners. */
void cmd_want_hosts(struct cmd *c, const struct tree_opts *o);

/* Asks for one event, unless C's options name some or columns A made of several. */
void cmd_want_one_event(struct cmd *c, const struct source_args *a);

/* Reads the exact counts of instructions in the file PATH. */
int cmd_load_counts(struct cmd *c, const char *path, struct exact_counts *ret);

/* Says which pattern of O left nothing of S's samples, if it was one.  Returns CMD_NOTHING. */
int cmd_nothing_in_tree(struct cmd *c, const struct source *s, const struct tree_opts *o);

/* Takes WHAT, inclusive or exclusive, off the value of --sort, which is EVENT, WHAT or EVENT,WHAT:
 * sets *RET_INCLUSIVE and returns true when it was there, else changes nothing.  *RET_EVENT is
 * memory that c->select.sort needs then; free it at the end. */
bool cmd_parse_sort(struct cmd *c, char **ret_event, bool *ret_inclusive);

#endif
