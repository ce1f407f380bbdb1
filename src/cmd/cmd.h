/* SPDX-License-Identifier: BSD-2-Clause */
/* What every command is given, and the manners all commands share.
 *
 * To add a command: write cmd_NAME.c with `int cmd_NAME(struct cmd *c)`, declare it below, append
 * its row to the table in main.c (the only registry: help, DCPI names and "did you mean" come from
 * it), add the file to meson.build and docs/man/dwell-NAME.1.scd.  A command parses its options
 * with cmd_parse, asks lower folders, and puts text in c->out or tables in c->emit; main.c prints
 * that, through a pager on a terminal, and checks that it arrived. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <limits.h>

#include "base/err.h"
#include "base/opts.h"
#include "base/str.h"
#include "query/select.h"
#include "view/emit.h"

/* A command returns 0, CMD_NOTHING or a negative errno, whose message is in c->err and whose exit
 * status is `failure`.  `dwell record` returns the status of the command it ran. */
#define CMD_NOTHING 1 /* found nothing, or found a difference: exit status 1 */

struct command;

struct cmd {
	const struct command *command;
	const char *called; /* how messages begin: "dwell prof", "dcpiprof" */
	const char *word;   /* the first operand that the name stands for (dcpiflush); else NULL */
	int argc;
	char **argv; /* argv[0] is the command's name */
	int failure; /* the exit status when the command fails: 2 unless it says otherwise */
	struct err err;
	struct str out;	   /* printed when the command returns */
	size_t first_line; /* of out, from 1, where a pager begins; 0: at its top */
	struct emit emit;
	bool dcpi;     /* called under one of DCPI's names: their options and defaults */
	bool terminal; /* stdout is one */
	bool no_pager;
	bool full_names;
	bool told_nothing; /* the command said why it found nothing */
	bool json, csv;
	bool no_flush;	     /* of a live daemon, before reading */
	char *flushed;	     /* the database whose daemon was asked last; NULL: none was */
	VEC(char *) noticed; /* what reading said, each once */
	struct select select;

	/* cmd_parse hands the command's options to it and returns CMD_HELPED; NULL: it parses. */
	void (*visit)(void *ctx, const struct command *command, const struct opt *options);
	void *visit_ctx;
};

enum cmd_flags {
	CMD_EMITS = 1 << 0,   /* takes --json, --csv and --no-pager; cmd_parse sets c->emit up */
	CMD_JSON = 1 << 1,    /* takes --json only; the command looks at c->json itself */
	CMD_SELECTS = 1 << 2, /* takes the flags that select samples: cmd_parse fills c->select */
	CMD_SETS = 1 << 3,    /* takes the flags that choose columns of sample sets, in c->select */
	CMD_ERRORS = 1 << 4,  /* takes --error, in c->select */
	CMD_EPOCHS = 1 << 5,  /* takes the flags that choose recordings, in c->select */
};

struct command {
	const char *name;
	int (*run)(struct cmd *c);
	unsigned flags;
	const char *summary;
};

/* Parses the command line by TABLE (ended by names == NULL) together with the options its flags
 * add. SYNOPSIS is what follows the command's name in the usage line.  Returns 0, or a value the
 * command must return at once: a negative errno, or CMD_HELPED after --help. */
#define CMD_HELPED INT_MIN
int cmd_parse(struct cmd *c, const char *synopsis, const struct opt *table, bool stop_at_operand,
	      opt_list *ret_operands);

/* Returns 0 when all of PATHS, values of --path, are there, else -ENOENT or the like. */
int cmd_check_paths(const opt_list *paths, struct err *err);

/* Prints a notice on stderr, "dwell prof: MESSAGE".  The command goes on. */
void cmd_notice(const struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints TEXT to stdout through $DWELL_PAGER, $PAGER or `less -FRSX` when it is longer or wider
 * than the screen and PAGED, else directly (pager.c).  less(1) begins at FIRST_LINE, from 1; 0: at
 * the top. */
int pager_write(const char *text, size_t n, bool paged, size_t first_line, struct err *err);

/* Whether keys can be read and a screen be drawn: stdin and stdout are a terminal. */
bool cmd_has_terminal(void);

/* Prints lines TEXT, safe ones, to stderr, folded to its screen. */
void cmd_say(const char *text);

int cmd_calc(struct cmd *c);
int cmd_cat(struct cmd *c);
int cmd_check(struct cmd *c);
int cmd_ctl(struct cmd *c);
int cmd_daemon(struct cmd *c);
int cmd_diff(struct cmd *c);
int cmd_doctor(struct cmd *c);
int cmd_epochs(struct cmd *c);
int cmd_events(struct cmd *c);
int cmd_export(struct cmd *c);
int cmd_flame(struct cmd *c);
int cmd_gc(struct cmd *c);
int cmd_hot(struct cmd *c);
int cmd_hpc(struct cmd *c);
int cmd_import(struct cmd *c);
int cmd_list(struct cmd *c);
int cmd_mem(struct cmd *c);
int cmd_prof(struct cmd *c);
int cmd_record(struct cmd *c);
int cmd_scan(struct cmd *c);
int cmd_ship(struct cmd *c);
int cmd_stalls(struct cmd *c);
int cmd_stat(struct cmd *c);
int cmd_stats(struct cmd *c);
int cmd_tar(struct cmd *c);
int cmd_top(struct cmd *c);
int cmd_tree(struct cmd *c);
int cmd_trace(struct cmd *c);
int cmd_tui(struct cmd *c);
int cmd_web(struct cmd *c);
int cmd_why(struct cmd *c);

/* Runs the command ARGV[0] as main does: prints, and returns the exit status. */
int cmd_run(int argc, char **argv);

#endif
