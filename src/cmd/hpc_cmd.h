/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands that read HPCToolkit databases share. */
#ifndef CMD_HPC_CMD_H
#define CMD_HPC_CMD_H

#include "cmd/cmd.h"
#include "query/hpc/query.h"

/* Options that choose among an HPCToolkit database's metrics and threads. */
struct hpc_args {
	opt_list stats, threads;
	bool all_metrics;
	const char *taxonomy;
	opt_list derived; /* for all databases */
};

/* Their rows in a command's table of options. */
#define HPC_OPTIONS(a)                                                                             \
	{"stat", OPT_LIST, &(a)->stats, "S[,S...]",                                                \
	 "HPCToolkit databases: sum (default), mean, stddev, cfvar, min, max over threads"},       \
		{"thread", OPT_LIST, &(a)->threads, "LIST",                                        \
		 "HPCToolkit databases: only these, such as 3-5 or rank=0,thread=1-3"},            \
		{"taxonomy", OPT_STR, &(a)->taxonomy, "FILE",                                      \
		 "HPCToolkit databases: metrics as this METRICS.yaml has them; 'own': the "        \
		 "database's"},                                                                    \
	{                                                                                          \
		"all-metrics", OPT_FLAG, &(a)->all_metrics, NULL,                                  \
			"HPCToolkit databases: every metric that is not 0"                         \
	}

#define HPC_DERIVE_OPTION(a)                                                                       \
	{                                                                                          \
		"derive", OPT_LIST, &(a)->derived, "NAME=EXPR",                                    \
			"another column, computed from the others"                                 \
	}

void hpc_args_release(struct hpc_args *a);

/* Whether the command is to read an HPCToolkit database: --db, else the first of OPERANDS (which is
 * taken off and becomes --db), else the default names one. */
bool cmd_is_hpc(struct cmd *c, opt_list *operands);

/* -EINVAL when options for HPCToolkit databases were given for another one. */
int cmd_not_hpc(struct cmd *c, const struct hpc_args *a);

/* Opens the database, runs SHOW on it and closes it again; returns what SHOW returned, or the error
 * of opening.  Options that mean nothing there are errors. */
int cmd_with_hpc(struct cmd *c, const struct hpc_args *a,
		 int (*show)(struct cmd *c, struct hpc_query *q, void *ctx), void *ctx);

#endif
