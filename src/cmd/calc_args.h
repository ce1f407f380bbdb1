/* SPDX-License-Identifier: BSD-2-Clause */
/* What calc, stalls and why share: their options, and the analysis of one procedure after
 * another. */
#ifndef CMD_CALC_ARGS_H
#define CMD_CALC_ARGS_H

#include "cmd/source_cmd.h"
#include "query/rows/calc.h"

struct calc_args {
	const char *counts, *cpu, *conf;
	uint64_t mhz;
	bool no_model, conf_low, conf_med, conf_high;
	bool no_header;
	opt_list source_maps;
	struct source_args source;
	/* Made of them. */
	struct exact_counts exact;
	struct calc_opts opts;
	char *cache_dir;
};

/* How sure counts may be, for completions. */
#define CALC_CONF_WORDS "low medium high exact"

#define CALC_OPTIONS(a)                                                                            \
	{"counts", OPT_STR, &(a)->counts, "FILE",                                                  \
	 "how often code ran is in FILE, of callgrind --dump-instr=yes or gcov --json-format"},    \
		{"mcpu", OPT_STR, &(a)->cpu, "CPU",                                                \
		 "best case on this CPU, as llvm-mca calls it (default: this machine's)"},         \
		{"mhz", OPT_U64, &(a)->mhz, "N",                                                   \
		 "clock of the CPU, for events that measure time"},                                \
		{"conf",                                                                           \
		 OPT_STR,                                                                          \
		 &(a)->conf,                                                                       \
		 "LEVEL",                                                                          \
		 "count blocks at least so sure: low (default), medium, high, exact",              \
		 .words = CALC_CONF_WORDS},                                                        \
		{"conf-low", OPT_FLAG, &(a)->conf_low, NULL, NULL}, /* dcpicalc's */               \
		{"conf-med", OPT_FLAG, &(a)->conf_med, NULL, NULL},                                \
		{"conf-high", OPT_FLAG, &(a)->conf_high, NULL, NULL},                              \
		{"tab xct", OPT_SAY, NULL, "--counts FILE takes callgrind's exact counts", NULL},  \
	{                                                                                          \
		"no-header", OPT_FLAG, &(a)->no_header, NULL, "the table alone"                    \
	}

/* Reads what A's options name, after parsing.  calc_args_release in any case. */
int calc_args_settle(struct cmd *c, struct calc_args *a);
void calc_args_release(struct calc_args *a);

/* Makes A's options fit S: the clock of the machine that was recorded, when it is this one. */
void calc_args_fit(struct calc_args *a, const struct source *s);

/* One procedure that was analysed. */
struct calc_step {
	const struct flat_row *row;
	const struct listing *listing;
	const struct calc *calc;
};

/* What became of the procedures that were looked at. */
struct calc_walk {
	size_t n_analysed, n_refused;
	double refused_samples, samples; /* of all that were looked at */
	struct err first_refusal;
};

/* Analyses the MOST hottest procedures of S, in images called IMAGES (none: all), the hottest
 * first, and calls USE for each that can be. */
int calc_walk_run(struct cmd *c, struct source *s, const struct calc_args *a,
		  const opt_list *images, size_t most,
		  int (*use)(void *ctx, const struct calc_step *step), void *ctx,
		  struct calc_walk *ret);

#endif
