/* SPDX-License-Identifier: BSD-2-Clause */
/* What a daemon is told: options, and a file with the same words.
 *
 *     # comment
 *     event cpu-clock
 *     freq 97
 *     no-pin
 *
 * A line is an option's name without its dashes and its value.  The command line counts more than
 * the file: an option given there replaces all lines of the file with its word. */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include "base/opts.h"
#include "daemon/record_options.h"
#include "daemon/service.h"

struct config {
	struct record_options record; /* -g is in call_graph once options are read */
	opt_list by_pid, operands;
	uint64_t journal_ns, flush_ns, epoch_ns, mux_ns;
	const char *file, *bpffs, *exclude, *dcpi, *http, *web, *max_size;
	uint64_t max_age_ns, n_keep; /* of retention */
	double max_cpu, prune;	     /* percent */
	bool no_pin, help, version;
};

#define CONFIG_N_OPTS 35

/* The table of options, which parses into C. */
void config_table(struct config *c, struct opt ret[CONFIG_N_OPTS]);

/* Words of a configuration file as a command line, "--NAME=VALUE" or "--NAME" each, into ARGV
 * (whose strings are to be freed); what the options are is not looked at.  -EINVAL
 * names the line. */
typedef VEC(char *) config_args;
int config_split(const char *text, size_t n, config_args *argv, struct err *err);
void config_args_release(config_args *argv);

/* What is in effect: FILE's words (NULL: no file) and ARGV's options.  ARGV[0] is not looked at.
 * The strings of C are in ARGV and in WORDS, which the caller keeps as long as C, and releases. */
int config_read(struct config *c, const char *file, int argc, char **argv, config_args *words,
		struct err *err);
void config_release(struct config *c);

/* What C means on this machine. */
struct plan {
	struct service_opts service; /* its strings are C's */
	struct record_plan record;
	struct exclusions exclude;
	char *db;
};

/* RET_WHY: the reason for the default event, NULL when events were named. */
int config_plan(const struct config *c, struct plan *ret, const char **ret_why, struct err *err);
void plan_release(struct plan *p);

#endif
