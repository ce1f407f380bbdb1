/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion of dwell's command lines in bash, zsh and fish, made from the tables of options. */
#ifndef CMD_COMPLETION_H
#define CMD_COMPLETION_H

#include "base/opts.h"
#include "base/str.h"

enum completion_shell { COMPLETION_BASH, COMPLETION_ZSH, COMPLETION_FISH };

/* The shells' names in that order, ended by NULL. */
extern const char *const completion_shells[];

/* A command as completions see it.  All texts are borrowed for the time of a call. */
struct completion_command {
	const char *name;
	const char *alias; /* another name of it; NULL: none */
	const char *summary;
	const struct opt *options; /* ended by names == NULL */
	bool runs;		   /* its first operand is a command to run */
};

/* A script for SHELL that is being written to OUT. */
struct completion {
	struct str *out;
	enum completion_shell shell;
	struct str names; /* of the commands so far, as the script's end wants them */
};

/* Begins a script, adds a command to it, ends it.  The caller owns OUT; C holds memory between
 * begin and end. */
void completion_begin(struct completion *c, enum completion_shell shell, struct str *out);
void completion_add(struct completion *c, const struct completion_command *command);
void completion_end(struct completion *c);

#endif
